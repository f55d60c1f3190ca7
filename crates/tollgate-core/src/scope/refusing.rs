//! Words of an item of In Scope that refuse a change: `No changes to src/auth.ts`, `src/auth.ts (read only)`.
//!
//! An item is read in clauses. A clause refuses when it begins so before a path, or when it says of a file that it is not to be
//! changed. Words about a part of what is named (`the API stays unchanged`) refuse nothing that can be measured.

use super::item::{bare_word, is_path};
use super::refusing_words::{
    ALONE, BEFORE, BEFORE_DIRECTLY, BETWEEN, CHANGES, DETERMINERS, EMPTY, ITSELF, LAST, MODALS, NEEDED, NEGATIONS,
    ORDERS, SIGNS, STATES,
};

/// What the words of an item refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// All that it names.
    All,
    /// These paths, which a remark names.
    Paths(Vec<String>),
    /// Some part of it, in words.
    Part,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Plain(String),
    Path(String),
    Code,
}

#[derive(Debug, Default)]
struct Clause {
    words: Vec<Word>,
    /// It stands behind a path, in brackets or behind a dash or colon.
    is_remark: bool,
    /// What the item is about stands before it.
    is_behind: bool,
}

fn is_in(word: &str, known: &[&str]) -> bool {
    known.contains(&word)
}

impl Word {
    fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Plain(word) if word == wanted)
    }

    fn is_one_of(&self, known: &[&str]) -> bool {
        matches!(self, Self::Plain(word) if is_in(word, known))
    }

    /// Whether it may be what a sentence is about, other than the path.
    fn has_content(&self) -> bool {
        match self {
            Self::Plain(word) => !is_in(word, EMPTY) && !is_in(word, ITSELF),
            Self::Code => true,
            Self::Path(_) => false,
        }
    }

    fn changes(&self) -> bool {
        matches!(self, Self::Plain(word) if word != "editor" && CHANGES.iter().any(|stem| word.starts_with(stem)))
    }
}

/// What an item refuses; what stands below it in a list is read as its remarks.
pub(super) fn refused(head: &str, below: &[String]) -> Option<Refused> {
    let mut found: Vec<Refused> = clauses(head).iter().filter_map(Clause::refused).collect();
    for item in below {
        let clauses = clauses(item);
        let own: Vec<String> = clauses.iter().flat_map(Clause::paths).collect();
        let remark = |clause| Clause { is_remark: true, is_behind: true, ..clause };
        found.extend(match own.is_empty() {
            true => clauses.into_iter().map(remark).filter_map(|clause| clause.refused()).collect(),
            false if clauses.iter().any(|clause| clause.refused().is_some_and(|one| one != Refused::Part)) => {
                vec![Refused::Paths(own)]
            }
            false => Vec::new(),
        });
    }
    if found.contains(&Refused::All) {
        return Some(Refused::All);
    }
    let paths: Vec<String> = found.iter().flat_map(Refused::paths).cloned().collect();
    match (found.is_empty(), paths.is_empty()) {
        (true, _) => None,
        (false, true) => Some(Refused::Part),
        (false, false) => Some(Refused::Paths(paths)),
    }
}

impl Refused {
    fn paths(&self) -> &[String] {
        match self {
            Self::Paths(paths) => paths,
            Self::All | Self::Part => &[],
        }
    }
}

