//! What the command line tools of agents wrap their words in: one row per line of theirs that carries what the agent said.

use std::ops::Range;

use super::json_scan::{self, End, Skimmed};
use crate::tree::{Node, Value, json};

/// How a line carries words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// A whole message.
    Whole,
    /// A piece of one that goes on in the next line of its kind.
    Piece,
    /// A document as an object, not as words.
    Object,
}

/// The way to a word, and the word.
type Word = (&'static [&'static str], &'static str);

/// A line of a tool: what it is known by, and the way to what the agent said.
struct Row {
    kind: Type,
    /// Words at the end of ways; an empty one must not be there, and one behind a `!` must not be this.
    words: &'static [Word],
    /// Keys of objects; `*` is every item of a list that is text.
    way: &'static [&'static str],
    carries: Carries,
}

/// The `type` of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Is(&'static str),
    /// It has none.
    None,
    Any,
}

impl Type {
    fn is(self, kind: Option<&str>) -> bool {
        match self {
            Self::Is(word) => kind == Some(word),
            Self::None => kind.is_none(),
            Self::Any => true,
        }
    }
}

const fn row(kind: Type, way: &'static [&'static str], carries: Carries) -> Row {
    Row { kind, words: &[], way, carries }
}

impl Row {
    const fn with(mut self, words: &'static [Word]) -> Self {
        self.words = words;
        self
    }
}

/// What an agent says itself, and neither one that it has started, which has its own task and may not report for it, nor its tool in its place.
const ITS_OWN: &[Word] = &[
    (&["parent_tool_use_id"], ""),
    (&["isSidechain"], "!true"),
    (&["isApiErrorMessage"], "!true"),
    (&["message", "model"], "!<synthetic>"),
];

/// Claude Code and Qwen; Codex, now and before; OpenCode; Gemini; Copilot; the agent client protocol.
const ROWS: [Row; 16] = [
    row(Type::Is("assistant"), &["message", "content", "*", "text"], Carries::Whole).with(ITS_OWN),
    row(Type::Is("assistant"), &["message", "content"], Carries::Whole).with(ITS_OWN),
    row(Type::Is("result"), &["result"], Carries::Whole),
    row(Type::Is("result"), &["structured_output"], Carries::Object),
    row(Type::Is("result"), &["structured_result"], Carries::Object),
    row(Type::Is("stream_event"), &["event", "delta", "text"], Carries::Piece)
        .with(&[(&["event", "delta", "type"], "text_delta"), (&["parent_tool_use_id"], "")]),
    row(Type::Is("item.completed"), &["item", "text"], Carries::Whole).with(&[(&["item", "type"], "agent_message")]),
    row(Type::Any, &["msg", "message"], Carries::Whole).with(&[(&["msg", "type"], "agent_message")]),
    row(Type::Is("text"), &["part", "text"], Carries::Whole).with(&[(&["part", "synthetic"], "!true")]),
    row(Type::Is("message"), &["content"], Carries::Piece).with(&[(&["role"], "assistant"), (&["delta"], "true")]),
    row(Type::Is("message"), &["content"], Carries::Whole).with(&[(&["role"], "assistant"), (&["delta"], "")]),
    row(Type::None, &["response"], Carries::Whole),
    row(Type::None, &["result"], Carries::Whole),
    row(Type::Is("assistant.message"), &["data", "content"], Carries::Whole),
    row(Type::Is("assistant.message_delta"), &["data", "deltaContent"], Carries::Piece),
    row(Type::Any, &["params", "update", "content", "text"], Carries::Piece)
        .with(&[(&["method"], "session/update"), (&["params", "update", "sessionUpdate"], "agent_message_chunk")]),
];

/// Lines that end a call which failed, by their type and by how values at their top begin, as JSON writes them. What they carry is no report.
const FAILS: [(Type, &[(&str, &str)]); 7] = [
    (Type::Is("result"), &[("is_error", "true")]),
    (Type::Is("result"), &[("subtype", "\"error")]),
    (Type::Is("result"), &[("status", "\"error")]),
    (Type::Is("result"), &[("stop_reason", "\"max_tokens")]),
    (Type::Is("turn.failed"), &[]),
    (Type::None, &[("error", "{"), ("response", "")]),
    (Type::None, &[("error", "{"), ("session_id", "")]),
];

