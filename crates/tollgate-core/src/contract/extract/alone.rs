//! JSON that is meant to be a whole text, and what stands around it.

use std::ops::Range;

use super::candidates::{Candidate, Form, State, find};
use super::decides::Decided;
use super::echo::Echo;
use super::{Dialect, Looks, Read, Search, announce, around, called, sample, skim};
use crate::contract::Context;
use crate::contract::markdown::Fence;
use crate::contract::text::{Source, lines};

/// The one document in a text.
#[derive(Debug)]
pub struct Only<'t> {
    pub range: Range<usize>,
    /// What stands around it and may take it back.
    pub doubt: Option<&'t str>,
}

/// The JSON in a text that holds one document of a contract: it is what [`extract`](super::extract) finds there, and nothing else in the text looks
/// like one or is other JSON.
pub fn only_object<'t>(dialect: Dialect<'_>, text: &'t str, context: &Context) -> Option<Only<'t>> {
    let (file, looks) = (Source::bare(text), dialect.looks(context));
    let all = super::all(&file, &looks, context);
    let search = Search::new(dialect, context, &looks, &all, &file);
    let [one @ Candidate { layer: 0, range, form: Form::Json, state: State::Whole }] = &all.candidates[..] else {
        return None;
    };
    let doubt = all.unseen > 0
        || all.failed.is_some()
        || search.echo(one) != Echo::No
        || search.other_unit(one).is_some()
        || other_object(file.text(), range).is_some();
    let above = || text[..range.start].trim().lines().next_back().unwrap_or_default();
    let called = || announce::label(text, range).or_else(|| (search.example(0) != Echo::No).then(above));
    let around = || {
        let read = dialect.read_alone(&text[range.clone()], context);
        let well = matches!(read, Read::Report(_)) && (read.is_refused() || called::is_well(&read) == Some(true));
        let decided = Decided::object(&looks, &text[range.clone()], false);
        around::doubt(&decided, [&text[..range.start], &text[range.end..]], well)
    };
    (!doubt).then(|| Only { range: range.clone(), doubt: around().or_else(called) })
}

/// What stands in the one code fence that a text is, where that is a Markdown document of a contract.
pub fn only_fence(dialect: Dialect<'_>, text: &str, context: &Context) -> Option<Range<usize>> {
    let heads = dialect.looks(context).markdown?;
    let mut lines = lines(text).filter(|(_, line)| !line.trim().is_empty());
    let (open, first) = lines.next()?;
    let info = first.trim().trim_start_matches(['`', '~']).trim();
    let mut fence = Fence::default();
    if !fence.is_code(first) || !["", "markdown", "md"].contains(&info) {
        return None;
    }
    let (close, _) = lines.find(|(_, line)| !fence.is_code(line))?;
    let inside = open + first.len()..close;
    let begins =
        || sample::written(&text[inside.clone()]).next().is_some_and(|(level, title, _)| heads.is_head(level, title));
    (lines.next().is_none() && begins()).then_some(inside)
}

/// Where JSON stands in a text that looks like a document.
pub fn objects(text: &str, looks: &Looks) -> Vec<Range<usize>> {
    let found = find(text, looks).candidates.into_iter();
    found.filter(|one| one.layer == 0 && one.form == Form::Json).map(|one| one.range).collect()
}

/// Where JSON that says something begins outside of a range of a text.
pub fn other_object(text: &str, known: &Range<usize>) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'{', &text.as_bytes()[at..]) {
        at += found;
        if known.contains(&at) {
            at = known.end;
            continue;
        }
        let object = skim::object(text, at);
        at = match object.end {
            skim::End::Whole(_) if !object.pairs.is_empty() => return Some(at),
            skim::End::Whole(end) => end,
            skim::End::Broken(next) => next.max(at + 1),
            skim::End::Cut => return None,
        };
    }
    None
}
