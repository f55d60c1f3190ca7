//! Which rows of the Definition of Done an item of a report is about: it begins with their ids.

use std::collections::BTreeMap;

use tollgate_core::Name;
use tollgate_core::report::CriterionRow;

/// How many rows one item may name: each gets a copy of its evidence.
const TOGETHER_MAX: usize = 64;

/// The rows a report may name; where they are not known, every name is taken as it is written.
#[derive(Debug)]
pub struct Rows<'a> {
    known: Option<BTreeMap<String, &'a CriterionRow>>,
}

impl<'a> Rows<'a> {
    /// Indexes the rows that are known.
    pub fn new(criteria: Option<&'a [CriterionRow]>) -> Self {
        Self { known: criteria.map(|rows| rows.iter().map(|row| (row.id.to_lowercase(), row)).collect()) }
    }

    /// Whether it is known which rows there are.
    pub fn are_known(&self) -> bool {
        self.known.is_some()
    }

    /// The row of an id, when rows are known.
    pub fn get(&self, id: &str) -> Option<&'a CriterionRow> {
        self.known.as_ref()?.get(&id.to_lowercase()).copied()
    }

    /// The ids that an item begins with, separated by commas, and its evidence; none where one of them is no row.
    pub fn named(&self, item: &str) -> Option<(Vec<Name>, String)> {
        let (head, evidence) = split(item);
        let mut ids: Vec<Name> = Vec::new();
        for id in names(head) {
            let id = match &self.known {
                Some(known) => known.get(&id.to_lowercase())?.id.clone(),
                None => id.into(),
            };
            if !ids.contains(&id) {
                ids.push(id);
            }
            if ids.len() > TOGETHER_MAX {
                return None;
            }
        }
        (!ids.is_empty()).then(|| (ids, evidence.to_owned()))
    }
}

/// What an item names, up to a colon, a dash, a bracket or the end of its first line, and what it says about that.
pub fn split(item: &str) -> (&str, &str) {
    let mut before = ' ';
    let is_separator = |(at, c): (usize, char)| {
        let spaced = std::mem::replace(&mut before, c).is_whitespace();
        let separates = matches!(c, ':' | '—' | '\n') || (spaced && matches!(c, '–' | '-' | '→' | '('));
        separates.then_some(at)
    };
    let at = item.char_indices().find_map(is_separator).unwrap_or(item.len());
    let signs = |c: char| c.is_whitespace() || matches!(c, ':' | '—' | '–' | '-' | '→' | '*' | '`');
    (item[..at].trim(), item[at..].trim_start_matches(signs).trim_end())
}

/// The names of a list with commas, without the signs that style them.
pub fn names(head: &str) -> impl Iterator<Item = &str> {
    let styles = |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '[' | ']');
    head.split(',').map(move |name| name.trim_matches(styles)).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_begins_with_the_ids_of_its_rows() {
        let row = |id: &str| CriterionRow { id: id.into(), text: format!("text of {id}"), ..CriterionRow::default() };
        let rows = [row("DoD-1"), row("DoD-2"), row("DoD-3")];
        let rows = Rows::new(Some(&rows));
        let check = |item: &str, ids: &[&str], evidence: &str| {
            let ids = ids.iter().map(|id| Name::from(*id)).collect();
            assert_eq!(rows.named(item), Some((ids, evidence.to_owned())), "{item}");
        };
        check("DoD-1", &["DoD-1"], "");
        check("**dod-1**: seen in src/a.rs", &["DoD-1"], "seen in src/a.rs");
        check("**DoD-1:** seen", &["DoD-1"], "seen");
        check("`DoD-1`, `DoD-2`, DoD-3 (all of them)", &["DoD-1", "DoD-2", "DoD-3"], "(all of them)");
        check("DoD-1 — 3 tests fail: why", &["DoD-1"], "3 tests fail: why");
        check("DoD-1\n- seen with DoD-2", &["DoD-1"], "seen with DoD-2");
        for unknown in [
            "",
            "DoD-9",
            "DoD-1, DoD-9: x",
            "DoD-1 and DoD-2: x",
            "DoD-1–3: x",
            "DoD-1 was not tested",
            "text of DoD-1",
        ] {
            assert_eq!(rows.named(unknown), None, "{unknown}");
        }
        let unknown = Rows::new(None);
        assert_eq!(unknown.named("it works — x"), Some((vec!["it works".into()], "x".into())));
    }
}