/// Lines that tell of an error which the tool may get over: it did not where they are its last.
const ERRS: [(&str, &[Word]); 5] = [
    ("error", &[]),
    ("item.completed", &[(&["item", "type"], "error")]),
    ("assistant", &[(&["message", "stop_reason"], "max_tokens")]),
    ("assistant", &[(&["isApiErrorMessage"], "true")]),
    ("step_finish", &[(&["part", "reason"], "length")]),
];

/// What Claude Code prints for a user who stopped it, in a line of at most so many bytes.
const STOPPED: &str = "\"[Request interrupted by user";
const STOPPED_BYTES: usize = 2048;

/// Lines that come between the pieces of one message.
const BETWEEN: [&str; 1] = ["ping"];

/// What a line carries: the words of strings, without their quotes, or objects.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Carried {
    pub whole: Vec<Range<usize>>,
    pub piece: Option<Range<usize>>,
    pub object: Option<Range<usize>>,
}

/// A line of a tool.
#[derive(Debug)]
pub struct ToolLine<'t> {
    text: &'t str,
    range: Range<usize>,
    root: Node<'t>,
}

impl<'t> ToolLine<'t> {
    /// Reads an object of a text.
    pub fn read(text: &'t str, range: Range<usize>) -> Option<Self> {
        let root = json::parse(&text[range.clone()]).node?;
        Some(Self { text, range, root })
    }

    /// What it carries of what the agent said; nothing where it carries none.
    pub fn carried(&self) -> Option<Carried> {
        let mut carried = Carried::default();
        for row in ROWS.iter().filter(|row| self.is(row)) {
            let found = self.each(row.way);
            match row.carries {
                Carries::Whole => carried.whole.extend(found.into_iter().filter_map(|node| self.words(node))),
                Carries::Piece => carried.piece = found.into_iter().find_map(|node| self.words(node)),
                Carries::Object => {
                    let object = found.into_iter().find(|node| node.map().is_some());
                    carried.object = carried.object.or_else(|| self.object(object?));
                }
            }
            // Pieces carry nothing else.
            if carried.piece.is_some() {
                break;
            }
        }
        (carried != Carried::default()).then_some(carried)
    }

    /// Whether it says that the call of its tool failed.
    pub fn fails(&self) -> bool {
        let begins = |(key, with): &(&str, &str)| {
            self.root.get(key).is_some_and(|node| self.text[self.place(node)..].starts_with(with))
        };
        FAILS.iter().any(|(known, values)| known.is(self.kind()) && values.iter().all(begins))
    }

    /// Whether it tells of an error, or of a stop, that ends the call if nothing follows.
    pub fn errs(&self) -> bool {
        let is = |(way, word): &Word| self.at(way).and_then(Node::word) == Some(word);
        let stopped = || self.range.len() <= STOPPED_BYTES && self.text[self.range.clone()].contains(STOPPED);
        ERRS.iter().any(|(known, words)| self.kind() == Some(known) && words.iter().all(is))
            || (self.kind() == Some("user") && stopped())
    }

    /// Whether it may stand between two pieces of one message.
    pub fn is_between(&self) -> bool {
        let named = |word: Option<&str>| word.is_some_and(|word| BETWEEN.contains(&word));
        named(self.kind()) || named(self.at(&["event", "type"]).and_then(Node::word))
    }

    fn kind(&self) -> Option<&str> {
        self.root.get("type").and_then(Node::word)
    }

    fn is(&self, row: &Row) -> bool {
        let says = |(way, word): &Word| {
            let found = self.at(way);
            match word.strip_prefix('!') {
                Some(word) => found.and_then(Node::word) != Some(word),
                None if word.is_empty() => found.is_none_or(|node| matches!(node.value, Value::Null)),
                None => found.and_then(Node::word) == Some(word),
            }
        };
        row.kind.is(self.kind()) && row.words.iter().all(says)
    }

