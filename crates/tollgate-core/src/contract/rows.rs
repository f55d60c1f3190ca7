//! Which criterion a line of a report means: it names the row by its id or repeats the row's text.

use std::collections::{BTreeMap, BTreeSet};

use super::status_block::document::Mark;
use super::task::split_command;
use super::text::one_line;
use crate::Name;
use crate::report::CriterionRow;

/// How many places of a line are tried as the end of a row's text.
const ENDS_MAX: usize = 16;

/// How many rows one line may say words about: each gets a copy of them.
const TOGETHER_MAX: usize = 64;

/// The rows a report may speak of; without them every name is taken as it stands.
#[derive(Debug)]
pub struct Rows<'a> {
    known: Option<Known<'a>>,
}

#[derive(Debug)]
struct Known<'a> {
    by_id: BTreeMap<String, &'a CriterionRow>,
    /// None where two rows have one text.
    by_text: BTreeMap<String, Option<&'a CriterionRow>>,
}

/// What a line names.
#[derive(Debug, PartialEq, Eq)]
pub enum Named {
    /// These rows, and what the line says about them.
    Rows(Vec<Name>, String),
    /// No row there is.
    Unknown,
    /// A text that several rows share.
    Ambiguous,
    /// Several ids, and words that may be about all of them or about the last.
    Unclear,
    /// The id of the first row, though it repeats the text of the other word for word.
    Torn(Name, Name),
}

impl<'a> Rows<'a> {
    /// Indexes the rows that are known.
    pub fn new(criteria: Option<&'a [CriterionRow]>) -> Self {
        let known = criteria.map(|rows| {
            let mut by_text = BTreeMap::new();
            for row in rows {
                by_text.entry(one_line(&row.text)).and_modify(|other| *other = None).or_insert(Some(row));
            }
            Known { by_id: rows.iter().map(|row| (row.id.to_lowercase(), row)).collect(), by_text }
        });
        Self { known }
    }

    /// Whether it is known which rows there are.
    pub fn are_known(&self) -> bool {
        self.known.is_some()
    }

    /// The row of an id, when rows are known.
    pub fn get(&self, id: &str) -> Option<&'a CriterionRow> {
        self.known.as_ref().and_then(|known| known.by_id.get(&id.to_lowercase()).copied())
    }

    /// Finds the rows that a line is about: the ids it begins with, up to a colon or a dash, or the row whose text it repeats.
    /// Of "DoD-1, DoD-2 was not tested" nobody knows what it says of DoD-1: it must never count.
    pub fn resolve(&self, line: &str) -> Named {
        let line = unsigned(line);
        if let Some((first, after)) = self.leading_id(line) {
            return match (self.several(first, after), self.by_text(line)) {
                (Named::Rows(ids, _), Named::Rows(other, _)) if !ids.contains(&other[0]) => {
                    Named::Torn(ids[0].clone(), other[0].clone())
                }
                (Named::Rows(..), Named::Ambiguous) => Named::Ambiguous,
                (named, _) => named,
            };
        }
        if self.known.is_some() {
            return self.by_text(line);
        }
        let end = ends(line).next().unwrap_or(line.len());
        Named::Rows(vec![one_line(&line[..end]).into()], said(&line[end..]))
    }

    /// The row whose text a line repeats.
    fn by_text(&self, line: &str) -> Named {
        let Some(known) = &self.known else { return Named::Unknown };
        let bare = split_command(line).map_or(line, |(text, ..)| text);
        // The longest text that is a row wins: one row may begin like another.
        let mut tried: Vec<usize> = ends(bare).take(ENDS_MAX).collect();
        tried.push(bare.len());
        for end in tried.into_iter().rev() {
            match known.by_text.get(&one_line(&bare[..end])) {
                Some(Some(row)) => return Named::Rows(vec![row.id.clone()], said(&bare[end..])),
                Some(None) => return Named::Ambiguous,
                None => {}
            }
        }
        Named::Unknown
    }

    fn several(&self, first: Name, after: &str) -> Named {
        let mut seen = BTreeSet::from([first.clone()]);
        let mut ids = vec![first];
        let mut rest = after;
        while let Some((id, next)) = connected(rest).and_then(|next| self.leading_id(next)) {
            if seen.insert(id.clone()) {
                ids.push(id);
            }
            rest = next;
        }
        let words = rest.trim_start_matches([' ', '\t']);
        let clear = ids.len() == 1
            || words.is_empty()
            || (ids.len() <= TOGETHER_MAX && words.starts_with([':', '—', '–', '-', '(', '→', '\n']));
        if clear && !self.goes_on(rest) { Named::Rows(ids, said(rest)) } else { Named::Unclear }
    }

    /// Whether the ids go on in a way that is not read: a range, numbers without their name, a row that is not there.
    fn goes_on(&self, rest: &str) -> bool {
        let id = |text: &str| self.leading_id(text).is_some() || numbered(text).is_some();
        let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let bare = rest.trim_start();
        let dashed = bare.trim_start_matches(['-', '–', '—', '…', '.']);
        let word = ["to ", "through ", "until "].iter().find_map(|word| bare.strip_prefix(word));
        let range = word.or_else(|| (dashed.len() < bare.len()).then_some(dashed));
        range.is_some_and(|next| id(next.trim_start()))
            || rest.strip_prefix(['–', '—', '-', '…']).is_some_and(number)
            || rest.strip_prefix("..").is_some_and(|rest| number(rest.trim_start_matches('.')))
            || connected(rest).is_some_and(|next| id(next) || number(next))
    }

    /// A further line of an entry that names a row itself.
    pub fn inside<'t>(&self, entry: &'t str) -> Option<&'t str> {
        let names = |line: &&str| match &self.known {
            Some(_) => !line.is_empty() && self.resolve(line) != Named::Unknown,
            None => self.leading_id(line).is_some(),
        };
        entry.lines().skip(1).map(unmarked).find(names)
    }

    /// An id at the start of a text, as the ledger spells it, and what follows.
    fn leading_id<'t>(&self, text: &'t str) -> Option<(Name, &'t str)> {
        let (word, after) = first_word(text);
        match &self.known {
            Some(known) => known.by_id.get(&word.to_lowercase()).map(|row| (row.id.clone(), after)),
            None => numbered(word).map(|number| (Name::from(format!("DoD-{number}")), after)),
        }
    }
}

