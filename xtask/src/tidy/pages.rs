//! Pages that must be there: one per code, decisions in order, a changelog, the licences.

use std::collections::BTreeMap;

use super::repo::Repo;

const CODES: &str = "crates/tollgate-core/src/code.rs";

/// Files that a repository like this one has, and a line each must hold.
const REQUIRED: &[(&str, &str)] = &[
    ("AGENTS.md", "# "),
    ("ARCHITECTURE.md", "# "),
    ("CHANGELOG.md", "## [Unreleased]"),
    ("CONTRIBUTING.md", "# "),
    ("LICENSE-APACHE", "Apache License"),
    ("LICENSE-MIT", "MIT License"),
    ("README.md", "# "),
    ("docs/decisions/README.md", "# "),
];

/// Every code has a page with its name as the title, and every page a code.
pub fn codes(repo: &Repo) -> Vec<String> {
    let source = repo.files.get(CODES).map_or("", String::as_str);
    let mut declared: BTreeMap<&str, usize> = BTreeMap::new();
    for code in source.split('"').skip(1).step_by(2).filter(|text| is_code(text)) {
        *declared.entry(code).or_default() += 1;
    }
    let mut found = Vec::new();
    for (code, times) in &declared {
        let path = format!("docs/codes/{code}.md");
        match repo.files.get(&path) {
            None => found.push(format!("{CODES}: {code} has no page; write {path}")),
            Some(page) if !page.starts_with(&format!("# {code}: ")) => {
                found.push(format!("{path}: the title is not `# {code}: …`"))
            }
            Some(_) => {}
        }
        if *times > 1 {
            found.push(format!("{CODES}: {code} is declared {times} times"));
        }
    }
    for name in repo.children("docs/codes") {
        if !declared.contains_key(name.trim_end_matches(".md")) {
            found.push(format!("docs/codes/{name}: no such code in {CODES}"));
        }
    }
    found
}

fn is_code(text: &str) -> bool {
    text.strip_prefix("TG").is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Decisions are numbered from 0001 without gaps, and each is titled by its number.
pub fn decisions(repo: &Repo) -> Vec<String> {
    let names = repo.children("docs/decisions").into_iter().filter(|name| name != "README.md");
    let mut found = Vec::new();
    for (index, name) in names.enumerate() {
        let number = format!("{:04}", index + 1);
        let path = format!("docs/decisions/{name}");
        if !name.starts_with(&format!("{number}-")) || !name.ends_with(".md") {
            found.push(format!("{path}: {number} comes here; numbers have no gaps and are given once"));
        } else if !repo.files.get(&path).is_some_and(|page| page.starts_with(&format!("# {number}. "))) {
            found.push(format!("{path}: the title is not `# {number}. …`"));
        }
    }
    found
}

/// The pages that a newcomer looks for are there.
pub fn required(repo: &Repo) -> Vec<String> {
    let missing = REQUIRED.iter().filter(|(path, text)| !repo.files.get(*path).is_some_and(|page| page.contains(text)));
    missing.map(|(path, text)| format!("{path}: missing, or without `{text}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_pages_are_paired() {
        let repo = Repo::of(&[
            (
                CODES,
                "codes! { A = \"TG0100\", B = \"TG0101\", C = \"TG0102\", D = \"TG0102\", } // as `TG0142` or \"tg142\"",
            ),
            ("docs/codes/TG0100.md", "# TG0100: a\n"),
            ("docs/codes/TG0102.md", "# c\n"),
            ("docs/codes/TG0200.md", "# TG0200: gone\n"),
        ]);
        let found = codes(&repo);
        let expected =
            ["TG0101 has no page", "TG0102.md: the title", "TG0102 is declared 2 times", "TG0200.md: no such code"];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(found.iter().zip(expected).all(|(found, expected)| found.contains(expected)), "{found:?}");
    }

    #[test]
    fn decisions_have_no_gaps() {
        let good = [
            ("docs/decisions/README.md", ""),
            ("docs/decisions/0001-a.md", "# 0001. A"),
            ("docs/decisions/0002-b.md", "# 0002. B"),
        ];
        assert!(decisions(&Repo::of(&good)).is_empty());
        assert_eq!(decisions(&Repo::of(&[good[0], good[2]])).len(), 1);
        assert_eq!(decisions(&Repo::of(&[good[1], ("docs/decisions/0001-b.md", "# 0001. B")])).len(), 1);
        assert_eq!(decisions(&Repo::of(&[("docs/decisions/0001-a.md", "# A")])).len(), 1);
    }

    #[test]
    fn missing_pages_are_named() {
        assert_eq!(required(&Repo::default()).len(), REQUIRED.len());
        let repo = Repo::of(&[("CHANGELOG.md", "# Changelog\n")]);
        assert!(required(&repo).iter().any(|breach| breach.starts_with("CHANGELOG.md")));
    }
}
