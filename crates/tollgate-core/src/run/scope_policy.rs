//! The policy under which a unit's work may lie outside of its scope when it lands: that of the roles which wrote it.

use super::state::Run;
use crate::Name;
use crate::id::UnitId;
use crate::protocol::model::ScopePolicy;

impl Run {
    /// The policy for a path outside of a unit's scope: the strictest of the roles that changed it for the unit. What nobody is known
    /// to have changed is held strictly.
    pub fn policy_outside(&self, unit: &UnitId, path: &Name) -> ScopePolicy {
        let own = self.instances.values().filter(|instance| instance.unit.as_ref() == Some(unit));
        let wrote = own.flat_map(|instance| &instance.wrote).filter(|(_, wrote)| wrote.has(path));
        let policies =
            wrote.map(|(role, _)| self.protocol.roles.get(role).map_or(ScopePolicy::Strict, |role| role.scope));
        policies.reduce(stricter).unwrap_or(ScopePolicy::Strict)
    }
}

const fn stricter(one: ScopePolicy, other: ScopePolicy) -> ScopePolicy {
    match (one, other) {
        (ScopePolicy::Strict, _) | (_, ScopePolicy::Strict) => ScopePolicy::Strict,
        (ScopePolicy::Incidental, _) | (_, ScopePolicy::Incidental) => ScopePolicy::Incidental,
        (ScopePolicy::Advisory, ScopePolicy::Advisory) => ScopePolicy::Advisory,
    }
}
