//! Titles and labels that say of what stands under them that it is not the report: an older one, a draft, a form to fill in, or what somebody else said.

use super::announce::{last_sentence, leads};
use super::decides::FORMER;
use super::plain::plain;
use crate::contract::markdown::is_fence;

/// Words that call a report one that does not count, beside [`FORMER`].
const VOID: [&str; 24] = [
    "original",
    "initial",
    "older",
    "outdated",
    "obsolete",
    "stale",
    "superseded",
    "replaced",
    "withdrawn",
    "retracted",
    "revoked",
    "discarded",
    "wrong",
    "incorrect",
    "invalid",
    "draft",
    "preliminary",
    "expected",
    "sample",
    "mock",
    "dummy",
    "template",
    "format",
    "schema",
];
/// What such a word may be about.
const NOUNS: [&str; 19] = [
    "report",
    "reports",
    "verdict",
    "result",
    "results",
    "review",
    "output",
    "answer",
    "response",
    "version",
    "status",
    "block",
    "round",
    "iteration",
    "decision",
    "outcome",
    "message",
    "json",
    "attempt",
];
/// Words that may stand before it.
const LEADS: [&str; 14] =
    ["my", "the", "your", "our", "their", "his", "her", "a", "an", "this", "is", "was", "here", "reference"];
/// Words that go on about when or where that was.
const GOES_ON: [&str; 9] = ["from", "of", "in", "at", "by", "for", "before", "was", "said"];
/// What a short label ends with that shows a form.
const FORMS: [&str; 6] = ["format", "template", "schema", "sample", "draft", "skeleton"];
/// Words that make a label with one of those lead to a report that follows the form.
const FOLLOWS: [&str; 10] = ["in", "per", "as", "using", "with", "by", "following", "to", "this", "here"];
/// What a label ends with that gives the words of somebody, or of another time.
const SAID: [&str; 7] = ["said", "says", "claims", "claimed", "wrote", "reported", "stated"];
/// Whole labels, and how one begins that only supposes something.
const LABELS: [&str; 3] = ["for comparison", "for reference", "instead of"];
const SUPPOSES: [&str; 4] = ["if the", "if it", "if all", "had it"];
/// What is said of something that is not to be used.
const UNUSED: [&str; 4] = ["not use", "not report", "not the report", "not my report"];
/// The same in other languages, by how a word of a short label begins.
const ELSEWHERE: [&str; 30] = [
    "vorherig",
    "vorig",
    "früher",
    "alte",
    "entwurf",
    "vorlage",
    "zurückgezogen",
    "précédent",
    "ancien",
    "brouillon",
    "modèle",
    "anterior",
    "borrador",
    "plantilla",
    "rascunho",
    "precedente",
    "bozza",
    "предыдущ",
    "черновик",
    "шаблон",
    "之前",
    "以前",
    "上一",
    "草稿",
    "模板",
    "前回",
    "下書き",
    "이전",
    "초안",
    "سابق",
];
/// Words of a label that lead to the report itself, whatever title it stands under.
const OWN: [&str; 9] = ["my", "final", "new", "now", "current", "updated", "revised", "corrected", "here"];

/// A label of so many words is short.
const SHORT: usize = 4;
/// So many lines above a report are looked at for its title.
const LINES_MAX: usize = 5;

/// Whether a report stands under a title or a label that disowns it, by the lines before it.
pub fn is_under(before: &str) -> bool {
    let says = |line: &&str| plain(line).contains(char::is_alphanumeric) && !is_fence(line);
    for line in before.lines().rev().map(str::trim).filter(says).take(LINES_MAX) {
        let around = |from: &str, to: &str| line.starts_with(from) && line.ends_with(to);
        if line.starts_with('#') || around("**", "**") || around("<", ">") {
            return disowns(line);
        }
        let label = leads(line);
        if !label || disowns(line) {
            return label;
        }
        if words(line).iter().any(|word| OWN.contains(&word.as_str())) {
            return false;
        }
    }
    false
}

/// The words of a title, each without signs but for one behind it that ends it.
fn words(line: &str) -> Vec<String> {
    let line = plain(line).to_lowercase();
    let word = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && !is_end(c)).to_owned();
    line.split_whitespace().map(word).filter(|word| word.contains(char::is_alphabetic)).collect()
}

