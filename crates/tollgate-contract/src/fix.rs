//! Mends what has one possible answer, by changes of the text as it is: whatever is not mended stays, comments and unknown text too.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::Context;
use crate::extract::{Dialect, Read, only_fence, only_object};
use crate::text::Source;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Fix, Place, Severity};

/// How often a text is read again: a mistake may hide the next one.
const ROUNDS_MAX: usize = 64;

/// A text that was mended.
#[derive(Debug)]
pub struct Fixed {
    pub text: String,
    /// What was mended: its message, and where it stood before that round.
    pub mended: Vec<(Place, String)>,
    /// What is read of the text now, with what could not be mended.
    pub read: Read,
}

/// A change of a text.
type Edit = (Range<usize>, String);

/// Changes that do not meet: where each begins, where it ends, and what stands there then.
type Edits = BTreeMap<usize, (usize, String)>;

/// Mends a document, as far as that is possible without a choice.
pub fn fix(dialect: Dialect<'_>, text: &str, context: &Context) -> Fixed {
    let every = &Context { every: true, ..context.clone() };
    let mut fixed = Fixed { text: text.to_owned(), mended: Vec::new(), read: dialect.read(text, every) };
    let is_settled = (0..ROUNDS_MAX).any(|_| {
        let (edits, mended) = edits(dialect, &fixed.text, fixed.read.diagnostics(), every);
        if edits.is_empty() {
            return true;
        }
        let next = apply(&fixed.text, edits);
        let read = dialect.read(&next, every);
        if next == fixed.text || !is_better(&fixed.read, &read) {
            return true;
        }
        fixed.mended.extend(mended);
        (fixed.text, fixed.read) = (next, read);
        false
    });
    if !is_settled {
        // One change undoes another: there is no one answer, and the text is its author's to fix.
        (fixed.text, fixed.mended) = (text.to_owned(), Vec::new());
    }
    fixed.read = dialect.read(&fixed.text, context);
    fixed
}

/// Whether a change only mends: what was valid says the same as before, and nothing new is wrong.
fn is_better(before: &Read, after: &Read) -> bool {
    let errors = |read: &Read| read.diagnostics().iter().filter(|one| one.severity == Severity::Error).count();
    let unreadable = |read: &Read| {
        let syntax =
            [Code::JSON_SYNTAX, Code::TEXT_AROUND, Code::SECTION_MISPLACED, Code::SECTION_MISSING, Code::REPORT_ABSENT];
        read.diagnostics().iter().any(|one| syntax.contains(&one.code))
    };
    if before.is_refused() {
        // A text that could not be read shows its other mistakes once it can.
        return unreadable(before) || errors(after) <= errors(before);
    }
    match (before, after) {
        (Read::Report(one), Read::Report(other)) => one.report == other.report,
        (Read::Document(one), Read::Document(other)) => one.plan == other.plan && errors(after) == 0,
        _ => false,
    }
}

/// The changes that the diagnostics of one reading lead to; sections are moved when nothing else is left.
fn edits(
    dialect: Dialect<'_>,
    text: &str,
    diagnostics: &[Diagnostic],
    context: &Context,
) -> (Vec<Edit>, Vec<(Place, String)>) {
    let source = Source::new(text);
    let mark = text.len() - source.text().len();
    let (mut edits, mut mended): (Edits, Vec<(Place, String)>) = Default::default();
    let moves = |one: &&Diagnostic| matches!(one.fix.as_deref(), Some(Fix::Order(..)));
    let (last, first): (Vec<_>, Vec<_>) = diagnostics.iter().partition(moves);
    for one in first.into_iter().chain(last) {
        if moves(&one) && !edits.is_empty() {
            continue;
        }
        let found = match (one.fix.as_deref(), one.code) {
            (Some(fix), _) => edit(&source, one.place, fix),
            (None, Code::JSON_SYNTAX) => syntax(source.text(), source.offset(one.place)),
            (None, _) => None,
        };
        let Some((range, with)) = found.filter(|(range, _)| !is_taken(&edits, range)) else {
            continue;
        };
        mended.push((one.place, one.message.clone()));
        edits.insert(range.start, (range.end, with));
    }
    // Text around the JSON of a contract that may also be YAML is no YAML: it is looked for whatever is wrong.
    let error = diagnostics.iter().find(|one| one.severity == Severity::Error).filter(|_| edits.is_empty());
    if let Some((error, edit)) = error.and_then(|error| Some((error, around(dialect, source.text(), context)?))) {
        mended.push((error.place, error.message.clone()));
        edits.insert(edit.0.start, (edit.0.end, edit.1));
    }
    let shifted = edits.into_iter().map(|(start, (end, with))| (start + mark..end + mark, with));
    (shifted.collect(), mended)
}

