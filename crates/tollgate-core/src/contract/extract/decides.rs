//! The word that decides what a report means, said once more behind it: in an object without the other fields, as YAML, in a table, under a heading.
//! Whoever says another word there takes the report back, or does not: that is not guessed.

use std::ops::Range;

use super::announce::without_code;
use super::looks::{Heads, Looks};
use super::plain::plain;
use super::skim::{self, End, Skimmed};
use crate::Name;
use crate::contract::definition::{Definition, Field, Layout};
use crate::contract::markdown::{Fence, heading_words, marked};
use crate::contract::meant::{Meant, denies, otherwise};
use crate::contract::text::{is_quote, is_same_name, is_title, lines};
use crate::contract::unfilled::deciding;

/// How far before and behind a key is looked for what makes it one.
const NEAR_BYTES: usize = 160;
/// So many words may stand before a key: `My final verdict`.
const BEFORE_MAX: usize = 3;
/// Words that say of something that it is about the round before.
pub const FORMER: [&str; 5] = ["previous", "prior", "earlier", "former", "old"];
/// Signs between a word and the one that it was changed to.
const ARROWS: [&str; 9] = ["→", "->", "=>", "⇒", "➜", "➔", "⟶", "➡", "⟹"];
/// What the column of a table is called that has the word which counts: `Field | Old | New`.
const NEW: [&str; 5] = ["new", "now", "after", "current", "final"];
/// What the column of a table is called that numbers what was done one after the other.
const ROUNDS: [&str; 3] = ["round", "iteration", "attempt"];
/// So many rows of a table are looked at.
const ROWS_MAX: usize = 4;

/// A key that decides, and its words.
#[derive(Debug)]
pub struct Deciding {
    /// The key, and what Markdown calls it.
    names: Vec<Name>,
    words: Vec<Name>,
}

impl Deciding {
    /// The keys of a contract that decide: those that every case of its mapping asks for, and those that it hands on.
    pub fn all(definition: &Definition) -> Vec<Self> {
        let Some((mapping, root)) = definition.report.as_ref().zip(definition.root.record()) else { return Vec::new() };
        let given = mapping.gives.iter().map(|(_, path)| path);
        let keys = deciding(mapping).into_iter().chain(given).filter_map(|path| match &path.steps[..] {
            [key] => root.fields.iter().find(|field| field.name == *key),
            _ => None,
        });
        let one = |field: &Field| {
            let label = match &field.layout {
                Layout::Label(label) => Some(label.clone()),
                _ => None,
            };
            Some(Self::new([field.name.clone()].into_iter().chain(label), field.of.words()?))
        };
        keys.filter_map(one).collect()
    }

    pub fn new(names: impl IntoIterator<Item = Name>, words: Vec<Name>) -> Self {
        let mut names: Vec<Name> = names.into_iter().collect();
        names.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
        Self { names, words }
    }

