//! The Abstract: the index of a report that is checked against the rest.

use std::collections::BTreeMap;

use super::document::Word;
use super::draft::{Draft, Located};
use super::entry::file_counts;
use super::parse::{Reader, plain};
use crate::code::Code;
use crate::contract::markdown::{BlockKind, is_fence};
use crate::contract::text::{is_placeholder, is_respelling, quote};
use crate::diagnostic::{Diagnostic, Mend, Place};

impl Reader<'_, '_> {
    /// The Abstract: `field: value` lines, plain or in a fence.
    pub(super) fn index(&mut self, draft: &mut Draft) {
        let mut seen: BTreeMap<&'static str, Place> = BTreeMap::new();
        let mut strange = Vec::new();
        for (at, line) in self.said().into_iter().filter(|(_, line)| !is_fence(line)) {
            let place = self.source.place(at);
            let field = line.split_once(':').map(|(name, value)| (name.trim_matches(['*', '`', '-', ' ']), value));
            let find = |is: &dyn Fn(&str, &str) -> bool| {
                let (name, value) = field?;
                FIELDS.iter().find(|known| is(known, name)).map(|known| (*known, name, value))
            };
            let known = find(&|known, name| known == name).or_else(|| find(&is_respelling));
            let Some((name, said, value)) = known else {
                strange.push((place, line));
                continue;
            };
            if said != name {
                let mend = Mend::InLine { said: said.to_owned(), with: name.to_owned() };
                let message = format!("{} is no field of the Abstract", quote(said));
                let error = Diagnostic::error(Code::ABSTRACT_FIELD, place, message);
                self.sink.push(error.hint(format!("write `{name}`")).mend(Some(mend)));
            }
            if let Some(first) = seen.insert(name, place) {
                let message = format!("the Abstract has `{name}` twice");
                self.sink.push(
                    Diagnostic::error(Code::ABSTRACT_FIELD, place, message).other(first).hint("keep one of the two"),
                );
                continue;
            }
            self.field(name, unquoted(unstarred(line, value)), place, draft);
        }
        // A table, or words without any field, is one mistake, however many lines it has.
        let other = seen.is_empty() && strange.len() > 1;
        strange.truncate(if other { 1 } else { strange.len() });
        for (place, line) in strange {
            let message = match other {
                true => format!("the Abstract is written otherwise: {}", quote(line)),
                false => format!("{} is no field of the Abstract", quote(line)),
            };
            let hint = format!("its fields are {}, a line each", FIELDS.join(", "));
            self.sink.error(Code::ABSTRACT_FIELD, place, message, hint);
        }
        let missing: Vec<&str> = FIELDS.into_iter().filter(|name| !seen.contains_key(name)).collect();
        if other || self.is_cut(&missing) {
            return;
        }
        for name in missing {
            let message = format!("the Abstract has no `{name}`");
            self.sink.error(Code::ABSTRACT_FIELD, self.place, message, format!("add a line `{name}: …`"));
        }
    }

    /// Whether the report ends in the Abstract: its last line may be torn, and nothing more is said of what is missing.
    fn is_cut(&mut self, missing: &[&str]) -> bool {
        let Some(next) = missing.first().filter(|_| FIELDS.ends_with(missing)) else { return false };
        let closed = |kind: &BlockKind| matches!(kind, BlockKind::Fence { closed: true, .. });
        let whole = self.section.blocks.iter().any(|block| closed(&block.kind));
        let cut = self.section.body.end == self.source.text().len() && !whole;
        let last = self.said().last().map(|(at, _)| self.source.place(*at));
        if cut {
            let place = last.unwrap_or(self.place);
            self.sink.retain(|one| one.place < place || one.code != Code::ABSTRACT_FIELD);
            let message = format!("the report is cut off: the Abstract ends before `{next}`");
            self.sink.error(Code::REPORT_CUT_OFF, place, message, "print the whole report again");
        }
        cut
    }

    fn field(&mut self, name: &str, value: String, place: Place, draft: &mut Draft) {
        let expected = match name {
            "outcome" if !value.is_empty() && !is_placeholder(&value) => {
                draft.outcome = Some(Located { value, place });
                return;
            }
            "next_phase" if !value.is_empty() && !is_placeholder(&value) => {
                draft.next_phase = Some(Located { value, place });
                return;
            }
            "verdict" => {
                draft.index_verdict = Word::parse(&value).map(|value| Located { value, place });
                if draft.index_verdict.is_some() {
                    return;
                }
                "`APPROVED`, `REQUEST_CHANGES`, `BLOCKED` or `n/a`, spelt exactly so"
            }
            "files" => {
                if let Some((value, says_deleted)) = file_counts(&value) {
                    draft.files = Some(Located { value, place });
                    draft.says_deleted = says_deleted;
                    return;
                }
                "`N created, M modified, K deleted`"
            }
            "open_questions" => {
                draft.question_count = value.parse().ok().map(|value| Located { value, place });
                if draft.question_count.is_some() {
                    return;
                }
                "a number"
            }
            _ => "a line of text",
        };
        let message = format!("{} is no value for `{name}`", quote(&value));
        let meant = Word::ALL.iter().find(|word| name == "verdict" && is_respelling(word.word(), &value));
        let mend = meant.map(|word| Mend::InLine { said: value.clone(), with: word.word().to_owned() });
        let error = Diagnostic::error(Code::ABSTRACT_FIELD, place, message).hint(format!("write {expected}"));
        self.sink.push(error.mend(mend));
    }
}

const FIELDS: [&str; 5] = ["outcome", "verdict", "files", "next_phase", "open_questions"];

/// A value without the stars that make it, its name or the whole line bold.
fn unstarred<'t>(line: &str, value: &'t str) -> &'t str {
    let value = value.trim();
    let inside = |text: &'t str| {
        text.strip_prefix("**").and_then(|text| text.strip_suffix("**")).filter(|text| !text.contains("**"))
    };
    let opened = line.trim_start_matches(['-', ' ']).starts_with("**");
    let bare = match inside(value) {
        Some(inside) => inside,
        None if opened => value.strip_prefix("**").or_else(|| value.strip_suffix("**")).unwrap_or(value).trim(),
        None => value,
    };
    inside(bare).unwrap_or(bare).trim()
}

/// A value without the quotes that YAML would take off.
fn unquoted(value: &str) -> String {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if value.starts_with('"')
        && let Ok(text) = serde_json::from_str::<String>(value)
    {
        return plain(&text);
    }
    plain(inside('\'').map_or_else(|| value.to_owned(), |text| text.replace("''", "'")).as_str())
}
