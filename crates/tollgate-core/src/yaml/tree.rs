//! From the parser's events to the tree.

use std::collections::BTreeSet;

use tollgate_yaml::{Event, Events, Marker, ScalarStyle, Span};

use super::json::{Shortened, with_yaml_escapes};
use super::{BYTES_MAX, Content, DEPTH_MAX, Key, Node};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place};

/// So many problems of one text are told apart.
const PROBLEMS_MAX: usize = 50;

/// A map or list that is not closed yet.
enum Open {
    Seq(Vec<Node>, Place),
    Map { entries: Vec<(Key, Node)>, seen: BTreeSet<crate::Name>, key: Option<Key>, surplus: bool, place: Place },
}

impl Open {
    fn closed(self) -> Node {
        match self {
            Self::Seq(items, place) => Node { value: Content::Seq(items), place },
            Self::Map { entries, place, .. } => Node { value: Content::Map(entries), place },
        }
    }
}

/// A text as far as it could be read.
#[derive(Debug)]
pub struct Parsed {
    /// The document; none where nothing could be read of it.
    pub node: Option<Node>,
    /// What is wrong, in the order of the text.
    pub problems: Vec<Diagnostic>,
    /// Where lists and maps begin whose end could not be read, and values that are not what was written.
    pub broken: BTreeSet<Place>,
}

/// Reads one document; the first thing that is wrong with it otherwise.
pub fn parse(text: &str) -> Result<Node, Diagnostic> {
    let parsed = parse_as_far(text);
    match (parsed.node, parsed.problems.into_iter().next()) {
        (Some(node), None) => Ok(node),
        (_, problem) => Err(problem.unwrap_or_else(empty)),
    }
}

/// Reads one document as far as it goes: what can be passed over does not hide what is wrong behind it.
pub fn parse_as_far(text: &str) -> Parsed {
    if text.len() > BYTES_MAX {
        let message = format!("the file has {} bytes; at most {BYTES_MAX} are read", text.len());
        let problem = refused(Place { line: 1, column: 1 }, message, "split it, or keep data elsewhere");
        return Parsed { node: None, problems: vec![problem], broken: BTreeSet::new() };
    }
    let given = text;
    let (text, shortened) = with_yaml_escapes(text);
    let mut tree = Tree { open: Vec::new(), root: None, shortened, problems: Vec::new(), broken: BTreeSet::new() };
    for event in Events::of(&text) {
        let read = event.map_err(|error| {
            let place = inside(given, tree.shortened.given(place(error.marker())));
            Diagnostic::error(Code::YAML_SYNTAX, place, format!("this is not YAML: {}", error.info()))
                .hint("a bracket, quote, colon or indent is wrong here or just before")
        });
        if let Err(problem) = read.and_then(|(event, span)| tree.event(event, span)) {
            tree.problems.push(problem);
            break;
        }
    }
    tree.finish()
}

fn empty() -> Diagnostic {
    Diagnostic::error(Code::YAML_SYNTAX, Place { line: 1, column: 1 }, "the file is empty")
        .hint("write a map of keys and values")
}

struct Tree {
    open: Vec<Open>,
    root: Option<Node>,
    shortened: Shortened,
    problems: Vec<Diagnostic>,
    broken: BTreeSet<Place>,
}

