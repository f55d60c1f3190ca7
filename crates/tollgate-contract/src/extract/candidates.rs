//! Everything in a speech that may be a document of a contract: JSON objects, Markdown under its heading, YAML, lines of JSON.

use std::ops::Range;

use memchr::memchr;

use super::blocks;
use super::json_scan::{self, End, Skimmed};
use super::signature::{Heads, Looks, Shape};
use super::speech::{Said, Speech};
use crate::markdown::{Block, BlockKind, Fence};
use crate::text::lines;

/// So many documents are told apart; of more, the last ones.
pub const CANDIDATES_MAX: usize = 256;

/// How a candidate is compared with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Json,
    Text,
}

/// Something that may be a document.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub layer: usize,
    pub range: Range<usize>,
    pub form: Form,
    /// Whether it ends before anything of it can be read.
    pub cut: bool,
    /// The item of the speech that it is in, and where the text after it begins; none: nothing ends it.
    pub said: usize,
    pub after: Option<usize>,
}

/// The candidates of a speech, the last ones, and how many before those were left out. What is between the lines of an agent's program is looked
/// at where the agent itself said nothing that may be a document.
pub fn find(speech: &Speech<'_>, looks: &Looks) -> (Vec<Candidate>, usize) {
    let found = find_in(speech, looks, true);
    if found.0.is_empty() { find_in(speech, looks, false) } else { found }
}

fn find_in(speech: &Speech<'_>, looks: &Looks, of_agent: bool) -> (Vec<Candidate>, usize) {
    let (mut found, mut unseen) = (Vec::new(), 0);
    for (said, item) in speech.said.iter().enumerate() {
        match item {
            Said::Text { layer, range, own } if *own == of_agent => {
                let place = Place { layer: *layer, said, offset: range.start };
                in_text(&speech.layers.text(*layer)[range.clone()], &place, looks, &mut found);
            }
            Said::Cut { layer, at } => {
                let range = *at..speech.layers.text(*layer).len();
                found.push(Candidate { layer: *layer, range, form: Form::Text, cut: true, said, after: None });
            }
            Said::Text { .. } | Said::Object { .. } | Said::Failed { .. } => {}
        }
        let surplus = found.len().saturating_sub(CANDIDATES_MAX);
        unseen += found.drain(..surplus).count();
    }
    (found, unseen)
}

/// Where JSON is in a text that looks like a document, whatever is around it.
pub fn objects(text: &str, looks: &Looks) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if let Some(shape) = &looks.json {
        json(text, &[], shape, &Place::default(), &mut found);
    }
    found.into_iter().filter(|one| one.form == Form::Json).map(|one| one.range).collect()
}

/// Where Markdown documents are in a text.
pub fn markdown_in(text: &str, heads: &Heads) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    markdown(text, &blocks::blocks(text), heads, &Place::default(), &mut found);
    found.into_iter().map(|one| one.range).collect()
}

/// Where a text is in a speech.
#[derive(Debug, Default)]
struct Place {
    layer: usize,
    said: usize,
    offset: usize,
}

impl Place {
    fn candidate(&self, range: Range<usize>, form: Form, after: Option<usize>) -> Candidate {
        let range = range.start + self.offset..range.end + self.offset;
        let after = after.map(|after| after + self.offset);
        Candidate { layer: self.layer, range, form, cut: false, said: self.said, after }
    }
}

fn in_text(text: &str, place: &Place, looks: &Looks, found: &mut Vec<Candidate>) {
    let first = found.len();
    let blocks = match looks.json.is_some() || looks.markdown.is_some() {
        true => blocks::blocks(text),
        false => Vec::new(),
    };
    if let Some(shape) = &looks.json {
        json(text, &blocks, shape, place, found);
    }
    if let Some(heads) = &looks.markdown {
        match blocks::only_fence(text) {
            Some(inside) => {
                let inner = Place { offset: place.offset + inside.start, ..*place };
                let text = &text[inside];
                markdown(text, &blocks::blocks(text), heads, &inner, found);
            }
            None => markdown(text, &blocks, heads, place, found),
        }
    }
    if let Some(shape) = &looks.yaml {
        yaml(text, shape, place, found);
    }
    if let Some(shape) = &looks.lines {
        json_lines(text, shape, place, found);
    }
    found[first..].sort_by_key(|one| one.range.start);
}

