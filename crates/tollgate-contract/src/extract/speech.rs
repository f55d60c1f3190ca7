//! A transcript as the search sees it: what was said, each item as a range of a layer whose bytes have places in the file.

use std::ops::Range;

use super::json_scan;
use super::text_layers::Layers;
use super::transcript::{Item, Transcript};

/// One item of what was said, in its order.
#[derive(Debug)]
pub enum Said {
    /// Text. It is not the agent's own where it is between the lines of its program.
    Text { layer: usize, range: Range<usize>, own: bool },
    /// An object that the program forced the report into.
    Object { layer: usize, range: Range<usize> },
    /// The program says here that its call failed.
    Failed { layer: usize, at: usize },
    /// A line of the program begins here, and the text ends inside of it.
    Cut { layer: usize, at: usize },
}

/// What was said in a transcript.
#[derive(Debug)]
pub struct Speech<'t> {
    pub layers: Layers<'t>,
    pub said: Vec<Said>,
}

impl<'t> Speech<'t> {
    pub fn of(transcript: &Transcript<'t>) -> Self {
        let items = match transcript {
            Transcript::Plain(text) => return Self::plain(text),
            Transcript::Agent(_, items) => items,
        };
        let text = transcript.text();
        let mut speech = Self { layers: Layers::new(text), said: Vec::new() };
        for item in items {
            match item {
                Item::Message(parts) => {
                    let layer = speech.layers.message(parts);
                    speech.text(layer, true);
                }
                Item::Object { line, field } => {
                    let object = field_of(text, line, field);
                    speech.said.extend(object.map(|range| Said::Object { layer: 0, range }));
                }
                Item::Between(range) => {
                    let layer = speech.layers.join(vec![(0, range.clone())]);
                    speech.text(layer, false);
                }
                Item::Failed(at) => speech.said.push(Said::Failed { layer: 0, at: *at }),
                Item::Cut(at) => speech.said.push(Said::Cut { layer: 0, at: *at }),
            }
        }
        speech
    }

    /// A text that is all said by one.
    pub fn plain(text: &'t str) -> Self {
        let mut speech = Self { layers: Layers::new(text), said: Vec::new() };
        // A string that was written as JSON is what it says.
        let layer = json_scan::whole_string(text).map_or(0, |words| speech.layers.string(words));
        speech.text(layer, true);
        speech
    }

    fn text(&mut self, layer: usize, own: bool) {
        let layer = self.layers.plain(layer);
        let range = 0..self.layers.text(layer).len();
        self.said.push(Said::Text { layer, range, own });
    }
}

/// Where the object in a field of a line is.
fn field_of(text: &str, line: &Range<usize>, field: &str) -> Option<Range<usize>> {
    let start = line.start + text.get(line.clone())?.find('{')?;
    let value = json_scan::object(text, start).get(text, field)?;
    text[value.clone()].starts_with('{').then_some(value)
}