    /// The word that an object says under the key, which may be true or false.
    fn of_object<'t>(&self, text: &'t str, object: &Skimmed) -> Option<&'t str> {
        self.names.iter().find_map(|name| {
            let value = &text[object.get_like(text, name)?.value.clone()];
            let word = skim::inside(value).filter(|word| !word.contains('\\'));
            word.or(Some(value).filter(|value| matches!(*value, "true" | "false")))
        })
    }

    /// The known word that another one is.
    fn known(&self, said: &str) -> Option<&Name> {
        self.words.iter().find(|word| is_same_name(word, said))
    }

    /// Where the key stands in a text with one of the words behind it; the known word, and as it is written.
    fn said<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, Meant<'t>, &'t str)> {
        self.names.iter().flat_map(move |name| {
            let round = move |at: usize| remark(&text[at + name.len()..]).and_then(round);
            let last = places(text, name).filter_map(round).max().unwrap_or(0).max(2);
            let now = move |at: &usize| round(*at).is_none_or(|round| round == last);
            let places = places(text, name).filter(|at| is_label(near_before(text, *at))).filter(now);
            places.filter_map(move |at| {
                let said = self.word_behind(text, at + name.len()).or_else(|| self.word_below(text, at));
                let (meant, said) = said.or_else(|| self.word_in_row(text, at))?;
                Some((at, meant, said))
            })
        })
    }

    /// The word behind a key, with nothing but signs between the two, one of which joins them.
    fn word_behind<'t>(&self, text: &'t str, end: usize) -> Option<(Meant<'_>, &'t str)> {
        let rest = without_is(without_remark(&text[end..text.floor_char_boundary(end + NEAR_BYTES)]));
        let word = rest.find(char::is_alphanumeric)?;
        let dash = rest[..word].contains(" - ");
        let gap = rest[..word].trim_matches(' ');
        let compares = gap.starts_with("==") || gap.starts_with("!=");
        let title = || {
            let line = near_before(text, end).rsplit('\n').next().unwrap_or_default();
            line.trim_start().starts_with(['#', '*', '_']) || gap.trim_start().starts_with(['-', '='])
        };
        let signs = [':', '=', '|', '>', '：', '—', '–', '(', '['];
        let joins = dash || gap.contains(signs) || has_arrow(gap) || (gap.contains('\n') && title());
        if compares || !joins || gap.contains(['.', ',', ';', '?', '/']) {
            return None;
        }
        self.first_word(&rest[word..])
    }

    /// The word in the column of a table that a key is the head of: the first one, or the last where its rows are rounds.
    fn word_below<'t>(&self, text: &'t str, at: usize) -> Option<(Meant<'_>, &'t str)> {
        let before = near_before(text, at).rsplit('\n').next()?;
        let column = before.matches('|').count();
        let mut below = text[at..text.floor_char_boundary(at + NEAR_BYTES * ROWS_MAX)].lines();
        let mut heads = before.split('|').chain(below.next()?.split('|'));
        let is_round = |cell: &str| ROUNDS.iter().any(|round| is_same_name(round, cell));
        let rounds = heads.any(is_round);
        if !is_rule(below.next()?) {
            return None;
        }
        let below: Vec<&str> = below.take(ROWS_MAX).collect();
        let rounds = rounds || below.first().is_some_and(|row| row.split('|').any(|cell| round(cell).is_some()));
        let mut words = below.into_iter().filter_map(|row| self.first_word_of(row.split('|').nth(column)?));
        if rounds { words.next_back() } else { words.next() }
    }

    /// The word in the row of a table that begins with a key: that of the column for what is new.
    fn word_in_row<'t>(&self, text: &'t str, at: usize) -> Option<(Meant<'_>, &'t str)> {
        let above = &text[text.ceil_char_boundary(at.saturating_sub(NEAR_BYTES * ROWS_MAX))..at];
        let start = at - above.rsplit('\n').next()?.len();
        let mut heads = above.lines().rev().skip(1).skip_while(|line| !is_rule(line)).skip(1);
        let is_new = |cell: &str| NEW.iter().any(|new| is_same_name(new, cell));
        let column = heads.next()?.split('|').position(is_new)?;
        let row = text[start..text.floor_char_boundary(at + NEAR_BYTES)].lines().next()?;
        self.first_word_of(row.split('|').nth(column)?)
    }

    /// The known word that a cell of a table begins with.
    fn first_word_of<'t>(&self, cell: &'t str) -> Option<(Meant<'_>, &'t str)> {
        self.first_word(&cell[cell.find(char::is_alphanumeric)?..])
    }

    /// The known word that a text begins with, or what is said otherwise; one to choose from is none.
    fn first_word<'t>(&self, text: &'t str) -> Option<(Meant<'_>, &'t str)> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
        let end = |from: usize| text[from..].find(|c| !is_part(c)).map_or(text.len(), |found| from + found);
        let one = end(0);
        let two = text[one..].strip_prefix(' ').map(|_| end(one + 1));
        let known = [Some(one), two].into_iter().flatten().find_map(|end| Some((self.known(&text[..end])?, end)));
        let Some((known, end)) = known else { return otherwise(&self.words, text) };
        let rest = &text[end..];
        // Where one word leads to the next, the last of them is meant.
        if let Some(next) = led_to(rest).and_then(|next| self.first_word(next)) {
            return Some(next);
        }
        let next = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        let (signs, next) = rest.split_at(next);
        let chosen = signs.contains(['|', '/']) || next.starts_with("or ");
        let other = next.strip_prefix("or ").unwrap_or(next).trim_start_matches(|c: char| !c.is_alphanumeric());
        let other = &other[..other.find(|c| !is_part(c)).unwrap_or(other.len())];
        (!chosen || self.known(other).is_none()).then_some((Meant::Word(known), &text[..end]))
    }
}