impl Clause {
    fn paths(&self) -> impl Iterator<Item = String> + '_ {
        self.words.iter().filter_map(|word| match word {
            Word::Path(path) => Some(path.clone()),
            Word::Plain(_) | Word::Code => None,
        })
    }

    fn refused(&self) -> Option<Refused> {
        let paths: Vec<String> = self.paths().collect();
        let those = |named: bool| match named && !paths.is_empty() {
            true => Refused::Paths(paths.clone()),
            false => Refused::All,
        };
        if self.refuses_what_follows() {
            return Some(those(self.is_behind));
        }
        let said = (0..self.words.len()).filter_map(|at| self.refusal_at(at).map(|end| (at, end)));
        let parts: Vec<bool> = said.map(|(at, end)| self.is_about_a_part(at, end)).collect();
        match (parts.is_empty(), parts.contains(&false)) {
            (true, _) => None,
            (false, true) => Some(those(self.is_remark)),
            (false, false) => Some(Refused::Part),
        }
    }

    fn refuses_what_follows(&self) -> bool {
        let begins = |word: &Word| word.has_content() || word.is_one_of(BEFORE) || word.is_one_of(BEFORE_DIRECTLY);
        let first = self.words.iter().position(begins);
        let Some((word, behind)) = first.and_then(|at| self.words[at..].split_first()) else { return false };
        let is_path = |word: &Word| matches!(word, Word::Path(_));
        let directly = || behind.iter().find(|word| word.has_content() || is_path(word)).is_some_and(is_path);
        match word {
            Word::Plain(_) if word.is_one_of(BEFORE) => behind.iter().any(is_path),
            Word::Plain(_) if word.is_one_of(BEFORE_DIRECTLY) => !self.is_behind && directly(),
            _ => false,
        }
    }

    /// Where words end that begin here, and say that something is not to be changed.
    fn refusal_at(&self, at: usize) -> Option<usize> {
        let words = &self.words[at..];
        let first = words.first()?;
        if first.is_one_of(NEGATIONS) {
            let filled = words[1..].iter().take(2).take_while(|word| word.is_one_of(BETWEEN)).count();
            let verb = 1 + filled;
            let is_ordered = || {
                let before = at.checked_sub(1).and_then(|before| self.words.get(before));
                let told = before.is_some_and(|word| word.is_one_of(MODALS));
                told || first.is_one_of(ORDERS) || words.get(1).is_some_and(|word| word.is("to"))
            };
            if words.get(verb).is_some_and(Word::changes) && (self.knows_its_path(at) || is_ordered()) {
                return Some(at + verb + 1);
            }
            let scope = |word: &Word| word.is_one_of(&["scope", "allowed", "permitted", "part"]);
            return words.iter().take(4).position(scope).map(|end| at + end + 1);
        }
        if first.is_one_of(&["leave", "leaves", "leaving", "left"]) {
            return words.iter().position(|word| word.is("alone")).map(|end| at + end + 1);
        }
        if (first.is_one_of(LAST) && words.len() == 1)
            || (first.is_one_of(ALONE) && self.words.len() == 1 && self.is_behind)
        {
            return Some(at + 1);
        }
        let fits = |state: &&&[&str]| {
            state.len() <= words.len() && state.iter().zip(words).all(|(wanted, word)| word.is(wanted))
        };
        STATES.iter().find(fits).map(|state| at + state.len())
    }

    /// Whether the path that the words before here are about is named already.
    fn knows_its_path(&self, at: usize) -> bool {
        self.is_behind || self.words[..at].iter().any(|word| matches!(word, Word::Path(_)))
    }

    /// Whether words say that no change is needed: `no change expected`, not `no edit mode`.
    fn is_noun_that_is_not_needed(&self, at: usize, end: usize) -> bool {
        let next = |word: &Word| matches!(word, Word::Plain(word) if word.ends_with("ed") || is_in(word, NEEDED));
        self.words[at].is_one_of(&["no", "zero", "without"]) && self.words.get(end).is_some_and(next)
    }

    /// Whether a refusal speaks of a part of what the item names.
    fn is_about_a_part(&self, at: usize, end: usize) -> bool {
        let subject = self.knows_its_path(at) && self.words[..at].iter().any(Word::has_content);
        let within =
            self.words[at..end].first().is_some_and(|word| word.is_one_of(&["leave", "leaves", "leaving", "left"]))
                && self.words[at + 1..end - 1].iter().any(Word::has_content);
        let mut behind = self.words[end..].iter().skip_while(|word| word.is_one_of(&["to", "in", "of"])).peekable();
        let determined = behind.next_if(|word| word.is_one_of(DETERMINERS)).is_some();
        let object = match behind.next() {
            _ if self.is_noun_that_is_not_needed(at, end) => false,
            None | Some(Word::Path(_)) => false,
            Some(Word::Code) => true,
            Some(word) if word.is_one_of(&["anything", "everything"]) => {
                behind.next().is_some_and(|word| word.is("else"))
            }
            Some(word) if word.is_one_of(ITSELF) || word.is("same") => false,
            Some(word) => determined || word.has_content(),
        };
        subject || within || object
    }
}

/// The clauses of an item.
fn clauses(head: &str) -> Vec<Clause> {
    let mut all = vec![Clause::default()];
    let (mut seen, mut is_remark) = (false, false);
    let begin = |all: &mut Vec<Clause>, is_remark: bool, seen: bool| {
        // A plain name, such as `Makefile`, is what the item is about where a remark follows.
        let is_behind = seen || (is_remark && all.len() == 1 && all[0].words.len() == 1);
        match all.last_mut() {
            Some(last) if last.words.is_empty() => {
                (last.is_remark, last.is_behind) = (is_remark && is_behind, is_behind)
            }
            _ => all.push(Clause { words: Vec::new(), is_remark: is_remark && is_behind, is_behind }),
        }
    };
    let put = |all: &mut Vec<Clause>, word: Word| {
        all.iter_mut().last().into_iter().for_each(|last| last.words.push(word.clone()))
    };
    for (at, piece) in head.split('`').enumerate() {
        if at % 2 == 1 {
            let span = piece.trim();
            if is_path(span) {
                put(&mut all, Word::Path(span.to_owned()));
                seen = true;
            } else if !span.is_empty() {
                put(&mut all, Word::Code);
            }
            continue;
        }
        let spaced = piece.replace('’', "'").replace('—', " — ").replace('–', " – ");
        for raw in spaced.split_whitespace() {
            if matches!(raw, "—" | "–" | "--" | "-" | "but" | "and") || raw.starts_with(['(', '[']) {
                is_remark |= !matches!(raw, "but" | "and");
                begin(&mut all, is_remark, seen);
            }
            let bare = bare_word(raw);
            if is_path(bare) {
                put(&mut all, Word::Path(bare.to_owned()));
                seen = true;
            } else {
                words_of(raw).for_each(|word| put(&mut all, Word::Plain(word)));
            }
            // A label before a path belongs to it.
            let ends = raw.ends_with([',', ';', '.', '!', ')', ']']) || (raw.ends_with(':') && seen);
            if ends {
                is_remark |= raw.ends_with(':');
                begin(&mut all, is_remark, seen);
            }
        }
    }
    all
}

/// The plain words of one that is written: `read-only` is two.
fn words_of(raw: &str) -> impl Iterator<Item = String> {
    const PARTED: &[&str] = &["read", "off", "reference", "context", "do", "hands", "as", "out"];
    let bare = raw.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let is_parted = bare.split_once('-').is_some_and(|(first, _)| is_in(first, PARTED));
    let parts: Vec<String> = match is_parted {
        true => bare.split('-').map(str::to_owned).collect(),
        false => vec![bare],
    };
    let sign = raw.contains(SIGNS).then(|| "forbidden".to_owned());
    sign.into_iter().chain(parts).filter(|word| !word.is_empty() && word != "but" && word != "and")
}