/// The first word of a text, without the signs around it, and what follows.
fn first_word(text: &str) -> (&str, &str) {
    const AROUND: [char; 6] = ['*', '`', '[', ']', '(', ')'];
    let start = text.trim_start_matches(AROUND);
    let end = start.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(start.len());
    // `DoD-3..DoD-5` is two.
    let end = start[..end].find("..").unwrap_or(end);
    let word = start[..end].trim_end_matches(['.', '-']);
    (word, start[word.len()..].trim_start_matches(AROUND))
}

/// The number of the id `DoD-7` that a text begins with, and what follows.
pub fn leading_number(text: &str) -> Option<(&str, &str)> {
    let (word, after) = first_word(text);
    numbered(word).map(|number| (number, after))
}

/// The number of a word `DoD-7`, with what may stand behind it.
fn numbered(text: &str) -> Option<&str> {
    let number = text.get(..4).filter(|prefix| prefix.eq_ignore_ascii_case("dod-")).and(text.get(4..))?;
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    let whole = !number[end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    (end > 0 && whole).then(|| &number[..end])
}

/// What follows the sign between two ids of a list.
fn connected(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([' ', '\t']);
    match rest.strip_prefix([',', ';', '&', '+', '/']).map(str::trim_start) {
        Some(next) => Some(next.strip_prefix("and ").map_or(next, str::trim_start)),
        None => rest.strip_prefix("and ").map(str::trim_start),
    }
}

/// A line without the mark at its start.
fn unsigned(line: &str) -> &str {
    line.trim().trim_start_matches(|c: char| Mark::of(c).is_some() || c == '\u{fe0f}' || c.is_whitespace())
}

/// A line without what may stand before its first word: list signs, a check box, a mark.
pub fn unmarked(line: &str) -> &str {
    let mut rest = unsigned(line);
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let next = match digits {
            0 => ["- ", "* ", "+ ", "> ", "[ ] ", "[x] ", "[X] "].iter().find_map(|sign| rest.strip_prefix(sign)),
            _ => rest[digits..].strip_prefix(". ").or_else(|| rest[digits..].strip_prefix(") ")),
        };
        match next {
            Some(next) => rest = unsigned(next),
            None => return rest,
        }
    }
}

/// The offsets at which the text of a row may end and the words about it begin.
fn ends(line: &str) -> impl Iterator<Item = usize> {
    const BETWEEN: [&str; 6] = [" — ", " – ", " - ", ": ", " (", "\n"];
    line.char_indices().map(|(at, _)| at).filter(move |at| BETWEEN.iter().any(|sign| line[*at..].starts_with(sign)))
}

