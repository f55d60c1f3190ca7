//! The Abstract: the index of a report, five fields.

use std::collections::BTreeMap;

use super::document::{FileCounts, Word};
use super::grammar::{Reader, plain, respelt};
use super::sections::{Draft, Located};
use crate::markdown::BlockKind;
use crate::text::quote;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Fix, Place};

/// The fields of the Abstract.
const FIELDS: [&str; 5] = ["outcome", "verdict", "files", "next_phase", "open_questions"];

impl Reader<'_, '_> {
    /// The Abstract: `field: value` lines; where it has no plain line, those of its first code fence.
    pub(super) fn index(&mut self, draft: &mut Draft) {
        let mut lines = self.all_lines();
        if lines.is_empty() {
            let fences = self.section.blocks.iter().filter_map(|block| match &block.kind {
                BlockKind::Fence { content, .. } => Some(content.clone()),
                _ => None,
            });
            lines = self.lines(fences.take(1));
        }
        let mut seen: BTreeMap<&str, Place> = BTreeMap::new();
        let mut stray = None;
        for (at, line) in lines {
            let place = self.source.place(at);
            let field = line.split_once(':').and_then(|(name, value)| {
                let name = name.trim_matches(['*', '`', '-', ' ']);
                let known = FIELDS.into_iter().find(|known| known.eq_ignore_ascii_case(name))?;
                Some((known, value))
            });
            let Some((name, value)) = field else {
                stray.get_or_insert((place, line));
                continue;
            };
            if let Some(first) = seen.insert(name, place) {
                let error = Diagnostic::error(Code::ABSTRACT_FIELD, place, format!("the Abstract has `{name}` twice"));
                self.sink.push(error.other(first).hint("keep one of the two"));
                continue;
            }
            self.field(name, unquoted(unstarred(line, value)), place, draft);
        }
        let missing = FIELDS.into_iter().filter(|name| !seen.contains_key(name)).map(|name| format!("`{name}:`"));
        let missing = missing.collect::<Vec<_>>().join(", ");
        let message = match stray {
            Some((_, line)) if missing.is_empty() => format!("{} is not a field of the Abstract", quote(line)),
            Some((_, line)) => format!("`## Abstract` has no {missing}; {} is not one of its fields", quote(line)),
            None if missing.is_empty() => return,
            None => format!("`## Abstract` has no {missing}"),
        };
        let place = stray.map_or(self.place, |(place, _)| place);
        let hint = format!("its fields are {}, a line each", FIELDS.join(", "));
        self.sink.error(Code::ABSTRACT_FIELD, place, message, hint);
    }

    fn field(&mut self, name: &str, value: String, place: Place, draft: &mut Draft) {
        match name {
            "verdict" => {
                draft.index_verdict = Word::parse(&value).map(|value| Located { value, place });
                if draft.index_verdict.is_none() {
                    let message = format!("`verdict` is {}", quote(&value));
                    let fix = respelt(&value, Word::ALL.map(Word::word))
                        .map(|with| Fix::InLine { said: value.clone(), with: with.to_owned() });
                    let hint = "expected one of: `APPROVED`, `REQUEST_CHANGES`, `BLOCKED`, `n/a`";
                    self.sink.push(Diagnostic::error(Code::ABSTRACT_FIELD, place, message).hint(hint).fix(fix));
                }
            }
            "open_questions" => {
                draft.question_count = value.parse().ok().map(|value| Located { value, place });
                if draft.question_count.is_none() {
                    let message = format!("`open_questions` is {}", quote(&value));
                    self.sink.error(Code::ABSTRACT_FIELD, place, message, "write how many questions are open");
                }
            }
            "files" => {
                draft.files = file_counts(&value).map(|value| Located { value, place });
                if draft.files.is_none() {
                    let message = format!("`files` is {}", quote(&value));
                    let hint = "write `N created, M modified, K deleted`; nothing is decided by it";
                    self.sink.warning(Code::ABSTRACT_COUNT, place, message, hint);
                }
            }
            "outcome" => draft.outcome = Some(Located { value, place }),
            _ => draft.next_phase = Some(Located { value, place }),
        }
    }
}

/// `1 created, 0 modified, 2 deleted`, each once, in any order; deleted ones may be left out.
fn file_counts(value: &str) -> Option<FileCounts> {
    let (mut created, mut modified, mut deleted) = (None, None, None);
    for part in value.split(',') {
        let (number, what) = part.trim().split_once(' ')?;
        let slot = match what.trim() {
            "created" => &mut created,
            "modified" => &mut modified,
            "deleted" => &mut deleted,
            _ => return None,
        };
        if slot.replace(number.parse().ok()?).is_some() {
            return None;
        }
    }
    Some(FileCounts { created: created?, modified: modified?, deleted: deleted.unwrap_or(0) })
}

/// A value without the stars that make it, its name or the whole line bold.
fn unstarred<'t>(line: &str, value: &'t str) -> &'t str {
    let value = value.trim();
    let bare = if line.trim_start_matches(['-', ' ']).starts_with("**") {
        value.strip_prefix("**").or_else(|| value.strip_suffix("**")).unwrap_or(value).trim()
    } else {
        value
    };
    bare.strip_prefix("**").and_then(|bare| bare.strip_suffix("**")).unwrap_or(bare).trim()
}

/// A value without the quotes that YAML would take off.
fn unquoted(value: &str) -> String {
    if value.starts_with('"')
        && let Ok(text) = serde_json::from_str::<String>(value)
    {
        return plain(&text);
    }
    let inside = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    plain(&inside.map_or_else(|| value.to_owned(), |text| text.replace("''", "'")))
}