/// JSON objects of a shape. In code, an object counts that is all of the code; lists, quotes and HTML are opaque.
fn json(text: &str, blocks: &[Block], shape: &Shape, place: &Place, found: &mut Vec<Candidate>) {
    let bytes = text.as_bytes();
    let (mut at, first) = (0, found.len());
    while let Some(next) = memchr(b'{', &bytes[at.min(bytes.len())..]) {
        at += next;
        let before = blocks.partition_point(|block| block.range.start <= at);
        let block = before.checked_sub(1).map(|index| &blocks[index]).filter(|block| block.range.contains(&at));
        // What begins a line is no part of a list or a quote, though Markdown takes it for a line that goes on in it.
        let begins_line = at == 0 || bytes[at - 1] == b'\n';
        if let Some((block, content)) = block.and_then(|block| Some((block, blocks::code(block)?))) {
            if text[content.start..at.max(content.start)].trim().is_empty() {
                let range = in_code(text, &content, at, shape);
                found.extend(range.map(|range| place.candidate(range, Form::Json, Some(block.range.end))));
            }
            at = block.range.end.max(at + 1);
            continue;
        }
        match block.map(|block| (&block.kind, block.range.end)) {
            Some((BlockKind::Html | BlockKind::Comment, end)) => {
                at = end.max(at + 1);
                continue;
            }
            Some((BlockKind::Item | BlockKind::Quote, _)) if !begins_line => {
                at += 1;
                continue;
            }
            _ => {}
        }
        let in_code = at > 0 && bytes[at - 1] == b'`';
        if in_code || !json_scan::may_begin(bytes, at) {
            at += 1;
            continue;
        }
        let object = json_scan::object(text, at);
        let (range, next) = match object.end {
            End::Whole(end) => (shape.is(text, &object).then_some(at..end), end),
            End::Broken(next) => (shape.may_be(text, &object).then_some(at..text.len()), next.max(at + 1)),
            End::Cut => (is_begun(text, &object, at, shape).then_some(at..text.len()), text.len()),
        };
        if let Some(range) = range {
            // What is broken goes on until something else begins.
            if let Some(last) = found[first..].last_mut().filter(|last| last.range.contains(&(at + place.offset))) {
                last.range.end = at + place.offset;
            }
            let end = range.end;
            found.push(place.candidate(range, Form::Json, Some(end)));
        }
        at = next;
    }
    if let Some(Block { kind: BlockKind::Fence { content, closed: false }, .. }) = blocks.last()
        && text[content.clone()].trim().is_empty()
    {
        found.push(Candidate { cut: true, ..place.candidate(text.len()..text.len(), Form::Text, None) });
    }
}

/// The object that code is and nothing else, also where it is not valid JSON.
fn in_code(text: &str, content: &Range<usize>, at: usize, shape: &Shape) -> Option<Range<usize>> {
    let object = json_scan::object(&text[..content.end], at);
    let all = at..at + text[at..content.end].trim_end().len();
    match object.end {
        End::Whole(end) => (end == all.end && shape.is(text, &object)).then_some(at..end),
        End::Broken(_) | End::Cut => (shape.may_be(text, &object) || shape.is_meant(&text[all.clone()])).then_some(all),
    }
}

/// Whether an object that the text ends in is one of a shape, as far as it goes.
fn is_begun(text: &str, object: &Skimmed, at: usize, shape: &Shape) -> bool {
    if !object.pairs.is_empty() || object.open.is_some() {
        return shape.knows(text, object);
    }
    let rest = text[at + 1..].trim_start();
    match rest.strip_prefix('"').unwrap_or(rest) {
        // A brace in the words after a report is no report; one that begins a line may be.
        "" => {
            text[..at].trim_end_matches([' ', '\t']).is_empty()
                || text[..at].trim_end_matches([' ', '\t']).ends_with('\n')
        }
        key => shape.has_key_with(key),
    }
}

