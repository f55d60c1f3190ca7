//! Which criterion a line of a report means: it names the row by its id or repeats the row's text.

use std::collections::BTreeMap;

use super::task::split_command;
use super::text::one_line;
use crate::Name;
use crate::report::CriterionRow;

/// How many places of a line are tried as the end of a row's text.
const ENDS_MAX: usize = 16;

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

    /// The row of an id, when rows are known.
    pub fn get(&self, id: &str) -> Option<&'a CriterionRow> {
        self.known.as_ref().and_then(|known| known.by_id.get(&id.to_lowercase()).copied())
    }

    /// Finds the row that a line is about. One line, one row: ids further on are words about it, and "DoD-1 holds, DoD-2
    /// does not" must never count for both.
    pub fn resolve(&self, line: &str) -> Named {
        if let Some((id, after)) = self.leading_id(line.trim()) {
            return Named::Rows(vec![id], said(after));
        }
        let Some(known) = &self.known else {
            let end = ends(line).next().unwrap_or(line.len());
            return Named::Rows(vec![one_line(&line[..end]).into()], said(&line[end..]));
        };
        let bare = split_command(line).map_or(line, |(text, _)| text);
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

    /// An id at the start of a text, as the ledger spells it, and what follows.
    fn leading_id<'t>(&self, text: &'t str) -> Option<(Name, &'t str)> {
        const AROUND: [char; 6] = ['*', '`', '[', ']', '(', ')'];
        let start = text.trim_start_matches(AROUND);
        let end = start.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(start.len());
        let word = start[..end].trim_end_matches(['.', '-']);
        let after = start[word.len()..].trim_start_matches(AROUND);
        match &self.known {
            Some(known) => known.by_id.get(&word.to_lowercase()).map(|row| (row.id.clone(), after)),
            None => {
                let number = word.get(..4).filter(|prefix| prefix.eq_ignore_ascii_case("dod-")).and(word.get(4..))?;
                let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
                digits.then(|| (Name::from(format!("DoD-{number}")), after))
            }
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
        check("DoD-1, DoD-2 and DoD-3 — read", &["DoD-1"], ", DoD-2 and DoD-3 — read");
        check("DoD-1 (DoD-2 is still broken)", &["DoD-1"], "(DoD-2 is still broken)");
        check("a  works", &["DoD-1"], "");
        check("a works `cmd: true`", &["DoD-1"], "");
        check("a works: always — src/a.rs", &["DoD-2"], "src/a.rs");
        check("a works: never", &["DoD-1"], "never");
        assert_eq!(rows.resolve("same"), Named::Ambiguous);
        assert_eq!(rows.resolve("DoD-9"), Named::Unknown);
        assert_eq!(rows.resolve(""), Named::Unknown);
    }

    #[test]
    fn without_rows_names_stand_for_themselves() {
        let rows = Rows::new(None);
        assert_eq!(rows.resolve("dod-7: x"), Named::Rows(vec!["DoD-7".into()], "x".into()));
        assert_eq!(rows.resolve("it works — x"), Named::Rows(vec!["it works".into()], "x".into()));
    }
}