impl Tree {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Diagnostic> {
        let place = self.shortened.given(place(&span.start));
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => match self.root.as_ref().map(|root| root.place) {
                Some(first) => {
                    let second = refused(place, "a second document begins here", "keep one document in a file");
                    Err(second.other(first))
                }
                None => Ok(()),
            },
            Event::Alias(_) => {
                self.note(refused(place, "an alias (`*name`) is not allowed", "write the value out"))?;
                self.broken.insert(place);
                self.add(Node { value: Content::Scalar { text: "".into(), quoted: false }, place })
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.plain_only(anchor, tag.is_some(), place)?;
                let quoted = style != ScalarStyle::Plain;
                // Plain `null` and `~` are how YAML writes nothing.
                let text = if !quoted && matches!(&*text, "~" | "null") { "" } else { &*text };
                self.add(Node { value: Content::Scalar { text: text.into(), quoted }, place })
            }
            Event::SequenceStart(anchor, tag) => {
                self.plain_only(anchor, tag.is_some(), place)?;
                self.begin(Open::Seq(Vec::new(), place), place)
            }
            Event::MappingStart(anchor, tag) => {
                self.plain_only(anchor, tag.is_some(), place)?;
                let (entries, seen) = (Vec::new(), BTreeSet::new());
                self.begin(Open::Map { entries, seen, key: None, surplus: false, place }, place)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => self.add(open.closed()),
                None => Ok(()),
            },
        }
    }

    fn begin(&mut self, open: Open, place: Place) -> Result<(), Diagnostic> {
        if let Some(Open::Map { key: None, .. }) = self.open.last() {
            return Err(refused(place, "a key must be a plain word, not a list or a map", "write the key as text"));
        }
        if self.open.len() >= DEPTH_MAX {
            let message = format!("nested deeper than {DEPTH_MAX} levels");
            return Err(refused(place, message, "write it flatter"));
        }
        self.open.push(open);
        Ok(())
    }

    fn add(&mut self, node: Node) -> Result<(), Diagnostic> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Seq(items, _)) => items.push(node),
            Some(Open::Map { entries, seen, key, surplus, .. }) => match key.take() {
                Some(_) if std::mem::take(surplus) => {}
                Some(key) => entries.push((key, node)),
                None => {
                    let place = node.place;
                    let Some(text) = node.text().cloned() else {
                        return Err(refused(place, "a key must be a plain word", "write the key as text"));
                    };
                    if !seen.insert(text.clone()) {
                        let first = entries.iter().find(|(k, _)| k.text == text).map_or(place, |(k, _)| k.place);
                        let message = format!("the key `{text}` is here a second time");
                        let twice = Diagnostic::error(Code::YAML_DUPLICATE, place, message)
                            .other(first)
                            .hint(format!("the first is at line {}; keep one of them", first.line));
                        (*key, *surplus) = (Some(Key { text, place }), true);
                        return self.note(twice);
                    }
                    *key = Some(Key { text, place });
                }
            },
        }
        Ok(())
    }

    /// Keeps a problem that can be passed over; with too many of them reading ends.
    fn note(&mut self, problem: Diagnostic) -> Result<(), Diagnostic> {
        if self.problems.len() >= PROBLEMS_MAX {
            return Err(problem);
        }
        self.problems.push(problem);
        Ok(())
    }

    fn plain_only(&mut self, anchor: usize, tagged: bool, place: Place) -> Result<(), Diagnostic> {
        if anchor > 0 {
            let hint = "write the value out where it is used";
            self.note(refused(place, "an anchor (`&name`) is not allowed", hint))?;
        }
        match tagged {
            true => self.note(refused(place, "a tag (`!name`) is not allowed", "leave the tag out")),
            false => Ok(()),
        }
    }

    /// Closes what is open; its end was not read.
    fn finish(mut self) -> Parsed {
        while let Some(open) = self.open.pop() {
            let node = open.closed();
            self.broken.insert(node.place);
            match self.open.last_mut() {
                None => self.root = Some(node),
                Some(Open::Seq(items, _)) => items.push(node),
                Some(Open::Map { entries, key, surplus, .. }) => {
                    entries.extend(key.take().filter(|_| !*surplus).map(|key| (key, node)));
                }
            }
        }
        if self.root.is_none() && self.problems.is_empty() {
            self.problems.push(empty());
        }
        Parsed { node: self.root, problems: self.problems, broken: self.broken }
    }
}

fn refused(place: Place, message: impl Into<String>, hint: &str) -> Diagnostic {
    Diagnostic::error(Code::YAML_REFUSED, place, message).hint(hint)
}

/// What the parser misses behind the last line is missing at its end.
fn inside(text: &str, place: Place) -> Place {
    let ends = text.matches(['\n', '\r']).count() - text.matches("\r\n").count();
    let last = text.rsplit(['\n', '\r']).next().unwrap_or_default();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let end = Place { line: count(ends + 1), column: count(last.chars().count() + 1) };
    place.min(end)
}

fn place(marker: &Marker) -> Place {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place { line: count(marker.line()), column: count(marker.col()).saturating_add(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one_in_characters() {
        let node = parse("a: 1\nüb: {c: [x, \"y\"]}\n").unwrap();
        let b = node.get("üb").unwrap();
        assert_eq!(node.place, Place { line: 1, column: 1 });
        assert_eq!(b.place, Place { line: 2, column: 5 });
        let Content::Seq(items) = &b.get("c").unwrap().value else { panic!("a list") };
        assert_eq!(items[1].place, Place { line: 2, column: 13 });
        assert_eq!(items[1].value, Content::Scalar { text: "y".into(), quoted: true });
    }

    #[test]
    fn on_is_a_string_and_null_is_nothing() {
        let node = parse("on: yes\nnone: ~\nquoted: \"null\"\n").unwrap();
        assert_eq!(node.get("on").and_then(Node::plain), Some("yes"));
        assert_eq!(node.get("none").unwrap().text(), None);
        assert_eq!(node.get("quoted").unwrap().text().map(|t| &**t), Some("null"));
    }

    #[test]
    fn what_is_refused_has_a_code_and_a_place() {
        let deep = "[".repeat(65) + &"]".repeat(65);
        let large = "a".repeat(BYTES_MAX + 1);
        let cases = [
            ("a: &x 1", Code::YAML_REFUSED, 1, 4),
            ("a: *x", Code::YAML_SYNTAX, 1, 4),
            ("a: !t 1", Code::YAML_REFUSED, 1, 4),
            ("a: 1\n---\nb: 2\n", Code::YAML_REFUSED, 2, 1),
            ("a: 1\nb: 2\na: 3\n", Code::YAML_DUPLICATE, 3, 1),
            ("[a]: 1", Code::YAML_REFUSED, 1, 1),
            ("? \n: 1", Code::YAML_REFUSED, 2, 1),
            ("a: [1", Code::YAML_SYNTAX, 1, 6),
            ("a: [1\r\n", Code::YAML_SYNTAX, 2, 1),
            ("", Code::YAML_SYNTAX, 1, 1),
            ("# only a comment\n", Code::YAML_SYNTAX, 1, 1),
            (&deep, Code::YAML_REFUSED, 1, 65),
            (&large, Code::YAML_REFUSED, 1, 1),
        ];
        for (text, code, line, column) in cases {
            let shown = &text[..text.len().min(20)];
            let error = parse(text).expect_err(shown);
            assert_eq!((error.code, error.place), (code, Place { line, column }), "{shown}: {}", error.message);
        }
    }
}