/// What an arrow behind a word leads to, in its line; the word may have a remark in brackets.
fn led_to(rest: &str) -> Option<&str> {
    let line = rest.split('\n').next()?;
    let remark = line.trim_start().strip_prefix('(').and_then(|remark| remark.split_once(')'));
    let line = remark.map_or(line, |(_, behind)| behind);
    let (signs, next) = line.split_at(line.find(char::is_alphanumeric)?);
    has_arrow(signs).then_some(next)
}

fn has_arrow(signs: &str) -> bool {
    ARROWS.iter().any(|arrow| signs.contains(arrow))
}

/// Whether a line parts the head of a table from its rows.
fn is_rule(line: &str) -> bool {
    line.contains("--") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// What stands behind a key, and behind the word that it may have before its sign: `The verdict is: rejected`.
fn without_is(rest: &str) -> &str {
    let behind = rest.trim_start_matches([' ', '*', '_']).strip_prefix("is").map(str::trim_start);
    let behind = behind.map(|behind| behind.strip_prefix("now").map_or(behind, str::trim_start));
    behind.filter(|behind| behind.starts_with([':', '='])).unwrap_or(rest)
}

/// What stands behind a key, and behind the remark in brackets that it may have before its sign: `Verdict (final): rejected`.
fn without_remark(rest: &str) -> &str {
    remark(rest).map_or(rest, |remark| &rest[remark.as_ptr().addr() - rest.as_ptr().addr() + remark.len() + 1..])
}

/// The remark in brackets that a key has before its sign.
fn remark(rest: &str) -> Option<&str> {
    let signs = [' ', '*', '_'];
    let inside = rest[..rest.floor_char_boundary(NEAR_BYTES)].trim_start_matches(signs);
    let close = if inside.starts_with('(') { ')' } else { ']' };
    let (remark, behind) = inside.strip_prefix(['(', '['])?.split_once(close)?;
    behind.trim_start_matches(signs).starts_with([':', '=']).then_some(remark)
}

/// The number of a round that words name: `round 1`.
fn round(words: &str) -> Option<u32> {
    let mut parts = words.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let named = |word: &str| ROUNDS.iter().any(|round| is_same_name(round, word));
    parts.next().filter(|word| named(word)).and_then(|_| parts.next()?.parse().ok())
}

/// Where a name stands in a text, in whatever case.
fn places<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + use<'t> {
    let (bytes, name) = (text.as_bytes(), name.as_bytes());
    let first = name.first().copied().unwrap_or_default();
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), bytes)
        .filter(move |at| bytes.get(*at..at + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)))
}

/// Whether a line is a heading or a part of a paragraph: no item of a list, row of a table, quote or data.
fn is_plain(line: &str) -> bool {
    let line = line.trim_start();
    let item = line.starts_with(['-', '+', '|', '>', '<', '{', '[', '"', '`']) || line.starts_with("* ");
    !item && !line.starts_with(|c: char| c.is_ascii_digit())
}

fn near_before(text: &str, at: usize) -> &str {
    &text[text.ceil_char_boundary(at.saturating_sub(NEAR_BYTES))..at]
}

