//! What an agent said in one call, read from all of its output: its messages for whoever looks for its report there, and its last words.

use std::ops::Range;

use tollgate_contract::extract::{Item, Part, Transcript};

use super::tally::{cut, one_line};
use super::{Adapter, Pending, WorkerEvent, in_words, line_parser};

/// So much is kept of what a tool was used on.
const TOOL_CHARS_MAX: usize = 200;

/// What an agent said in one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSpeech<'t> {
    pub transcript: Transcript<'t>,
    /// The last message that is more than white space.
    pub last_text: Option<String>,
    /// The last tool that it used, and on what.
    pub last_tool: Option<String>,
    /// What its program or the service of its model said last of what went wrong.
    pub last_error: Option<String>,
}

/// Reads the output of an agent's program. Where no line is one that its adapter knows, the output is what the agent said, as it is.
pub fn speech<'t>(adapter: &'static Adapter, output: &'t str) -> AgentSpeech<'t> {
    let mut reader = SpeechReader {
        adapter,
        output,
        pending: Pending::default(),
        items: Vec::new(),
        parts: Vec::new(),
        between: None,
        trouble: None,
        is_known: false,
        last_text: None,
        last_tool: None,
        last_error: None,
    };
    let mut start = 0;
    for line in output.split_inclusive('\n') {
        reader.line(start..start + line.len());
        start += line.len();
    }
    reader.end()
}

struct SpeechReader<'t> {
    adapter: &'static Adapter,
    output: &'t str,
    pending: Pending,
    items: Vec<Item>,
    /// The message that is being printed in parts.
    parts: Vec<Part>,
    /// The lines since the last one of the program.
    between: Option<Range<usize>>,
    /// The line that told of trouble, where it is the last one of the program so far.
    trouble: Option<usize>,
    /// Whether a line was one of the program.
    is_known: bool,
    last_text: Option<String>,
    last_tool: Option<String>,
    last_error: Option<String>,
}

impl<'t> SpeechReader<'t> {
    fn line(&mut self, range: Range<usize>) {
        let line = &self.output[range.clone()];
        let Some(value) = line_parser::read(line.as_bytes(), self.adapter.wants) else {
            return self.other_line(range);
        };
        self.end_between();
        let mut events = Vec::new();
        (self.adapter.read)(&value, &mut self.pending, &mut events);
        self.is_known |= !events.is_empty();
        self.trouble = None;
        if !events.iter().any(|event| matches!(event, WorkerEvent::Piece(_))) {
            self.end_message();
        }
        // What the line of a failed call says is no message.
        let fails = |event: &WorkerEvent| matches!(event, WorkerEvent::Failed { .. } | WorkerEvent::Unfinished(_));
        let failed = events.iter().any(fails);
        for event in events {
            self.event(event, &range, failed);
        }
        if failed {
            self.items.push(Item::Failed(range.start));
        }
    }

    fn event(&mut self, event: WorkerEvent, line: &Range<usize>, failed: bool) {
        match event {
            WorkerEvent::Text(text) | WorkerEvent::Final(text) if !failed => {
                self.parts.push(Part { text, line: line.clone() });
                self.end_message();
            }
            WorkerEvent::Piece(text) if !failed => self.parts.push(Part { text, line: line.clone() }),
            WorkerEvent::Structured(field) if !failed => self.items.push(Item::Object { line: line.clone(), field }),
            WorkerEvent::Tool { name, about } => {
                let used = about.map_or_else(|| name.clone(), |about| format!("{name} {about}"));
                self.last_tool = Some(cut(&one_line(&used), TOOL_CHARS_MAX));
            }
            WorkerEvent::Trouble(what) => {
                self.trouble = Some(line.start);
                self.last_error = Some(in_words(&what));
            }
            WorkerEvent::Failed { what, .. } | WorkerEvent::Quota { said: what, .. } => {
                self.last_error = Some(in_words(&what));
            }
            WorkerEvent::Unfinished(what) => self.last_error = Some(what.to_owned()),
            WorkerEvent::Text(_)
            | WorkerEvent::Final(_)
            | WorkerEvent::Piece(_)
            | WorkerEvent::Structured(_)
            | WorkerEvent::Session(_)
            | WorkerEvent::Model(_)
            | WorkerEvent::Version(_)
            | WorkerEvent::File(_)
            | WorkerEvent::Denied { .. }
            | WorkerEvent::Turn
            | WorkerEvent::Step(_)
            | WorkerEvent::Usage(_) => {}
        }
    }

    /// Takes a line that is no JSON object. The last one may be the beginning of one.
    fn other_line(&mut self, range: Range<usize>) {
        let line = &self.output[range.clone()];
        if !line.ends_with('\n') && line.starts_with('{') {
            let kind = line.strip_prefix("{\"type\":\"").and_then(|rest| Some(rest.split_once('"')?.0));
            let is_message = kind.is_some_and(|kind| self.adapter.says.contains(&kind));
            self.is_known |= is_message;
            if is_message || (self.is_known && kind.is_none()) {
                self.end_between();
                self.end_message();
                return self.items.push(Item::Cut(range.start));
            }
            if self.is_known {
                return;
            }
        }
        if !line.trim().is_empty() {
            self.end_message();
        }
        self.between = Some(self.between.take().map_or(range.start, |between| between.start)..range.end);
    }

    fn end_between(&mut self) {
        let between = self.between.take().filter(|range| !self.output[range.clone()].trim().is_empty());
        self.items.extend(between.map(Item::Between));
    }

    fn end_message(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        if parts.is_empty() {
            return;
        }
        let text: String = parts.iter().map(|part| part.text.as_str()).collect();
        if !text.trim().is_empty() {
            self.last_text = Some(text);
        }
        self.items.push(Item::Message(parts));
    }

    fn end(mut self) -> AgentSpeech<'t> {
        self.end_message();
        // An error that nothing follows was not got over.
        self.items.extend(self.trouble.map(Item::Failed));
        self.end_between();
        let Self { output, items, last_text, last_tool, last_error, .. } = self;
        let transcript = match self.is_known {
            true => Transcript::Agent(output, items),
            false => Transcript::Plain(output),
        };
        AgentSpeech { transcript, last_text, last_tool, last_error }
    }
}
