//! `tollgate show`.

use std::sync::Arc;

use tollgate_api as api;
use tollgate_app::failure::Failure;
use tollgate_app::files;
use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::id::AttemptId;
use tollgate_core::run::Run;
use tollgate_core::run::event::Changed;
use tollgate_engine::git::ObjectId;
use tollgate_engine::workers::shell_words;
use tollgate_engine::workspace::{Kept, Workspace, run_folder};
use tollgate_store::{Filter, Journal};

use crate::cli::runs::{Runs, load_failure};
use crate::cli::{Exit, Session};
use crate::view::detail::{self, History, Sources, tell};
use crate::view::text::{Line, Style};
use crate::view::{evidence, sandbox, show};

/// A brief longer than this is not looked at for its echo.
const BRIEF_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Show one run: where it stands, what happened, what shows that it is done
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The run; any unique beginning of its id will do
    run: String,
    /// Also list what each routing decision read of a report, and what it only checked
    #[arg(long)]
    reads: bool,
    /// Only what shows that each row holds: from whom, what it covers, and whether that is unchanged
    #[arg(long, conflicts_with = "reads")]
    evidence: bool,
}

pub fn run(args: &ShowArgs, session: &Session) -> Result<Exit, Failure> {
    let runs = Runs::open_to_read(session)?;
    let (detail, history) = of(&runs, &args.run, args.reads, session)?;
    if let Some(damage) = runs.lost(runs.find(&args.run)?)? {
        let label = Line::new().add(Style::Warn, format!("warning[{}]: ", damage.code()));
        session.output.say(label, Style::Plain, &format!("{damage}; what is shown is what is left"));
        session.output.talk(Line::from("  ").add(Style::Accent, format!("tollgate verify {}", detail.summary.run)));
    }
    if session.json() {
        session.output.json(&detail);
    } else if args.evidence {
        evidence::lines(&detail, session.output.width()).into_iter().for_each(|line| session.output.data(line));
    } else {
        let lines = show::lines(&detail, &history, session.now_ms(), session.output.width());
        lines.into_iter().for_each(|line| session.output.data(line));
    }
    Ok(Exit::Done)
}

/// Everything about a run, and its history.
pub fn of(runs: &Runs, typed: &str, with_reads: bool, session: &Session) -> Result<(api::RunDetail, History), Failure> {
    let loaded = runs.load(typed)?;
    let run = loaded.run();
    let events = tollgate_engine::session::events(&*runs.journal, run.id, 0, run.seq).map_err(load_failure)?;
    let history = tell(run, &events);
    let filter = Filter { prefix: Some(run.id.digits().to_owned()), limit: Some(1), ..Filter::default() };
    let listed = runs.journal.list(&filter).map_err(|error| load_failure(error.into()))?;
    let now_ms = session.now_ms();
    // What a look puts away is shown as put aside.
    let by_hand = runs.trees_of(run, session);
    let (trees, changes) = work(runs, run);
    let reads = if with_reads { reads(runs, run, &history) } else { Vec::new() };
    let sources = Sources {
        now_ms,
        head: loaded.head(),
        lease: listed.runs.first().and_then(|summary| summary.lease.as_ref()),
        trees,
        kept: kept(runs, run),
        changes,
        reads,
        sandbox: sandbox::recorded(&events),
        not_as_checked_out: runs.not_as_checked_out(run),
        by_hand,
    };
    let detail = detail::detail(run, &history, sources);
    Ok((detail, history))
}

/// The work trees that are there, and the files that differ from the base. A workspace that is gone has neither.
fn work(runs: &Runs, run: &Run) -> (Vec<api::Tree>, Vec<api::Change>) {
    let Ok(workspace) = Workspace::of(&runs.state, run) else { return Default::default() };
    let own: Vec<(&Name, &tollgate_core::run::state::OwnTree)> = run
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
    let wire = |kept: Kept| {
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
    let change = |change: tollgate_engine::workspace::Change| {
        detail::change(run, &Changed { path: change.path, kind: change.kind }, scope)
    };
    found.into_iter().map(change).collect()
}

fn reads(runs: &Runs, run: &Run, history: &History) -> Vec<api::Reads> {
    let object = |digest: Digest| -> Option<Arc<[u8]>> { runs.journal.object(digest).ok().flatten() };
    let bundles = run_folder(&runs.state, run.id).join("bundles");
    let prompt = |id: AttemptId| {
        let path = bundles.join(id.to_string()).join("brief.md");
        files::read_text_if_any(&path, BRIEF_BYTES_MAX).ok().flatten()
    };
    detail::reads(run, history, &object, &prompt)
}
