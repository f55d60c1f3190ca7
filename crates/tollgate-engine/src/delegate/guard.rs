//! The guard: what was there before, what is there now, and what of that may not be.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use tollgate_core::Name;
use tollgate_core::redact::Secrets;

use super::dossier::Dossier;
use super::leak::Leaks;
use super::report::{Frame, Guard, Reason};
use super::room::Room;
use super::surfaces::holds;
use super::{Delegation, Stop, VERIFIER};
use crate::sandbox::Reserved;
use crate::workspace::{Change, ChangeKind, Repository, Snapshot, WorkspaceError};

/// How many paths a report names, and how many differences.
const PATHS_MAX: usize = 1000;
const DIFFERENCES_MAX: usize = 20;
const STAGED: &str = ".git/index";

/// The folder that a worker works in, before it does.
#[derive(Debug)]
pub(super) struct Scene {
    repository: Option<Repository>,
    before: Snapshot,
    scratch: PathBuf,
}

impl Scene {
    /// Looks at the folder. Who writes starts from a checkout without changes that are not committed, unless they may be there.
    pub fn look(asked: &Delegation, cwd: &Path, room: &Room, guard: &mut Guard) -> Result<Self, Stop> {
        let scratch = room.path("look");
        let mut dirty = Vec::new();
        let repository = match Repository::find(cwd) {
            Ok(found) => {
                let found = found.looked_at(&scratch).map_err(Stop::execution)?;
                dirty.extend(found.dirty.iter().filter(|path| !is_dossier(asked, &found.top, path)).cloned());
                Some(found)
            }
            Err(WorkspaceError::NotARepository(_) | WorkspaceError::Bare(_)) => None,
            Err(WorkspaceError::Unborn(_)) => {
                dirty.push("everything: there is no commit yet".into());
                None
            }
            Err(error) => return Err(Stop::execution(error)),
        };
        if !dirty.is_empty() && asked.role != VERIFIER {
            let named = dirty.join(", ");
            if !asked.allow_dirty {
                guard.warnings.push(format!("not committed: {named}"));
                let summary = format!("The checkout has changes that are not committed: {named}");
                return Err(Stop(Reason::DirtyWorkspace, summary, Vec::new()));
            }
            guard.warnings.push(format!("not committed before, and no part of what was measured: {named}"));
        }
        let before = take(cwd, repository.as_ref(), None, &scratch).map_err(Stop::execution)?;
        guard
            .warnings
            .extend(before.closed().map(|path| format!("`{path}` cannot be looked into, and is not measured")));
        Ok(Self { repository, before, scratch })
    }

    /// What must be readable for git to work there.
    pub fn reads(&self) -> Vec<PathBuf> {
        self.repository.iter().flat_map(Repository::read_by_git).collect()
    }

    /// What no configuration gives to a worker.
    pub fn reserved(&self, state: &Path) -> Reserved {
        let bare = Reserved { state: state.to_owned(), ..Reserved::default() };
        self.repository.as_ref().map_or(bare, |repository| repository.reserved(state))
    }

    /// Where git keeps something: the repository's own folders, and those that lie in the folder.
    pub fn git_places(&self) -> Vec<PathBuf> {
        let own = self.repository.iter().flat_map(Repository::kept_by_git);
        let met = self.before.git_places().map(Path::to_owned);
        // A link in the place of a git folder is one, and where it leads.
        let all = own.chain(met).flat_map(|place| {
            let link = place.is_symlink().then(|| place.clone());
            link.into_iter().chain([place.canonicalize().unwrap_or(place)])
        });
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Notes the secrets that are there already, in what may be changed.
    pub fn leaks(&self, cwd: &Path, dossier: &Dossier, examples: &[String], secrets: &Arc<Secrets>) -> Leaks {
        let top = self.repository.as_ref().map_or(cwd, |repository| &repository.top);
        let may_change = |path: &&Name| dossier.allowed.iter().any(|surface| holds(surface, path));
        Leaks::look(cwd, top, examples, secrets, self.before.paths().filter(may_change))
    }

    /// Measures what changed, and judges it.
    pub fn measure(&self, dossier: &Dossier, asked: &Delegation, leaks: &Leaks, frame: &mut Frame) -> Result<(), Stop> {
        let cwd = asked.cwd.as_ref().map_err(Stop::execution)?;
        let after = take(cwd, self.repository.as_ref(), Some(&self.before), &self.scratch);
        let after = after.map_err(|error| {
            Stop(Reason::Validation, format!("What the worker changed cannot be measured: {error}"), Vec::new())
        })?;
        let state = asked.state.strip_prefix(cwd).ok().and_then(Path::to_str);
        let mut changes = self.before.changes(&after);
        // What Tollgate itself keeps is no change of a worker's, which cannot reach it.
        changes.retain(|change| state.is_none_or(|state| state.is_empty() || !holds(state, &change.path)));
        for change in &changes {
            let found = Found::of(change, dossier, [&self.before, &after], leaks);
            found.enter(&asked.role, frame);
        }
        let by_hand = self.before.git_places_changed(&after, &changes);
        frame.guard.by_hand =
            by_hand.iter().take(DIFFERENCES_MAX).map(|(place, how)| left(&leaks.scrubbed(place), *how)).collect();
        for list in [&mut frame.changed, &mut frame.guard.outside, &mut frame.guard.role] {
            shorten(list);
        }
        Ok(())
    }
}

fn take(
    cwd: &Path,
    repository: Option<&Repository>,
    before: Option<&Snapshot>,
    scratch: &Path,
) -> Result<Snapshot, WorkspaceError> {
    let folders = repository.map(|repository| repository.git_folders(cwd)).unwrap_or_default();
    let mut taken = match before {
        None => Snapshot::take(cwd, &folders)?,
        Some(before) => before.retake(&folders)?,
    };
    if let Some(repository) = repository {
        taken.tell(STAGED, repository.staged_digest(scratch)?);
    }
    Ok(taken)
}

/// Whether a path that is not committed is the dossier itself.
fn is_dossier(asked: &Delegation, top: &Path, path: &Name) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    asked.dossier_file.as_deref().and_then(real).is_some_and(|file| real(&top.join(&**path)) == Some(file))
}

