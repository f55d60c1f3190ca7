//! Finds the report in what a worker printed: the last one that is no echo of its prompt.

use std::ops::Range;

use super::heading::Heading;
use crate::contract::markdown::Section;
use crate::contract::text::Source;

/// How many reports shown in a prompt are compared with what was printed.
const SHOWN_MAX: usize = 64;

/// What the reports in a text are.
#[derive(Debug, Default)]
pub struct Found {
    /// The sections of the report that counts.
    pub report: Option<Range<usize>>,
    /// The reports before it that are no echo: the first section of each.
    pub drafts: Vec<usize>,
    /// The first section of the last echo.
    pub echo: Option<usize>,
    /// Whether the report that counts is the beginning of one the prompt shows, and nothing more.
    pub copied: bool,
}

/// Whether a report begins with a section.
pub fn begins(source: &Source<'_>, section: &Section) -> bool {
    matches!(Heading::find(&source.text()[section.title.clone()]), Some((Heading::Status, _)))
}

/// Finds the reports among the sections of a text.
pub fn find(source: &Source<'_>, sections: &[Section], prompt: Option<&str>) -> Found {
    let shown = prompt.map(shown_reports).unwrap_or_default();
    let starts: Vec<usize> = (0..sections.len()).filter(|at| begins(source, &sections[*at])).collect();
    let mut found = Found::default();
    for (nth, start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(sections.len());
        let text = &source.text()[sections[*start].start..sections[end - 1].body.end];
        let lines = || text.lines().filter_map(significant);
        if shown.iter().any(|report| begins_with(lines(), report.iter().copied())) {
            found.echo = Some(*start);
            continue;
        }
        found.copied = shown.iter().any(|report| begins_with(report.iter().copied(), lines()));
        if let Some(before) = found.report.replace(*start..end) {
            found.drafts.push(before.start);
        }
    }
    found
}

fn begins_with<'a>(mut text: impl Iterator<Item = &'a str>, mut beginning: impl Iterator<Item = &'a str>) -> bool {
    beginning.all(|line| text.next() == Some(line))
}

/// A line that says something; fences do not.
fn significant(line: &str) -> Option<&str> {
    let line = line.trim();
    (!line.is_empty() && !is_fence(line)).then_some(line)
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Every report or template in a prompt, fenced or not, as its lines; one in a fence ends with the fence.
fn shown_reports(prompt: &str) -> Vec<Vec<&str>> {
    let mut reports: Vec<Vec<&str>> = Vec::new();
    let mut fences: Vec<&str> = Vec::new();
    let mut open: Option<usize> = None;
    for line in prompt.lines().map(str::trim) {
        if is_fence(line) {
            let width = line.trim_end_matches(|c| c != '`' && c != '~');
            let mark = &line[..width.len().min(line.len())];
            let bare = line.trim_matches(['`', '~']).is_empty();
            if bare && fences.last().is_some_and(|opening| mark.starts_with(*opening)) {
                fences.pop();
                // The fence around the report closes: what follows is the prompt's own.
                open = open.filter(|depth| fences.len() >= *depth);
            } else {
                fences.push(mark);
            }
            continue;
        }
        if line == "## Status" {
            if reports.len() == SHOWN_MAX {
                break;
            }
            reports.push(Vec::new());
            open = Some(fences.len());
        }
        if let (Some(_), Some(report)) = (open, reports.last_mut())
            && !line.is_empty()
        {
            report.push(line);
        }
    }
    // A mere mention of the first heading is no report, and every report would begin with it.
    reports
        .retain(|report| report.iter().position(|line| *line == "## Abstract").is_some_and(|at| at + 1 < report.len()));
    reports.sort_unstable();
    reports.dedup();
    reports
}