fn said(rest: &str) -> String {
    rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | '-' | ':' | '.' | '→'))
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, text: &str) -> CriterionRow {
        CriterionRow { id: id.into(), text: text.into(), ..CriterionRow::default() }
    }

    #[test]
    fn rows_go_by_id_or_by_text() {
        let rows =
            [row("DoD-1", "a works"), row("DoD-2", "a works: always"), row("DoD-3", "same"), row("DoD-4", "same")];
        let rows = Rows::new(Some(&rows));
        let check = |line: &str, ids: &[&str], said: &str| {
            let ids = ids.iter().map(|id| Name::from(*id)).collect();
            assert_eq!(rows.resolve(line), Named::Rows(ids, said.to_owned()), "{line}");
        };
        check("DoD-1", &["DoD-1"], "");
        check("**dod-1**: seen in src/a.rs", &["DoD-1"], "seen in src/a.rs");
        check("DoD-1, DoD-2, DoD-3", &["DoD-1", "DoD-2", "DoD-3"], "");
        check("✓ DoD-1 — seen", &["DoD-1"], "seen");
        check("DoD-1, DoD-2: both missing", &["DoD-1", "DoD-2"], "both missing");
        check("DoD-1 and DoD-2 — both", &["DoD-1", "DoD-2"], "both");
        check("`DoD-1`, `DoD-2`, and `DoD-3` (all of them)", &["DoD-1", "DoD-2", "DoD-3"], "(all of them)");
        check("DoD-1 — 3 tests fail", &["DoD-1"], "3 tests fail");
        check("DoD-1: DoD-2 needs it", &["DoD-1"], "DoD-2 needs it");
        for unclear in [
            "DoD-1, DoD-2 was not tested",
            "DoD-1 and DoD-3 fails",
            "DoD-1 to DoD-3: missing",
            "DoD-1–DoD-3: missing",
            "DoD-1–3: missing",
            "DoD-1, 2 and 3: missing",
            "DoD-1/2",
            "DoD-1..3",
            "DoD-1...3: missing",
            "DoD-1..DoD-3",
            "DoD-1, DoD-9: missing",
        ] {
            assert_eq!(rows.resolve(unclear), Named::Unclear, "{unclear}");
        }
        for unknown in ["DoD-1-3", "all rows"] {
            assert_eq!(rows.resolve(unknown), Named::Unknown, "{unknown}");
        }
        assert_eq!(rows.inside("DoD-1\nseen\n  - [x] ✗ DoD-2: no"), Some("DoD-2: no"));
        assert_eq!(rows.inside("DoD-1\n1. a works"), Some("a works"));
        assert_eq!(rows.inside("DoD-1: as\n- seen with DoD-2"), None);
        check("DoD-1 (DoD-2 is still broken)", &["DoD-1"], "(DoD-2 is still broken)");
        check("a  works", &["DoD-1"], "");
        check("a works `cmd: true`", &["DoD-1"], "");
        check("a works: always — src/a.rs", &["DoD-2"], "src/a.rs");
        check("a works: never", &["DoD-1"], "never");
        assert_eq!(rows.resolve("same"), Named::Ambiguous);
        assert_eq!(rows.resolve("DoD-9"), Named::Unknown);
        assert_eq!(rows.resolve(""), Named::Unknown);
    }

    /// An id and a text that mean different rows: neither is the better guess.
    #[test]
    fn an_id_is_not_preferred_to_the_text_of_another_row() {
        let rows = [row("DoD-1", "DoD-2: a exists"), row("DoD-2", "**DoD-1** b exists"), row("DoD-3", "DoD-3: c")];
        let rows = Rows::new(Some(&rows));
        let torn = |id: &str, text: &str| Named::Torn(id.into(), text.into());
        assert_eq!(rows.resolve("DoD-2: a exists"), torn("DoD-2", "DoD-1"));
        assert_eq!(rows.resolve("✗ DoD-2: a  exists — not there"), torn("DoD-2", "DoD-1"));
        assert_eq!(rows.resolve("**DoD-1** b exists `cmd: true`"), torn("DoD-1", "DoD-2"));
        assert_eq!(rows.resolve("DoD-2: b exists"), Named::Rows(vec!["DoD-2".into()], "b exists".into()));
        assert_eq!(rows.resolve("DoD-3: c"), Named::Rows(vec!["DoD-3".into()], "c".into()));
    }

    #[test]
    fn without_rows_names_stand_for_themselves() {
        let rows = Rows::new(None);
        assert_eq!(rows.resolve("dod-7: x"), Named::Rows(vec!["DoD-7".into()], "x".into()));
        assert_eq!(rows.resolve("dod-7, DoD-8: x"), Named::Rows(vec!["DoD-7".into(), "DoD-8".into()], "x".into()));
        assert_eq!(rows.inside("it works\n- DoD-2"), Some("DoD-2"));
        assert_eq!(rows.resolve("it works — x"), Named::Rows(vec!["it works".into()], "x".into()));
    }
}