/// Whether a key stands behind some text as one: at the start of a line, behind a sign that begins something, or with a few words before it.
fn is_label(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let mut rest = line;
    for _ in 0..=BEFORE_MAX {
        let bare = rest.trim_end_matches(|c: char| !c.is_alphanumeric());
        let signs = &rest[bare.len()..];
        if bare.is_empty() || signs.contains(['{', '[', '(', ',', ';', '|', '<', '!', '?']) || signs.contains(". ") {
            return true;
        }
        let plain = |c: char| c.is_whitespace() || is_quote(c) || matches!(c, '*' | '_');
        if !signs.contains(' ') || !signs.chars().all(plain) {
            return false;
        }
        rest = bare.trim_end_matches(char::is_alphabetic);
        // A number names something else: `Task 3 status`.
        if rest.len() == bare.len() {
            return false;
        }
    }
    false
}

/// Whether a line begins with a key and such a word, and with nothing that could do away with what it says: `My previous verdict`.
fn is_former(text: &str, at: usize) -> bool {
    let line = near_before(text, at).rsplit('\n').next().unwrap_or_default().to_lowercase();
    let words = line.trim_matches(|c: char| !c.is_alphanumeric());
    let bare = ["my ", "the "].iter().find_map(|word| words.strip_prefix(word)).unwrap_or(words);
    FORMER.contains(&bare)
}

/// A report, by the words that decide what it means.
#[derive(Debug)]
pub struct Decided<'d> {
    looks: &'d Looks,
    words: Vec<(&'d Deciding, &'d Name)>,
    /// Whether only a word that is written as the contract has it says otherwise: a refusal is doubted by no less.
    exact: bool,
}

impl<'d> Decided<'d> {
    /// By the words of an object.
    pub fn object(looks: &'d Looks, text: &str, exact: bool) -> Self {
        let object = skim::object(text, text.find('{').unwrap_or(0));
        let word = |one: &'d Deciding| Some((one, one.known(one.of_object(text, &object)?)?));
        Self { looks, words: looks.decides.iter().filter_map(word).collect(), exact }
    }

