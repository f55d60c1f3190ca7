//! Surfaces: files, folders and patterns of what may be changed, as the sandbox can hold them and as a change is judged by them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tollgate_core::path::unquote;
use tollgate_core::scope::matches;

use crate::paths::lexical;
use crate::sandbox::WriteSubset;

/// The most files and folders that are kept as they are inside of what may be written.
const KEPT_MAX: usize = 512;

/// A surface, from the folder that the work is done in, however it is written; none where it is that folder, or lies outside of it.
///
/// Two ways to write a path are one surface: `src/./a`, `src/b/../a` and the whole path from the root are `src/a`.
pub(super) fn read(surface: &str, cwd: &Path) -> Option<String> {
    let whole = lexical(&cwd.join(plain(surface)));
    let inside = whole.strip_prefix(cwd).ok()?.to_str()?;
    (!inside.is_empty()).then(|| inside.to_owned())
}

/// Whether a surface holds a path, as git quotes it: the path itself, what lies below it, and what a pattern means.
pub(super) fn holds(surface: &str, path: &str) -> bool {
    let (surface, bytes) = (plain(surface), unquote(path));
    let below = |rest: &[u8]| rest.is_empty() || rest.starts_with(b"/");
    bytes.strip_prefix(surface.as_bytes()).is_some_and(below)
        || (is_pattern(surface) && (matches(surface, path) || matches(&format!("{surface}/**"), path)))
}

/// Whether a path belongs to what git keeps.
pub(super) fn in_git(path: &str) -> bool {
    path.split('/').any(|part| part == ".git")
}

/// A surface as a path: without marks around it, and without a `./` or a `/` that says nothing.
fn plain(surface: &str) -> &str {
    let surface = surface.trim().trim_matches(['`', '"', '\'']).trim();
    let surface = surface.strip_prefix("./").map_or(surface, |rest| rest.trim_start_matches('/'));
    surface.trim_end_matches('/')
}

fn is_pattern(surface: &str) -> bool {
    surface.contains(['*', '?', '[', '{'])
}

/// The folder that a pattern begins with.
fn base(pattern: &str) -> &str {
    let end = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    pattern[..end].rfind('/').map_or("", |at| &pattern[..at])
}

/// What of a folder may be written, and what is worth a word about it.
#[derive(Debug, Default)]
pub(super) struct Grant {
    pub write_subset: WriteSubset,
    pub warnings: Vec<String>,
}

/// What the sandbox is told, of surfaces that were [`read`]. A file that is there is granted alone, a folder with all in it. What is to be made is made in a folder,
/// which is granted, and what else lies in that is kept; so are forbidden surfaces, and what git keeps. A surface that leads into that is refused.
pub(super) fn grant(cwd: &Path, allowed: &[String], forbidden: &[String], git: &[PathBuf]) -> Result<Grant, String> {
    let mut grant = Grant::default();
    let mut open: BTreeSet<PathBuf> = BTreeSet::new();
    // A work tree may itself lie in the folder of its repository.
    let around = |place: &Path| cwd.starts_with(place) && cwd != place && !in_git(&cwd.to_string_lossy());
    let git: Vec<&PathBuf> = git.iter().filter(|place| !around(place)).collect();
    let within = |path: &Path| path.canonicalize().ok().filter(|real| real.starts_with(cwd));
    let in_git = |real: &Path| in_git(&real.to_string_lossy()) || git.iter().any(|place| real.starts_with(place));
    let leads = |surface: &str| Err(format!("`{surface}` leads to what git keeps, and a worker does not change that"));
    for surface in allowed {
        let path = cwd.join(surface);
        let there = path.symlink_metadata().is_ok();
        match within(&path).filter(|_| there) {
            Some(real) if in_git(&real) => return leads(surface),
            Some(real) => grant.write_subset.writes.push(real),
            None if there => {
                grant.warnings.push(format!("`{surface}` leads out of the folder and cannot be written"));
            }
            None if !is_pattern(surface) && surface.contains(char::is_whitespace) && !surface.contains(['/', '.']) => {
                grant.warnings.push(format!("`{surface}` is no path: nothing can be written for it"));
            }
            None => {
                let from = cwd.join(if is_pattern(surface) { base(surface) } else { surface.as_str() });
                let folder = from.ancestors().find(|folder| folder.is_dir());
                match folder.and_then(within) {
                    Some(real) if in_git(&real) => return leads(surface),
                    real => open.extend(real),
                }
            }
        }
    }
    grant.write_subset.writes.extend(open.iter().cloned());
    let writes = &grant.write_subset.writes;
    let git = git.into_iter().filter(|place| writes.iter().any(|real| place.starts_with(real))).cloned();
    let lies_within = |path: &Path| path.symlink_metadata().is_ok() && path.parent().and_then(within).is_some();
    let named = forbidden.iter().map(|surface| cwd.join(surface)).filter(|path| lies_within(path));
    let beside = open.iter().flat_map(|folder| beside(cwd, folder, allowed));
    let mut known = BTreeSet::new();
    // What matters most comes first: beyond the bound it is only measured.
    let mut kept: Vec<PathBuf> = git.chain(named).chain(beside).filter(|path| known.insert(path.clone())).collect();
    if kept.len() > KEPT_MAX {
        let (all, rest) = (kept.len(), kept.len() - KEPT_MAX);
        let said = "files and folders are to stay as they are inside of the allowed surfaces";
        grant.warnings.push(format!("{all} {said}, and {rest} of them are held by nothing: they are only measured"));
        kept.truncate(KEPT_MAX);
    }
    grant.write_subset.kept = kept;
    Ok(grant)
}

