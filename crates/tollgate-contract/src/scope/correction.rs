//! Scope corrections: where a task lists a file that does not hold the code, the body of the pull request names the one that does.

use std::ops::Range;

use crate::Context;
use crate::markdown::{BlockKind, Outline, Section, outline};
use crate::path_list::item;
use crate::registry::defined;
use crate::text::{Source, is_same_name};
use crate::tree::Node;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place, Severity};

/// The contract of a correction.
pub const CORRECTION_CONTRACT: &str = "decree.scope-correction";
const TITLE: &str = "Scope correction";
const FIRST_LABEL: &str = "Listed";
/// So many are read.
const CORRECTIONS_MAX: usize = 100;

/// One documented correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The file that the task lists.
    pub listed: String,
    /// The file that holds the code.
    pub actual: String,
    /// Why.
    pub reason: String,
    /// Where it is written.
    pub place: Place,
}

/// The corrections in the body of a pull request, and what is wrong with those that cannot be read: they do not count.
pub fn corrections(body: &str) -> (Vec<Correction>, Vec<Diagnostic>) {
    let (found, mut problems) = read_all(body);
    problems.iter_mut().for_each(|problem| {
        problem.severity = Severity::Warning;
        problem.message.push_str("; this correction does not count");
    });
    (found, problems)
}

fn read_all(body: &str) -> (Vec<Correction>, Vec<Diagnostic>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let source = Source::new(body);
    let text = source.text();
    let Ok(Outline { before, sections }) = outline(&source) else {
        // Too long, or nested too deeply: the contract says so.
        return (found, read(body, Place::default()).err().unwrap_or_default());
    };
    let blocks = before.iter().chain(sections.iter().flat_map(|section| &section.blocks));
    let misplaced = blocks.filter(|block| match &block.kind {
        BlockKind::Heading(_, title) | BlockKind::Underlined(title) => is_same_name(&text[title.clone()], TITLE),
        _ => false,
    });
    for block in misplaced.take(CORRECTIONS_MAX / 2) {
        let message = format!("`{TITLE}` is not a heading of level two here");
        let hint = format!("write `## {TITLE}`");
        problems.push(Diagnostic::error(Code::SECTION_MISPLACED, source.place(block.range.start), message).hint(hint));
    }
    for section in sections.iter().filter(|section| is_same_name(&text[section.title.clone()], TITLE)) {
        let items = section.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Item));
        let begins = |range: &Range<usize>| {
            let words = text[range.clone()].trim_start_matches(['-', '*', '+', ' ']);
            words.get(..FIRST_LABEL.len()).is_some_and(|label| label.eq_ignore_ascii_case(FIRST_LABEL))
        };
        let starts: Vec<usize> = items.map(|item| item.range.clone()).filter(begins).map(|range| range.start).collect();
        // A section without the first label is still judged: its author meant something.
        let starts = if starts.is_empty() { vec![section.body.start] } else { starts };
        for (at, start) in starts.iter().enumerate() {
            if found.len() + problems.len() >= CORRECTIONS_MAX {
                let message = format!("there are more than {CORRECTIONS_MAX} corrections: the others are not read");
                let hint = "rewrite a task that lists so many wrong files";
                problems.push(Diagnostic::error(Code::TEXT_REFUSED, source.place(*start), message).hint(hint));
                return (found, problems);
            }
            let end = starts.get(at + 1).copied().unwrap_or(section.body.end);
            match read_at(&source, section, *start..end) {
                Ok(correction) => found.push(correction),
                Err(wrong) => problems.extend(wrong),
            }
        }
    }
    (found, problems)
}

/// Reads one correction under its heading, which the contract has in one spelling; its places are those of the whole text.
fn read_at(source: &Source<'_>, section: &Section, range: Range<usize>) -> Result<Correction, Vec<Diagnostic>> {
    let (text, place) = (source.text(), source.place(range.start));
    let from = memchr::memrchr(b'\n', &text.as_bytes()[..range.start]).map_or(0, |end| end + 1).max(section.body.start);
    let (title, first) = (source.place(section.start).line, source.place(from).line);
    let moved = |place: Place| {
        let line = match place.line {
            0 => 0,
            1 => title,
            line => line - 2 + first,
        };
        Place { line, ..place }
    };
    let read = read(&format!("## {TITLE}\n{}", &text[from..range.end]), Place { line: 2, ..place });
    read.map(|correction| Correction { place, ..correction }).map_err(|mut wrong| {
        wrong.iter_mut().for_each(|one| (one.place, one.other) = (moved(one.place), one.other.map(moved)));
        wrong
    })
}

fn read(text: &str, place: Place) -> Result<Correction, Vec<Diagnostic>> {
    let Some(contract) = defined(CORRECTION_CONTRACT) else { return Err(Vec::new()) };
    let judged = contract.judge(text, &Context::default());
    let wrong = judged.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let (false, Some(root)) = (wrong, judged.root) else { return Err(judged.diagnostics) };
    let field = |name: &str| root.get(name).and_then(Node::text).unwrap_or_default();
    let path = |name: &str| match item::path(field(name)) {
        Ok(path) => Ok(path.trim_start_matches("./").trim_end_matches('/').to_owned()),
        Err(problem) => Err(vec![Diagnostic::error(Code::FIELD_FORM, place, problem.message).hint(problem.hint)]),
    };
    Ok(Correction { listed: path("listed")?, actual: path("actual")?, reason: field("reason").to_owned(), place })
}
