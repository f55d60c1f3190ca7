//! The guard: what was there before, what is there now, and what of that may not be.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value};
use tollgate_core::Name;
use tollgate_core::redact::Secrets;

use super::dossier::Dossier;
use super::external_git_files::reached;
use super::git_paths::{leads, not_committed, refuse};
use super::report::{Frame, Guard, Reason};
use super::scratch::Scratch;
use super::secrets_check::Leaks;
use super::surfaces::{Grant, grant, holds};
use super::{Delegation, Stop, VERIFIER, go_on, invalid};
use crate::git::{quote, unquote};
use crate::sandbox::ReservedPaths;
use crate::workspace::{Change, ChangeKind, Repository, Snapshot, WorkspaceError, clear_set_id, is_set_id};

/// How many paths a report names, and how many differences.
const PATHS_MAX: usize = 1000;
const DIFFERENCES_MAX: usize = 20;
/// How many changes that are not committed are looked for in repositories inside of the folder.
const DIRTY_MAX: usize = 10;
const STAGED: &str = ".git/index";
const UNBORN: &str = "everything: there is no commit yet";

/// The folder that a worker works in, before it does.
#[derive(Debug)]
pub(super) struct Baseline {
    repository: Option<Repository>,
    before: Snapshot,
    scratch: PathBuf,
}

impl Baseline {
    /// Looks at the folder. Who writes starts from a checkout without changes that are not committed, unless they may be there.
    pub fn look(
        asked: &Delegation,
        cwd: &Path,
        scratch: &Scratch,
        guard: &mut Guard,
        stop: &AtomicBool,
    ) -> Result<Self, Stop> {
        let scratch = scratch.path("look");
        let mut dirty = Vec::new();
        let repository = match Repository::find(cwd) {
            Ok(found) => {
                let found = found.looked_through(&scratch).map_err(Stop::execution)?;
                dirty.extend(not_committed(asked, &found));
                Some(found)
            }
            Err(WorkspaceError::NotARepository(_) | WorkspaceError::Bare(_)) => None,
            Err(WorkspaceError::Unborn(_)) => {
                dirty.push(UNBORN.into());
                None
            }
            Err(error) => return Err(Stop::execution(error)),
        };
        if asked.role != VERIFIER {
            refuse(asked, &dirty, guard)?;
        }
        go_on(stop)?;
        let folders = folders(cwd, repository.as_ref());
        let before = Snapshot::take(cwd, &folders, stop).and_then(|taken| staged(taken, repository.as_ref(), &scratch));
        // What it was stopped at is not why.
        go_on(stop)?;
        let before = before.map_err(Stop::execution)?;
        guard
            .warnings
            .extend(before.closed().map(|path| format!("`{path}` cannot be looked into, and is not measured")));
        Ok(Self { repository, before, scratch })
    }

    /// What may be written, of what the dossier allows. Repositories that lie in that, or around it, are looked at for changes
    /// that are not committed, as the folder's own was; all of them for what git takes from outside of its folders.
    pub fn grant(
        &mut self,
        asked: &Delegation,
        cwd: &Path,
        dossier: &Dossier,
        guard: &mut Guard,
    ) -> Result<Grant, Stop> {
        let allowed = if asked.role == VERIFIER { &[][..] } else { &dossier.allowed };
        let found =
            |git: &[PathBuf]| grant(cwd, allowed, &dossier.forbidden, git).map_err(|wrong| invalid(vec![wrong]));
        let first = found(&self.git_places())?;
        refuse(asked, &self.inside(asked, cwd, &first.write_subset.writes)?, guard)?;
        // What holds the whole folder would leave nothing to be written.
        let reached = reached(cwd, &self.repositories()).into_iter().filter(|place| !cwd.starts_with(place));
        self.before.keeps(reached.collect());
        let grant = found(&self.git_places())?;
        guard.warnings.extend(grant.warnings.iter().cloned());
        Ok(grant)
    }

