//! The change that an attempt is shown: everything its subject differs in from what the run started from.

use std::collections::BTreeSet;

use tollgate_core::Name;
use tollgate_core::context;
use tollgate_core::id::{AttemptId, UnitId};
use tollgate_core::run::Run;
use tollgate_core::run::event::{Changed, Work};
use tollgate_core::run::state::keyed;
use tollgate_core::scope::in_scope;

use super::{Failure, tree_id};
use crate::workspace::{Change, Workspace};

/// How much of the change an attempt is shown.
const PATCH_BYTES_MAX: usize = 256 * 1024;

/// The change of an attempt's subject against the run's base: a verdict is given to all of it, whoever wrote it (a person
/// by hand, an earlier stage, the unit before it landed the last time). A unit's is what its scope holds, what lies in
/// nobody's, since its gates rest on that too, and what it changed itself, in scope or not.
pub(super) fn of(workspace: &Workspace, run: &Run, id: AttemptId) -> Result<context::Change, Failure> {
    let lease = &run.attempts[&id];
    let unit = run.instances.get(&lease.instance).and_then(|instance| instance.unit.as_ref());
    let known = unit.and_then(|name| run.unit(name));
    let (from, to) = (tree_id(&run.opened.content.tree)?, tree_id(&lease.tree)?);
    let own = match known.and_then(|unit| unit.tree.as_ref()).filter(|own| !own.landed) {
        Some(own) => paths(workspace.changes(&tree_id(&own.base)?, &to)?),
        None => BTreeSet::new(),
    };
    let scope = known.map(|unit| unit.scope.as_slice()).unwrap_or_default();
    let all = workspace.changes(&from, &to)?;
    let count = all.len();
    let scopes = || run.ledger.units.iter().map(|unit| &unit.scope).filter(|scope| !scope.is_empty());
    let is_nobodys = |path: &str| !scopes().any(|scope| in_scope(path, scope));
    let is_shown = |path: &Name| in_scope(path, scope) || own.contains(path) || is_nobodys(path);
    let shown: Vec<Change> = all.into_iter().filter(|change| is_shown(&change.path)).collect();
    let only: Option<Vec<&Name>> = (shown.len() < count).then(|| shown.iter().map(|change| &change.path).collect());
    let (patch, cut) = workspace.diff(&from, &to, only.as_deref(), PATCH_BYTES_MAX)?;
    Ok(context::Change {
        files: shown.iter().map(changed).collect(),
        patch: String::from_utf8_lossy(&patch).into_owned(),
        cut,
        since: since(workspace, run, id, unit)?,
    })
}

/// The paths that changed since the attempt's role judged this subject; none when it never did.
fn since(
    workspace: &Workspace,
    run: &Run,
    id: AttemptId,
    unit: Option<&UnitId>,
) -> Result<Option<BTreeSet<Name>>, Failure> {
    let lease = &run.attempts[&id];
    let Work::Dispatch { role, .. } = &lease.work else { return Ok(None) };
    let Some(judged) = run.ledger.judgements.get(&keyed(role, unit)) else { return Ok(None) };
    Ok(Some(paths(workspace.changes(&tree_id(&judged.on.tree)?, &tree_id(&lease.tree)?)?)))
}

fn paths(changes: Vec<Change>) -> BTreeSet<Name> {
    changes.into_iter().map(|change| change.path).collect()
}

pub(super) fn changed(change: &Change) -> Changed {
    Changed { path: change.path.clone(), kind: change.kind, was: change.was.clone(), now: change.now.clone() }
}
