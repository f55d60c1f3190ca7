//! What came of a landing, for every command that may bring one to its end: its patch where it is wanted, or why nothing landed.

use std::path::Path;
use std::sync::Arc;

use tollgate_app::failure::Failure;
use tollgate_app::files;
use tollgate_app::runs::Runs;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::run::event::{ByKind, LandTarget, RunLanded};
use tollgate_core::run::{Event, Run};
use tollgate_engine::session::events;
use tollgate_engine::workspace::PATCH_BYTES_MAX;

use super::Session;
use crate::view::text::{Line, Style};

/// Tells what came of landings that a driver ended after an event: a patch is put into its file, and one that did not land is
/// a failure.
pub fn tell(runs: &Runs, run: &Run, after: u64, session: &Session) -> Result<(), Failure> {
    let target = |token: u64| -> Result<Option<LandTarget>, Failure> {
        let asked = events(&*runs.journal, run.id, token - 1, token)?;
        Ok(asked.into_iter().find_map(|recorded| match recorded.event {
            Event::LandAsked(asked) => Some(asked.target),
            _ => None,
        }))
    };
    for recorded in events(&*runs.journal, run.id, after, u64::MAX)? {
        match recorded.event {
            Event::RunLanded(landed) => {
                if let (Some(digest), Some(target)) = (landed.patch, target(landed.token)?) {
                    tell_patch(runs, run, digest, &target, session)?;
                }
            }
            // A person who left it knows.
            Event::LandLeft(left) if recorded.by.kind == ByKind::Driver => {
                return match target(left.token)? {
                    Some(target) => Err(did_not_land(run, &target, &left.why)),
                    None => Err(Failure::internal("a landing ended that was never asked for")),
                };
            }
            _ => {}
        }
    }
    Ok(())
}

fn tell_patch(runs: &Runs, run: &Run, digest: Digest, target: &LandTarget, session: &Session) -> Result<(), Failure> {
    let next = match &target.file {
        Some(file) => {
            let again = format!("the patch itself is kept: `{} -o FILE`", command(run, target));
            put_patch(Path::new(&**file), &patch(runs, digest)?).map_err(|failure| failure.hint(again))?;
            format!("git apply {file}")
        }
        None => format!("{} -o FILE", command(run, target)),
    };
    session.output.talk(Line::from("  ").add(Style::Accent, next));
    Ok(())
}

/// A landing that ended without one.
pub fn did_not_land(run: &Run, target: &LandTarget, why: &str) -> Failure {
    Failure::refused(Code::LAND_TARGET, format!("{} did not land: {why}", run.id))
        .hint(format!("mend what is named, then again: `{}`", command(run, target)))
}

/// The command that asks for a landing again.
fn command(run: &Run, target: &LandTarget) -> String {
    let onto = if &*target.onto == "HEAD" { String::new() } else { format!(" --onto {}", target.onto) };
    let own = format!("tollgate/{}", run.id);
    let to = target.branch.as_ref().filter(|branch| **branch != target.onto && ***branch != *own);
    let to = to.map(|branch| format!(" --to {branch}")).unwrap_or_default();
    format!("tollgate land {} --as {}{onto}{to}", run.id, target.how.word())
}

/// The text of a patch.
pub fn patch(runs: &Runs, digest: Digest) -> Result<Arc<[u8]>, Failure> {
    let found = runs.service.journal.object(digest)?;
    found.ok_or_else(|| Failure::refused(Code::OBJECT_MISSING, format!("the patch {digest} is not there any more")))
}

/// Refuses a file for a patch that holds something else, before anything is done.
pub fn has_room(path: &Path, landed: &[Arc<RunLanded>]) -> Result<(), Failure> {
    match found(path)? {
        Some(bytes) if !landed.iter().any(|landed| landed.patch == Some(Digest::of(&bytes))) => Err(taken(path)),
        Some(_) | None => Ok(()),
    }
}

/// Writes a patch into a new file; one that holds it already stays.
pub fn put_patch(path: &Path, patch: &[u8]) -> Result<(), Failure> {
    match found(path)? {
        Some(bytes) if bytes == patch => Ok(()),
        Some(_) => Err(taken(path)),
        None => files::write(path, patch).map_err(|error| files::cannot_write(path, error)),
    }
}

/// What is in a file; none when nothing is there.
fn found(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    if !files::is_taken(path) {
        return Ok(None);
    }
    // What cannot be read, or is too large, is no patch of ours.
    files::read(path, PATCH_BYTES_MAX as u64).map(Some).map_err(|_| taken(path))
}

fn taken(path: &Path) -> Failure {
    Failure::refused(Code::EXISTS, format!("{} is already there", path.display()))
        .hint("name another file, or take that one away yourself")
}