    /// By the words of a text, which are the first ones.
    pub fn text(looks: &'d Looks, text: &str, exact: bool) -> Self {
        let word = |one: &'d Deciding| {
            let mut said: Vec<(usize, usize)> = Vec::new();
            let place = |meant: Meant<'_>| match meant {
                Meant::Word(known) => one.words.iter().position(|word| word == known),
                Meant::Denied(_) | Meant::Refusal => None,
            };
            let own = one.said(text).filter(|(at, ..)| !is_former(text, *at));
            said.extend(own.filter_map(|(at, meant, _)| Some((at, place(meant)?))));
            let (_, first) = said.into_iter().min()?;
            Some((one, one.words.get(first)?))
        };
        Self { looks, words: looks.decides.iter().filter_map(word).collect(), exact }
    }

    /// One of the other words that stands in a text, whatever is said with it, or what denies the own one in its line.
    pub fn doubted_by<'t>(&self, text: &'t str) -> Option<&'t str> {
        let apart = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '\'' | '’');
        let is_other = |word: &str| {
            let other = |(one, own): &(&Deciding, &Name)| one.known(word).is_some_and(|known| known != *own);
            self.words.iter().any(other)
        };
        // `unapproved` denies as `not approved` does.
        let undone = |word: &str| {
            let longer = |own: &Name| {
                word.len() > own.len() && is_same_name(own, &word[word.ceil_char_boundary(word.len() - own.len())..])
            };
            self.words.iter().any(|(one, own)| longer(own) && one.known(word).is_none())
        };
        let names_own = |word: &str| {
            let is = |(one, _): &(&Deciding, &Name)| {
                one.known(word).is_some() || one.names.iter().any(|name| is_same_name(name, word))
            };
            self.words.iter().any(is)
        };
        let denied =
            |line: &'t str| line.split(apart).find(|word| denies(word)).filter(|_| line.split(apart).any(names_own));
        text.split(apart).find(|word| is_other(word) || undone(word)).or_else(|| text.lines().find_map(denied))
    }

    /// Whether a word is one of those that the report says, or of the keys that it says them under.
    pub fn is_own(&self, word: &str) -> bool {
        let names = |one: &Deciding| one.names.iter().any(|name| is_same_name(name, word));
        self.words.iter().any(|(one, own)| is_same_name(own, word) || names(one))
    }

    fn is_other(&self, own: &Name, meant: Meant<'_>, said: &str) -> bool {
        match meant {
            Meant::Word(known) => known != own && (!self.exact || said == &**known),
            Meant::Denied(known) => known == own && !self.exact,
            Meant::Refusal => !self.exact,
        }
    }

    /// Where a text behind a report says otherwise. What it says of the round before, or shows as code, is none of that.
    pub fn find(&self, text: &str, is_anothers: impl Fn(&str) -> bool) -> Option<usize> {
        let counts = |text: &str, said: Range<usize>| !is_former(text, said.start);
        self.is_named_in(text).then(|| self.find_in(&without_code(text), 0, is_anothers, counts)).flatten()
    }

    /// Where a Markdown report itself says otherwise than it began: in a line, or under a heading, that says nothing else. What it lists, shows
    /// or speaks of in a sentence is its content, as the work may be about words like these; but from its last section on, data is none: behind
    /// that, nothing is asked for any more. What it says of the round before is none of its own.
    pub fn find_inside(&self, text: &str, is_anothers: impl Fn(&str) -> bool) -> Option<usize> {
        if !self.is_named_in(text) {
            return None;
        }
        let last = last_section(text, &self.looks.sections);
        let text = &*without_code(text);
        let (mut fence, mut code): (_, Vec<Range<usize>>) = (Fence::default(), Vec::new());
        let line = |(at, line): (usize, &str)| {
            let is_code = fence.is_code(line);
            if is_code && at >= last {
                code.push(at..at + line.len());
            }
            let kept = at >= last || (!is_code && is_plain(line)) || self.holds_report(line);
            if kept { line.to_owned() } else { " ".repeat(line.len()) }
        };
        let kept: String = lines(text).map(line).collect();
        let is_code =
            |at: usize| code.get(code.partition_point(|line| line.end <= at)).is_some_and(|line| line.contains(&at));
        self.find_in(&kept, last, is_anothers, |text, said| {
            let behind = text[said.end..].lines().next().unwrap_or_default();
            let alone = || behind.starts_with("</") || !behind.contains(char::is_alphanumeric);
            let row = || near_before(text, said.start).rsplit('\n').next().unwrap_or_default().contains('|');
            (is_code(said.start) || row() || alone()) && !is_former(text, said.start)
        })
    }

    /// Whether one of the keys stands in a text.
    fn is_named_in(&self, text: &str) -> bool {
        self.words.iter().any(|(one, _)| one.names.iter().any(|name| places(text, name).next().is_some()))
    }

    /// Where a text says otherwise: in an object from a byte on, or in words that count, by the plain text and where in it the key begins and the word ends.
    fn find_in(
        &self,
        text: &str,
        from: usize,
        is_anothers: impl Fn(&str) -> bool,
        counts: impl Fn(&str, Range<usize>) -> bool,
    ) -> Option<usize> {
        let objects = objects(text, from);
        for (at, (range, object)) in objects.iter().enumerate() {
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| objects.get(at));
            let many = beside.into_iter().any(|(_, other)| has_same_keys(text, object, other));
            if self.is_attempt(text, object, many) && !is_anothers(&text[range.clone()]) {
                return Some(range.start);
            }
        }
        let mut plain = text.as_bytes().to_vec();
        for (range, _) in objects.iter().filter(|(range, _)| !self.holds_report(&text[range.clone()])) {
            plain[range.clone()].fill(b' ');
        }
        self.first_other(&String::from_utf8_lossy(&plain), counts)
    }

    /// Where one of the other words is said under a key that counts.
    fn first_other(&self, text: &str, counts: impl Fn(&str, Range<usize>) -> bool) -> Option<usize> {
        let text = &plain(&with_line_ends(text));
        let counts = |at: usize, said: &str| counts(text, at..said.as_ptr().addr() - text.as_ptr().addr() + said.len());
        let others = |(one, own): &(&'d Deciding, &'d Name)| {
            let said = one.said(text).filter(|(at, meant, said)| self.is_other(own, *meant, said) && counts(*at, said));
            said.map(|(at, ..)| at).min()
        };
        self.words.iter().filter_map(others).min()
    }

    /// Whether an object means to be a report and says otherwise: it has another key of one, or begins with this, or says little else; and is not one of many.
    fn is_attempt(&self, text: &str, object: &Skimmed, many: bool) -> bool {
        let shape = self.looks.json.as_ref();
        if shape.is_some_and(|shape| shape.says_otherwise(text, object)) {
            return false;
        }
        let is_known = |key: &str| self.looks.keys.iter().any(|known| is_same_name(known, key));
        let known = object.pairs.iter().filter(|pair| is_known(&text[pair.key.clone()])).count();
        // What begins with a number of its own is one of many elsewhere: `{"id": 3, "verdict": "rejected"}`.
        let is_record = object.pairs.first().is_some_and(|pair| pair.is_like(text, "id"));
        self.words.iter().any(|(one, own)| {
            let meant = |said| one.known(said).map(Meant::Word).or_else(|| Some(otherwise(&one.words, said)?.0));
            let said = one.of_object(text, object).and_then(|said| Some((meant(said)?, said)));
            let begins =
                || one.names.iter().any(|name| object.pairs.first().is_some_and(|pair| pair.is_like(text, name)));
            said.is_some_and(|(meant, said)| self.is_other(own, meant, said))
                && (known >= 2 || (!many && (begins() || (object.pairs.len() <= 2 && !is_record))))
        })
    }

    /// Whether an object holds a Markdown report in one of its strings.
    fn holds_report(&self, object: &str) -> bool {
        self.looks.markdown.as_ref().and_then(Heads::line).is_some_and(|line| object.contains(&line))
    }
}