    /// What stands at the end of a way.
    fn at(&self, way: &[&str]) -> Option<&Node<'t>> {
        way.iter().try_fold(&self.root, |node, key| node.get(key))
    }

    /// The same for a way through the items of a list that are text.
    fn each(&self, way: &[&str]) -> Vec<&Node<'t>> {
        let Some(star) = way.iter().position(|key| *key == "*") else { return self.at(way).into_iter().collect() };
        let is_text = |item: &&Node<'_>| item.get("type").and_then(Node::word) == Some("text");
        let items = self.at(&way[..star]).and_then(Node::list).unwrap_or_default().iter().filter(is_text);
        items.filter_map(|item| way[star + 1..].iter().try_fold(item, |node, key| node.get(key))).collect()
    }

    fn place(&self, node: &Node<'_>) -> usize {
        self.range.start + node.at as usize
    }

    /// Where the words of a string are, without its quotes.
    fn words(&self, node: &Node<'_>) -> Option<Range<usize>> {
        let start = self.place(node) + 1;
        node.text().and_then(|_| Some(start..json_scan::string_end(self.text.as_bytes(), start).ok()?))
    }

    fn object(&self, node: &Node<'_>) -> Option<Range<usize>> {
        let start = self.place(node);
        match json_scan::object(self.text, start).end {
            End::Whole(end) => Some(start..end),
            End::Cut | End::Broken(_) => None,
        }
    }
}

/// Whether an object that is cut off may have carried something: unless it is known for another line.
pub fn may_carry(text: &str, object: &Skimmed) -> bool {
    object.word(text, "type").is_none_or(is_type)
}

/// Whether a word is the type of lines that carry something.
pub fn is_type(word: &str) -> bool {
    ROWS.iter().any(|row| matches!(row.kind, Type::Is(known) if known == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let Some(carried) = ToolLine::read(line, 0..line.len()).and_then(|line| line.carried()) else {
            return "-".to_owned();
        };
        let whole: Vec<&str> = carried.whole.into_iter().map(|range| &line[range]).collect();
        let one = |range: Option<Range<usize>>| range.map(|range| line[range].to_owned()).unwrap_or_default();
        format!("{}|{}|{}", whole.join(";"), one(carried.piece), one(carried.object))
    }

    #[test]
    fn each_tool_is_understood() {
        for (line, expected) in [
            (r#"{"type":"result","is_error":false,"result":"a","structured_output":{"b": 1}}"#, r#"a||{"b": 1}"#),
            (
                r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","text":"no"},{"type":"text","text":"b"}]}}"#,
                "a;b||",
            ),
            (r#"{"type":"assistant","message":{"content":"a"}}"#, "a||"),
            (
                r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}}"#,
                "|a|",
            ),
            (r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"a"}}"#, "a||"),
            (r#"{"id":"0","msg":{"type":"agent_message","message":"a"}}"#, "a||"),
            (r#"{"type":"text","sessionID":"s","part":{"type":"text","text":"a"}}"#, "a||"),
            (r#"{"session_id": "s", "response": "a", "stats": {}}"#, "a||"),
            (r#"{"type":"message","role":"assistant","content":"a","delta":true}"#, "|a|"),
            (r#"{"type":"message","role":"assistant","content":"a"}"#, "a||"),
            (r#"{"type":"assistant.message","data":{"content":"a"}}"#, "a||"),
            (
                r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}"#,
                "|a|",
            ),
            (r#"{"type":"assistant","isSidechain":false,"message":{"content":"a"}}"#, "a||"),
            (r#"{"type":"assistant","isSidechain":true,"message":{"content":"no"}}"#, "-"),
            (r#"{"type":"assistant","isApiErrorMessage":true,"message":{"content":"no"}}"#, "-"),
            (r#"{"type":"assistant","message":{"model":"<synthetic>","content":"no"}}"#, "-"),
            (r#"{"type":"assistant","message":{"model":"a","content":"a"}}"#, "a||"),
            (r#"{"type":"text","part":{"type":"text","text":"no","synthetic":true}}"#, "-"),
            (r#"{"type":"text","part":{"type":"text","synthetic":false,"text":"a"}}"#, "a||"),
            (r#"{"type":"user","message":{"content":[{"type":"text","text":"no"}]}}"#, "-"),
            (r#"{"type":"message","role":"user","content":"no"}"#, "-"),
            (r#"{"type":"item.completed","item":{"type":"command_execution","text":"no"}}"#, "-"),
            (r#"{"type":"tool_use","part":{"text":"no"}}"#, "-"),
            (r#"{"response": {"no": 1}}"#, "-"),
            (r#"{"type":"result","result":null}"#, "-"),
        ] {
            assert_eq!(said(line), expected, "{line}");
        }
    }
}
