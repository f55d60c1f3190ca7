//! What the command line tools of agents wrap their words in: one row per line of theirs that carries what the agent said.

use std::ops::Range;

use super::skim::{self, End, Skimmed};

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

/// A line of a tool: the words that it is known by, and the way to what the agent said.
struct Row {
    known_by: &'static [(&'static str, &'static str)],
    /// Keys of objects; `*` is every item of a list that is text.
    way: &'static [&'static str],
    carries: Carries,
}

const fn row(known_by: &'static [(&'static str, &'static str)], way: &'static [&'static str], carries: Carries) -> Row {
    Row { known_by, way, carries }
}

/// Claude Code and Qwen; Codex, now and before; OpenCode; Gemini; Copilot; the agent client protocol.
const ROWS: [Row; 16] = [
    row(&[("type", "assistant")], &["message", "content", "*", "text"], Carries::Whole),
    row(&[("type", "assistant")], &["message", "content"], Carries::Whole),
    row(&[("type", "result")], &["result"], Carries::Whole),
    row(&[("type", "result")], &["structured_output"], Carries::Object),
    row(&[("type", "result")], &["structured_result"], Carries::Object),
    row(&[("type", "stream_event"), ("event.delta.type", "text_delta")], &["event", "delta", "text"], Carries::Piece),
    row(&[("type", "item.completed"), ("item.type", "agent_message")], &["item", "text"], Carries::Whole),
    row(&[("msg.type", "agent_message")], &["msg", "message"], Carries::Whole),
    row(&[("type", "text")], &["part", "text"], Carries::Whole),
    row(&[("type", "message"), ("role", "assistant"), ("delta", "true")], &["content"], Carries::Piece),
    row(&[("type", "message"), ("role", "assistant"), ("delta", "")], &["content"], Carries::Whole),
    row(&[("type", "")], &["response"], Carries::Whole),
    row(&[("type", "")], &["result"], Carries::Whole),
    row(&[("type", "assistant.message")], &["data", "content"], Carries::Whole),
    row(&[("type", "assistant.message_delta")], &["data", "deltaContent"], Carries::Piece),
    row(
        &[("method", "session/update"), ("params.update.sessionUpdate", "agent_message_chunk")],
        &["params", "update", "content", "text"],
        Carries::Piece,
    ),
];

/// Lines that come between the pieces of one message.
const BETWEEN: [&str; 1] = ["ping"];

/// Words without one of which a line carries nothing: a line is looked for them before it is looked into.
pub const NEEDLES: [&str; 7] =
    ["\"assistant", "\"result\"", "\"text_delta\"", "\"agent_message", "\"text\"", "\"response\"", "\"delta\""];

/// What a line carries: the words of strings, without their quotes, or objects.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Carried {
    pub whole: Vec<Range<usize>>,
    pub piece: Option<Range<usize>>,
    pub object: Option<Range<usize>>,
}

/// What an object carries of what the agent said; nothing where it is no line of a tool.
pub fn open(text: &str, object: &Skimmed) -> Option<Carried> {
    let mut carried = Carried::default();
    let mut known = false;
    for row in ROWS.iter().filter(|row| is(text, object, row)) {
        let mut found = Vec::new();
        follow(text, object, row.way, &mut found);
        known |= !found.is_empty();
        let string = |value: &Range<usize>| skim::inside(&text[value.clone()]).map(|_| value.start + 1..value.end - 1);
        match row.carries {
            Carries::Whole => carried.whole.extend(found.iter().filter_map(string)),
            Carries::Piece => carried.piece = found.first().and_then(string),
            Carries::Object => {
                let object = found.into_iter().find(|value| text[value.clone()].starts_with('{'));
                carried.object = carried.object.or(object);
            }
        }
    }
    let says = !carried.whole.is_empty() || carried.piece.is_some() || carried.object.is_some();
    (known && says).then_some(carried)
}

