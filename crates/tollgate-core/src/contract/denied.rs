//! Words that deny what a line claims: `DoD-2 was not verified` in a list of verified rows.
//!
//! Evidence is full of negations that are none (`does not crash`, `fails with 401`): a line is denied only where its words
//! begin with a denial of the judging itself, or are nothing but a word for failure, perhaps with a sign and a reason behind it.
//! So a line is read only as far as its first words are known here.

use super::layout::is_unchecked;
use super::text::words;

/// What a word may do in a line.
type May = u16;
/// Stand before a denial, or between its parts.
const FILLER: May = 1;
/// Deny what follows, or all where nothing does.
const DENIAL: May = 1 << 1;
/// Be denied: the judging, or that the row holds.
const JUDGED: May = 1 << 2;
/// Be denied where nothing follows: `does not exist`, and not `does not exist any more`.
const LAST: May = 1 << 3;
/// Deny by itself, whatever follows.
const UNDONE: May = 1 << 4;
/// Deny where nothing else is said.
const ALONE: May = 1 << 5;
/// Deny with a reason behind it: `FAIL: 3 of 12`, `missing — no test found`. Of others what follows may be evidence.
const REASON: May = 1 << 6;
/// Do so behind a comma: others may begin a list, `missing, empty and wrong names`.
const COMMA: May = 1 << 7;
/// Say that there is nothing: `failed: 0`.
const NOTHING: May = 1 << 8;
/// Be the label behind which a row is judged, perhaps with a number: `Status: FAIL`.
const LABEL: May = 1 << 9;
/// Deny where what is needed or lacking follows.
const NEEDS: May = 1 << 10;
const NEEDED: May = 1 << 11;
const NO: May = 1 << 12;
const PROOF: May = 1 << 13;
/// Be what was seen where a number follows: `rejected (403)`.
const SEEN: May = 1 << 14;
/// Begin several words that deny together, and nothing else.
const BEGINS: May = 1 << 15;

