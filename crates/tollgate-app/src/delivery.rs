//! Delivery: what became of bringing a run's tree to a branch or into a patch.

use std::path::Path;
use std::sync::Arc;

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::run::event::{ByKind, LandTarget, RunLanded};
use tollgate_core::run::{Event, Run};
use tollgate_engine::session::events;
use tollgate_engine::workspace::PATCH_BYTES_MAX;
use tollgate_store::Journal;

use crate::failure::Failure;
use crate::files;
use crate::runs::Runs;

impl Runs {
    /// Completes the deliveries that a driver ended after an event: a patch is written to its file, and `next` gets what to type
    /// then. One that failed is the failure.
    pub fn complete_deliveries(&self, run: &Run, after: u64, next: &mut Vec<String>) -> Result<(), Failure> {
        let target = |token: u64| -> Result<Option<LandTarget>, Failure> {
            let asked = events(&*self.journal, run.id, token - 1, token)?;
            Ok(asked.into_iter().find_map(|recorded| match recorded.event {
                Event::LandAsked(asked) => Some(asked.target),
                _ => None,
            }))
        };
        for recorded in events(&*self.journal, run.id, after, u64::MAX)? {
            match recorded.event {
                Event::RunLanded(landed) => {
                    if let (Some(digest), Some(target)) = (landed.patch, target(landed.token)?) {
                        next.push(self.write_patch(run, digest, &target)?);
                    }
                }
                // A person who gave it up knows.
                Event::LandLeft(left) if recorded.by.kind == ByKind::Driver => {
                    return match target(left.token)? {
                        Some(target) => Err(failed(run, &target, &left.why)),
                        None => Err(Failure::internal("a delivery ended that was never asked for")),
                    };
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes a patch to the file that was asked for; says what to type next.
    fn write_patch(&self, run: &Run, digest: Digest, target: &LandTarget) -> Result<String, Failure> {
        let Some(file) = &target.file else { return Ok(format!("{} -o FILE", command(run, target))) };
        let again = format!("the patch itself is kept: `{} -o FILE`", command(run, target));
        put_patch(Path::new(&**file), &self.patch(digest)?).map_err(|failure| failure.hint(again))?;
        Ok(format!("git apply {file}"))
    }

    /// The text of a patch.
    pub fn patch(&self, digest: Digest) -> Result<Arc<[u8]>, Failure> {
        let missing = || Failure::refused(Code::OBJECT_MISSING, format!("the patch {digest} is not there any more"));
        self.journal.object(digest)?.ok_or_else(missing)
    }
}

/// A delivery that failed.
pub fn failed(run: &Run, target: &LandTarget, why: &str) -> Failure {
    Failure::refused(Code::LAND_TARGET, format!("{} did not land: {why}", run.id))
        .hint(format!("fix what is named, then again: `{}`", command(run, target)))
}

/// The command that asks for a delivery again.
fn command(run: &Run, target: &LandTarget) -> String {
    let onto = if &*target.onto == "HEAD" { String::new() } else { format!(" --onto {}", target.onto) };
    let own = format!("tollgate/{}", run.id);
    let to = target.branch.as_ref().filter(|branch| **branch != target.onto && ***branch != *own);
    let to = to.map(|branch| format!(" --to {branch}")).unwrap_or_default();
    format!("tollgate land {} --as {}{onto}{to}", run.id, target.how.word())
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
