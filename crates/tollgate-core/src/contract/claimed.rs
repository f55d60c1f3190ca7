//! Lines that are the claim themselves: what the checklist of a review says of a change. Elsewhere a mark is the claim and the words are
//! evidence; here `Not all criteria verified` takes back what the review says.
//!
//! A line is read by its clauses, and in a clause only by words that are known here: between a denial and what it denies stands nothing else.

mod words;

use words::{
    ALL, ALLOWED, BAD, BEFORE, BEHIND, BUT, CLAIM, COUNT, EXCEPTS, FILLS, FITS, HOLDS, May, NEGATES, NO, NOUN, OTHERS,
    OUT, PARTS, PASSES, RELATES, SCOPED, SETTLED, SPEC, UNLIKE, may,
};

/// How far into a text it is looked for, in bytes.
const LOOKED_AT: usize = 4096;

/// Which line of a checklist is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    Comments,
    Scope,
    Other,
}

/// What stands behind a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Nothing,
    /// A colon, behind which a number may stand: `unresolved: 2`.
    Colon,
    Clause,
    Sentence,
}

#[derive(Debug, Clone, Copy)]
struct Word {
    may: May,
    ends: Ends,
}

impl Word {
    fn is(self, what: May) -> bool {
        self.may & what != 0
    }
}

/// Whether a line denies what it stands for.
pub fn takes_back(said: &str, line: Line) -> bool {
    let words = read(&said[..said.floor_char_boundary(LOOKED_AT)]);
    let mut from = 0;
    let clauses = words.chunk_by(|word, next| word.ends == Ends::Nothing && !next.is(PARTS));
    let mut clauses = clauses.map(|clause| {
        from += clause.len();
        (clause, &words[from..])
    });
    // What is denied, counted or broken: the cheap questions first.
    clauses.any(|(clause, behind)| {
        negates(clause, line) || counts(clause, behind, line) || is_broken(clause, behind, line)
    }) || words.chunk_by(|word, _| word.ends != Ends::Sentence).any(|sentence| excepts(sentence, line))
}

fn read(said: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    // A quote that is not closed quotes nothing.
    let (mut quoted, last_quote) = (false, memchr::memrchr(b'`', said.as_bytes()).unwrap_or(0));
    for token in said.split_whitespace() {
        let end = |words: &mut Vec<Word>, ends: Ends| {
            if let Some(last) = words.last_mut() {
                last.ends = ends;
            }
        };
        // An item, a dash and the like part what stands around them.
        if !token.contains(char::is_alphanumeric) {
            let parts = token.contains(['-', '—', '–', '*', '|', '+', '>']);
            end(&mut words, if parts { Ends::Sentence } else { Ends::Clause });
            continue;
        }
        let ticks = token.matches('`').count();
        let is_code = ticks > 0 || (quoted && token.as_ptr().addr() - said.as_ptr().addr() < last_quote);
        quoted ^= ticks % 2 == 1;
        let bare = token.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '#');
        if token.starts_with(['(', '[']) {
            end(&mut words, Ends::Clause);
        }
        let word = bare.trim_end_matches(|c: char| !c.is_alphanumeric());
        let signs = &bare[word.len()..];
        let ends = match signs {
            "" => Ends::Nothing,
            _ if signs.contains(['.', ';', '!', '?']) => Ends::Sentence,
            _ if signs.contains(':') => Ends::Colon,
            _ if signs.contains([',', ')', ']', '—', '–']) => Ends::Clause,
            _ => Ends::Nothing,
        };
        words.push(Word { may: if is_code { 0 } else { may(word) }, ends });
    }
    words
}

/// Whether a clause denies a claim: `does not match the spec`, `not all criteria verified`.
fn negates(clause: &[Word], line: Line) -> bool {
    let Some(at) = clause.iter().position(|word| word.is(NEGATES | NO)) else { return false };
    let none = clause[at].is(NO);
    // `No comments left to be resolved` is what the line is to say.
    if (none && line == Line::Comments) || clause.iter().any(|word| word.is(BEFORE)) {
        return false;
    }
    let (before, behind) = (&clause[..at], &clause[at + 1..]);
    let is_claim = |word: &Word| word.is(CLAIM | FITS | HOLDS | SCOPED);
    let between = behind.iter().take_while(|word| word.is(FILLS | NOUN | COUNT) && !is_claim(word)).count();
    let Some((claim, rest)) = behind[between..].split_first() else { return false };
    // `A name that does not match` is spoken of; `it says that criterion 2 is not met` is said.
    let verbs = before.iter().rev().take_while(|word| word.is(FILLS)).count();
    let relates = before[..before.len() - verbs].last().is_some_and(|word| word.is(RELATES));
    let is_known = || before.iter().all(|word| word.is(FILLS | NOUN | COUNT | PARTS));
    let compared = || rest.iter().any(|word| word.is(SPEC)) || (rest.is_empty() && is_known());
    !relates
        && (claim.is(CLAIM)
            || (claim.is(FITS) && compared())
            // `No file is checked twice`.
            || (claim.is(HOLDS) && is_known() && (!none || rest.is_empty()))
            || (claim.is(SCOPED) && line == Line::Scope && !none))
}