/// Documents under their heading.
fn markdown(text: &str, blocks: &[Block], known: &Heads, place: &Place, found: &mut Vec<Candidate>) {
    let heads: Vec<(usize, &str, usize)> = blocks
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::Heading(level, title) => Some((*level, &text[title.clone()], block.range.start)),
            _ => None,
        })
        .collect();
    let mut push = |range: Range<usize>, cut: bool| {
        // Another section of its level ends a document.
        let after = Some(range.end).filter(|end| *end < text.len());
        found.push(Candidate { cut, ..place.candidate(range, Form::Text, after) });
    };
    if let Heads::Sections(sections) = known {
        let has = |names: &&Vec<tollgate_core::Name>| heads.iter().any(|(_, title, _)| Heads::names(names, title));
        let there = sections.iter().filter(has).count();
        if let Some((.., start)) = heads.first().filter(|_| there > 0 && there * 2 >= sections.len()) {
            push(*start..text.len(), false);
        }
        return;
    }
    let cut = heads.last().filter(|(level, title, at)| is_cut(&text[*at..], known, *level, title));
    let limit = cut.map_or(text.len(), |(.., at)| *at);
    let mut last: Option<(usize, usize)> = None;
    for (index, (level, title, start)) in heads.iter().enumerate() {
        let inside = last.is_some_and(|(outer, end)| *start < end && *level > outer);
        if !known.is_head(*level, title) || (inside && matches!(known, Heads::Own(_))) {
            continue;
        }
        let ends = |next: &&(usize, &str, usize)| match known {
            Heads::Coded { is, .. } => is(next.0, next.1),
            Heads::Own(_) | Heads::Sections(_) => next.0 <= *level,
        };
        let end = heads[index + 1..].iter().find(ends).map_or(limit, |next| next.2.min(limit));
        last = Some((*level, end));
        push(*start..end, false);
    }
    if let Some((.., at)) = cut {
        push(*at..text.len(), true);
    }
}

/// Whether a text is the beginning of the heading that a document begins with, and nothing else.
fn is_cut(rest: &str, known: &Heads, level: usize, title: &str) -> bool {
    let written = rest.trim_start();
    let alone = !written.trim_end_matches(' ').contains('\n');
    let whole = known.line().unwrap_or_default();
    alone && !known.is_head(level, title) && whole.starts_with(written.trim_end())
}

/// The key of a line that begins with one.
fn key(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    (plain && !key.is_empty() && (rest.is_empty() || rest.starts_with([' ', '\n', '\r']))).then_some(key)
}

/// Maps whose keys begin lines, up to what is no YAML, in a fence or not.
fn yaml(text: &str, shape: &Shape, place: &Place, found: &mut Vec<Candidate>) {
    let mut keys: Vec<&str> = Vec::new();
    let mut open: Option<usize> = None;
    let (mut fence, mut fenced) = (Fence::default(), false);
    let mut end = |open: &mut Option<usize>, keys: &mut Vec<&str>, at: usize, cut: bool| {
        if let Some(start) = open.take().filter(|_| shape.has_half(keys)) {
            found.push(Candidate { cut, ..place.candidate(start..at, Form::Text, None) });
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
}

/// Runs of lines that are objects of a shape.
fn json_lines(text: &str, shape: &Shape, place: &Place, found: &mut Vec<Candidate>) {
    let mut open: Option<usize> = None;
    for (start, line) in lines(text) {
        let object = line.starts_with('{').then(|| json_scan::object(&text[..start + line.len()], start));
        let is = object.is_some_and(|object| match object.end {
            End::Whole(_) => shape.is(text, &object),
            End::Cut | End::Broken(_) => shape.may_be(text, &object),
        });
        match (is, open) {
            (true, None) => open = Some(start),
            (false, Some(from)) if !line.trim().is_empty() => {
                found.push(place.candidate(from..start, Form::Text, None));
                open = None;
            }
            _ => {}
        }
    }
    found.extend(open.map(|from| place.candidate(from..text.len(), Form::Text, None)));
}
