//! What other people's crates may be: under a licence that `deny.toml` allows, and from the registry.

use super::repo::{Foreign, Repo};

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The binary holds all of them, so each must be shippable under either of our licences, and must not vanish behind its name.
pub fn crates(repo: &Repo) -> Vec<String> {
    let allowed = quoted(repo.files.get("deny.toml").map_or("", String::as_str), "\nallow = [\n", "\n]\n");
    let banned = quoted(repo.files.get("deny.toml").map_or("", String::as_str), "\ndeny = [\n", "\n]\n");
    let mut found = Vec::new();
    for Foreign { name, license, source } in &repo.foreign {
        if !holds(license, &allowed) {
            found.push(format!("{name}: licence `{license}`, which deny.toml does not allow"));
        }
        if source != REGISTRY {
            found.push(format!("{name}: comes from `{source}` and not from the registry"));
        }
        if banned.contains(&name.as_str()) {
            found.push(format!("{name}: deny.toml says why it may not be built in"));
        }
    }
    found
}

/// What stands in quotes between two marks of a file, comments left out.
fn quoted<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    let rest = text.split_once(from).map_or("", |(_, rest)| rest);
    let part = rest.split_once(to).map_or(rest, |(part, _)| part);
    let lines = part.lines().map(|line| line.split_once('#').map_or(line, |(line, _)| line));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2)).collect()
}

/// Whether an SPDX expression can be met with the allowed licences: every part of an `AND`, one part of an `OR`.
fn holds(expression: &str, allowed: &[&str]) -> bool {
    let all = |part: &str| {
        let mut any = part.trim_matches(|c| matches!(c, '(' | ')' | ' ')).split(" OR ").flat_map(|one| one.split('/'));
        any.any(|licence| allowed.contains(&licence.trim()))
    };
    expression.split(" AND ").all(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = "[licenses]\n# \"GPL-3.0\" never\nallow = [\n    \"MIT\", # why\n    \"Unicode-3.0\",\n]\n\n[bans]\ndeny = [\n    { crate = \"tokio\", reason = \"sync\" },\n]\n\n[sources]\n";

    #[test]
    fn licences_sources_and_bans_are_held() {
        let foreign = |name: &str, license: &str, source: &str| Foreign {
            name: name.to_owned(),
            license: license.to_owned(),
            source: source.to_owned(),
        };
        let mut repo = Repo::of(&[("deny.toml", DENY)]);
        repo.foreign = vec![
            foreign("good", "GPL-3.0 OR MIT", REGISTRY),
            foreign("old", "Apache-2.0/MIT", REGISTRY),
            foreign("both", "(MIT OR Apache-2.0) AND Unicode-3.0", REGISTRY),
            foreign("copyleft", "GPL-3.0", REGISTRY),
            foreign("half", "MIT AND OpenSSL", REGISTRY),
            foreign("none", "", REGISTRY),
            foreign("elsewhere", "MIT", "git+https://example.org/x"),
            foreign("tokio", "MIT", REGISTRY),
        ];
        let found = crates(&repo);
        let names: Vec<_> = found.iter().map(|line| line.split(':').next().unwrap_or_default()).collect();
        assert_eq!(names, ["copyleft", "half", "none", "elsewhere", "tokio"], "{found:?}");
    }
}