/// A change, and what it is.
struct Found {
    path: String,
    in_git: bool,
    allowed: bool,
    forbidden: bool,
    leads_outside: bool,
    /// Whether it is a pipe, a socket or a device.
    special: bool,
    secret: Option<String>,
}

impl Found {
    /// What git keeps may have come to a place, or gone from it.
    fn of(change: &Change, dossier: &Dossier, [before, after]: [&Snapshot; 2], leaks: &Leaks) -> Self {
        let is_new = change.kind == ChangeKind::Created;
        let any = |list: &[String]| list.iter().any(|surface| holds(surface, &change.path));
        Self {
            path: shown(&leaks.scrubbed(&change.path)),
            in_git: before.in_git(&change.path) || after.in_git(&change.path),
            allowed: any(&dossier.allowed),
            forbidden: any(&dossier.forbidden),
            leads_outside: before.leads_outside(change),
            special: change.kind != ChangeKind::Deleted
                && !["10", "12", "04"].iter().any(|kind| change.mode.starts_with(kind)),
            secret: leaks.added(&change.path).or_else(|| is_new.then(|| leaks.in_name(&change.path)).flatten()),
        }
    }

    fn enter(self, role: &str, frame: &mut Frame) {
        let (path, guard) = (self.path, &mut frame.guard);
        if self.in_git {
            let what = if path == STAGED { "something was staged" } else { "a worker does not change what git keeps" };
            return guard.role.push(format!("{path}: {what}"));
        }
        if role == VERIFIER {
            guard.role.push(format!("verifier changed {path}"));
        }
        if self.forbidden {
            guard.role.push(format!("changed forbidden surface: {path}"));
        }
        if self.leads_outside {
            guard.role.push(format!("{path} is a link that leads out of the folder, or to what git keeps"));
        }
        if self.special {
            guard.role.push(format!("{path} is neither a file nor a folder nor a link"));
        }
        if let Some(what) = self.secret {
            guard.role.push(format!("{path} got what looks like a secret: {what}"));
        }
        if !self.allowed {
            guard.outside.push(path.clone());
        }
        frame.changed.push(path);
    }
}

/// What a person does about a place where git keeps something.
fn left(place: &str, how: ChangeKind) -> String {
    let what = match how {
        ChangeKind::Created => "remove",
        ChangeKind::Deleted => "put back",
        ChangeKind::Modified => "undo what changed in",
    };
    format!("{what} {}", shown(place))
}

/// A path as a report can name it: it begins with what no blank and no placeholder begins with.
fn shown(path: &str) -> String {
    let plain = path.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
    if plain { path.to_owned() } else { format!("./{path}") }
}

fn shorten(list: &mut Vec<String>) {
    let more = list.len().saturating_sub(PATHS_MAX);
    if more > 0 {
        list.truncate(PATHS_MAX);
        list.push(format!("and {more} more"));
    }
}

/// Where what a report claims to have changed is not what did.
pub(super) fn differences(claimed: &[String], changed: &[String]) -> Vec<String> {
    let unnamed = changed.iter().filter(|path| !claimed.iter().any(|claim| holds(claim, path)));
    let unnamed = unnamed.map(|path| format!("{path} changed, and the report does not name it"));
    let unchanged = claimed.iter().filter(|claim| !changed.iter().any(|path| holds(claim, path)));
    let unchanged = unchanged.map(|claim| format!("the report names {claim} as changed, and it did not change"));
    unnamed.chain(unchanged).take(DIFFERENCES_MAX).collect()
}

/// What a report that passes leaves open.
pub(super) fn gaps(report: &Map<String, Value>, role: &str, dossier: &Dossier, changed: &[String]) -> Vec<String> {
    let mut gaps = Vec::new();
    if matches!(role, "implementer" | "repair") && changed.is_empty() {
        gaps.push("the report passes, and nothing was changed".to_owned());
    }
    let rows = report.get("outcome_evaluations").and_then(Value::as_array);
    let judged = |id: &String| rows.into_iter().flatten().any(|row| row.get("id").and_then(Value::as_str) == Some(id));
    let open: Vec<&str> = dossier.rows.iter().filter(|id| !judged(id)).map(String::as_str).collect();
    if role == VERIFIER && !open.is_empty() {
        gaps.push(format!("the report passes, and does not judge the rows {}", open.join(", ")));
    }
    gaps
}
