//! A change by hand: which work tree a question is about, and what a person gives back with the answer.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tollgate_core::Name;
use tollgate_core::id::{DecisionId, UnitId};
use tollgate_core::protocol::Outcome;
use tollgate_core::protocol::model::{Route, Stage};
use tollgate_core::run::decide::Answer;
use tollgate_core::run::event::ChangeKind;
use tollgate_core::run::state::Decision;
use tollgate_core::run::{Run, effects};
use tollgate_core::scope::Content;

use crate::executor::content_in;
use crate::git::ObjectId;
use crate::workspace::{ReturnedTree, TreeRecord, WorkLock, Workspace, WorkspaceError};

/// The unit whose own work tree a decision shows (none: it shows the run's), and what the run has there.
pub fn subject<'a>(run: &Run, decision: &'a Decision) -> Result<(Option<&'a str>, ObjectId), WorkspaceError> {
    let own = |name: &&UnitId| run.unit(name).and_then(|unit| unit.tree.as_ref()).is_some_and(|own| !own.landed);
    let unit = decision.asked.unit.as_ref().filter(own);
    let lost = || WorkspaceError::Lost { run: run.id, why: "its tree has no name".to_owned() };
    Ok((unit.map(|name| &**name), ObjectId::parse(run.tree_of(unit)).ok_or_else(lost)?))
}

/// The trees that a change by hand is offered in and that a person has been shown as they are, by decision; and whether there are
/// others.
pub fn prepared_trees(workspace: &Workspace, run: &Run) -> (BTreeMap<DecisionId, PathBuf>, bool) {
    let (mut trees, mut others) = (BTreeMap::new(), false);
    for (id, decision) in offered(run) {
        let place = subject(run, decision).ok();
        match place.and_then(|(unit, start)| workspace.is_shown(unit, &start)) {
            Some(tree) => drop(trees.insert(id, tree.path)),
            None => others = true,
        }
    }
    (trees, others)
}

/// Shows the trees that a change by hand is offered in, for one who holds the run's work. One that cannot be shown is left out.
pub fn prepare_trees(workspace: &Workspace, run: &Run) -> BTreeMap<DecisionId, PathBuf> {
    let tree = |(id, decision)| {
        let (unit, start) = subject(run, decision).ok()?;
        let tree = with_record(run, &start, |recorded| workspace.tree_to_edit(unit, recorded)).ok()?;
        Some((id, tree.path))
    };
    offered(run).filter_map(tree).collect()
}

fn offered(run: &Run) -> impl Iterator<Item = (DecisionId, &Decision)> {
    run.pending().filter(|(_, decision)| is_offered(run, decision))
}

/// What the journal says of a work tree, for whoever asks.
pub fn with_record<T>(run: &Run, start: &ObjectId, ask: impl FnOnce(TreeRecord<'_>) -> T) -> T {
    let is_leased = |token: u64| run.attempts.values().any(|lease| lease.token == token);
    let names = |tree: &ObjectId| run.contents.contains_key(tree.as_str());
    ask(TreeRecord { start, is_leased: &is_leased, names: &names })
}

/// The tree that a person gives back, and the files that are gone from it.
pub fn measure(
    workspace: &Workspace,
    run: &Run,
    decision: &Decision,
    held: WorkLock,
) -> Result<(ReturnedTree, Content, Vec<Name>), WorkspaceError> {
    let (unit, start) = subject(run, decision)?;
    let tree = with_record(run, &start, |recorded| workspace.returned_tree(unit, recorded))?;
    let found = workspace.measure(&tree, &start)?;
    let misplaced = found.misplaced();
    if !misplaced.is_empty() {
        return Err(WorkspaceError::Misplaced(misplaced));
    }
    let gone = found.changes.iter().filter(|change| change.kind == ChangeKind::Deleted);
    let deleted = gone.map(|change| change.path.clone()).collect();
    let content = content_in(run, &found.tree, &found.entries);
    Ok((ReturnedTree { tree, shown: start, given: found.tree, held }, content, deleted))
}

/// The open decision that an answer gives a work tree back for.
pub fn given_back<'a>(run: &'a Run, id: DecisionId, answer: &Answer) -> Option<&'a Decision> {
    let open = run.decisions.get(&id).map(|decision| &**decision).filter(|decision| decision.end.is_none());
    open.filter(|decision| {
        let option = answer.option.as_ref().or_else(|| decision.strictest(&answer.answers));
        amends_tree(run, decision, option.map(|option| &**option))
    })
}

/// Whether an option of a decision stands for a change by hand, and nobody works where that would be.
fn is_offered(run: &Run, decision: &Decision) -> bool {
    let offers = decision.asked.options.iter().any(|option| amends_tree(run, decision, Some(&option.id)));
    offers && !effects::is_worked_in(run, decision.asked.unit.as_ref(), false)
}

/// Whether an answer gives a work tree back.
fn amends_tree(run: &Run, decision: &Decision, option: Option<&str>) -> bool {
    let route = route_of(run, decision, option);
    route.is_some_and(|route| route.amends.iter().any(|name| run.protocol.lies_in_tree(name)))
}

/// The route that an answer takes.
fn route_of<'a>(run: &'a Run, decision: &Decision, option: Option<&str>) -> Option<&'a Route> {
    let outcome = option.map_or(Outcome::Answered, Outcome::from);
    let stage: &Stage = match run.protocol.ask(&decision.asked.ask) {
        Some(shared) => shared,
        None => run.stage(run.instances.get(&decision.asked.instance)?, &decision.asked.ask)?,
    };
    run.protocol.route(stage, &outcome).map(|(rule, _)| &rule.route)
}
