//! What the language of contracts cannot say: small checks by name. Each answers with the places where it is broken.

use std::collections::BTreeSet;

use crate::defined::layout::{Outline, is_unchecked, unmarked};
use crate::tree::Node;

/// A check over a whole document.
pub type Check = fn(&Node<'_>) -> Vec<u32>;

const CHECKS: [(&str, Check); 9] = [
    ("recommends-an-option", recommends_an_option),
    ("recommends-an-option-or-none", |root| match recommendation(root).starts_with("No recommendation") {
        true => Vec::new(),
        false => recommends_an_option(root),
    }),
    ("one-priority", |root| exactly_one(root, "priority:", &["high", "medium", "low"])),
    ("one-complexity", |root| exactly_one(root, "complexity:", &["simple", "complex"])),
    ("only-implement", |root| exactly_one(root, "task:", &["implement"])),
    ("only-refinement", |root| exactly_one(root, "task:", &["refinement"])),
    ("only-pending", |root| exactly_one(root, "status:", &["pending"])),
    ("surfaces-are-narrow", broad_surfaces),
    ("boxes-are-checked", |root| {
        let texts = ["summary", "checklist"].into_iter().filter_map(|name| root.get(name));
        texts.filter(|text| text.text().is_some_and(has_open_box)).map(|text| text.at).collect()
    }),
];

/// The check of a name.
pub fn find(name: &str) -> Option<Check> {
    CHECKS.iter().find(|(known, _)| *known == name).map(|(_, check)| *check)
}

/// Whether a Markdown text has a list item with a check box that is not checked.
fn has_open_box(text: &str) -> bool {
    let outline = Outline::of(text);
    let is_open = |item: &str| is_unchecked(unmarked(item));
    outline.items.iter().any(|item| is_open(&text[item.range.clone()]) && !outline.is_opaque(item.range.start))
}

/// Among `labels` exactly one begins with a prefix, and goes on with a known word.
fn exactly_one(root: &Node<'_>, prefix: &str, words: &[&str]) -> Vec<u32> {
    let labels = root.get("labels").and_then(Node::list).unwrap_or_default();
    // A label that is there twice has an error of its own. Trackers ignore the case of labels.
    let own = labels.iter().filter_map(|label| label.word().map(str::to_lowercase));
    let own: BTreeSet<String> = own.filter_map(|label| label.strip_prefix(prefix).map(str::to_owned)).collect();
    match own.first() {
        Some(word) if own.len() == 1 && words.contains(&&**word) => Vec::new(),
        _ => vec![root.get("labels").map_or(0, |labels| labels.at)],
    }
}

/// `recommendation` begins with `Option` and the number or letter of one of `options`.
fn recommends_an_option(root: &Node<'_>) -> Vec<u32> {
    let (Some(said), Some(options)) = (root.get("recommendation"), root.get("options").and_then(Node::list)) else {
        return Vec::new();
    };
    let mut words = recommendation(root).split(|c: char| !c.is_alphanumeric());
    let is_option = words.next().is_some_and(|word| word.eq_ignore_ascii_case("option"));
    let named = words.next().and_then(place).filter(|_| is_option);
    // Without options or a text there is another error already.
    let holds = options.is_empty() || said.is_blank() || named.is_some_and(|place| place < options.len());
    if holds { Vec::new() } else { vec![said.at] }
}

/// The first paragraph of `recommendation`: code, quotes and comments may come before it.
fn recommendation<'n>(root: &'n Node<'_>) -> &'n str {
    let text = root.get("recommendation").and_then(Node::text).unwrap_or_default();
    let first = Outline::of(text).paragraphs.into_iter().next();
    text[first.unwrap_or(0..0)].trim_start_matches(['*', '_', '`'])
}

/// The place that a number or a letter names.
fn place(word: &str) -> Option<usize> {
    match word.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(usize::from(letter.to_ascii_lowercase() - b'a')),
        _ => word.parse::<usize>().ok()?.checked_sub(1),
    }
}

/// The places of the surfaces of a dossier that are the whole repository, or lie outside of it.
fn broad_surfaces(root: &Node<'_>) -> Vec<u32> {
    let lists = ["allowed_surfaces", "forbidden_surfaces"].into_iter().filter_map(|name| root.get(name)?.list());
    lists.flatten().filter(|surface| surface.text().is_some_and(is_broad)).map(|surface| surface.at).collect()
}

/// Whether a path leaves the repository, is its root, or is a pattern that every file matches.
fn is_broad(path: &str) -> bool {
    let path = path.trim().trim_matches('`');
    let mut narrow = Vec::new();
    for part in path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")) {
        if part != ".." {
            narrow.push(!part.chars().all(|c| matches!(c, '*' | '?' | '.' | '{' | '}' | ',' | '~')));
        } else if narrow.pop().is_none() {
            return true;
        }
    }
    !path.is_empty() && !narrow.contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::json;

    #[test]
    fn a_recommendation_begins_with_its_option() {
        let broken = |recommendation: &str| {
            let text = format!(r#"{{"recommendation": "{recommendation}", "options": [{{"name": "Round"}}, "Keep"]}}"#);
            !recommends_an_option(&json::read(&text).unwrap()).is_empty()
        };
        for good in ["Option A because", "option 2.", "**Option B**: cheap", "Option 1, or a new one", "Option A"] {
            assert!(!broken(good), "{good}");
        }
        for bad in ["Option C", "Ask somebody", "option 0", "Optional", "3", "A", "I would take Option A", "Round"] {
            assert!(broken(bad), "{bad}");
        }
    }

    #[test]
    fn a_surface_leaves_something_out() {
        for broad in [
            ".",
            "./",
            "/",
            "./*",
            "**",
            "**/*",
            "*.*",
            "..",
            "../other",
            "src/..",
            "src/../..",
            "a/./../*",
            ".\\*",
            "`.`",
            "~",
            "{*,**}",
        ] {
            assert!(is_broad(broad), "{broad}");
        }
        for narrow in
            ["src", "src/cart.js", "src/**", "*.md", "./src", "src/../tests", ".github", "the cart page", "all files"]
        {
            assert!(!is_broad(narrow), "{narrow}");
        }
    }

    #[test]
    fn a_box_is_an_item_outside_of_code_and_quotes() {
        for open in ["- [ ] a", "- [x] a\n- [ ] b", "1. [ ] a", "- a\n  - [ ] b"] {
            assert!(has_open_box(open), "{open}");
        }
        for checked in ["- [x] a", "an `[ ]` in words", "```\n- [ ] a\n```", "> - [ ] a", "<!-- - [ ] a -->", "[ ] a"] {
            assert!(!has_open_box(checked), "{checked}");
        }
    }
}
