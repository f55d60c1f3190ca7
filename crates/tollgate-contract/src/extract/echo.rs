//! What a worker was shown: whatever repeats it is no report.

use super::candidates::{self, Candidate, Form};
use super::signature::{Heads, Looks};
use super::speech::Speech;
use crate::markdown::{heading_words, is_fence};
use crate::tree::{Node, from_json, json};

/// How many documents shown in a prompt are compared with what was printed.
const SHOWN_MAX: usize = 64;

/// How much of a document only repeats what was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// It says something of its own.
    No,
    /// It begins as what was shown and ends before that does.
    Beginning,
    /// All of what was shown.
    Whole,
}

/// Every document and template that was shown.
#[derive(Debug, Default)]
pub struct Shown {
    trees: Vec<Node<'static>>,
    /// Documents that are no JSON, as their lines.
    texts: Vec<Vec<String>>,
}

impl Shown {
    pub fn of(looks: &Looks, prompt: Option<&str>) -> Self {
        let mut shown = Self::default();
        if looks.schema.is_object() {
            shown.trees.push(from_json(&looks.schema));
        }
        for text in prompt.into_iter().chain(looks.shown.iter().map(String::as_str)) {
            shown.add(looks, text);
            quotes(text).iter().for_each(|quoted| shown.add(looks, quoted));
        }
        shown.texts.sort_unstable();
        shown.texts.dedup();
        shown
    }

    fn add(&mut self, looks: &Looks, text: &str) {
        for object in candidates::objects(text, looks) {
            if self.trees.len() < SHOWN_MAX {
                self.trees.extend(json::read(&text[object]).ok().map(Node::into_owned));
            }
        }
        if looks.yaml.is_some() || looks.lines.is_some() {
            let speech = Speech::plain(text);
            let found = candidates::find(&speech, looks).0.into_iter().filter(|one| one.form == Form::Text);
            let text = |one: Candidate| &speech.layers.text(one.layer)[one.range];
            let lines = found.map(|one| text(one).lines().filter_map(significant).map(str::to_owned).collect());
            let room = SHOWN_MAX.saturating_sub(self.texts.len());
            self.texts.extend(lines.take(room));
        }
        if let Some(heads) = &looks.markdown {
            let room = SHOWN_MAX.saturating_sub(self.texts.len());
            self.texts.extend(under_headings(text, heads).into_iter().take(room));
        }
    }

    /// Whether a document only repeats what was shown.
    pub fn echo(&self, text: &str, form: Form) -> Echo {
        if form == Form::Json {
            let read = || json::read(text).ok();
            let is = !self.trees.is_empty() && read().is_some_and(|tree| self.trees.iter().any(|one| one.same(&tree)));
            return if is { Echo::Whole } else { Echo::No };
        }
        let lines = || text.lines().filter_map(significant);
        let shown = || self.texts.iter().map(|shown| shown.iter().map(String::as_str));
        if shown().any(|shown| begins_with(lines(), shown)) {
            return Echo::Whole;
        }
        if shown().any(|shown| begins_with(shown, lines())) { Echo::Beginning } else { Echo::No }
    }
}

/// The quotes of a text, without their marks.
fn quotes(text: &str) -> Vec<String> {
    let mut quotes: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let Some(quoted) = line.trim_start().strip_prefix('>') else {
            goes_on = false;
            continue;
        };
        if !goes_on {
            if quotes.len() == SHOWN_MAX {
                break;
            }
            quotes.push(String::new());
        }
        goes_on = true;
        if let Some(quote) = quotes.last_mut() {
            quote.push_str(quoted.strip_prefix(' ').unwrap_or(quoted));
            quote.push('\n');
        }
    }
    quotes
}

fn begins_with<'a>(mut text: impl Iterator<Item = &'a str>, mut beginning: impl Iterator<Item = &'a str>) -> bool {
    beginning.all(|line| text.next() == Some(line))
}

/// A line that says something; fences do not.
fn significant(line: &str) -> Option<&str> {
    let line = line.trim();
    (!line.is_empty() && !is_fence(line)).then_some(line)
}

/// Every document or template in a prompt, fenced or not, as its lines; one in a fence ends with the fence.
fn under_headings(prompt: &str, heads: &Heads) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut fences: Vec<&str> = Vec::new();
    let mut open: Option<usize> = None;
    for line in prompt.lines().map(str::trim) {
        if is_fence(line) {
            let width = line.trim_end_matches(|c| c != '`' && c != '~');
            let mark = &line[..width.len().min(line.len())];
            let bare = line.trim_matches(['`', '~']).is_empty();
            if bare && fences.last().is_some_and(|opening| mark.starts_with(*opening)) {
                fences.pop();
                // The fence around the document closes: what follows is the prompt's own.
                open = open.filter(|depth| fences.len() >= *depth);
            } else {
                fences.push(mark);
            }
            continue;
        }
        if begins(line, heads) && !(matches!(heads, Heads::Sections(_)) && open.is_some()) {
            if found.len() == SHOWN_MAX {
                break;
            }
            found.push(Vec::new());
            open = Some(fences.len());
        }
        if let (Some(_), Some(document)) = (open, found.last_mut())
            && !line.is_empty()
        {
            document.push(line.to_owned());
        }
    }
    // A mere mention of the first heading is no document, and every one would begin with it.
    found.retain(|document| heads.is_enough(document.iter().map(String::as_str)));
    found
}

fn begins(line: &str, heads: &Heads) -> bool {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    level > 0 && heading_words(line).is_some_and(|words| heads.is_head(level, words))
}
