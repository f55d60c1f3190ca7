//! Packages that a lock file fetches under another name than the one that is asked for.

use super::named::manifests;

/// The package that an entry fetches, where it is not one of those that the entry names. An address has it before `/-/`; elsewhere it
/// stands before its version (`left@npm:1.0.0`).
pub fn other_package(entry: &str, fetched: &str) -> Option<String> {
    let package = match fetched.split_once("/-/") {
        Some((path, _)) => {
            let path = path.replace("%40", "@").replace("%2f", "/").replace("%2F", "/");
            last_of(&path).to_owned()
        }
        None => versioned(fetched)?.to_owned(),
    };
    // `"node_modules/zod": {"name": "other"}`: what is asked for stands first.
    let asked = if entry.contains("node_modules/") { entry.split(' ').next().unwrap_or_default() } else { entry };
    let mut named = asked.split(|c: char| !c.is_alphanumeric() && !"._-@/".contains(c));
    let is_it = |name: &str| last_of(unversioned(name)) == package;
    (!named.any(is_it)).then_some(package)
}

/// The package that one line puts in the place of another: `left: npm:other@1.0.0`, `"left": ["other@1.0.0"`, `"left": {:hex, :other,`.
pub fn in_line<'l>(path: &str, key: &str, value: &[&'l str]) -> Option<&'l str> {
    let package = match value {
        [":hex", package, ..] => package.trim_start_matches(':'),
        [value, ..] if manifests(path)?.contains(&"package.json") => {
            versioned(value.strip_prefix("npm:").unwrap_or(value))?
        }
        _ => return None,
    };
    // Of an entry over several lines, the first one says what is asked for.
    let is_part = matches!(key, "version" | "resolution" | "resolved");
    (last_of(unversioned(key.strip_prefix("npm:").unwrap_or(key))) != package && !is_part).then_some(package)
}

/// The name before a version: `left@1.0.0`, `@good/left@npm:1.0.0`. A version with what it was made for has none: `1.0.0_left@2.0.0`.
pub fn versioned(value: &str) -> Option<&str> {
    let name = unversioned(value);
    let is_name = name.len() < value.len() && name.chars().all(|c| c.is_alphanumeric() || "._-@/".contains(c));
    let is_version = name.starts_with(|c: char| c.is_ascii_digit()) && name.contains('_');
    (is_name && !is_version).then_some(name)
}

/// A name without the version behind it.
fn unversioned(name: &str) -> &str {
    let is_scope = |at: usize| name[..at].is_empty() || name[..at].ends_with('/');
    name.match_indices('@').find(|(at, _)| !is_scope(*at)).map_or(name, |(at, _)| &name[..at])
}

/// The last package of a path, with its scope: `left` of `a/node_modules/left`, `@good/left` of `a/@good/left`.
fn last_of(path: &str) -> &str {
    let last = path.rfind('/').map_or(0, |at| at + 1);
    let before = &path[..last.saturating_sub(1)];
    let scope = before.rfind('/').map_or(0, |at| at + 1);
    if before[scope..].starts_with('@') { &path[scope..] } else { &path[last..] }
}
