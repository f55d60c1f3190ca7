//! A failure as a person reads it.

use tollgate_app::failure::Failure;

use super::diagnostic;
use super::text::{Line, Style, beside};

/// Its lines: source lines are cut to a width, sentences broken to the room there is.
pub fn lines(failure: &Failure, width: usize, room: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some((source, diagnostics)) = failure.places() {
        lines.extend(diagnostic::lines(diagnostics, source, width));
    }
    let error = Line::new().add(Style::Bad, format!("error[{}]", failure.code())).add(Style::Strong, ": ");
    lines.extend(beside(&error, Style::Strong, failure.message(), room));
    let labelled = |label: &str, text: &str| beside(&Line::new().add(Style::Accent, label), Style::Plain, text, room);
    failure.causes().iter().for_each(|cause| lines.extend(labelled("  caused by: ", cause)));
    failure.hints().iter().for_each(|hint| lines.extend(labelled("hint: ", hint)));
    lines
}
