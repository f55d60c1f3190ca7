//! What leads to the places where git keeps something, and what is not committed there.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use tollgate_core::Name;

use super::report::{Guard, Reason};
use super::{Delegation, Stop};
use crate::paths::trace_links;
use crate::workspace::Repository;

/// The longest file that names a git folder.
const POINTER_BYTES_MAX: u64 = 8 * 1024;

/// A place by where it lies, every link on the way there, and the same of the folder that it points to.
pub(super) fn leads(place: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (BTreeSet::new(), vec![place.to_owned()]);
    while let Some(place) = open.pop() {
        let Some(trace) = trace_links(&place) else {
            found.insert(place);
            continue;
        };
        found.extend(trace.links);
        let next = pointer(&trace.end);
        if found.insert(trace.end) {
            open.extend(next);
        }
    }
    found.into_iter().collect()
}

/// What a file in the place of a git folder points to, and the folder of a linked work tree.
fn pointer(end: &Path) -> Option<PathBuf> {
    let (file, word, from) = match end.is_dir() {
        true => (end.join("commondir"), "", end),
        false => (end.to_owned(), "gitdir:", end.parent()?),
    };
    let mut text = String::new();
    // Nobody waits at a pipe.
    let file = file.is_file().then(|| std::fs::File::open(file).ok()).flatten()?;
    file.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let named = text.strip_prefix(word)?.trim();
    (!named.is_empty()).then(|| from.join(named))
}

/// The first paths of a repository that are not committed, but for the dossier itself.
pub(super) fn not_committed(asked: &Delegation, found: &Repository) -> Vec<Name> {
    let real = |path: &Path| path.canonicalize().ok();
    let dossier = asked.dossier_file.as_deref().and_then(real);
    let is_dossier = |path: &Name| dossier.is_some() && real(&found.top.join(&**path)) == dossier;
    found.dirty.iter().filter(|path| !is_dossier(path)).cloned().collect()
}

/// Refuses to start over what is not committed, unless it may be there.
pub(super) fn refuse(asked: &Delegation, dirty: &[Name], guard: &mut Guard) -> Result<(), Stop> {
    if dirty.is_empty() {
        return Ok(());
    }
    let named = dirty.join(", ");
    if !asked.allow_dirty {
        guard.warnings.push(format!("not committed: {named}"));
        let summary = format!("The checkout has changes that are not committed: {named}");
        return Err(Stop(Reason::DirtyWorkspace, summary, Vec::new()));
    }
    guard.warnings.push(format!("not committed before, and no part of what was measured: {named}"));
    Ok(())
}
