//! Marks by which words do not count: open boxes, crosses, strikes.

use std::ops::Range;

use super::label::{is_crossed, is_unchecked, without_box};
use super::read::{Reader, small};
use crate::code::Code;
use crate::contract::definition::Field;
use crate::contract::judge::shown;
use crate::contract::struck;
use crate::contract::text::{is_clean, is_plain, quote};

/// What no part of a text has: asked once, not of every part.
pub struct Lacks {
    /// Anything that a terminal would obey.
    pub hidden: bool,
    /// A sign that denies what it stands before.
    crosses: bool,
    /// Anything that strikes words through.
    pub strikes: bool,
}

impl Lacks {
    pub fn of(text: &str) -> Self {
        let crosses = is_plain(text);
        Self { hidden: crosses || is_clean(text), crosses, strikes: struck::never(text) }
    }
}

impl Reader<'_, '_> {
    /// Complains about the boxes of a field that are not checked, where all of them are to be.
    pub fn boxes(&mut self, field: &Field, range: &Range<usize>) {
        if !field.checked {
            return;
        }
        let outline = self.outline;
        self.rows(field, range);
        let items = outline.items_from(range);
        let first = items.first().map_or(range.end, |item| item.range.start);
        let all_struck =
            !self.lacks.strikes && struck::is_open(&self.text[range.start..first], &self.text[first..range.end]);
        for item in items {
            let words = self.unmarked(&item.range);
            let struck = all_struck || (!self.lacks.strikes && struck::is_struck(words));
            let crossed = || !self.lacks.crosses && is_crossed(words);
            if (struck || is_unchecked(words) || crossed()) && !outline.is_code(item.range.start) {
                let said = quote(without_box(words));
                let what = if struck { "is struck through" } else { "is not checked" };
                let message = format!("a box of {} {what}: {said}", shown(field));
                let hint = "check it with `[x]` when it is done; while it is not, this document says too much";
                self.found.error(Code::FIELD_FORM, small(item.range.start), message, hint);
            }
        }
    }
}
