//! Documents in plain text: under headings, in fences, and line by line.

use std::ops::Range;

use super::candidates::State;
use super::looks::{Heads, Looks, Shape};
use super::sample;
use super::skim::{self, End};
use crate::contract::layout::heads;
use crate::contract::markdown;
use crate::contract::text::lines;

/// A document that was found, and how much of it is there.
pub type Stands = (Range<usize>, State);

/// The documents in a region of a text; objects are found elsewhere.
pub fn find(text: &str, region: &Range<usize>, looks: &Looks) -> Vec<Stands> {
    let mut found = Vec::new();
    // Of most transcripts there are as many regions as messages, and the text was passed long ago: it is not fetched for nothing.
    if looks.markdown.is_none() && looks.yaml.is_none() && looks.lines.is_none() {
        return found;
    }
    let part = &text[region.clone()];
    let last = region.end == text.len();
    if let Some(known) = &looks.markdown {
        found.extend(under_headings(part, known, last));
    }
    if let Some(shape) = &looks.yaml {
        found.extend(in_yaml(part, shape));
    }
    if let Some(shape) = &looks.lines {
        found.extend(in_lines(part, shape));
    }
    for (range, _) in &mut found {
        *range = range.start + region.start..range.end + region.start;
    }
    found
}

/// A heading: its level, its words, and where it stands.
type Head<'t> = (usize, &'t str, Range<usize>);

fn under_headings(text: &str, known: &Heads, last: bool) -> Vec<Stands> {
    if !may_be_under(text, known, last) {
        return Vec::new();
    }
    let heads = match markdown::refused(text) {
        None => heads(text).into_iter().map(|(level, title, range)| (level, &text[title], range)).collect(),
        Some(_) => heads_by_line(text),
    };
    if let Heads::Sections(sections) = known {
        return whole(text, sections, &heads);
    }
    let mut found: Vec<(usize, Range<usize>)> = Vec::new();
    for (at, (level, title, range)) in heads.iter().enumerate() {
        let inside = found.last().is_some_and(|(outer, stands)| range.start < stands.end && level > outer);
        if !known.is_head(*level, title) || (inside && matches!(known, Heads::Own(_))) {
            continue;
        }
        let ends = |next: &&Head<'_>| match known {
            Heads::Coded { is, .. } => is(next.0, next.1),
            _ => next.0 <= *level,
        };
        let end = heads[at + 1..].iter().find(ends).map_or(text.len(), |next| next.2.start);
        found.push((*level, range.start..end));
    }
    let mut found: Vec<Stands> = found.into_iter().map(|(_, range)| (range, State::Whole)).collect();
    let own: Vec<Range<usize>> = heads.iter().map(|(.., range)| range.clone()).collect();
    found.extend(sample::find(text, known, &own).into_iter().map(|range| (range, State::Shown)));
    if last
        && let Some((level, title, range)) = heads.last()
        && is_cut(text, known, *level, title, range)
    {
        // What was said before it ends here.
        for (before, _) in &mut found {
            before.end = before.end.min(range.start);
        }
        found.push((range.start..text.len(), State::Cut));
    }
    found
}

/// Whether a document may stand in a text, by a look at what stands behind `#` at the start of lines: reading Markdown costs more.
fn may_be_under(text: &str, known: &Heads, last: bool) -> bool {
    sample::written(text).any(|(level, title, head)| known.is_head(level, title) || (last && head.end == text.len()))
}

/// Whether the last heading is the beginning of the one that a document begins with, and nothing follows.
fn is_cut(text: &str, known: &Heads, level: usize, title: &str, range: &Range<usize>) -> bool {
    let written = text[range.start..].trim_start();
    let alone = !written.trim_end_matches(' ').contains('\n');
    let whole = known.line().unwrap_or_default();
    alone && !known.is_head(level, title) && whole.starts_with(written.trim_end())
}

/// A document that has no heading of its own: the whole text from its first heading on.
fn whole(text: &str, sections: &[Vec<crate::Name>], heads: &[Head<'_>]) -> Vec<Stands> {
    let has = |names: &&Vec<crate::Name>| {
        let one = Heads::Sections(vec![(*names).clone()]);
        heads.iter().any(|(level, title, _)| one.is_head(*level, title))
    };
    let there = sections.iter().filter(has).count();
    match heads.first() {
        Some((.., range)) if there > 0 && there * 2 >= sections.len() => vec![(range.start..text.len(), State::Whole)],
        _ => Vec::new(),
    }
}

/// Headings at the start of lines in no code fence: for a text that is too long or too deep to be read as a whole.
fn heads_by_line(text: &str) -> Vec<Head<'_>> {
    let mut found = Vec::new();
    let mut fence = markdown::Fence::default();
    for (start, line) in markdown::marked(text) {
        if fence.is_code(line) || !line.starts_with('#') {
            continue;
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let range = start..start + line.len();
        if level <= 6 && line[level..].starts_with([' ', '\t', '\r', '\n']) || line.len() == level {
            let title = markdown::heading_title(text, &range);
            found.push((level, &text[title], range));
        }
    }
    found
}

/// The key of a line that begins with one.
fn key(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    (plain && !key.is_empty() && (rest.is_empty() || rest.starts_with([' ', '\n', '\r']))).then_some(key)
}

/// Maps whose keys stand at the start of lines, up to what is no YAML, in a fence or not.
fn in_yaml(text: &str, shape: &Shape) -> Vec<Stands> {
    let mut found = Vec::new();
    let mut keys: Vec<&str> = Vec::new();
    let mut open: Option<usize> = None;
    let (mut fence, mut fenced) = (markdown::Fence::default(), false);
    let mut end = |open: &mut Option<usize>, keys: &mut Vec<&str>, at: usize, cut: bool| {
        if let Some(start) = open.take()
            && shape.has_half(keys)
        {
            found.push((start..at, if cut { State::Cut } else { State::Whole }));
        }
        keys.clear();
    };
    for (start, line) in lines(text) {
        let code = fence.is_code(line);
        if code != fenced {
            end(&mut open, &mut keys, start, false);
            fenced = code;
            continue;
        }
        match key(line) {
            Some(key) => {
                open.get_or_insert(start);
                keys.push(key);
            }
            None if line.trim().is_empty() || line.starts_with([' ', '-', '#', '\t']) => {}
            None => end(&mut open, &mut keys, start, false),
        }
    }
    end(&mut open, &mut keys, text.len(), fenced);
    found
}

/// Runs of lines that are objects of this shape.
fn in_lines(text: &str, shape: &Shape) -> Vec<Stands> {
    let mut found: Vec<Stands> = Vec::new();
    let mut open: Option<usize> = None;
    for (start, line) in lines(text) {
        let begins = line.starts_with('{') && (open.is_some() || shape.may_be_in(line));
        let object = begins.then(|| skim::object(&text[..start + line.len()], start));
        let is = object.is_some_and(|object| match object.end {
            End::Whole(_) => shape.is(text, &object),
            End::Cut | End::Broken(_) => shape.may_be(text, &object),
        });
        match (is, open) {
            (true, None) => open = Some(start),
            (false, Some(from)) if !line.trim().is_empty() => {
                found.push((from..start, State::Whole));
                open = None;
            }
            _ => {}
        }
    }
    if let Some(from) = open {
        found.push((from..text.len(), State::Whole));
    }
    found
}
