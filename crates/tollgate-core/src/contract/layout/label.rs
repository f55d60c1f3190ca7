//! The labels in a line, `**Task:** #7`, as people and agents write them.

use std::ops::Range;

use crate::contract::definition::{Labels, Layout, RecordType};
use crate::contract::text::{is_title, lines_in};

/// A label in a text: which field, where it begins, where its value begins.
pub struct Labelled {
    pub field: usize,
    pub start: usize,
    pub value: usize,
}

/// The next line of a range that can have a label of a style, and where it begins.
pub fn next_line<'t>(text: &'t str, range: &Range<usize>, style: Labels) -> Option<(usize, &'t str)> {
    let from = match style {
        // Of a long text, most lines need no look.
        Labels::Lines | Labels::Inline => {
            let sign = range.start + bold_at(&text[range.clone()])?;
            let before = memchr::memrchr(b'\n', &text.as_bytes()[range.start..sign]);
            before.map_or(range.start, |end| range.start + end + 1)
        }
        Labels::Bullets | Labels::BoldBullets | Labels::Plain => range.start,
    };
    lines_in(text, &(from..range.end)).next()
}

/// The labels in one line: bold ones anywhere, others at the start of an item.
pub fn labels_of(line: &str, start: usize, names: &[(usize, &str)], style: Labels, add: &mut dyn FnMut(Labelled)) {
    let bare = line.trim_start();
    let lead = line.len() - bare.len();
    let marked = ["- ", "* ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
    // One that begins in bold has no other label in front.
    let plain = marked.map(without_box).filter(|item| !item.starts_with("**"));
    if let (Some(item), Labels::Bullets | Labels::BoldBullets) = (plain, style)
        && let Some((field, after)) = named(item, names)
    {
        add(Labelled { field, start: start + lead, value: start + line.len() - after.len() });
        return;
    }
    if style == Labels::Plain {
        let found = named(without_box(marked.unwrap_or(bare)), names).into_iter();
        let label = |(field, after): (usize, &str)| Labelled {
            field,
            start: start + lead,
            value: start + line.len() - after.len(),
        };
        return found.map(label).for_each(add);
    }
    let mut rest = line;
    // Whether code quotes are open, and up to where that was looked at: a line may be all of a long text.
    let (mut quoted, mut seen, mut last_quote) = (false, 0, None);
    while let Some(at) = bold_at(rest) {
        let inner = &rest[at + 2..];
        match bold(inner, names) {
            Some((field, after)) => {
                let label = line.len() - rest.len() + at;
                quoted ^= memchr::memchr_iter(b'`', &line.as_bytes()[seen..label]).count() % 2 == 1;
                seen = label;
                // What stands in code quotes is an example; a quote that is not closed quotes nothing.
                let last = || memchr::memrchr(b'`', line.as_bytes()).unwrap_or(0);
                if quoted && *last_quote.get_or_insert_with(last) > label {
                    rest = after;
                    continue;
                }
                // The mark of an item before its label belongs to the label, and so does its check box.
                let before = line.get(lead..label).unwrap_or_default().trim_end();
                let mark = before.is_empty() || ["-", "*", "+"].iter().any(|mark| is_mark(before, mark));
                let begins = if mark { lead } else { label };
                add(Labelled { field, start: start + begins, value: start + line.len() - after.len() });
                rest = after;
            }
            None => rest = inner,
        }
    }
}

const BOXES: [&str; 3] = ["[ ]", "[x]", "[X]"];

/// The text of an item without its check box.
pub fn without_box(item: &str) -> &str {
    let item = item.trim_start();
    BOXES.iter().find_map(|sign| item.strip_prefix(sign)).unwrap_or(item).trim_start()
}

/// Whether the text of an item begins with a check box that is not checked.
pub fn is_unchecked(item: &str) -> bool {
    item.trim_start().starts_with(BOXES[0])
}

/// Signs that deny what they stand before.
const CROSSES: [&str; 11] = ["❌", "✗", "✘", "✖", "❎", "🚫", "⛔", "☐", "⬜", "🔴", "👎"];

/// Whether an item, or the value of its label, begins with a sign that denies it.
pub fn is_crossed(item: &str) -> bool {
    // Most items have no sign at all.
    if item.is_ascii() {
        return false;
    }
    let crossed = |text: &str| CROSSES.iter().any(|sign| text.trim_start().starts_with(sign));
    let value = [":**", "**:"].iter().filter_map(|sign| item.split_once(sign)).map(|(_, value)| value).next();
    crossed(without_box(item)) || value.is_some_and(crossed)
}

/// The field of a record whose label the words of a heading are.
pub fn is_label(record: &RecordType, title: &str) -> Option<usize> {
    record.fields.iter().position(|field| matches!(&field.layout, Layout::Label(name) if is_title(name, title)))
}

/// Whether a text is the mark of an item and nothing else but a check box.
fn is_mark(text: &str, mark: &str) -> bool {
    text.strip_prefix(mark).is_some_and(|item| without_box(item).is_empty())
}

/// Where the first `**` of a text stands.
fn bold_at(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'*', bytes).find(|at| bytes.get(at + 1) == Some(&b'*'))
}

/// A label and its colon at the start of a text, and what follows.
fn named<'t>(text: &'t str, names: &[(usize, &str)]) -> Option<(usize, &'t str)> {
    names.iter().find_map(|(field, name)| {
        let after = text[spelt(text, name)?..].strip_prefix(':')?;
        Some((*field, after))
    })
}

/// The same in bold, the colon before or behind the signs that make it so.
fn bold<'t>(text: &'t str, names: &[(usize, &str)]) -> Option<(usize, &'t str)> {
    names.iter().find_map(|(field, name)| {
        let after = &text[spelt(text, name)?..];
        Some((*field, after.strip_prefix(":**").or_else(|| after.strip_prefix("**:"))?))
    })
}

/// How many bytes of a text a name takes at its start, without case and with either apostrophe.
fn spelt(text: &str, name: &str) -> Option<usize> {
    let (said, first) = (text.as_bytes().first()?, name.as_bytes().first()?);
    if first.is_ascii_alphabetic() && !first.eq_ignore_ascii_case(said) {
        return None;
    }
    if let Some(same) = text.get(..name.len()).filter(|begin| begin.eq_ignore_ascii_case(name)) {
        return Some(same.len());
    }
    let plain = |c: char| if c == '’' { '\'' } else { c.to_ascii_lowercase() };
    let mut rest = text.char_indices();
    let same =
        name.contains(['\'', '’']) && name.chars().all(|c| rest.next().is_some_and(|(_, own)| plain(own) == plain(c)));
    same.then(|| rest.offset())
}
