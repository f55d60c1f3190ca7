//! The scope policy `incidental`: outside its unit's scope a role may change what the change in scope needs, and the tests
//! beside that. Both are measured.

use tollgate_contract::scope::rules::{Class, Rules};
use tollgate_contract::scope::task::TaskScope;
use tollgate_core::Name;
use tollgate_core::id::{AttemptId, UnitId};
use tollgate_core::protocol::model::ScopePolicy;
use tollgate_core::run::Run;
use tollgate_core::run::decide::AttemptResult;
use tollgate_core::run::event::Work;
use tollgate_core::run::state::Unit;
use tollgate_core::scope::in_scope;

use super::{Failure, own_unit, tree_id};
use crate::workspace::{ObjectId, Patch, Workspace};

/// How many paths a reason names.
const SHOWN_MAX: usize = 5;

/// What of a unit's change outside of its scope lands as the policy of the roles that wrote it says, and what a person decides.
pub(super) fn by_policy(
    workspace: &Workspace,
    run: &Run,
    unit: &UnitId,
    [base, theirs]: [&ObjectId; 2],
    outside: Vec<Name>,
) -> Result<(Vec<Name>, Vec<Name>), Failure> {
    let is = |policy| move |path: &Name| run.policy_outside(unit, path) == policy;
    let (mut lands, outside): (Vec<Name>, Vec<Name>) = outside.into_iter().partition(is(ScopePolicy::Advisory));
    let (measured, mut asked): (Vec<Name>, Vec<Name>) = outside.into_iter().partition(is(ScopePolicy::Incidental));
    let scope = run.unit(unit).map(|unit| unit.scope.clone()).unwrap_or_default();
    if !measured.is_empty() {
        let incidental =
            not_incidental(workspace, &scope, [base, theirs], &|path| measured.iter().any(|it| **it == *path))?;
        let (more, rest) = measured.into_iter().partition(|path| incidental.iter().all(|(left, _)| left != path));
        lands.extend::<Vec<Name>>(more);
        asked.extend::<Vec<Name>>(rest);
    }
    Ok((lands, asked))
}

/// Which of the wanted paths of a change are neither in a scope nor incidental nor a test beside it, and why.
fn not_incidental(
    workspace: &Workspace,
    scope: &[Name],
    [from, to]: [&ObjectId; 2],
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<(Name, String)>, Failure> {
    let between = workspace.between(from, to)?;
    let rules = Rules { task: TaskScope::within(scope), ..Rules::default() };
    let patch = if rules.need_content(between.paths()) { between.read()? } else { Patch::default() };
    let texts = patch.texts();
    let changes = between.changes(&texts);
    let sorted = rules.sort(&changes);
    let outside = sorted.iter().filter(|sorted| match sorted.class {
        Class::Primary | Class::Test | Class::Incidental => false,
        Class::Judge | Class::OutOfScope | Class::Protected => wanted(&sorted.change.path),
    });
    Ok(outside.map(|sorted| ((&*sorted.change.path).into(), sorted.reason.clone())).collect())
}

/// The unit whose scope this policy enforces for an attempt. A unit with its own tree is held to it at its landing.
fn held(run: &Run, id: AttemptId) -> Option<&Unit> {
    let lease = run.attempts.get(&id)?;
    let Work::Dispatch { role, .. } = &lease.work else { return None };
    let role = run.protocol.roles.get(role)?;
    let unit = run.unit(run.instances.get(&lease.instance)?.unit.as_ref()?)?;
    let is_held = role.scope == ScopePolicy::Incidental && !unit.scope.is_empty() && own_unit(run, id).is_none();
    is_held.then_some(unit)
}

/// Fails an attempt that changed something outside its unit's scope that is not incidental.
pub(super) fn refuse(
    workspace: &Workspace,
    run: &Run,
    id: AttemptId,
    result: &mut AttemptResult,
) -> Result<(), Failure> {
    let Some(content) = &result.content else { return Ok(()) };
    let Some(unit) = held(run, id) else { return Ok(()) };
    let widened = &run.ledger.widened;
    let is_in = |path: &str| in_scope(path, &unit.scope) || (!widened.is_empty() && in_scope(path, widened));
    if result.changed.iter().all(|change| is_in(&change.path)) {
        return Ok(());
    }
    // Earlier changes in scope count, and what is as it was before the run is no change. Other attempts answer for what they
    // changed outside.
    let mine = |path: &str| result.changed.iter().any(|change| &*change.path == path);
    let scope = [&unit.scope[..], widened].concat();
    let trees = [&workspace.base().tree, &tree_id(&content.tree)?];
    let outside = not_incidental(workspace, &scope, trees, &mine)?;
    let outside: Vec<String> =
        outside.iter().take(SHOWN_MAX).map(|(path, reason)| format!("{path} ({reason})")).collect();
    if !outside.is_empty() {
        let reason = format!("it changed files that are neither in its scope nor incidental: {}", outside.join("; "));
        result.report.overrule("scope", reason.clone());
        result.diagnostics.push(reason);
        result.content = None;
    }
    Ok(())
}
