//! What a worker printed, with what is known of who said which part of it.

use std::ops::Range;

/// What a worker printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transcript<'t> {
    /// The output of a plain program: all of it is what the worker said.
    Plain(&'t str),
    /// The lines of an agent's program, and what the agent's adapter read in them, in order.
    Agent(&'t str, Vec<Item>),
}

/// One thing that an adapter read. Every range and place is one of the whole text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A message of the agent itself, whole or in the parts in which it was printed.
    Message(Vec<Part>),
    /// The object in a field of a line, which the program forced the agent to fill in by a schema.
    Object { line: Range<usize>, field: &'static str },
    /// Text between the program's lines: nobody knows who printed it.
    Between(Range<usize>),
    /// A line that begins here says that the call failed or was stopped.
    Failed(usize),
    /// A line that begins here and may have held a message, and the text ends inside of it.
    Cut(usize),
}

/// A string of a line that is a message or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Without the escapes of JSON.
    pub text: String,
    pub line: Range<usize>,
}

impl<'t> Transcript<'t> {
    /// All of it, as it was printed.
    pub const fn text(&self) -> &'t str {
        match self {
            Self::Plain(text) | Self::Agent(text, _) => text,
        }
    }
}
