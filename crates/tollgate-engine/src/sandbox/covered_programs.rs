//! Programs that lie where the sandbox covers what is there: in it nobody can start them.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Confinement, visible_paths};
use crate::paths::{LinkTrace, trace_links};

/// How much of a script the kernel reads to find its interpreter, and how many of them lead to one another.
const FIRST_LINE_BYTES_MAX: u64 = 256;
const INTERPRETERS_MAX: usize = 5;

impl Confinement {
    /// The first path that starting a `program` needs and that the program which is `held`, and whatever it starts, does not see: the
    /// program itself, a link that leads to it, or the interpreter that its first line names. The folders that are its `own` are seen.
    pub fn covered(&self, held: &Path, home: &[&str], own: &[&Path], program: &Path) -> Option<PathBuf> {
        if !self.mounts && self.leash.landlock.is_none() {
            return None;
        }
        let hidden = visible_paths::hidden(&self.state, &self.unseen);
        let needed = needed(program);
        let may_be = |trace: &LinkTrace| paths(trace).any(|path| hidden.iter().any(|place| path.starts_with(place)));
        if !needed.iter().any(may_be) {
            return None;
        }
        let (reads, writes) = self.grants(held, home);
        let granted = reads.iter().chain(&writes).map(PathBuf::as_path).chain(own.iter().copied());
        let granted: Vec<LinkTrace> = granted.filter_map(trace_links).collect();
        let is_seen = |path: &PathBuf| {
            let depth = |place: &PathBuf| path.starts_with(place).then(|| place.components().count());
            granted.iter().filter_map(|trace| depth(&trace.end)).max() >= hidden.iter().filter_map(depth).max()
        };
        // Landlock follows a link wherever it lies; where it is covered, there is none.
        let is_there =
            |link: &PathBuf| !self.mounts || granted.iter().any(|trace| trace.links.contains(link)) || is_seen(link);
        needed.iter().find_map(|trace| {
            let link = trace.links.iter().find(|link| !is_there(link));
            link.or(Some(&trace.end).filter(|end| !is_seen(end))).cloned()
        })
    }
}

/// Says so, of a program and the path that is covered.
pub(crate) fn is_covered(program: &Path, path: &Path) -> String {
    let needs = if program == path { String::new() } else { format!(" needs `{}`, which", path.display()) };
    format!("`{}`{needs} is covered by the sandbox", program.display())
}

fn paths(trace: &LinkTrace) -> impl Iterator<Item = &PathBuf> {
    trace.links.iter().chain([&trace.end])
}

/// A program and the interpreters that lead to one another from it, as far as they exist.
fn needed(program: &Path) -> Vec<LinkTrace> {
    let mut found = Vec::new();
    let mut next = Some(program.to_owned());
    while let Some(path) = next.take_if(|path| path.is_file() && found.len() < INTERPRETERS_MAX) {
        found.extend(trace_links(&path));
        next = interpreter(&path);
    }
    found
}

/// What the kernel starts in the place of a script.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut first = Vec::new();
    File::open(script).ok()?.take(FIRST_LINE_BYTES_MAX).read_to_end(&mut first).ok()?;
    let line = first.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let path = line.trim_ascii_start().split(u8::is_ascii_whitespace).next()?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path))).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::{SandboxRequest, SandboxSupport};
    use super::*;
    use crate::testing::{folder, write};

    #[test]
    fn a_program_is_covered_unless_all_that_starting_it_needs_is_seen() {
        let root = folder("covered").canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        write(&root, "home/tool", "\x7fELF");
        write(&root, "home/deep/sh", "\x7fELF");
        write(&root, "open/plain", "#!/bin/sh\n");
        write(&root, "open/missing", "#!/no/such/interpreter\n");
        write(&root, "open/script", &format!("#! {} -x\n", at("home/deep/sh").display()));
        write(&root, "open/second", &format!("#!{}\n", at("open/script").display()));
        for (link, to) in [("open/link", "home/tool"), ("home/way", "open"), ("home/deep/back", "open/plain")] {
            symlink(at(to), at(link)).unwrap();
        }
        let held = |reads: &[&str], support: SandboxSupport| {
            let state = at("state");
            let asked = SandboxRequest::default();
            let made = asked.confinement(Path::new("/bin/true"), &state, state.join("programs"), || &support, false);
            // Wherever the test itself lies.
            let reads = [""].iter().chain(reads).map(|path| at(path)).collect();
            Confinement { unseen: vec![at("home")], reads, ..made.unwrap() }
        };
        let mounts = SandboxSupport { landlock: Some(6), ..SandboxSupport::default() };
        let landlock = SandboxSupport { processes: Some("none".to_owned()), ..mounts.clone() };
        let off = SandboxSupport { files: Some("none".to_owned()), landlock: None, ..landlock.clone() };
        let table = [
            ("home/tool", &[][..], Some("home/tool"), Some("home/tool")),
            ("home/tool", &["home/tool"], None, None),
            ("home/tool", &["home/deep"], Some("home/tool"), Some("home/tool")),
            ("open/plain", &[], None, None),
            ("open/missing", &[], None, None),
            ("open/link", &[], Some("home/tool"), Some("home/tool")),
            ("open/script", &[], Some("home/deep/sh"), Some("home/deep/sh")),
            ("open/second", &[], Some("home/deep/sh"), Some("home/deep/sh")),
            ("open/second", &["home/deep"], None, None),
            ("home/way/plain", &[], Some("home/way"), None),
            ("home/way/plain", &["home/way/missing"], None, None),
            ("home/deep/back", &[], Some("home/deep/back"), None),
            ("home/nothing", &[], None, None),
        ];
        for (program, reads, with_mounts, with_landlock) in table {
            let covered = |support: &SandboxSupport| {
                held(reads, support.clone()).covered(Path::new("/bin/sh"), &[], &[], &at(program))
            };
            assert_eq!(covered(&mounts), with_mounts.map(at), "{program}, {reads:?}");
            assert_eq!(covered(&landlock), with_landlock.map(at), "{program}, {reads:?}, Landlock alone");
            assert_eq!(covered(&off), None, "{program}, {reads:?}, no sandbox");
        }
        // Of what is started itself, its own file is seen.
        let held = held(&[], mounts);
        assert_eq!(held.covered(&at("home/tool"), &[], &[], &at("home/tool")), None);
        assert_eq!(held.covered(Path::new("/bin/sh"), &[], &[&at("home/deep")], &at("home/deep/sh")), None);
    }
}