/// Whether a line may stand between two pieces of one message.
pub fn is_between(text: &str, object: &Skimmed) -> bool {
    let event = object.get(text, "event").map(|event| skim::object(text, event.start));
    let named = |object: &Skimmed| object.word(text, "type").is_some_and(|word| BETWEEN.contains(&word));
    named(object) || event.is_some_and(|event| named(&event))
}

/// Whether an object that is cut off may have carried something: unless it is known for another line.
pub fn may_carry(text: &str, object: &Skimmed) -> bool {
    object.word(text, "type").is_none_or(|word| ROWS.iter().any(|row| row.known_by.contains(&("type", word))))
}

/// Whether a line of this type may carry something, by the other words that such a line is known by.
pub fn may_be(line: &str, word: &str) -> bool {
    let has = |word: &str| word.is_empty() || memchr::memmem::find(line.as_bytes(), word.as_bytes()).is_some();
    ROWS.iter().any(|row| row.known_by.contains(&("type", word)) && row.known_by.iter().all(|(_, word)| has(word)))
}

/// Whether a word is the type of lines that carry something.
pub fn is_type(word: &str) -> bool {
    ROWS.iter().any(|row| row.known_by.contains(&("type", word)))
}

fn is(text: &str, object: &Skimmed, row: &Row) -> bool {
    row.known_by.iter().all(|(path, word)| {
        let found = at(text, object, path);
        match *word {
            "" => found.is_none(),
            word => found.is_some_and(|found| skim::inside(found).unwrap_or(found) == word),
        }
    })
}

/// The value at a path, as it is written.
fn at<'t>(text: &'t str, object: &Skimmed, path: &str) -> Option<&'t str> {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let value = object.get(text, key)?;
    match rest {
        None => Some(&text[value]),
        Some(rest) => at(text, &inner(text, &value)?, rest),
    }
}

fn inner(text: &str, value: &Range<usize>) -> Option<Skimmed> {
    text[value.clone()].starts_with('{').then(|| skim::object(text, value.start))
}

fn follow(text: &str, object: &Skimmed, way: &[&str], found: &mut Vec<Range<usize>>) {
    let Some((key, rest)) = way.split_first() else { return };
    let Some(value) = object.get(text, key) else { return };
    match rest {
        [] => found.push(value),
        ["*", rest @ ..] if text[value.clone()].starts_with('[') => {
            for item in items(text, &value) {
                if item.word(text, "type") == Some("text") {
                    follow(text, &item, rest, found);
                }
            }
        }
        rest => {
            if let Some(inner) = inner(text, &value) {
                follow(text, &inner, rest, found);
            }
        }
    }
}

/// The objects in a list that was passed over before.
fn items(text: &str, list: &Range<usize>) -> Vec<Skimmed> {
    let mut items = Vec::new();
    let mut at = list.start + 1;
    while let Some(next) = text[at..list.end].find(|c: char| !c.is_ascii_whitespace() && c != ',') {
        at += next;
        if !text[at..].starts_with('{') {
            break;
        }
        let item = skim::object(text, at);
        let End::Whole(end) = item.end else { break };
        items.push(item);
        at = end;
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let Some(carried) = open(line, &skim::object(line, 0)) else { return "-".to_owned() };
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
            (r#"{"type":"user","message":{"content":[{"type":"text","text":"no"}]}}"#, "-"),
            (r#"{"type":"message","role":"user","content":"no"}"#, "-"),
            (r#"{"type":"item.completed","item":{"type":"command_execution","text":"no"}}"#, "-"),
            (r#"{"type":"tool_use","part":{"text":"no"}}"#, "-"),
            (r#"{"response": {"no": 1}}"#, "-"),
            (r#"{"type":"result","result":null}"#, "-"),
        ] {
            assert_eq!(said(line), expected, "{line}");
            let needed = expected == "-" || NEEDLES.iter().any(|needle| line.contains(needle));
            assert!(needed, "no needle finds {line}");
        }
    }
}
