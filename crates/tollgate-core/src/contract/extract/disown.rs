//! Titles and labels that say of what stands under them that it is not the report: an older one, a draft, a form to fill in, or what somebody else said.

use super::announce::{last_sentence, leads};
use super::decides::FORMER;
use super::entitled::{entitles, is_bare};
use super::plain::plain;
use crate::contract::markdown::is_fence;

/// Words that call a report one that does not count, beside [`FORMER`].
const VOID: [&str; 23] = [
    "previously",
    "original",
    "older",
    "outdated",
    "obsolete",
    "deprecated",
    "stale",
    "superseded",
    "replaced",
    "withdrawn",
    "retracted",
    "revoked",
    "discarded",
    "disregard",
    "ignore",
    "void",
    "wrong",
    "incorrect",
    "invalid",
    "draft",
    "preliminary",
    "archived",
    "cancelled",
];
/// Words for a form, with which a short label may end, and words for what stands in one.
const FORMS: [&str; 5] = ["format", "template", "schema", "sample", "skeleton"];
const SHOWS: [&str; 3] = ["expected", "mock", "dummy"];
/// What such a word may be about.
const NOUNS: [&str; 22] = [
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
    "copy",
    "this",
    "following",
];
/// Words that may stand before it.
const LEADS: [&str; 14] =
    ["my", "the", "your", "our", "their", "his", "her", "a", "an", "this", "is", "was", "here", "reference"];
/// Words that go on about when or where that was.
const GOES_ON: [&str; 9] = ["from", "of", "in", "at", "by", "for", "before", "was", "said"];
/// Words that make a label with a form lead to a report that follows it.
const FOLLOWS: [&str; 10] = ["in", "per", "as", "using", "with", "by", "following", "to", "this", "here"];
/// What a label ends with that gives the words of somebody, or of another time.
const SAID: [&str; 7] = ["said", "says", "claims", "claimed", "wrote", "reported", "stated"];
/// Whole labels, and how one begins that only supposes something.
const LABELS: [&str; 3] = ["for comparison", "for reference", "instead of"];
const SUPPOSES: [&str; 4] = ["if the", "if it", "if all", "had it"];
/// What is said of something that is not to be used.
const UNUSED: [&str; 10] = [
    "not use",
    "not return",
    "not print",
    "not send",
    "not submit",
    "not report",
    "not the report",
    "not my report",
    "not this",
    "no longer valid",
];
/// What there is a first one of where there is another.
const TRIES: [&str; 3] = ["attempt", "try", "answer"];
/// Words that only point from a form to what stands below.
const POINTS: [&str; 9] = ["is", "was", "as", "this", "below", "here", "follows", "looks", "like"];
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
/// Words of a label that lead to the report itself, and those that do so under another title only.
const OWN: [&str; 16] = [
    "final",
    "new",
    "current",
    "updated",
    "revised",
    "corrected",
    "filled",
    "completed",
    "now",
    "fixed",
    "mended",
    "resolved",
    "addressed",
    "replaces",
    "supersedes",
    "corrects",
];
const LEADS_ON: [&str; 2] = ["my", "here"];

/// What is left of an older report: it is listed, and not the report itself.
const LEFT: [&str; 8] = ["findings", "issues", "comments", "problems", "questions", "tests", "changes", "feedback"];

/// A label of so many words is short.
const SHORT: usize = 4;
/// So many lines above a report are looked at for its title.
const LINES_MAX: usize = 5;
/// A longer line is no title and no label.
const LINE_BYTES: usize = 400;

/// The title or the label that a report stands under and that disowns it, or calls it an example, by the lines before it. What only says when or of which round that was may
/// stand between the two.
pub fn above(before: &str) -> Option<&str> {
    for line in saying(before).take(LINES_MAX) {
        let (title, label) = (is_title(line), leads(line));
        if if title || label { disowns(line) || entitles(line) } else { is_bare_title(line) || is_bare(line) } {
            return Some(line);
        }
        let words = words(line);
        let goes_on = label || words.iter().all(|word| is_plain(word));
        if title || !goes_on || words.iter().any(|word| is_own(word) || LEADS_ON.contains(&bare(word))) {
            return None;
        }
    }
    None
}

/// What the last title or label of a text is found to be that says whether a report below it is an older one.
#[derive(Debug, PartialEq, Eq)]
pub enum Leads<'t> {
    /// To an older one, or one that does not count: by this line.
    ToFormer(&'t str),
    ToNew,
}

