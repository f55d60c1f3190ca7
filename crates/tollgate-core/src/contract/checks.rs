//! What the language of contracts cannot say: small checks by name. Each answers with the places where it is broken.

use std::collections::BTreeSet;

use super::denied::denies;
use super::grave::asks_for_change;
use super::layout::{is_crossed, is_unchecked};
use super::markdown::Fence;
use super::nothing::lists_nothing;
use super::parts;
use super::put_off::puts_off;
use super::struck::unstruck;
use super::surfaces;
use super::text::{is_blank, is_placeholder, says_none};
use super::tree::{Entry, Node, Value};

/// How far into a recommendation the names of options are looked for: each of them is, so that more would cost their product.
const NAMED_BYTES_MAX: usize = 4096;

/// A check over a whole document.
pub type Check = fn(&Node<'_>) -> Vec<u32>;

const CHECKS: [(&str, Check); 15] = [
    ("checklist-holds", checklist_holds),
    ("every-criterion-counts", every_criterion_counts),
    ("recommends-an-option", recommends_an_option),
    ("one-priority", |root| exactly_one(root, "priority:", &["high", "medium", "low"])),
    ("one-complexity", |root| exactly_one(root, "complexity:", &["simple", "complex"])),
    ("only-implement", |root| exactly_one(root, "task:", &["implement"])),
    ("only-refinement", |root| exactly_one(root, "task:", &["refinement"])),
    ("only-pending", |root| exactly_one(root, "status:", &["pending"])),
    ("surfaces-are-narrow", surfaces::broad),
    ("no-security-concern", |root| {
        let concerns = root.get("gates").and_then(|gates| gates.get("security_concerns")?.list());
        let says = |concern: &&Node<'_>| concern.text().is_some_and(|text| !lists_nothing(text));
        concerns.unwrap_or_default().iter().filter(says).map(|concern| concern.at).collect()
    }),
    ("no-line-is-crossed", |root| {
        let said = ["summary", "checklist"].into_iter().filter_map(|name| root.get(name));
        said.filter(|said| has_crossed_line(said.text().unwrap_or_default())).map(|said| said.at).collect()
    }),
    ("evidence-says-something", |root| says_nothing(root).into_iter().collect()),
    ("question-asks", |root| {
        let question = root.get("blocking_question").filter(|said| says_no_more(said) || says_no(said));
        question.map(|said| said.at).into_iter().collect()
    }),
    ("rows-say-something", |root| {
        let lists = ["source_corpus", "acceptance_matrix"].into_iter().filter_map(|name| root.get(name)?.list());
        lists.flatten().filter(|row| row.map().is_some_and(is_undecided)).map(|row| row.at).collect()
    }),
    ("rows-have-evidence", |root| {
        let rows = root.get("outcome_evaluations").and_then(Node::list).unwrap_or_default();
        rows.iter()
            .filter(|row| row.get("verdict").and_then(Node::word) == Some("PASS"))
            .filter_map(says_nothing)
            .collect()
    }),
];

/// Words that stand where evidence should.
const NO_EVIDENCE: [&str; 13] = [
    "none",
    "n/a",
    "na",
    "nil",
    "null",
    "nothing",
    "no evidence",
    "unknown",
    "not applicable",
    "later",
    "see above",
    "see below",
    "pending",
];

/// Signs that deny a part of a line: `1 ✓, 2 ✗`.
const CROSSES: [char; 3] = ['✗', '✘', '❌'];

/// Words that put off what should be said: those that the fields of a dossier refuse, so that its rows refuse the same.
const UNDECIDED: [&str; 11] = [
    "unknown",
    "unclear",
    "use your judgment",
    "use your judgement",
    "you decide",
    "whatever",
    "later",
    "as needed",
    "various",
    "misc",
    "etc",
];
/// Words that say that there is nothing, and how the fields of a row begin in which there may be nothing: `limitation: none`.
const NOTHING: [&str; 3] = ["n/a", "none", "null"];
const MAY_BE_NOTHING: [&str; 8] = ["limit", "note", "risk", "except", "depend", "block", "comment", "caveat"];

/// Where the `evidence` of a report or row is, if no part of it says something. What is no evidence at all has another error.
fn says_nothing(of: &Node<'_>) -> Option<u32> {
    let evidence = of.get("evidence")?;
    let entries = evidence.list()?;
    let sound = |entry: &Node<'_>| entry.map().is_some() || entry.text().is_some_and(|text| !is_blank(text));
    (entries.iter().all(sound) && entries.iter().all(says_no_more)).then_some(evidence.at)
}

fn says_no_more(node: &Node<'_>) -> bool {
    match &node.value {
        Value::Text(text) => {
            let said = text.trim_matches(|c: char| !c.is_alphanumeric());
            (said.is_empty() && text.is_ascii())
                || is_blank(text)
                || puts_off(text)
                || is_placeholder(text)
                || NO_EVIDENCE.iter().any(|word| word.eq_ignore_ascii_case(said))
        }
        Value::List(items) => items.iter().all(says_no_more),
        Value::Map(entries) => entries.iter().all(|entry| says_no_more(&entry.node)),
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a text denies that there is something to ask.
fn says_no(node: &Node<'_>) -> bool {
    const NO: [&str; 5] = ["no", "no question", "no questions", "no blocking question", "no open questions"];
    let said = node.text().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric());
    NO.iter().any(|word| word.eq_ignore_ascii_case(said))
}

/// Whether a row is empty, or leaves a part of it to be said later.
fn is_undecided(row: &[Entry<'_>]) -> bool {
    let may_be_nothing = |key: &str| MAY_BE_NOTHING.iter().any(|begin| key.starts_with(begin));
    row.iter().all(|entry| says_no_more(&entry.node))
        || row.iter().any(|entry| leaves_open(&entry.node, may_be_nothing(&entry.key)))
}

fn leaves_open(node: &Node<'_>, may_be_nothing: bool) -> bool {
    match &node.value {
        Value::Text(text) => {
            let said = text.trim().trim_end_matches(['.', '!', '…']);
            let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(said));
            is_placeholder(text) || puts_off(text) || is(&UNDECIDED) || (!may_be_nothing && is(&NOTHING))
        }
        Value::List(items) => items.iter().any(|item| leaves_open(item, may_be_nothing)),
        Value::Map(entries) => entries.iter().any(|entry| leaves_open(&entry.node, may_be_nothing)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The check of a name.
pub fn find(name: &str) -> Option<Check> {
    CHECKS.iter().find(|(known, _)| *known == name).map(|(_, check)| *check)
}

/// No line of a checklist denies what it stands for, or says nothing; where there may be nothing to look at, it says so.
fn checklist_holds(root: &Node<'_>) -> Vec<u32> {
    let lines = root.get("checklist").and_then(Node::map).unwrap_or_default();
    let open = |entry: &&Entry<'_>| {
        let text = unstruck(entry.node.text().unwrap_or_default());
        let none = || text.split(|c: char| !c.is_alphanumeric()).next().is_some_and(|no| no.eq_ignore_ascii_case("no"));
        match &*entry.key {
            // A line without words has another error, and so have criteria that are counted as not verified.
            "acceptance_criteria" if found(&text, [("not ", "verified"), ("", "FAILED")]).next().is_some() => false,
            _ if is_blank(&text) || is_placeholder(&text) => false,
            _ if text.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("not all")) => true,
            _ if denied_below(&text) => true,
            "unresolved_comments" | "task_constraints" if says_none(&text) => false,
            "unresolved_comments" if none() => false,
            // A cross in front of the line has another error.
            _ => denies(&text) || says_no_more(&entry.node) || is_crossed_within(&text),
        }
    };
    lines.iter().filter(open).map(|entry| entry.node.at).collect()
}

/// Whether what stands below a line denies it, or asks for a change; boxes and crosses in front have another error.
fn denied_below(text: &str) -> bool {
    let is_told = |part: &str| {
        let item = part.trim_start_matches(['-', '*', '+', ' ', '\t']);
        is_unchecked(item) || is_crossed(item)
    };
    let below = parts::split(text).1;
    parts::denied_below(below, is_told).is_some() || asks_for_change(below)
}

/// Where two words stand in a text, each parted before a letter by which it is found: one that texts have few of.
fn found<'t>(text: &'t str, words: [(&'t str, &'t str); 2]) -> impl Iterator<Item = (&'t str, &'t str)> {
    let bytes = text.as_bytes();
    let [one, other] = words.map(|(_, from)| from.as_bytes().first().copied().unwrap_or_default());
    memchr::memchr2_iter(one, other, bytes).filter_map(move |at| {
        let is = |(begin, from): &&(&str, &str)| {
            bytes[at..].starts_with(from.as_bytes()) && bytes[..at].ends_with(begin.as_bytes())
        };
        words.iter().find(is).map(|(begin, from)| (&text[..at - begin.len()], &text[at + from.len()..]))
    })
}

/// Whether a line of a text has a cross inside of it.
fn is_crossed_within(text: &str) -> bool {
    let inside = |line: &str| line.contains(CROSSES) && !is_crossed(line.trim_start_matches(['-', '*', '+', ' ']));
    // Most lines have no sign at all.
    !text.is_ascii() && text.lines().any(inside)
}

/// Whether a line of a text has a cross for its mark: behind that of an item, or in a cell of a table. What a tool printed is no line of it.
fn has_crossed_line(text: &str) -> bool {
    // Most texts have no sign at all.
    if text.is_ascii() {
        return false;
    }
    let mut fence = Fence::default();
    let marks = |c: char| c.is_ascii_digit() || matches!(c, '-' | '*' | '+' | '.' | ')' | ' ' | '\t');
    let crossed = |line: &str| line.split('|').any(|cell| is_crossed(cell.trim_start_matches(marks)));
    text.lines().any(|line| !fence.is_code(line) && crossed(line))
}

/// The line of a checklist on the criteria does not count fewer of them than there are: `3 of 4`, `3/4`.
fn every_criterion_counts(root: &Node<'_>) -> Vec<u32> {
    let said = root.get("checklist").and_then(|list| list.get("acceptance_criteria"));
    said.filter(|said| said.text().is_some_and(counts_fewer)).map(|said| said.at).into_iter().collect()
}

/// Whether a text has a number of things that is below the number of all of them.
fn counts_fewer(text: &str) -> bool {
    let ends = |text: &str| text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    found(text, [("", "/"), (" o", "f ")]).any(|(before, after)| {
        let before = before.strip_suffix(" out").unwrap_or(before);
        let after = after.strip_prefix("the ").unwrap_or(after);
        let whole = after.bytes().take_while(u8::is_ascii_digit).count();
        if whole == 0 {
            return false;
        }
        let number = |digits: &str| digits.parse::<u32>().ok();
        let part = number(&before[before.len() - ends(before)..]);
        // A path or a date has more than two numbers.
        let single = !after[whole..].starts_with('/') && !before[..before.len() - ends(before)].ends_with('/');
        single && part.zip(number(&after[..whole])).is_some_and(|(part, whole)| part < whole)
    })
}

/// Among `labels` exactly one begins with a prefix, and goes on with a known word.
fn exactly_one(root: &Node<'_>, prefix: &str, words: &[&str]) -> Vec<u32> {
    let labels = root.get("labels").and_then(Node::list).unwrap_or_default();
    // A label that stands twice has an error of its own. Trackers do not tell labels apart by their case.
    let own = labels.iter().filter_map(|label| label.word().map(str::to_lowercase));
    let own: BTreeSet<String> = own.filter_map(|label| label.strip_prefix(prefix).map(str::to_owned)).collect();
    match own.first() {
        Some(word) if own.len() == 1 && words.contains(&&**word) => Vec::new(),
        _ => vec![root.get("labels").map_or(0, |labels| labels.at)],
    }
}

/// `recommendation` names one of `options`, by its name, its number or its letter, and not two of them with an `or` between.
fn recommends_an_option(root: &Node<'_>) -> Vec<u32> {
    let (Some(said), Some(options)) = (root.get("recommendation"), root.get("options").and_then(Node::list)) else {
        return Vec::new();
    };
    // Without options or words there is another error already.
    if options.is_empty() || said.is_blank() {
        return Vec::new();
    }
    let text = &*unstruck(said.text().unwrap_or_default());
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    // "Option B because …": what follows the word; "B, since …", "2": what comes first and stands alone. "A meeting" names none,
    // nor does "neither Option A nor Option B".
    let denies = |word: &str| ["neither", "nor", "not"].iter().any(|no| word.eq_ignore_ascii_case(no));
    let before = std::iter::once("").chain(words());
    let after_option = before.zip(words().zip(words().skip(1)));
    let after_option =
        after_option.filter(|(before, (word, _))| word.eq_ignore_ascii_case("option") && !denies(before));
    let first = words().next().filter(|word| stands_alone(text, word));
    let mut named = after_option.map(|(_, (_, next))| next).chain(first);
    let is_place = |word: &str| place(word).is_some_and(|place| place < options.len());
    let by_place = named.any(is_place);
    // "Option A or Option B", "A or B", "1/2": which of them is left open.
    if by_place && is_left_open(text, is_place) {
        return vec![said.at];
    }
    let start = text.floor_char_boundary(NAMED_BYTES_MAX);
    let lower = text[..start].to_lowercase();
    if by_place || options.iter().any(|option| is_named(option, &lower)) { Vec::new() } else { vec![said.at] }
}

/// Whether a text begins with one place and another, and nothing but an `or` between.
fn is_left_open(text: &str, is_place: impl Fn(&str) -> bool) -> bool {
    let text = text.replace(['/', '&', '+', '|'], " or ");
    let is = |word: &str, known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = words.skip_while(|word| is(word, &["either", "option"]));
    let mut next = || words.next().unwrap_or_default();
    let (first, between, mut second) = (next(), next(), next());
    let said = is(second, &["option"]);
    if said {
        second = next();
    }
    // In "Option B or a new one" the small letter is an article.
    let two = is_place(first) && is_place(second) && (said || !second.starts_with(char::is_lowercase));
    two && is(between, &["or", "and", "vs", "versus"]) && !first.eq_ignore_ascii_case(second)
}

/// Whether the first word of a text is followed by something that is no word: its end, a dash, a comma, a reason.
fn stands_alone(text: &str, word: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| !c.is_alphanumeric()).strip_prefix(word).unwrap_or_default();
    let reason = ["because", "since", "as", "for"];
    match rest.chars().next() {
        None => true,
        Some(c) if c.is_whitespace() => {
            let next = rest.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
            rest.trim_start().starts_with(|c: char| !c.is_alphanumeric())
                || next.is_none_or(|next| reason.iter().any(|word| next.eq_ignore_ascii_case(word)))
        }
        // "B.S." is a word of its own.
        Some(c) => !rest[c.len_utf8()..].starts_with(char::is_alphanumeric),
    }
}

/// The place that a number or a letter stands for.
fn place(word: &str) -> Option<usize> {
    match word.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(usize::from(letter.to_ascii_lowercase() - b'a')),
        _ => word.parse::<usize>().ok()?.checked_sub(1),
    }
}