/// Where the last section of a report begins that its contract knows; its beginning, where it has none.
fn last_section(text: &str, known: &[Name]) -> usize {
    let mut fence = Fence::default();
    let heads = marked(text).filter(|(_, line)| !fence.is_code(line) && line.trim_start().starts_with('#'));
    let is_known = |line: &str| heading_words(line).is_some_and(|title| known.iter().any(|name| is_title(name, title)));
    heads.filter(|(_, line)| is_known(line)).last().map_or(0, |(at, _)| at)
}

/// A text at the same length in which every line ends with `\n` alone; a line end that is written as an escape is one.
fn with_line_ends(text: &str) -> String {
    text.replace("\\r\\n", "   \n").replace("\\n", " \n").replace("\r\n", " \n").replace('\r', "\n")
}

/// The objects of a text from a byte on that are in no other.
pub fn objects(text: &str, from: usize) -> Vec<(Range<usize>, Skimmed)> {
    let (mut found, mut at) = (Vec::new(), from);
    while let Some(brace) = memchr::memchr(b'{', &text.as_bytes()[at..]) {
        at += brace;
        let object = skim::object(text, at);
        at = match object.end {
            End::Whole(end) => {
                found.push((at..end, object));
                end
            }
            End::Broken(next) => next.max(at + 1),
            End::Cut => break,
        };
    }
    found
}

pub fn has_same_keys(text: &str, one: &Skimmed, other: &Skimmed) -> bool {
    let keys = |object: &Skimmed| object.pairs.iter().map(|pair| text[pair.key.clone()].to_owned()).collect::<Vec<_>>();
    keys(one) == keys(other)
}
