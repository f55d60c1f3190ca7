//! What a run with given inputs can come to: its roles, of which only those need a worker, and its units.

use std::collections::BTreeSet;

use tollgate_core::Name;
use tollgate_core::id::RoleId;
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::{Kind, Over, VariableKind};
use tollgate_core::protocol::reached::{self, Inputs};

/// The roles of every stage that can be reached, by name.
pub fn roles<'p>(protocol: &'p Protocol, inputs: &Inputs<'_>) -> BTreeSet<&'p RoleId> {
    let stages = reached::stages(protocol, inputs).into_iter();
    stages.filter_map(|(_, stage)| if let Kind::Dispatch { role } = &stage.kind { Some(role) } else { None }).collect()
}

/// The units that there can be under a protocol, whatever its inputs; none when a stage or a document gives them.
pub fn units(protocol: &Protocol) -> Option<BTreeSet<Name>> {
    let mut units = BTreeSet::new();
    for stage in protocol.flows.iter().flat_map(|flow| &flow.stages) {
        let Kind::Each(each) = &stage.kind else { continue };
        match &each.over {
            Over::Lanes(lanes) => units.extend(lanes.iter().cloned()),
            Over::Input(input) => match &protocol.inputs.get(input)?.kind {
                VariableKind::ListOf(values) | VariableKind::OneOf(values) if !values.is_empty() => {
                    units.extend(values.iter().cloned());
                }
                _ => return None,
            },
            Over::Units => return None,
            Over::It => {}
        }
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::protocol::model::Value;

    #[test]
    fn only_the_roles_of_the_chosen_way_are_needed() {
        let (protocol, _) = tollgate_core::protocol::read(include_str!("../../../../protocols/build-plan.yaml"));
        let protocol = protocol.unwrap();
        let needed = |complexity: &str, infra: &str| {
            let (complexity, infra) = (Value::Text(complexity.into()), Value::Text(infra.into()));
            let inputs = |name: &str| match name {
                "complexity" => Some(&complexity),
                "infra" => Some(&infra),
                _ => None,
            };
            roles(&protocol, &inputs).into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(needed("simple", "none"), "dev-tester dod-checker reviewer");
        assert_eq!(needed("standard", "none"), "developer dod-checker reviewer tester");
        assert_eq!(needed("standard", "needed"), "developer devops dod-checker reviewer tester");
    }
}
