//! JSON that is meant to be a whole text, and what stands around it.

use std::ops::Range;

use super::candidates::{Candidate, Form, State, find};
use super::decides::Decided;
use super::echo::Echo;
use super::{Dialect, Looks, Search, skim};
use crate::contract::Context;
use crate::contract::text::Source;

/// Where the JSON stands in a text that holds one document of a contract beyond doubt: it is what [`extract`](super::extract) finds there, nothing else in
/// the text looks like one or is other JSON, and no word around it decides otherwise.
pub fn only_object(dialect: Dialect<'_>, text: &str, context: &Context) -> Option<Range<usize>> {
    let (file, looks) = (Source::new(text), dialect.looks(context));
    let all = super::all(&file, &looks, context);
    let search = Search::new(dialect, context, &looks, &all, &file);
    let [one @ Candidate { layer: 0, range, form: Form::Json, state: State::Whole }] = &all.candidates[..] else {
        return None;
    };
    let doubt = all.unseen > 0
        || all.failed.is_some()
        || search.echo(one) != Echo::No
        || search.example(0) != Echo::No
        || search.other_unit(one).is_some()
        || other_object(file.text(), range).is_some()
        || is_doubted(&looks, file.text(), range);
    (!doubt).then(|| range.clone())
}

/// Whether a word around an object decides otherwise than it does.
fn is_doubted(looks: &Looks, text: &str, range: &Range<usize>) -> bool {
    let decided = Decided::object(looks, &text[range.clone()], false);
    decided.is_doubted_by(&text[..range.start]) || decided.is_doubted_by(&text[range.end..])
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