/// Whether a clause counts what does not hold: `2 unresolved comments`, `one constraint is violated`, `failed: 2`.
fn counts(clause: &[Word], behind: &[Word], line: Line) -> bool {
    if clause.iter().any(|word| word.is(BEFORE | RELATES)) {
        return false;
    }
    let known = |word: &Word| word.is(FILLS | NOUN | PARTS | COUNT);
    let bad = |word: &Word| word.is(BAD) || (word.is(OUT) && line == Line::Scope);
    let counted = |at: usize| {
        let (before, rest) = (&clause[..at], &clause[at + 1..]);
        if before.last().is_some_and(|word| !known(word)) || before.iter().any(|word| word.is(NO | NEGATES)) {
            return false;
        }
        let between = rest.iter().take_while(|word| word.is(FILLS | NOUN | COUNT) && !bad(word)).count();
        match rest[between..].split_first() {
            // `Unresolved Comments: 2`.
            None => line == Line::Comments && before.iter().all(known),
            Some((word, next)) => {
                // `2 failed logins` are something else.
                let ends = next.first().is_none_or(|next| next.is(NOUN | FILLS | BEHIND | BAD));
                bad(word) && (ends || rest[..between].iter().any(|word| word.is(NOUN)))
            }
        }
    };
    let numbers = clause.iter().enumerate().filter(|(_, word)| word.is(COUNT));
    let found = numbers.map(|(at, _)| at).find(|at| counted(*at));
    match found {
        Some(at) => !is_settled(&clause[at..], behind),
        None => is_labelled(clause, behind),
    }
}

/// Whether a label counts what does not hold, and a number stands behind its colon.
fn is_labelled(clause: &[Word], behind: &[Word]) -> bool {
    let colon = clause.last().is_some_and(|word| word.ends == Ends::Colon);
    let label = clause.iter().any(|word| word.is(BAD)) && clause.iter().all(|word| word.is(BAD | NOUN | FILLS));
    let number = behind.first().is_some_and(|word| word.is(COUNT));
    let alone = behind.first().is_some_and(|word| word.ends != Ends::Nothing)
        || behind.get(1).is_none_or(|word| word.is(NOUN | PARTS | BEHIND));
    colon && label && number && alone && !is_settled(clause, behind)
}

/// Whether it is said of what was counted that it holds now; of others that do it says nothing.
fn is_settled(clause: &[Word], behind: &[Word]) -> bool {
    let (mut last, mut passed_over) = (Word { may: 0, ends: Ends::Nothing }, 0);
    for (at, word) in clause.iter().chain(behind).enumerate() {
        let settles = word.is(SETTLED) || (word.is(PASSES) && (at < clause.len() || passed_over & NOUN == 0));
        let counted = last.is(COUNT) && !last.is(FILLS);
        if settles && !counted && passed_over & (NEGATES | NO | OTHERS) == 0 {
            return true;
        }
        passed_over = if word.ends == Ends::Nothing { passed_over | word.may } else { 0 };
        last = *word;
    }
    false
}

/// Whether a clause says of what a checklist speaks of that it is broken: `constraints violated`, `tests fail`.
fn is_broken(clause: &[Word], behind: &[Word], line: Line) -> bool {
    let prefix = clause.iter().take_while(|word| word.is(FILLS | NOUN | PARTS) && !word.is(UNLIKE | BAD)).count();
    let Some((word, rest)) = clause[prefix..].split_first() else { return false };
    let colon = clause.last().is_some_and(|word| word.ends == Ends::Colon);
    let last = !colon && rest.iter().all(|word| word.is(BAD));
    let named = clause[..prefix].iter().any(|word| word.is(NOUN));
    let broken = match word.is(UNLIKE) {
        true => last || named || rest.first().is_some_and(|word| word.is(FILLS)),
        false => word.is(BAD) && named && last && line != Line::Scope,
    };
    let none = |word: &Word| word.is(NO | NEGATES | BEFORE | RELATES);
    broken && !colon && !clause.iter().any(none) && !is_settled(clause, behind)
}

/// Whether a sentence takes some out of all: `All criteria verified except criterion 2`.
fn excepts(sentence: &[Word], line: Line) -> bool {
    let all = |word: &Word| word.is(ALL) || (word.is(NO) && line == Line::Comments);
    let Some(at) = sentence.iter().position(all) else { return false };
    let behind = &sentence[at + 1..];
    let spoken_of = |word: &Word| word.is(NOUN | CLAIM | FITS | HOLDS);
    let between = behind.iter().take_while(|word| word.is(FILLS | COUNT | BAD) && !spoken_of(word)).count();
    let allowed = || line == Line::Scope && sentence.iter().any(|word| word.is(ALLOWED));
    if !behind.get(between).is_some_and(spoken_of) || allowed() {
        return false;
    }
    let takes_out =
        |(word, next): (&Word, &Word)| (next.is(EXCEPTS) && !word.is(NO)) || (word.is(BUT) && next.is(NEGATES));
    behind.iter().zip(&behind[1..]).any(takes_out)
}

#[cfg(test)]
mod tests;
