//! Whether a surface is one: a file, a folder or a pattern that leaves something out.

use super::tree::Node;

/// Words that mean everything, whatever stands beside them.
const ALL: [&str; 11] =
    ["all", "every", "any", "entire", "whole", "complete", "full", "everything", "anything", "everywhere", "anywhere"];
/// Words for the place where everything is.
const PLACE: [&str; 4] = ["repo", "repository", "codebase", "workspace"];
/// Words that narrow nothing.
const FILLING: [&str; 18] = [
    "the",
    "of",
    "in",
    "this",
    "our",
    "a",
    "at",
    "under",
    "from",
    "files",
    "file",
    "code",
    "project",
    "root",
    "tree",
    "directory",
    "folder",
    "paths",
];

/// The places of the surfaces of a dossier that are everything, or lie outside of it.
pub fn broad(root: &Node<'_>) -> Vec<u32> {
    let lists = ["allowed_surfaces", "forbidden_surfaces"].into_iter().filter_map(|name| root.get(name)?.list());
    lists.flatten().filter(|surface| surface.text().is_some_and(is_broad)).map(|surface| surface.at).collect()
}

fn is_broad(surface: &str) -> bool {
    let surface = surface.trim().trim_matches(['`', '"', '\'']).trim().to_lowercase();
    !surface.is_empty() && (is_broad_path(&surface) || is_broad_prose(&surface))
}

/// A path that leaves the repository, is its root, or a pattern that every file matches.
fn is_broad_path(path: &str) -> bool {
    let mut depth = 0usize;
    let mut narrow = Vec::new();
    for part in path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            let Some(up) = depth.checked_sub(1) else { return true };
            depth = up;
            narrow.truncate(depth);
        } else {
            depth += 1;
            narrow.push(!part.chars().all(|c| matches!(c, '*' | '?' | '.' | '{' | '}' | ',' | '~')));
        }
    }
    !narrow.contains(&true)
}

fn is_broad_prose(text: &str) -> bool {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let means = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let known = |word: &&str| ALL.contains(word) || PLACE.contains(word) || FILLING.contains(word);
    !text.contains('/') && words.iter().all(known) && (means(&ALL) || means(&PLACE) && words.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surface_leaves_something_out() {
        for broad in [
            ".",
            "./",
            "/",
            "//",
            "./.",
            "./*",
            "./**",
            "*",
            "**",
            "**/*",
            "*.*",
            "**/*.*",
            "*/*",
            "..",
            "../",
            "../other",
            "src/..",
            "src/../..",
            "src/../../x",
            "a/./../*",
            ".\\*",
            "`.`",
            "~",
            "~/",
            "{*,**}",
            "all",
            "All files",
            "all the files",
            "everything",
            "Everything.",
            "entire repo",
            "the whole repository",
            "the entire codebase",
            "repo root",
            "root of the repository",
            "every file in this repo",
            "whole project",
            "any file",
            "  **  ",
        ] {
            assert!(is_broad(broad), "{broad}");
        }
        for narrow in [
            "src",
            "src/cart.js",
            "src/**",
            "*.md",
            "**/*.rs",
            "./src",
            "src/../tests",
            "root",
            "files",
            "code/",
            ".github",
            ".env*",
            "all/x.js",
            "src/all",
            "the cart page",
            "repo/src",
            "docs/*",
            "...rest.js",
            "all.rs",
        ] {
            assert!(!is_broad(narrow), "{narrow}");
        }
    }
}