/// What each word may do, in the order of the words.
const WORDS: [(&str, May); 139] = [
    ("0", NOTHING),
    ("a", FILLER),
    ("able", FILLER),
    ("absent", ALONE),
    ("actually", FILLER),
    ("applicable", LAST),
    ("are", FILLER),
    ("aren't", DENIAL),
    ("as", FILLER),
    ("be", FILLER),
    ("been", FILLER),
    ("blocked", ALONE | REASON | SEEN),
    ("broken", ALONE | REASON),
    ("built", LAST),
    ("but", FILLER),
    ("can", FILLER),
    ("can't", DENIAL),
    ("cannot", DENIAL),
    ("change", NEEDED),
    ("changes", NEEDED),
    ("check", JUDGED),
    ("checked", JUDGED),
    ("completely", FILLER),
    ("confirm", JUDGED),
    ("confirmed", JUDGED),
    ("could", FILLER),
    ("couldn't", DENIAL),
    ("covered", JUDGED),
    ("criterion", LABEL),
    ("currently", FILLER),
    ("deferred", ALONE | REASON | COMMA),
    ("did", FILLER),
    ("didn't", DENIAL),
    ("do", FILLER),
    ("does", FILLER),
    ("doesn't", DENIAL),
    ("done", JUDGED | LAST),
    ("error", ALONE),
    ("evidence", PROOF),
    ("executed", LAST),
    ("exist", LAST),
    ("exists", LAST),
    ("fail", ALONE | REASON | COMMA),
    ("failed", ALONE | REASON),
    ("failing", ALONE | REASON),
    ("fails", ALONE | REASON),
    ("false", ALONE),
    ("far", FILLER),
    ("fulfilled", JUDGED),
    ("fully", FILLER),
    ("had", FILLER),
    ("has", FILLER),
    ("hasn't", DENIAL),
    ("have", FILLER),
    ("haven't", DENIAL),
    ("held", JUDGED),
    ("hold", JUDGED),
    ("holds", JUDGED),
    ("i", FILLER),
    ("implemented", JUDGED),
    ("in", BEGINS),
    ("incomplete", ALONE | REASON),
    ("is", FILLER),
    ("isn't", DENIAL),
    ("it", FILLER),
    ("met", JUDGED),
    ("missing", ALONE | REASON),
    ("n", BEGINS),
    ("na", ALONE),
    ("need", NEEDS),
    ("needs", NEEDS),
    ("never", DENIAL),
    ("nil", NOTHING),
    ("no", REASON | COMMA | NO),
    ("none", NOTHING),
    ("not", DENIAL),
    ("nothing", NOTHING),
    ("now", FILLER),
    ("observe", JUDGED),
    ("observed", JUDGED),
    ("ok", JUDGED),
    ("open", ALONE),
    ("outcome", LABEL),
    ("pass", JUDGED),
    ("passed", JUDGED),
    ("passing", JUDGED),
    ("pending", ALONE | REASON),
    ("present", LAST),
    ("proof", PROOF),
    ("prove", JUDGED),
    ("proved", JUDGED),
    ("proven", JUDGED),
    ("ran", LAST),
    ("really", FILLER),
    ("rejected", ALONE | REASON | SEEN),
    ("request", BEGINS),
    ("result", LABEL),
    ("row", FILLER),
    ("run", LAST),
    ("satisfied", JUDGED),
    ("skipped", ALONE | REASON | COMMA),
    ("so", FILLER),
    ("status", LABEL),
    ("still", FILLER),
    ("tba", ALONE | REASON | COMMA),
    ("tbd", ALONE | REASON | COMMA),
    ("test", JUDGED),
    ("tested", JUDGED),
    ("that", FILLER),
    ("the", FILLER),
    ("this", FILLER),
    ("to", FILLER),
    ("todo", ALONE | REASON | COMMA),
    ("true", JUDGED),
    ("unable", DENIAL),
    ("unchecked", UNDONE),
    ("unconfirmed", UNDONE),
    ("unfinished", ALONE | REASON),
    ("unimplemented", UNDONE),
    ("unmet", UNDONE),
    ("unobserved", UNDONE),
    ("untested", UNDONE),
    ("unverifiable", UNDONE),
    ("unverified", UNDONE),
    ("verdict", LABEL),
    ("verifiable", JUDGED),
    ("verified", JUDGED),
    ("verify", JUDGED),
    ("was", FILLER),
    ("wasn't", DENIAL),
    ("we", FILLER),
    ("were", FILLER),
    ("wip", ALONE | REASON | COMMA),
    ("work", JUDGED | NEEDED),
    ("working", JUDGED),
    ("works", JUDGED),
    ("yes", BEGINS),
    ("yet", JUDGED),
    ("zero", NOTHING),
];
/// Several words that deny where nothing else is said, also those of a form where nothing was chosen.
const PHRASES: [(&str, &str); 9] = [
    ("changes", "requested"),
    ("fail", "pass"),
    ("in", "progress"),
    ("n", "a"),
    ("pass", "fail"),
    ("request", "changes"),
    ("to", "be determined"),
    ("to", "do"),
    ("yes", "no"),
];

/// The same, with each word as a number, in the order of the words: most words of a text are looked for here, and are none of these.
const KEYS: [(u128, May); WORDS.len()] = {
    let mut keys = [(0, 0); WORDS.len()];
    let mut at = 0;
    while at < WORDS.len() {
        let (word, may) = WORDS[at];
        let (mut key, mut byte) = ([0; LONGEST], 0);
        while byte < word.len() {
            key[byte] = word.as_bytes()[byte];
            byte += 1;
        }
        keys[at] = (u128::from_be_bytes(key), may);
        at += 1;
    }
    keys
};

/// The bytes that a number holds.
const LONGEST: usize = u128::BITS as usize / 8;

/// What a word may do, in upper or lower case; nothing where it is not known.
fn may(word: &str) -> May {
    let (mut key, mut at) = ([0; LONGEST], 0);
    for char in word.chars() {
        let char = if char == '’' { '\'' } else { char.to_ascii_lowercase() };
        let (Ok(byte), Some(place)) = (u8::try_from(char), key.get_mut(at)) else { return 0 };
        *place = byte;
        at += 1;
    }
    let key = u128::from_be_bytes(key);
    let found = KEYS.binary_search_by_key(&key, |(known, _)| *known);
    found.ok().and_then(|at| KEYS.get(at)).map_or(0, |(_, may)| *may)
}

/// Whether what is said of a row denies it.
pub fn denies(said: &str) -> bool {
    let said = said.trim();
    let first = words(said).next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit());
    // Most lines begin with a word that means nothing here.
    if said.starts_with(char::is_alphanumeric) && may(first) == 0 {
        return names_what_fails(said);
    }
    let unsaid = !said.is_empty() && said.chars().all(|c| matches!(c, '.' | '…' | '?'));
    unsaid || is_unchecked(said) || begins_with_failure(said) || is_denied(said) || names_what_fails(said)
}