/// What the last words of a text lead to that say so, wherever they stand.
pub fn last_lead(text: &str) -> Option<Leads<'_>> {
    saying(text).filter(|line| line.len() <= LINE_BYTES).find_map(|line| {
        let last = last_sentence(line);
        let former = match is_title(line) || leads(line) {
            true if is_title(line) && entitles(line) => true,
            true => is_set_aside(last, &words(last), true) && !words(last).iter().any(|word| is(&LEFT, word)),
            false => is_bare_title(line),
        };
        let own = || words(line).iter().any(|word| is_own(word)).then_some(Leads::ToNew);
        former.then_some(Leads::ToFormer(line)).or_else(own)
    })
}

/// The lines of a text that have words, from the last one on.
pub fn saying(text: &str) -> impl Iterator<Item = &str> {
    text.lines().rev().map(str::trim).filter(|line| plain(line).contains(char::is_alphanumeric) && !is_fence(line))
}

/// Whether a line is a title by its signs.
pub fn is_title(line: &str) -> bool {
    let around = |from: &str, to: &str| line.starts_with(from) && line.ends_with(to);
    line.starts_with('#') || around("**", "**") || around("<", ">")
}

/// The words of a title, each without signs but for one beside it that ends something.
pub fn words(line: &str) -> Vec<String> {
    let line = plain(line).to_lowercase();
    let word = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && !is_end(c)).to_owned();
    line.split_whitespace().map(word).filter(|word| word.contains(char::is_alphabetic)).collect()
}

/// Whether what stands behind such a sign is a remark.
pub fn is_end(c: char) -> bool {
    matches!(c, ':' | '：' | ',' | ';' | '(' | '—' | '–')
}

pub fn bare(word: &str) -> &str {
    word.trim_matches(|c| is_end(c) || c == ')')
}

fn is(list: &[&str], word: &str) -> bool {
    list.contains(&bare(word))
}

fn is_own(word: &str) -> bool {
    bare(word).split('-').any(|part| OWN.contains(&part))
}

/// Whether a word says nothing but that a report, or a part of the work, is meant: `report of round`, `v1`.
pub fn is_plain(word: &str) -> bool {
    let numbered = word.contains(|c: char| c.is_ascii_digit()) && bare(word).chars().all(char::is_alphanumeric);
    numbered || is(&LEADS, word) || is(&NOUNS, word) || is(&GOES_ON, word)
}

pub fn is_older(word: &str) -> bool {
    is(&FORMER, word) || is(&VOID, word)
}

pub fn is_form(word: &str) -> bool {
    is(&FORMS, word) || is(&SHOWS, word)
}

/// Whether a line that is no title by its signs, as it is underlined, in italics or in a frame, speaks of an older report and nothing else.
fn is_bare_title(line: &str) -> bool {
    let words = words(line);
    let named = || words.windows(2).any(|pair| is_older(&pair[0]) && is(&NOUNS, &pair[1]));
    words.iter().all(|word| is_older(word) || is_plain(word)) && named() && !line.contains(':')
}

/// Whether a title or a label says that what follows is not the report.
pub fn disowns(line: &str) -> bool {
    let line = last_sentence(line);
    let words = words(line);
    let all: Vec<&str> = words.iter().map(|word| bare(word)).collect();
    let label = all.join(" ");
    let last = all.last().copied().unwrap_or_default();
    let form = || (2..SHORT).contains(&all.len()) && FORMS.contains(&last) && !FOLLOWS.contains(&all[0]);
    let own = || words.iter().any(|word| is_own(word));
    let tried = || all.windows(2).any(|pair| pair[0] == "first" && TRIES.contains(&pair[1]));
    let looks = || matches!(all.first(), Some(&("a" | "an"))) && label.contains(" looks like");
    is_set_aside(line, &words, false)
        || ((form() || tried() || looks()) && !own())
        || SAID.contains(&last)
        || LABELS.contains(&label.as_str())
        || (SUPPOSES.iter().any(|words| label.starts_with(words)) && !all.contains(&"here"))
}

/// Whether a label calls what follows an older report, or one that is not to be used; `anywhere`: whatever else it speaks of.
fn is_set_aside(line: &str, words: &[String], anywhere: bool) -> bool {
    let all: Vec<&str> = words.iter().map(|word| bare(word)).collect();
    let label = all.join(" ");
    let elsewhere =
        || all.len() <= SHORT && all.iter().any(|word| ELSEWHERE.iter().any(|known| word.starts_with(known)));
    let turns = || line.rsplit(';').next().and_then(|clause| clause.rsplit(" but ").next()).is_some_and(leads_to_own);
    let own = words.iter().any(|word| is_own(word));
    (!own && (0..words.len()).any(|at| names_older(words, at, anywhere)))
        || (UNUSED.iter().any(|words| label.contains(words)) && !turns())
        || elsewhere()
}

