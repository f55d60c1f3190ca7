//! Words that say of what follows that it is an example: whether it is the report all the same, nobody can tell.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use super::{disown, entitled};
use crate::contract::markdown::{Fence, is_fence, marked};

/// Words that announce an example, or what somebody would have said, in the languages that agents are spoken to in. A word begins
/// where one of them does; one that ends with a space is whole.
pub const WORDS: &[&str] = &[
    // English
    "example",
    "e.g.",
    "for instance",
    "a sample",
    "sample report",
    "sample output",
    "sample verdict",
    "a template",
    "would say",
    "would be",
    "would have",
    "would look",
    "would read",
    "would return",
    "would answer",
    "would report",
    "would reply",
    "would print",
    "would write",
    "would send",
    "would give",
    "hypothetical",
    "placeholder",
    // German, Dutch, the north
    "beispiel",
    "z. b.",
    "z.b.",
    "würde ",
    "wäre ",
    "hätte ",
    "platzhalter",
    "voorbeeld",
    "bijvoorbeeld",
    "exempel",
    "eksempel",
    "esimerk",
    // French, Spanish, Portuguese, Italian
    "exemple",
    "serait ",
    "ejemplo",
    "sería ",
    "exemplo",
    "esempio",
    "sarebbe ",
    // Polish, Czech, Ukrainian, Russian, Turkish
    "przykład",
    "například",
    "příklad",
    "приклад",
    "пример",
    "örnek",
    // Chinese, Japanese, Korean, Hindi, Arabic
    "例如",
    "比如",
    "示例",
    "样例",
    "範例",
    "范例",
    "例えば",
    "たとえば",
    "예시",
    "예를 들",
    "उदाहरण",
    "مثال",
];

/// How many bytes before a document are looked at.
const BEFORE_BYTES: usize = 400;

/// The languages of a code fence that a report may be written in.
const LANGUAGES: [&str; 15] = [
    "",
    "json",
    "jsonc",
    "json5",
    "jsonl",
    "ndjson",
    "js",
    "javascript",
    "yaml",
    "yml",
    "text",
    "txt",
    "plain",
    "plaintext",
    "output",
];

/// Further ones that the word which decides a report may be written in.
const DATA: [&str; 10] = ["toml", "xml", "html", "ini", "properties", "env", "csv", "md", "markdown", "report"];

/// Whether a document is shown, not said: in a quote, in code of another language, behind words that call it an example, or taken out.
pub fn is_example(text: &str, range: &Range<usize>) -> bool {
    label(text, range).is_some() || is_out(text, range) || is_code(text, range)
}

/// What takes out the text between two signs.
const OUT: [(&str, &str); 4] = [("<!--", "-->"), ("<del>", "</del>"), ("<s>", "</s>"), ("<strike>", "</strike>")];

/// What parts two paragraphs.
const BLANKS: [&str; 2] = ["\n\n", "\n\r\n"];

/// Whether a document is struck through, or in a comment.
fn is_out(text: &str, range: &Range<usize>) -> bool {
    let (before, behind) = (&text[..range.start], &text[range.end..]);
    // Behind a report stands little, and before it all that was printed: that is looked through only where something may end.
    let open = |(from, to): &(&str, &str)| {
        behind.contains(to)
            && memmem::rfind(before.as_bytes(), from.as_bytes()).is_some_and(|at| !before[at..].contains(to))
    };
    // A paragraph in which an odd number of these stands before it, and one behind it; three of them are a fence.
    let strikes = |text: &str| text.replace("~~~", "").matches("~~").count();
    let paragraph = || &before[BLANKS.iter().filter_map(|blank| before.rfind(blank)).max().unwrap_or(0)..];
    let rest = &behind[..BLANKS.iter().filter_map(|blank| behind.find(blank)).min().unwrap_or(behind.len())];
    OUT.iter().any(open) || (strikes(rest) > 0 && strikes(paragraph()) % 2 == 1)
}

