//! Titles and labels that call what stands under them an example, or a part of the tests: `## Example`, `An example of an approval`, `tests/fixtures/approved.json:`.

use super::announce::{WORDS, leads};
use super::disown::{bare, is_end, is_form, is_older, is_plain, is_title, saying, words};

/// Words that may stand before the one for an example.
const BEFORE: [&str; 9] = ["a", "an", "the", "one", "another", "some", "for", "as", "here"];
/// What an example may be of, beside what a report is called.
const OF: [&str; 6] = ["approval", "rejection", "refusal", "approved", "rejected", "case"];
/// Folders that hold what is made up for tests.
const MADE_UP: [&str; 10] =
    ["test", "tests", "__tests__", "fixture", "fixtures", "testdata", "example", "examples", "samples", "mocks"];

/// Whether a title or a label calls what follows an example of a report, or of nothing else: `# Example shop` names a shop.
pub fn entitles(line: &str) -> bool {
    let words = words(line);
    let rest = &words[words.iter().take_while(|word| BEFORE.contains(&word.as_str())).count()..];
    let Some((first, rest)) = rest.split_first() else { return false };
    let next =
        || rest.first().is_none_or(|next| next.starts_with(is_end) || is_plain(next) || OF.contains(&bare(next)));
    (is_example(first) && (first.ends_with(is_end) || next())) || (words.len() == 1 && is_made_up(line))
}

/// Whether a line that is no title by its signs says that an example follows, and nothing else.
pub fn is_bare(line: &str) -> bool {
    !line.contains([':', '.', '!', '?']) && entitles(line) && words(line).iter().all(|word| is_known(word))
}

/// The last line of a text, where it is a label of an example, an older report or a form, and nothing but such words.
pub fn last_label(text: &str) -> Option<&str> {
    let mut lines = saying(text);
    let last = lines.next()?;
    let stands = is_title(last) || leads(last) || lines.next().is_none();
    // With a value behind its colon it says something itself: `Previous verdict: rejected`.
    let colons = last.trim_end_matches(|c: char| !c.is_alphanumeric());
    let stands = stands && !colons.contains([':', '：']);
    let all = words(last);
    let calls = all.iter().any(|word| is_example(word) || is_older(word) || is_form(word));
    (stands && calls && all.iter().all(|word| is_known(word))).then_some(last)
}

/// Whether words have the path of a file that was made up for tests.
pub fn is_made_up(words: &str) -> bool {
    let is = |path: &str| {
        let mut folders = path.split('/').map(|folder| folder.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'));
        let name = folders.next_back().unwrap_or_default();
        name.contains('.') && folders.any(|folder| MADE_UP.contains(&folder))
    };
    words.split([' ', '=', '"', '(', ')']).any(is)
}

fn is_known(word: &str) -> bool {
    is_example(word)
        || is_older(word)
        || is_form(word)
        || is_plain(word)
        || BEFORE.contains(&bare(word))
        || OF.contains(&bare(word))
}

/// Whether a word is one for an example, in any language that is known.
fn is_example(word: &str) -> bool {
    let word = bare(word);
    let is = |known: &&str| match word.strip_prefix(*known) {
        Some(rest) if known.is_ascii() && known.starts_with("example") => matches!(rest, "" | "s"),
        Some(rest) => rest.chars().all(char::is_alphabetic),
        None => false,
    };
    WORDS.iter().filter(|known| !known.contains([' ', '.'])).any(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_calls_what_follows_an_example() {
        for title in [
            "# Example",
            "## Examples",
            "## An example",
            "### Example report",
            "### Example output",
            "## Example of an approval",
            "## Example (approved)",
            "## Example: an approval",
            "**Example**",
            "## Beispiel",
            "## 示例",
            "`tests/fixtures/approved.json`:",
            "**tests/fixtures/approved.json**",
        ] {
            assert!(entitles(title), "{title}");
        }
        for title in [
            "# The example shop",
            "# Example shop: review",
            "# Example.com: review",
            "# ExampleShop",
            "## Report",
            "## Review of the example",
            "`src/cart.rs`:",
            "tests/cart.rs and its fixtures pass:",
            "",
        ] {
            assert!(!entitles(title), "{title}");
        }
        assert!(is_bare("An example of the report") && !is_bare("Examples pass now"));
    }
}