/// Whether a text in small letters holds the name of an option: its `name`, or the words before its first dash.
fn is_named(option: &Node<'_>, text: &str) -> bool {
    let name = option.get("name").and_then(Node::text).or_else(|| option.text()).unwrap_or_default();
    let name = name.split(" -- ").next().unwrap_or_default();
    let name = name.split(" — ").next().unwrap_or_default().replace("**", "");
    let name = name.trim();
    let name = name.to_lowercase();
    let is_whole = |(at, _): (usize, &str)| {
        let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        ends(text[..at].chars().next_back()) && ends(text[at + name.len()..].chars().next())
    };
    !name.is_empty() && text.match_indices(&name).any(is_whole)
}

#[cfg(test)]
mod tests {
    use super::super::tree::json;
    use super::*;

    #[test]
    fn fewer_than_all_is_seen() {
        for (text, fewer) in [
            ("3 of 4 criteria verified", true),
            ("3/4 verified", true),
            ("2 out of the 3", true),
            ("4 of 4", false),
            ("4/4 verified", false),
            ("All 4 criteria verified", false),
            ("as of 2026/11/16 all hold", false),
            ("src/1/2.rs", false),
        ] {
            assert_eq!(counts_fewer(text), fewer, "{text}");
        }
    }

    #[test]
    fn an_option_is_recommended_by_name_number_or_letter() {
        let broken = |recommendation: &str| {
            let text = format!(
                r#"{{"recommendation": "{recommendation}", "options": [{{"name": "Round half up"}}, "**Keep** — no loss"]}}"#
            );
            !recommends_an_option(&json::read(&text).unwrap()).is_empty()
        };
        for good in
            ["Option A because", "option 2.", "B, since it is cheap", "1", "I would round half up here", "Keep them"]
        {
            assert!(!broken(good), "{good}");
        }
        for good in [
            "A",
            "A - it is cheap",
            "B: see above",
            "Option A because it does not round twice",
            "Option B or a new one",
            "Option A because it is cheaper than Option B or Option C",
            "A because it is cheap",
        ] {
            assert!(!broken(good), "{good}");
        }
        for bad in [
            "A third way",
            "A meeting with the owner.",
            "B.S., none of these",
            "1 more week",
            "Neither Option A nor Option B.",
            "Not Option A",
            "Option A or Option B",
            "option 1 or option 2, whichever is cheaper",
            "Either A or B.",
            "**Option 1**/2",
            "A and B",
            "Option A | Option B",
            "Option A vs. Option B",
            "Keeper",
        ] {
            assert!(broken(bad), "{bad}");
        }
        for bad in ["Option C", "Ask somebody", "option 0", "Optional", "3"] {
            assert!(broken(bad), "{bad}");
        }
    }
}