/// Whether a document stands in a line as code.
pub fn is_inline(text: &str, range: &Range<usize>) -> bool {
    let before = &text[..range.start];
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.ends_with('`') && text[range.end..].starts_with('`')
}

/// Whether a document stands in a code fence of another language, or in a fence that is itself shown in one.
fn is_code(text: &str, range: &Range<usize>) -> bool {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let behind = text[range.end..].split_once('\n').map_or("", |(_, behind)| behind);
    // One that never ends was forgotten.
    if marked(behind).next().is_none() {
        return false;
    }
    let (mut fence, mut open) = (Fence::default(), None);
    for (_, line) in marked(&text[..start]) {
        open = fence.is_code(line).then(|| open.unwrap_or(line));
    }
    let Some(open) = open.filter(|_| marked(behind).any(|(_, line)| !fence.is_code(line))) else { return false };
    let above = text[..start].trim_end().lines().next_back().unwrap_or_default().trim();
    !LANGUAGES.contains(&&*language(open)) || (is_fence(above) && above != open.trim())
}

/// The language that a line names which opens a code fence.
fn language(open: &str) -> String {
    let info = open.trim().trim_start_matches(['`', '~']).trim();
    info.split([' ', '{', ',', ':']).next().unwrap_or_default().to_lowercase()
}

/// A text at the same length without the lines of code fences in which neither a report nor its words are written; one that never ends was forgotten.
pub fn without_code(text: &str) -> Cow<'_, str> {
    // The end of the fence that a report before this text stands in is no beginning.
    let own = text.len() - text.trim_start().len();
    let own =
        own + text[own..].lines().next().filter(|line| is_fence(line) && language(line).is_empty()).map_or(0, str::len);
    let (mut fence, mut open, mut shown) = (Fence::default(), None, Vec::new());
    for (at, line) in marked(&text[own..]) {
        match (fence.is_code(line), open.take()) {
            (true, None) => open = Some((own + at, language(line))),
            (true, known) => open = known,
            (false, Some((from, language))) if !LANGUAGES.iter().chain(&DATA).any(|known| *known == language) => {
                shown.push(from..own + at);
            }
            (false, _) => {}
        }
    }
    if shown.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    for range in shown {
        bytes[range].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The words before a document that call it an example, or disown it: in its line, or above it.
pub fn label<'t>(text: &'t str, range: &Range<usize>) -> Option<&'t str> {
    let from = text.floor_char_boundary(range.start.saturating_sub(BEFORE_BYTES));
    let before = &text[from..range.start];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let words = before[line..].trim();
    if !words.is_empty() {
        // Code quotes around it, or a colon before it, in a line with words.
        let quoted = words.ends_with('`') && text[range.end..].starts_with('`');
        let called = || announces(words) || disown::disowns(words);
        return (words.starts_with('>') || ((quoted || leads(words)) && called())).then_some(words);
    }
    let announced = || {
        let mut lines = before[..line].lines().rev().map(str::trim).filter(|line| !line.is_empty());
        let above = lines.next()?;
        let leads_to = |line: &&str| leads(line) && announces(line);
        match is_fence(above) {
            false => Some(above).filter(|line| leads_to(line) && !line.starts_with('#')),
            true if announces(above) || entitled::is_made_up(above) => Some(above),
            true => lines.next().filter(|line| leads_to(line) || entitles(line)),
        }
    };
    disown::above(&before[..line]).or_else(announced)
}

/// Whether words lead to what follows them.
pub fn leads(words: &str) -> bool {
    words.trim_end_matches(['*', '_', '`', ' ']).ends_with([':', '：'])
}

/// Whether a line is a title that calls what follows an example: a heading, bold words, or a tag that begins with the word.
fn entitles(line: &str) -> bool {
    let around = |from: &str, to: &str| line.starts_with(from) && line.ends_with(to);
    let title = line.starts_with('#') || around("**", "**") || around("<", ">");
    let words = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    title && WORDS.iter().any(|word| words.starts_with(word))
}