/// Whether a clause that is no denial leads to the report: `… but the final one`.
fn leads_to_own(clause: &str) -> bool {
    let words = words(clause);
    words.iter().any(|word| is_own(word)) && !words.iter().any(|word| bare(word) == "not")
}

/// Whether the words from one on call a report older, or a form: they name a report or nothing, and do not say what it was (`Previous verdict: rejected`).
/// Before them, since the last sign that ends something, stand only words that lead to them, or any where a report is named.
fn names_older(words: &[String], at: usize, anywhere: bool) -> bool {
    if !is_older(&words[at]) && (anywhere || !is_form(&words[at])) {
        return false;
    }
    let is_part = |word: &String| is_older(word) || is_form(word) || is(&NOUNS, word) || (anywhere && is(&LEADS, word));
    let ends = words[at..].iter().position(|word| !is_part(word) || word.ends_with(is_end));
    let end = ends.map_or(words.len(), |found| at + found + usize::from(is_part(&words[at + found])));
    let (named, rest) = (words[at + 1..end].iter().any(|word| is(&NOUNS, word)), &words[end..]);
    let begins = |from: &usize| words[*from].starts_with(is_end) || *from == 0 || words[from - 1].ends_with(is_end);
    let lead = &words[(0..=at).rev().find(begins).unwrap_or(0)..at];
    let led = lead.iter().all(|word| is(&LEADS, word));
    let states = words[end - 1].ends_with([':', '：']) && rest.iter().any(|word| !is_plain(word));
    let points = !rest.is_empty() && is_form(&words[at]) && rest.iter().all(|word| is(&POINTS, word));
    let ended = points
        || words[end - 1].ends_with(is_end)
        || rest.first().is_none_or(|next| next.starts_with(is_end) || is(&GOES_ON, next));
    ended && !states && (led || (named && (anywhere || lead.iter().all(|word| is_plain(word)))))
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
            "Report of the previous round:",
            "## Report from the previous iteration",
            "## Report (superseded)",
            "## Report v1 (outdated)",
            "# Appendix: previous report",
            "## Appendix (previous round)",
            "For the record, the previous report:",
            "For context, here is the previous report:",
            "<summary>Click to expand: previous report</summary>",
            "Report (old):",
            "Copy of the previous report:",
            "Previously:",
            "Ignore this:",
            "Deprecated:",
            "No longer valid:",
            "Please do not use this; it is not final:",
            "❌ Do NOT return:",
            "Do not send this:",
            "<details><summary>First attempt</summary>",
            "For reference, my first answer was:",
            "The format is:",
            "The expected format is as follows:",
            "A valid answer looks like this:",
            "## Previous report: round 1",
            "The archived report, from the folder of round 1:",
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
            "The format is as requested:",
            "My report looks like this:",
            "The first test passes:",
            "After the first attempt, the final report:",
            "The last test passes:",
            "Round 2:",
            "Result:",
            "Filled-in template:",
            "The completed template:",
            "Final JSON format:",
            "## Initial review",
            "My report in the expected format:",
            "If it helps, here is the report:",
            "Please do not use the draft above; final report:",
            "This is not the report of round 1 but the final one:",
            "Fixed the issues of the previous round:",
            "## Review (previous verdict: needs-changes)",
            "Final report (previous round: rejected):",
            "This replaces the previous report:",
            "Updated, old report:",
            "### Review of the previous draft",
            "## Previous round: needs-changes",
            "## Previous review: addressed",
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
            "## Previous report\n\n2026-11-16\n\n",
            "## Previous report\n\n*(round 1)*\n\n",
            "<details>\n<summary>Previous report</summary>\n\n",
            "Superseded:\n\n---\n\n",
            "Previous report\n===============\n\n",
            "Previous report\n---\n\n```json\n",
            "_Previous report_\n",
            "`The earlier verdict of round 1`\n",
            "=== Previous report ===\n",
            "[Previous report]\n\n",
            "PREVIOUS REPORT —\n",
        ] {
            assert!(above(before).is_some(), "{before}");
        }
        for before in [
            "## Previous report\n\nIt was wrong.\n\n",
            "## Previous report\n\nMy report now:\n\n```json\n",
            "## Previous report\n\nx\n\n## Final report\n\n",
            "Previous report: see above.\n\nReport:\n",
            "Previous verdict: rejected\n\n",
            "The previous report said that it is broken.\n\n",
            "Mended, see the previous report\n\n",
            "Status: draft\n\n",
            "Superseded:\n\nnothing\n\n",
            "Previous report:\n\n{\"a\":1}\n\n",
            "",
        ] {
            assert_eq!(above(before), None, "{before}");
        }
    }
}
