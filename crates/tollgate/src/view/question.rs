//! An open question as a person reads it.

use tollgate_api as api;
use tollgate_app::decision::BESIDE;
use tollgate_app::format::list;

use super::table::wrap;
use super::text::{Line, Style, plain};

/// Its lines: word for word, and a command for every answer.
pub fn lines(question: &api::Decision, commands: &[String], width: usize) -> Vec<Line> {
    let unit = question.unit.as_ref().map(|unit| format!(" for {unit}")).unwrap_or_default();
    let head = format!(" ({}{unit})", question.class);
    let mut lines = vec![Line::new().add(Style::Warn, "? ").add(Style::Strong, &question.id).add(Style::Faint, head)];
    let mut indented = |indent: usize, style: Style, text: &str| {
        let wrapped = wrap(&plain(text), width.saturating_sub(indent));
        lines.extend(wrapped.into_iter().map(|line| Line::from(" ".repeat(indent)).add(style, line)));
    };
    indented(2, Style::Strong, &question.question);
    if !question.why.is_empty() {
        indented(2, Style::Faint, &format!("asked because {}", question.why));
    }
    if !question.blocking {
        indented(2, Style::Faint, BESIDE);
    }
    for item in &question.evidence {
        indented(2, Style::Plain, &format!("look at: {item}"));
    }
    for (index, command) in commands.iter().enumerate() {
        // A command is never cut: it is there to be copied.
        lines.push(Line::from("    ").add(Style::Accent, command));
        if let Some(option) = question.options.get(index) {
            let recommended = if question.recommendation.as_ref() == Some(&option.id) { " (recommended)" } else { "" };
            let waives =
                if option.waives.is_empty() { String::new() } else { format!("; waives {}", list(&option.waives)) };
            let text = format!("{}{waives}{recommended}", option.consequence);
            let wrapped = wrap(&plain(&text), width.saturating_sub(8));
            lines.extend(wrapped.into_iter().map(|line| Line::from("        ").add(Style::Plain, line)));
        }
    }
    lines
}