/// Whether what stands behind such a sign is a remark.
fn is_end(c: char) -> bool {
    matches!(c, ':' | '：' | ',' | ';' | '(' | '—' | '–')
}

/// Whether a title or a label says that what follows is not the report.
pub fn disowns(line: &str) -> bool {
    let words = words(last_sentence(line));
    let bare: Vec<&str> = words.iter().map(|word| word.trim_matches(is_end)).collect();
    let label = bare.join(" ");
    let last = bare.last().copied().unwrap_or_default();
    let form = (2..SHORT).contains(&bare.len()) && FORMS.contains(&last) && !FOLLOWS.contains(&bare[0]);
    let elsewhere =
        || bare.len() <= SHORT && bare.iter().any(|word| ELSEWHERE.iter().any(|known| word.starts_with(known)));
    is_void(&words)
        || form
        || SAID.contains(&last)
        || LABELS.contains(&label.as_str())
        || SUPPOSES.iter().any(|words| label.starts_with(words))
        || UNUSED.iter().any(|words| label.contains(words))
        || elsewhere()
}

/// Whether a title begins with a word for something that does not count, and speaks of nothing but a report.
fn is_void(words: &[String]) -> bool {
    let bare = |word: &String| word.trim_matches(is_end).to_owned();
    let mut rest = words.iter().skip_while(|word| LEADS.contains(&bare(word).as_str())).peekable();
    let is = |word: &&String| FORMER.contains(&bare(word).as_str()) || VOID.contains(&bare(word).as_str());
    if rest.peek().is_none_or(|word| !is(word)) {
        return false;
    }
    let mut ended = false;
    while let Some(word) = rest.next_if(|word| !ended && (is(word) || NOUNS.contains(&bare(word).as_str()))) {
        ended = word.ends_with(is_end);
    }
    rest.peek().is_none_or(|next| ended || next.starts_with(is_end) || GOES_ON.contains(&bare(next).as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_disowns_what_stands_under_it() {
        for title in [
            "Previous report:",
            "## Previous report",
            "# 2. Previous report (iteration 1)",
            "**Previous report, for reference:**",
            "My earlier report:",
            "All is mended. My earlier report:",
            "This was the old report, of round 1:",
            "The original report:",
            "Superseded:",
            "Withdrawn:",
            "Draft (do not use):",
            "Draft:",
            "Old:",
            "Expected format:",
            "Report format:",
            "Format:",
            "JSON schema:",
            "Template:",
            "Sample:",
            "Incorrect report:",
            "<summary>Previous report</summary>",
            "<details><summary>Earlier verdict</summary>",
            "Before the fix I reported:",
            "The implementor claims:",
            "In iteration 1 I said:",
            "If the tests passed:",
            "For comparison:",
            "I will NOT report this:",
            "Mein früherer Bericht:",
            "Rapport précédent :",
            "Предыдущий отчёт:",
            "之前的报告：",
        ] {
            assert!(disowns(title), "{title}");
        }
        for title in [
            "## Final report",
            "Here is my report:",
            "My report:",
            "# Report",
            "Here it is, following the template:",
            "In the required format:",
            "My report in the requested format:",
            "Previous findings are all mended:",
            "## Previous findings",
            "Old tests pass:",
            "The draft release is tagged:",
            "Formatted output:",
            "Expected failures are gone:",
            "The schema is valid:",
            "The last test passes:",
            "Round 2:",
            "Result:",
            "",
        ] {
            assert!(!disowns(title), "{title}");
        }
    }

    #[test]
    fn the_title_is_the_nearest_one() {
        for before in [
            "## Previous report\n\n```json\n",
            "## Previous report\n\nOf the first round:\n\n```json\n",
            "<details>\n<summary>Previous report</summary>\n\n",
            "Superseded:\n\n---\n\n",
        ] {
            assert!(is_under(before), "{before}");
        }
        for before in [
            "## Previous report\n\nIt was wrong.\n\n",
            "## Previous report\n\nMy report now:\n\n```json\n",
            "## Previous report\n\nx\n\n## Final report\n\n",
            "Previous report: see above.\n\nReport:\n",
            "Superseded:\n\nnothing\n\n",
            "",
        ] {
            assert!(!is_under(before), "{before}");
        }
    }
}