/// Whether a range of a text is changed already, which only the last change before its end can do: none meets another.
fn is_taken(edits: &Edits, range: &Range<usize>) -> bool {
    let last = edits.range(..range.end.max(range.start + 1)).next_back();
    last.is_some_and(|(start, (end, _))| range.start < (*end).max(start + 1))
}

/// A text with changes, in its order.
fn apply(text: &str, edits: Vec<Edit>) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (range, with) in edits {
        out.push_str(&text[at..range.start]);
        out.push_str(&with);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The change that a fix is in this text; none where the text is not what the fix says.
fn edit(source: &Source<'_>, place: Place, fix: &Fix) -> Option<Edit> {
    let text = source.text();
    let at = source.offset(place);
    let rest = &text[at..];
    match fix {
        Fix::Word { said, with } => {
            let bare = rest.trim_start_matches(['"', '\'', '`', '*']);
            let start = if rest.starts_with(said.as_str()) { at } else { text.len() - bare.len() };
            let end = start + said.len();
            (text.get(start..end)? == said && !continues(&text[end..])).then(|| (start..end, with.clone()))
        }
        Fix::InLine { said, with } => {
            let line = rest.split(['\n', '\r']).next()?;
            let alone = |found: &usize| {
                !line[..*found].ends_with(|c: char| c.is_ascii_digit()) && !continues(&line[*found + said.len()..])
            };
            let start = at + line.match_indices(said.as_str()).map(|(found, _)| found).find(alone)?;
            Some((start..start + said.len(), with.clone()))
        }
        Fix::Bare { said } => {
            let quoted =
                ["\"", "'"].iter().map(|sign| format!("{sign}{said}{sign}")).find(|q| rest.starts_with(&**q))?;
            Some((at..at + quoted.len(), said.clone()))
        }
        Fix::Quoted { said } => (rest.starts_with(said.as_str()) && !continues(&rest[said.len()..]))
            .then(|| (at..at + said.len(), format!("\"{said}\""))),
        Fix::Level(level) => {
            let signs = rest.bytes().take_while(|byte| *byte == b'#').count();
            (signs > 0).then(|| (at..at + signs, "#".repeat(*level)))
        }
        Fix::Order(order, end) => {
            let end = end.map_or(text.len(), |end| source.offset(end));
            sorted(text, &order.iter().map(|place| source.offset(*place)).collect::<Vec<_>>(), end)
        }
    }
}

/// Whether a word goes on.
fn continues(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// The sections that begin at some bytes, in the order of that list; what stands between two of them stays with the first.
fn sorted(text: &str, order: &[usize], end: usize) -> Option<Edit> {
    let mut starts = order.to_vec();
    starts.sort_unstable();
    starts.dedup();
    let first = *starts.first().filter(|_| starts.len() == order.len() && starts.iter().all(|start| *start < end))?;
    let section = |start: usize| {
        let next = starts.iter().find(|next| **next > start).copied().unwrap_or(end);
        text.get(start..next)
    };
    let gap = |start: usize| section(start).map(|section| &section[section.trim_end().len()..]);
    // The section that ended the text gets the gap of the one that ends it now, and the other way round.
    let (was_last, is_last) = (*starts.last()?, *order.last()?);
    let mut out = String::new();
    for start in order {
        out.push_str(section(*start)?.trim_end());
        out.push_str(match *start {
            start if start == was_last => gap(is_last)?,
            start if start == is_last => gap(was_last)?,
            start => gap(start)?,
        });
    }
    Some((first..end, out))
}

/// What is no JSON and can only have been meant one way: a comma before the end, a word of another language, a line end in a text.
fn syntax(text: &str, at: usize) -> Option<Edit> {
    let rest = &text[at..];
    let sign = rest.chars().next()?;
    if matches!(sign, '}' | ']') {
        let before = text[..at].trim_end();
        return before.ends_with(',').then(|| (before.len() - 1..before.len(), String::new()));
    }
    for (word, with) in [("True", "true"), ("False", "false"), ("None", "null")] {
        if rest.starts_with(word) && !continues(&rest[word.len()..]) {
            return Some((at..at + word.len(), with.to_owned()));
        }
    }
    let with = match sign {
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        _ => return None,
    };
    Some((at..at + 1, with.to_owned()))
}

/// The one document in a text that is more than a document, or in a code fence.
fn around(dialect: Dialect<'_>, text: &str, context: &Context) -> Option<Edit> {
    let range = only_object(dialect, text, context).or_else(|| only_fence(dialect, text, context))?;
    let kept = format!("{}\n", text[range].trim_end());
    (kept.trim_end() != text.trim_end()).then_some((0..text.len(), kept))
}