    /// What is not committed in the repositories below the folder that lie in what may be written, or around it.
    fn inside(&self, asked: &Delegation, cwd: &Path, writes: &[PathBuf]) -> Result<Vec<Name>, Stop> {
        let mut dirty = Vec::new();
        let tops = self.before.git_places().filter(|place| place.ends_with(".git")).filter_map(Path::parent);
        let written = |top: &&Path| writes.iter().any(|real| real.starts_with(top) || top.starts_with(real));
        for top in tops.filter(|top| *top != cwd).filter(written) {
            let inside = top.strip_prefix(cwd).unwrap_or(top);
            match Repository::find(top) {
                // An empty folder of that name is no repository: the one around it has told of its files.
                Ok(found) if found.top != top => {}
                Ok(found) => {
                    let found = found.looked_through(&self.scratch).map_err(Stop::execution)?;
                    let from = |path: &Name| quote(&[inside.as_os_str().as_bytes(), b"/", &unquote(path)].concat());
                    dirty.extend(not_committed(asked, &found).iter().map(from));
                }
                Err(WorkspaceError::Bare(_)) => {}
                Err(WorkspaceError::Unborn(_)) => dirty.push(format!("{}: {UNBORN}", inside.display()).into()),
                Err(WorkspaceError::NotARepository(_)) => {
                    dirty.push(format!("{}: unknown, because its git folder is missing", inside.display()).into());
                }
                Err(error) => return Err(Stop::execution(error)),
            }
            if dirty.len() >= DIRTY_MAX {
                break;
            }
        }
        Ok(dirty)
    }

    /// Every repository that is known here: its top, and a place where git keeps it.
    fn repositories(&self) -> BTreeSet<(PathBuf, PathBuf)> {
        let own = self.repository.iter();
        let own = own.flat_map(|own| own.kept_by_git().into_iter().map(|place| (own.top.clone(), place)));
        let met = self.before.git_places().map(|place| {
            let top = if place.ends_with(".git") { place.parent().unwrap_or(place) } else { place };
            (top.to_owned(), place.to_owned())
        });
        own.chain(met).collect()
    }

    /// What git is told in place of the person's own configuration.
    pub fn git_config(&self) -> String {
        self.repository.as_ref().map(Repository::worker_config).unwrap_or_default()
    }

    /// What must be readable for git to work there.
    pub fn reads(&self) -> Vec<PathBuf> {
        self.repository.iter().flat_map(Repository::read_by_git).collect()
    }

    /// What no configuration gives to a worker.
    pub fn reserved(&self, state: &Path) -> ReservedPaths {
        let bare = ReservedPaths { state: state.to_owned(), ..ReservedPaths::default() };
        self.repository.as_ref().map_or(bare, |repository| repository.reserved(state))
    }

    /// Where git keeps something: the repository's own folders, and those that lie in the folder, with what leads there.
    fn git_places(&self) -> Vec<PathBuf> {
        let own = self.repository.iter().flat_map(|own| own.kept_by_git().into_iter().chain([own.top.join(".git")]));
        let met = self.before.git_places().map(Path::to_owned);
        own.chain(met).flat_map(|place| leads(&place)).collect::<BTreeSet<_>>().into_iter().collect()
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
        let repository = self.repository.as_ref();
        let after = self.before.retake(&folders(cwd, repository));
        let after = after.and_then(|taken| staged(taken, repository, &self.scratch));
        let after = after.map_err(|error| {
            Stop(Reason::Validation, format!("What the worker changed cannot be measured: {error}"), Vec::new())
        })?;
        let state = asked.state.strip_prefix(cwd).ok().and_then(Path::to_str);
        let mut changes = self.before.changes(&after);
        // What Tollgate itself keeps is no change of a worker's, which cannot reach it.
        changes.retain(|change| state.is_none_or(|state| state.is_empty() || !holds(state, &change.path)));
        set_id_cleared(cwd, &changes).map_err(|error| {
            Stop(Reason::Validation, format!("What the worker changed cannot be kept as it is: {error}"), Vec::new())
        })?;
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

/// Takes set-user-ID and set-group-ID bits off what was changed.
fn set_id_cleared(cwd: &Path, changes: &[Change]) -> Result<(), WorkspaceError> {
    let has_one = |change: &&Change| u32::from_str_radix(&change.mode, 8).is_ok_and(is_set_id);
    changes
        .iter()
        .filter(has_one)
        .try_for_each(|change| clear_set_id(&cwd.join(OsStr::from_bytes(&unquote(&change.path)))))
}

/// The git folders of a repository that lie elsewhere.
fn folders(cwd: &Path, repository: Option<&Repository>) -> Vec<(Name, PathBuf)> {
    repository.map(|repository| repository.git_folders(cwd)).unwrap_or_default()
}

/// With what is staged.
fn staged(mut taken: Snapshot, repository: Option<&Repository>, scratch: &Path) -> Result<Snapshot, WorkspaceError> {
    if let Some(repository) = repository {
        taken.tell(STAGED, repository.staged_digest(scratch)?);
    }
    Ok(taken)
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