/// Whether the last sentence of some words announces an example.
fn announces(words: &str) -> bool {
    let lower = words.to_lowercase();
    let said = format!("{} ", last_sentence(&lower).trim_end_matches(|c: char| !c.is_alphanumeric()));
    WORDS.iter().any(|word| {
        let begins = |(at, _): (usize, &str)| !word.is_ascii() || !said[..at].ends_with(char::is_alphanumeric);
        said.match_indices(word.trim_end_matches('.')).any(begins)
    })
}

/// The sentence that leads on: what was said before it is about something else.
pub fn last_sentence(words: &str) -> &str {
    let last = words.rfind(['!', '?', '。']).map_or(0, |at| words.ceil_char_boundary(at + 1));
    let ends =
        |(at, _): &(usize, &str)| !ABBREVIATED.iter().any(|short| words[..*at + 1].to_lowercase().ends_with(short));
    &words[words.rmatch_indices(". ").find(ends).map_or(last, |(at, _)| last.max(at + 1))..]
}

/// A point that ends no sentence.
const ABBREVIATED: [&str; 4] = ["e.g.", "z.", "z. b.", "z.b."];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let at = text.rfind("{}").unwrap();
        assert_eq!(is_example(text, &(at..at + 2)), expected, "{text}");
    }

    #[test]
    fn an_example_is_announced() {
        for text in [
            "If it were mended I would say:\n```json\n{}\n```",
            "For example:\n\n~~~\n{}\n~~~",
            "An approval would have been `{}`.",
            "For example:\n{}",
            "An approval, e.g.: {}",
            "All is well. For example:\n{}",
            "### Example\n\n```json\n{}\n```",
            "**Example output**\n```\n{}\n```",
            "<example>\n```json\n{}\n```\n</example>",
            "If everything passes I would answer:\n```json\n{}\n```",
            "`tests/fixtures/approved.json`:\n\n```json\n{}\n```",
            "**tests/fixtures/approved.json**\n\n{}",
            "```json title=\"tests/fixtures/approved.json\"\n{}\n```",
            "A valid answer looks like this:\n\n{}",
            "```json example\n{}\n```",
            "Zum Beispiel:\n```json\n{}\n```",
            "Ein Accept sähe so aus, z. B.:\n```json\n{}\n```",
            "Wäre alles gut, würde ich sagen:\n{}",
            "Por ejemplo:\n{}",
            "Par exemple :\n```\n{}\n```",
            "Например, пример:\n{}",
            "例如：\n```json\n{}\n```",
            "They said:\n\n> {}\n",
            "```python\nexpected = {}\n```\n",
            "```sh\ncat > it <<'X'\n{}\nX\n```\n",
            "````md\n```json\n{}\n```\n````\n",
            "~~{}~~",
            "~~My verdict: {}~~",
            "<!-- {} -->",
            "<!--\n\n{}\n\n-->\n",
            "<del>{}</del>",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn a_report_is_announced_otherwise() {
        for text in [
            "My report:\n```json\n{}\n```",
            "The example is in the tests.\n```json\n{}\n```",
            "The example passes now. My report:\n```json\n{}\n```",
            "I found a counterexample:\n```json\n{}\n```",
            "Here it is, following the template:\n```json\n{}\n```",
            "The serialisation is safe:\n{}",
            "# The example shop\n\n{}",
            "I would like to report:\n\n{}",
            "All of tests/cart.rs pass:\n\n{}",
            "```json title=\"report.json\"\n{}\n```",
            "`{}`",
            "{}",
            "```rust\nfn main() {\n\n{}\n",
            "```rust\nfn main() {}x\n```\n\n```json\n{}\n```\n",
            "~~~~ json\n{}\n~~~~\n",
            "~~~\n{}\n~~~\n",
            "<!-- a note -->\n{}\n<!-- another -->",
            "~~not this~~ {} ~~nor this~~",
        ] {
            check(text, false);
        }
    }
}