/// What lies in a folder and belongs to no allowed surface, nor leads to one.
fn beside(cwd: &Path, folder: &Path, allowed: &[String]) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let leads = |inside: &str, is_folder: bool| {
        allowed.iter().any(|surface| {
            let below = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('/'));
            let way = if is_pattern(surface) { base(surface) } else { surface.as_str() };
            // Below the folder of a pattern anything may match.
            let may_match = is_pattern(surface) && (way.is_empty() || inside == way || below(inside, way));
            holds(surface, inside) || below(surface, inside) || (is_folder && may_match)
        })
    };
    let kept = entries.filter(|entry| {
        let path = entry.path();
        let Some(inside) = path.strip_prefix(cwd).ok().and_then(Path::to_str) else { return true };
        inside == ".git" || !leads(inside, path.is_dir())
    });
    kept.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, write};

    #[test]
    fn a_surface_holds_a_path_a_folder_or_a_pattern() {
        for (surface, path) in [
            ("src/a.js", "src/a.js"),
            ("src", "src/deep/a.js"),
            ("./src/", "src/a.js"),
            ("`src/a.js`", "src/a.js"),
            ("src/**/*.js", "src/deep/a.js"),
            ("*.md", "README.md"),
            ("app/[id]/page.tsx", "app/[id]/page.tsx"),
            ("src/*", "src/deep/a.js"),
        ] {
            assert!(holds(surface, path), "{surface} {path}");
        }
        for (surface, path) in
            [("src/a.js", "src/a.jsx"), ("src", "srcs/a"), ("*.md", "docs/a.md"), ("src/**/*.js", "a.js"), ("a", "b/a")]
        {
            assert!(!holds(surface, path), "{surface} {path}");
        }
    }

    #[test]
    fn a_surface_is_read_however_it_is_written() {
        for (written, surface) in [
            ("src/a", Some("src/a")),
            ("`./src/a/`", Some("src/a")),
            ("src/./a", Some("src/a")),
            (".//src//a/.", Some("src/a")),
            ("src/b/../a", Some("src/a")),
            ("/repo/src/a", Some("src/a")),
            ("/repo/../repo/src/**/*.js", Some("src/**/*.js")),
            ("/repository/src", None),
            ("/etc/passwd", None),
            ("src/../../x", None),
            ("/repo", None),
            ("src/..", None),
        ] {
            assert_eq!(read(written, Path::new("/repo")).as_deref(), surface, "{written}");
        }
    }

    #[test]
    fn what_is_there_is_granted_alone_and_what_is_to_be_made_in_its_folder() {
        let root = folder("surfaces").canonicalize().unwrap();
        for file in ["src/a.js", "src/auth/key.js", "src/b.js", "README.md", ".git/HEAD", "docs/x/old.md"] {
            write(&root, file, "");
        }
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let of = |allowed: &[&str], forbidden: &[&str]| {
            let git = [root.join(".git"), root.join("docs/x")];
            let grant = grant(&root, &list(allowed), &list(forbidden), &git).unwrap();
            let names = |paths: &[PathBuf]| {
                let mut names: Vec<_> =
                    paths.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect();
                names.sort();
                names.join(" ")
            };
            (names(&grant.write_subset.writes), names(&grant.write_subset.kept), grant.warnings.len())
        };
        let is = |found: (String, String, usize), writes: &str, kept: &str, warnings: usize| {
            assert_eq!((found.0.as_str(), found.1.as_str(), found.2), (writes, kept, warnings));
        };
        is(of(&["src/a.js"], &["src/auth"]), "src/a.js", "src/auth", 0);
        is(of(&["src"], &["src/auth", "nowhere", "out", "out/passwd"]), "src", "out src/auth", 0);
        is(of(&["src/new.js"], &["x"]), "src", "src/a.js src/auth src/b.js", 0);
        is(of(&["new.md"], &["x"]), "", ".git README.md docs docs/x out src", 0);
        is(of(&["docs/**/*.md"], &["x"]), "docs", "docs/x", 0);
        is(of(&["*.md"], &["x"]), "", ".git docs/x", 0);
        is(of(&["out", "the cart page"], &["x"]), "", "", 2);
        // Beyond the bound git goes first, then what is forbidden.
        let many: Vec<PathBuf> = (0..KEPT_MAX).map(|number| root.join(format!("docs/{number}/.git"))).collect();
        let grant = grant(&root, &list(&["docs"]), &list(&["docs/x"]), &many).unwrap();
        assert_eq!((grant.write_subset.kept, grant.warnings.len()), (many, 1));
    }
}