/// Whether the words are a denial, behind others that say nothing.
fn is_denied(said: &str) -> bool {
    let all = words(said);
    let mut own = all.clone();
    let Some((word, first)) = own.by_ref().map(|word| (word, may(word))).find(|(_, may)| may & FILLER == 0) else {
        return is_phrase(all);
    };
    if is_phrase(all.clone()) || is_phrase(std::iter::once(word).chain(own.clone())) {
        // `FAIL → PASS` is what became of it.
        return !["→", "➜", "➡", "->", "=>"].iter().any(|turns| said.contains(turns));
    }
    let mut rest = own.map(may);
    let does = |what: May| first & what != 0;
    if does(UNDONE) || (does(ALONE) && rest.clone().next().is_none()) {
        true
    } else if does(JUDGED) {
        all.zip(["to", "be"]).all(|(word, begin)| word.eq_ignore_ascii_case(begin))
    } else if does(DENIAL) {
        let denied = rest.find(|may| may & FILLER == 0);
        denied.is_none_or(|may| may & JUDGED != 0 || (may & LAST != 0 && rest.next().is_none()))
    } else if does(NEEDS) {
        rest.next().is_some_and(|may| may & NEEDED != 0)
    } else {
        does(NO) && rest.next().is_none_or(|may| may & PROOF != 0)
    }
}

/// Whether some words are one of those that deny together.
fn is_phrase<'t>(mut words: impl Iterator<Item = &'t str> + Clone) -> bool {
    let Some(first) = words.next() else { return false };
    let ends = |rest: &str| words.clone().map(str::to_ascii_lowercase).eq(rest.split(' '));
    PHRASES.iter().any(|(begin, rest)| begin.eq_ignore_ascii_case(first) && ends(rest))
}

/// Whether a text begins with a word for failure that denies all of it, or with a label and such words behind it.
fn begins_with_failure(said: &str) -> bool {
    let begin = said.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = begin.find(|c: char| !c.is_alphanumeric()).unwrap_or(begin.len());
    let (word, rest) = begin.split_at(end);
    let label = word.trim_end_matches(|c: char| c.is_ascii_digit());
    match may(label) {
        first if first & REASON != 0 && word == label => gives_reason(first, rest) || is_in_capitals(said),
        first if first & LABEL != 0 => is_labelled(rest),
        _ => false,
    }
}

/// Whether a text begins with the word of a test that failed, as tools print it, and not with what became of it (`FAIL before, PASS now`); as code it is
/// what somebody speaks of.
fn is_in_capitals(said: &str) -> bool {
    let mut tokens = said.split_whitespace().map(|token| token.trim_matches(|c: char| !c.is_alphanumeric()));
    let fails = matches!(tokens.next(), Some("FAIL" | "FAILED"));
    fails
        && !said.starts_with('`')
        && tokens.next().is_none_or(|next| may(next) & NOTHING == 0)
        && !said.to_lowercase().contains("pass")
}

/// How far before and behind a sign is looked for what is said to fail, in bytes.
const AROUND: usize = 96;
/// Signs behind which a tool says what came of something; an arrow or `=` says what somebody gets.
const SIGNS: [&str; 7] = [":", "—", "–", " --", " -", "...", "…"];
/// What is called so is to fail: it is what was there before.
const BEFORE: [&str; 12] = [
    "before",
    "before the change",
    "before the fix",
    "was",
    "old",
    "red",
    "main",
    "on main",
    "reverted",
    "without it",
    "without the change",
    "without the fix",
];
/// What is said of a failure that was wanted.
const WANTED: [&str; 3] = ["as expected", "as it must", "as it should"];
/// Words for what passes, and those before them that say otherwise.
const PASSES: [&str; 4] = ["pass", "passes", "passed", "green"];
const UNLIKE: [&str; 4] = ["expected", "not", "no", "should"];

