//! What the command line tools of agents wrap their words in: one row per line of theirs that carries what the agent said.

use std::ops::Range;

use memchr::memmem;

use super::json_scan::{self, Skimmed};

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
const STOPPED: &[u8] = b"\"[Request interrupted by user";
const STOPPED_BYTES: usize = 2048;

/// Lines that come between the pieces of one message.
const BETWEEN: [&str; 1] = ["ping"];

/// Whether a key inside of a value may be on the way to what the agent said.
pub fn is_on_the_way(key: &[u8]) -> bool {
    matches!(
        key,
        b"type"
            | b"text"
            | b"content"
            | b"delta"
            | b"message"
            | b"update"
            | b"sessionUpdate"
            | b"deltaContent"
            | b"stop_reason"
            | b"synthetic"
            | b"model"
            | b"reason"
    )
}

/// What a line carries: the words of strings, without their quotes, or objects.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Carried {
    pub whole: Vec<Range<usize>>,
    pub piece: Option<Range<usize>>,
    pub object: Option<Range<usize>>,
}

impl Carried {
    /// What an object carries of what the agent said, in the room of one before; whether it is a line of a tool that carries any.
    pub fn open(&mut self, text: &str, object: &Skimmed, kind: Option<&str>) -> bool {
        self.whole.clear();
        (self.piece, self.object) = (None, None);
        fill(self, text, object, kind);
        !self.whole.is_empty() || self.piece.is_some() || self.object.is_some()
    }
}

/// The `type` of a line, which most of what is asked of it begins with.
pub fn kind<'t>(text: &'t str, object: &Skimmed) -> Option<&'t str> {
    at(text, object, &["type"])
}

fn fill(carried: &mut Carried, text: &str, object: &Skimmed, kind: Option<&str>) {
    for row in ROWS.iter().filter(|row| is(text, object, kind, row)) {
        let string =
            |value: Range<usize>| json_scan::inside(&text[value.clone()]).map(|_| value.start + 1..value.end - 1);
        match row.carries {
            Carries::Whole => each(text, object, row.way, |value| carried.whole.extend(string(value))),
            Carries::Piece => {
                each(text, object, row.way, |value| carried.piece = string(value));
                // Such lines are many, and carry nothing else.
                if carried.piece.is_some() {
                    break;
                }
            }
            Carries::Object => each(text, object, row.way, |value| {
                if carried.object.is_none() && text[value.clone()].starts_with('{') {
                    carried.object = Some(value);
                }
            }),
        }
    }
}

/// Whether a line says that the call of its tool failed.
pub fn fails(text: &str, object: &Skimmed, kind: Option<&str>) -> bool {
    let begins = |(key, with): &(&str, &str)| object.get(text, key).is_some_and(|value| text[value].starts_with(with));
    FAILS.iter().any(|(known, values)| known.is(kind) && values.iter().all(begins))
}

/// Whether a line tells of an error, or of a stop, that ends the call if nothing follows.
pub fn errs(text: &str, object: &Skimmed, kind: Option<&str>, line: &Range<usize>) -> bool {
    let is = |(way, word): &Word| at(text, object, way) == Some(word);
    let stopped = || line.len() <= STOPPED_BYTES && memmem::find(&text.as_bytes()[line.clone()], STOPPED).is_some();
    ERRS.iter().any(|(known, words)| kind == Some(known) && words.iter().all(is)) || (kind == Some("user") && stopped())
}

/// Whether a line may stand between two pieces of one message.
pub fn is_between(text: &str, object: &Skimmed, kind: Option<&str>) -> bool {
    let named = |word: Option<&str>| word.is_some_and(|word| BETWEEN.contains(&word));
    named(kind) || named(at(text, object, &["event", "type"]))
}

/// Whether an object that is cut off may have carried something: unless it is known for another line.
pub fn may_carry(text: &str, object: &Skimmed) -> bool {
    object.word(text, "type").is_none_or(is_type)
}

/// Whether a word is the type of lines that carry something.
pub fn is_type(word: &str) -> bool {
    ROWS.iter().any(|row| matches!(row.kind, Type::Is(known) if known == word))
}

fn is(text: &str, object: &Skimmed, kind: Option<&str>, row: &Row) -> bool {
    row.kind.is(kind)
        && row.words.iter().all(|(way, word)| {
            let found = at(text, object, way);
            match word.strip_prefix('!') {
                Some(word) => found != Some(word),
                None if word.is_empty() => found.is_none_or(|found| found == "null"),
                None => found == Some(word),
            }
        })
}

/// The word at the end of a way, without its quotes.
fn at<'t>(text: &'t str, object: &Skimmed, way: &[&str]) -> Option<&'t str> {
    let (first, rest) = way.split_first()?;
    let first = object.get(text, first)?;
    let value = rest.iter().try_fold(first, |value, key| object.get_in(text, value.start, key))?;
    let found = &text[value];
    Some(json_scan::inside(found).unwrap_or(found))
}

/// What stands at the end of a way.
fn each(text: &str, object: &Skimmed, way: &[&str], mut found: impl FnMut(Range<usize>)) {
    let Some((first, rest)) = way.split_first() else { return };
    let Some(mut value) = object.get(text, first) else { return };
    for (index, key) in rest.iter().enumerate() {
        if *key == "*" {
            let key = rest.get(index + 1).copied().unwrap_or_default();
            return texts(text, object, value.start, key, found);
        }
        let Some(next) = object.get_in(text, value.start, key) else { return };
        value = next;
    }
    found(value);
}

/// The values of a key in those items of a list that are text.
fn texts(text: &str, object: &Skimmed, list: usize, key: &str, mut found: impl FnMut(Range<usize>)) {
    let (mut item, mut is_text, mut value) = (0, None, None);
    let ended = |is_text: Option<bool>, value: Option<Range<usize>>| value.filter(|_| is_text == Some(true));
    for inner in object.inner.iter().filter(|inner| inner.around == list) {
        if inner.object != item {
            ended(is_text, value.take()).into_iter().for_each(&mut found);
            (item, is_text) = (inner.object, None);
        }
        match &text[inner.pair.key.clone()] {
            "type" => is_text = is_text.or(Some(&text[inner.pair.value.clone()] == "\"text\"")),
            name if name == key => value = value.or(Some(inner.pair.value.clone())),
            _ => {}
        }
    }
    ended(is_text, value).into_iter().for_each(found);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let mut object = Skimmed::default();
        object.read(line, 0, Some(is_on_the_way));
        let mut carried = Carried::default();
        if !carried.open(line, &object, kind(line, &object)) {
            return "-".to_owned();
        }
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

    fn can_be_gone(way: &[&str]) {
        let mut inner = way.iter().skip(1).filter(|key| **key != "*");
        assert!(inner.all(|key| is_on_the_way(key.as_bytes())), "{way:?}");
    }

    #[test]
    fn every_way_can_be_gone() {
        for row in &ROWS {
            for way in row.words.iter().map(|(way, _)| *way).chain([row.way]) {
                can_be_gone(way);
            }
        }
        ERRS.iter().flat_map(|(_, words)| *words).for_each(|(way, _)| can_be_gone(way));
        assert!(is_on_the_way(b"type"), "of what comes between");
    }
}
