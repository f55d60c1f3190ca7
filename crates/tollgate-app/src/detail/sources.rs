//! Loading what is known of a run beside its state and its journal: work trees, changes, what was read of reports.

use std::sync::Arc;

use tollgate_api as api;
use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, UnitId};
use tollgate_core::run::Run;
use tollgate_core::run::event::Changed;
use tollgate_engine::git::ObjectId;
use tollgate_engine::session;
use tollgate_engine::workers::shell_words;
use tollgate_engine::workspace::{KeptTree, Workspace, run_folder};
use tollgate_store::{Filter, Journal};

use super::history::{History, change, tell};
use super::{Sources, detail, reads};
use crate::failure::Failure;
use crate::files;
use crate::notice::Notice;
use crate::runs::Runs;
use crate::sandbox_summary;

/// A brief longer than this is not looked at for its echo.
const BRIEF_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Everything about a run, and what its timeline needs besides.
#[derive(Debug)]
pub struct Detail {
    pub run: api::RunDetail,
    pub history: History,
}

/// What is told beside what is always told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    Nothing,
    /// What each routing decision read of a report.
    Reads,
    /// Requirement by unit by row, with what shows each.
    Matrix,
}

impl Runs {
    /// Everything about the run that was typed.
    pub fn detail(&self, typed: &str, with: With, now_ms: u64, notices: &mut Vec<Notice>) -> Result<Detail, Failure> {
        let loaded = self.load(typed)?;
        let run = loaded.run();
        let events = session::events(&*self.journal, run.id, 0, run.seq)?;
        let history = tell(run, &events);
        let filter = Filter { prefix: Some(run.id.digits().to_owned()), limit: Some(1), ..Filter::default() };
        let listed = self.journal.list(&filter)?;
        // What a look puts away is shown as put aside.
        let by_hand = self.trees_of(run, notices);
        let (trees, changes) = work(self, run);
        let sources = Sources {
            now_ms,
            head: loaded.head(),
            lease: listed.runs.first().and_then(|summary| summary.lease.as_ref()),
            trees,
            kept: kept(self, run),
            changes,
            reads: if with == With::Reads { read_sections(self, run, &history) } else { Vec::new() },
            with_matrix: with == With::Matrix,
            sandbox: sandbox_summary::recorded(&events),
            not_as_checked_out: self.not_as_checked_out(run),
            by_hand,
            asked_after: run
                .pending()
                .filter_map(|(id, asked)| Some((id, self.last_lines_of(run, &events, asked)?)))
                .collect(),
            held_after: self.last_lines_held(run, &events),
        };
        let detail = detail(run, &history, sources);
        notices.extend(self.lost(run.id)?.map(|damage| Notice::Warning {
            code: Some(damage.code()),
            message: format!("{damage}; what is shown is what is left"),
            next: Some(format!("tollgate verify {}", run.id)),
        }));
        Ok(Detail { run: detail, history })
    }
}

/// The work trees that are there, and the files that differ from the base. A workspace that is gone has neither.
fn work(runs: &Runs, run: &Run) -> (Vec<api::Tree>, Vec<api::Change>) {
    let Ok(workspace) = Workspace::of(&runs.state, run) else { return Default::default() };
    let own: Vec<(&UnitId, &tollgate_core::run::state::OwnTree)> = run
        .ledger
        .units
        .iter()
        .filter_map(|unit| Some((&unit.name, unit.tree.as_ref().filter(|own| !own.landed)?)))
        .collect();
    let subjects = std::iter::once((None, &run.tree)).chain(own.iter().map(|(name, own)| (Some(*name), &own.tree)));
    let trees = subjects.filter_map(|(unit, tree)| {
        let path = workspace.locate(unit.map(|name| &**name)).path;
        files::exists(&path).unwrap_or(false).then(|| api::Tree {
            unit: unit.map(ToString::to_string),
            folder: path.display().to_string(),
            tree: Some(tree.to_string()),
        })
    });
    let trees = trees.collect();
    let mut changes = differ(&workspace, run, &run.opened.content.tree, &run.tree, &[]);
    for (name, own) in &own {
        let scope = run.unit(name).map(|unit| unit.scope.as_slice()).unwrap_or_default();
        let new = differ(&workspace, run, &own.base, &own.tree, scope);
        changes.extend(
            new.into_iter().filter(|new| !changes.iter().any(|known| known.path == new.path)).collect::<Vec<_>>(),
        );
    }
    (trees, changes)
}

/// What was put away of the run's work trees.
fn kept(runs: &Runs, run: &Run) -> Vec<api::Kept> {
    let Ok(workspace) = Workspace::of(&runs.state, run) else { return Vec::new() };
    let unit = |tree: &str| run.ledger.units.iter().find(|unit| workspace.locate(Some(&unit.name)).name() == tree);
    let wire = |kept: KeptTree| {
        let place = shell_words::join(&[kept.place.display().to_string()]);
        let look = match &kept.commit {
            Some(commit) => format!("git --git-dir {place} show {}", &commit.as_str()[..12]),
            None => format!("ls -A {place}"),
        };
        api::Kept {
            unit: unit(&kept.tree).map(|unit| unit.name.to_string()),
            commit: kept.commit.map(|commit| commit.to_string()),
            folder: kept.place.display().to_string(),
            look,
        }
    };
    workspace.kept().unwrap_or_default().into_iter().map(wire).collect()
}

fn differ(workspace: &Workspace, run: &Run, from: &Name, to: &Name, scope: &[Name]) -> Vec<api::Change> {
    if from == to {
        return Vec::new();
    }
    let (Some(from), Some(to)) = (ObjectId::parse(from), ObjectId::parse(to)) else { return Vec::new() };
    let found = workspace.changes(&from, &to).unwrap_or_default();
    found.into_iter().map(|found| change(run, &Changed::new(found.path, found.kind), scope)).collect()
}

fn read_sections(runs: &Runs, run: &Run, history: &History) -> Vec<api::Reads> {
    let object = |digest: Digest| -> Option<Arc<[u8]>> { runs.journal.object(digest).ok().flatten() };
    let bundles = run_folder(&runs.state, run.id).join("bundles");
    let prompt = |id: AttemptId| {
        let path = bundles.join(id.to_string()).join("brief.md");
        files::read_text_if_any(&path, BRIEF_BYTES_MAX).ok().flatten()
    };
    reads::reads(run, history, &object, &prompt)
}
