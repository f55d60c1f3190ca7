//! The events of a YAML text.
//!
//! A crate of its own because the parser is generic: it is compiled where its types are chosen. Here it is compiled once, and
//! optimised in every profile; in the core it took a fifth of the time of all tests.

use saphyr_parser::{Parser, StrInput};

pub use saphyr_parser::{Event, Marker, ScalarStyle, ScanError, Span};

/// The events of a text, in its order, up to the first error.
pub struct Events<'a>(Parser<'a, StrInput<'a>>);

impl<'a> Events<'a> {
    /// Takes a text; nothing of it is read yet.
    pub fn of(text: &'a str) -> Self {
        Self(Parser::new_from_str(text))
    }
}

impl std::fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Events")
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<(Event<'a>, Span), ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_event()
    }
}
