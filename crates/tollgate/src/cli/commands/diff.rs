//! `tollgate diff`.

use tollgate_api::DiffPart;
use tollgate_app::failure::Failure;
use tollgate_app::format::count;
use tollgate_app::runs::Runs;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::run::Run;
use tollgate_core::run::state::{Unit, keyed};
use tollgate_core::scope::in_scope;
use tollgate_engine::git::ObjectId;
use tollgate_engine::workspace::{Workspace, WorkspaceError};

use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style};
use tollgate_core::id::{RoleId, UnitId};

/// A longer patch is refused: half of one is worse than none.
const PATCH_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Print what a run changed, as a patch
///
/// Without `--by` the whole change of the run's tree since its base, which `git apply` takes. The parts of a change that is
/// told in parts begin with a line `# …`.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// The run; any unique beginning of its id will do
    run: String,
    /// In which parts the change is told
    #[arg(long, value_enum)]
    by: Option<By>,
}

/// How a change is cut into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// What lies in the scope of a unit, and what in nobody's
    Scope,
    /// What each unit changed; of one that has not landed, in its own tree
    Unit,
    /// What changed since each judge last spoke: what it has not seen
    SinceVerdict,
}

/// A part of a change: what it is, and between which trees; with paths, only of these.
struct Part {
    title: String,
    unit: Option<UnitId>,
    from: Name,
    to: Name,
    only: Option<Vec<Name>>,
}

pub fn run(args: &DiffArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = Runs::open_to_read(&call.environment)?;
    let loaded = runs.load(&args.run)?;
    let run = loaded.run();
    let workspace = Workspace::of(&runs.state, run).map_err(|error| gone(run, &error))?;
    let paths = changed(&workspace, &run.opened.content.tree, &run.tree).map_err(|error| gone(run, &error))?;
    let parts = match args.by {
        None => vec![whole(run)],
        Some(By::Scope) => by_scope(run, &paths),
        Some(By::Unit) => by_unit(run, &paths),
        Some(By::SinceVerdict) => since_verdict(run),
    };
    for part in parts {
        let (patch, cut) = patch(&workspace, &part).map_err(|error| gone(run, &error))?;
        if cut {
            let message = format!("{}: the patch is longer than 64 MiB", part.title);
            let hint = format!("`tollgate show {}` names the files and the branch or tree that has them", run.id);
            return Err(Failure::refused(Code::TREE_TOO_LARGE, message).hint(hint));
        }
        print(call, args.by.is_some(), part, &patch);
    }
    Ok(Exit::Done)
}

fn gone(run: &Run, error: &WorkspaceError) -> Failure {
    Failure::environment(error.code(), format!("the trees of {} cannot be read", run.id))
        .cause(error)
        .hint(format!("`tollgate show {}` says where they were", run.id))
}

fn changed(workspace: &Workspace, from: &Name, to: &Name) -> Result<Vec<Name>, WorkspaceError> {
    let (Some(from), Some(to)) = (ObjectId::parse(from), ObjectId::parse(to)) else { return Ok(Vec::new()) };
    Ok(workspace.changes(&from, &to)?.into_iter().map(|change| change.path).collect())
}

fn whole(run: &Run) -> Part {
    Part {
        title: format!("what {} changed", run.id),
        unit: None,
        from: run.opened.content.tree.clone(),
        to: run.tree.clone(),
        only: None,
    }
}

/// The paths that a scope holds, in the change of the run.
fn within(run: &Run, title: String, unit: Option<&UnitId>, only: Vec<Name>) -> Part {
    Part { title, unit: unit.cloned(), only: Some(only), ..whole(run) }
}

fn holds(unit: &Unit, path: &Name) -> bool {
    in_scope(path, &unit.scope)
}

fn by_scope(run: &Run, paths: &[Name]) -> Vec<Part> {
    let units = &run.ledger.units;
    let (inside, outside): (Vec<Name>, Vec<Name>) =
        paths.iter().cloned().partition(|path| units.is_empty() || units.iter().any(|unit| holds(unit, path)));
    vec![
        within(run, format!("in scope: {}", count(inside.len(), "file")), None, inside),
        within(run, format!("outside every scope: {}", count(outside.len(), "file")), None, outside),
    ]
}

fn by_unit(run: &Run, paths: &[Name]) -> Vec<Part> {
    let units = &run.ledger.units;
    let mut parts: Vec<Part> = Vec::new();
    for unit in units {
        let own: Vec<Name> = paths.iter().filter(|path| holds(unit, path)).cloned().collect();
        let title = format!("{} ({}): {}", unit.name, unit.state.word(), count(own.len(), "file"));
        parts.push(within(run, title, Some(&unit.name), own));
        if let Some(tree) = unit.tree.as_ref().filter(|tree| !tree.landed) {
            parts.push(Part {
                title: format!("{}, in its own tree, not landed", unit.name),
                unit: Some(unit.name.clone()),
                from: tree.base.clone(),
                to: tree.tree.clone(),
                only: None,
            });
        }
    }
    let nobodys: Vec<Name> = paths.iter().filter(|path| !units.iter().any(|unit| holds(unit, path))).cloned().collect();
    if !nobodys.is_empty() || units.is_empty() {
        parts.push(within(run, format!("outside every scope: {}", count(nobodys.len(), "file")), None, nobodys));
    }
    parts
}

/// What each judge has not seen: from the tree it spoke of to the one that stands.
fn since_verdict(run: &Run) -> Vec<Part> {
    let subjects = std::iter::once(None).chain(run.ledger.units.iter().map(|unit| Some(&unit.name)));
    let judges: Vec<&RoleId> =
        run.protocol.roles.iter().filter(|(_, role)| role.judges()).map(|(name, _)| name).collect();
    let mut parts = Vec::new();
    for unit in subjects {
        for role in &judges {
            let Some(judged) = run.ledger.judgements.get(&keyed(role, unit)) else { continue };
            let (now, of) = (run.tree_of(unit), unit.map_or("the run", |unit| unit));
            let news = if judged.on.tree == *now { ": nothing" } else { "" };
            parts.push(Part {
                title: format!(
                    "since {role} judged {of} ({}{}){news}",
                    judged.verdict.word(),
                    judged.attempt.map(|id| format!(", {id}")).unwrap_or_default()
                ),
                unit: unit.cloned(),
                from: judged.on.tree.clone(),
                to: now.clone(),
                only: None,
            });
        }
    }
    parts
}

fn patch(workspace: &Workspace, part: &Part) -> Result<(Vec<u8>, bool), WorkspaceError> {
    let (Some(from), Some(to)) = (ObjectId::parse(&part.from), ObjectId::parse(&part.to)) else {
        return Ok((Vec::new(), false));
    };
    let only: Option<Vec<&Name>> = part.only.as_ref().map(|paths| paths.iter().collect());
    if from == to || only.as_ref().is_some_and(Vec::is_empty) {
        return Ok((Vec::new(), false));
    }
    workspace.diff(&from, &to, only.as_deref(), PATCH_BYTES_MAX)
}

fn print(call: &Invocation, titled: bool, part: Part, patch: &[u8]) {
    if call.json() {
        call.output.json(&DiffPart {
            title: part.title,
            unit: part.unit.map(|unit| unit.to_string()),
            from: part.from.to_string(),
            to: part.to.to_string(),
            patch: String::from_utf8_lossy(patch).into_owned(),
        });
        return;
    }
    if titled {
        call.output.data(Line::new().add(Style::Accent, format!("# {}", part.title)));
    }
    call.output.bytes(patch);
}