/// Whether a text names what was tried, and says behind a sign that it failed, as tools print it: ``"`cargo test`: FAILED. 1 failed"``,
/// `case 2 — FAIL`, `case 2 (FAIL)`.
fn names_what_fails(said: &str) -> bool {
    memchr::memchr_iter(b'F', said.as_bytes()).any(|at| {
        let (before, bare) = said.split_at(at);
        let word = &bare[..bare.find(|c: char| !c.is_alphanumeric()).unwrap_or(bare.len())];
        if !matches!(word, "FAIL" | "FAILED") {
            return false;
        }
        let Some(name) = named(before, &bare[word.len()..]) else { return false };
        let name = &name[name.ceil_char_boundary(name.len().saturating_sub(AROUND))..];
        let line = bare[..bare.floor_char_boundary(AROUND)].lines().next().unwrap_or_default();
        // What is quoted is what somebody speaks of.
        let quoted = ['`', '"'].iter().any(|sign| name.matches(*sign).count() % 2 == 1);
        let mutant = || words(name).any(|word| word.eq_ignore_ascii_case("mutant"));
        let last = name.rsplit(['.', ';', ',', '(']).next().unwrap_or_default();
        let called = |part: &str| words(part).map(str::to_lowercase).collect::<Vec<_>>().join(" ");
        // `without the change: case 2: FAIL`.
        let before = || {
            last.split(':').map(called).any(|called| BEFORE.contains(&called.strip_prefix("the ").unwrap_or(&called)))
        };
        let wanted = || WANTED.iter().any(|words| line.contains(words) && !line.contains(&format!("not {words}")));
        let rightly = || before() || mutant() || wanted() || passes(bare);
        !quoted && (begins_with_failure(line) || is_denied(line)) && !rightly()
    })
}

/// What a word behind a sign is said of, or one in brackets at the end.
fn named<'t>(before: &'t str, behind: &str) -> Option<&'t str> {
    if let Some(name) = before.trim_end().strip_suffix(['(', '[']) {
        let ends = behind.trim().trim_matches([')', ']', '.', ';', ' ']).is_empty();
        return ends.then_some(name);
    }
    let signed = before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'));
    let (name, sign) = SIGNS.iter().find_map(|sign| Some((signed.strip_suffix(sign)?, *sign)))?;
    // A dash needs no space, and neither do dots; a colon has one, else it is a part of a name.
    let is_sign = signed.len() < before.len() || !matches!(sign, ":" | " -");
    (is_sign && name.contains(char::is_alphanumeric)).then_some(name.trim_end())
}

/// Whether a text says of something that it passes; a count of what did says nothing of the rest.
pub fn passes(text: &str) -> bool {
    let is = |list: &[&str], word: &str| list.iter().any(|known| word.eq_ignore_ascii_case(known));
    let counts = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let before = std::iter::once("then").chain(words(text));
    before.zip(words(text)).any(|(before, word)| is(&PASSES, word) && !is(&UNLIKE, before) && !counts(before))
}

/// Whether a text has the word of a test that failed, as tools print it.
pub fn says_fail(text: &str) -> bool {
    words(text).any(|word| matches!(word, "FAIL" | "FAILED"))
}

/// Whether behind a label, and perhaps its number, stand words that deny.
fn is_labelled(rest: &str) -> bool {
    let is_between = |c: char| c != ':' && (c.is_ascii_digit() || !c.is_alphanumeric());
    let value = rest.trim_start_matches(is_between).strip_prefix(':');
    // `Status::FAILED` is a name.
    let value = value.filter(|value| !value.starts_with(':'));
    value.is_some_and(|value| denies(value.trim_start_matches(['*', '_', ' '])))
}

/// Whether behind a word for failure stands a mark, and why.
fn gives_reason(word: May, rest: &str) -> bool {
    // A sign that makes the word bold or code belongs to it.
    let rest = rest.trim_start_matches(['*', '_', '`']);
    let comma = || rest.strip_prefix(',').filter(|why| word & COMMA != 0 && !why.contains(" and "));
    let reason = match rest.strip_prefix([':', ';', '.']) {
        Some(reason) => reason.starts_with([' ', '*', '\n']).then_some(reason),
        None => rest
            .trim_start()
            .strip_prefix(['—', '–', '(', ']'])
            .or_else(|| rest.strip_prefix(" - ").or_else(|| rest.strip_prefix(" -- ")))
            .or_else(comma),
    };
    let seen = |first: &str| word & SEEN != 0 && first.starts_with(|c: char| c.is_ascii_digit());
    let denies = |first: &str| word & NO != 0 || !(may(first) & NOTHING != 0 || seen(first));
    reason.and_then(|reason| words(reason).next()).is_some_and(denies)
}

#[cfg(test)]
mod tests;
