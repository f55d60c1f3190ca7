//! An open question as a person reads it.

use tollgate_api as api;
use tollgate_app::decision::BESIDE;
use tollgate_app::format::{list, then};

use super::table::wrap;
use super::text::{Line, Style, plain};

/// Its lines: word for word, and a command for every answer.
pub fn lines(question: &api::Decision, commands: &[String], now_ms: u64, width: usize) -> Vec<Line> {
    let unit = question.unit.as_ref().map(|unit| format!(" for {unit}")).unwrap_or_default();
    let head = format!(" ({}{unit})", question.class);
    let mut lines = vec![Line::new().add(Style::Warn, "? ").add(Style::Strong, &question.id).add(Style::Faint, head)];
    let mut indented = |indent: usize, style: Style, text: &str| {
        let wrapped = wrap(&plain(text), width.saturating_sub(indent));
        lines.extend(wrapped.into_iter().map(|line| Line::from(" ".repeat(indent)).add(style, line)));
    };
    indented(2, Style::Strong, heading(question));
    for one in &question.questions {
        indented(2, Style::Strong, &format!("{}. {}", one.number, one.text));
        proposed(one).iter().for_each(|text| indented(5, Style::Plain, text));
    }
    if let Some(until_ms) = question.deferred_until_ms {
        let why = question.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        indented(2, Style::Faint, &format!("put off, asked again {}{why}", then(now_ms, until_ms)));
    }
    if !question.why.is_empty() {
        indented(2, Style::Faint, &format!("asked because {}", question.why));
    }
    if !question.blocking {
        indented(2, Style::Faint, BESIDE);
    }
    for item in &question.evidence {
        indented(2, Style::Plain, &format!("look at: {item}"));
    }
    let last = question.last_lines.iter().flat_map(|last| last_lines(last, width.saturating_sub(2)));
    lines.extend(last.map(|line| Line::from("  ").join(line)));
    if let (Some(option), Some(at_ms)) = (&question.default_answer, question.default_at_ms) {
        let text = format!("without an answer, {option} is taken {}", then(now_ms, at_ms));
        lines.extend(wrap(&text, width.saturating_sub(2)).into_iter().map(|line| Line::from(format!("  {line}"))));
    }
    let means = |option: &api::QuestionOption| {
        let recommended = if question.recommendation.as_ref() == Some(&option.id) { " (recommended)" } else { "" };
        let waives =
            if option.waives.is_empty() { String::new() } else { format!("; waives {}", list(&option.waives)) };
        format!("{}{waives}{recommended}", option.consequence)
    };
    let below = |text: &str| -> Vec<Line> {
        let wrapped = wrap(&plain(text), width.saturating_sub(8));
        wrapped.into_iter().map(|line| Line::from("        ").add(Style::Plain, line)).collect()
    };
    // With an answer for each question, no command stands for an option.
    let one_by_one = !question.questions.is_empty();
    for (index, command) in commands.iter().enumerate() {
        // A command is never cut: it is there to be copied.
        lines.push(Line::from("    ").add(Style::Accent, command));
        if let Some(option) = question.options.get(index).filter(|_| !one_by_one) {
            lines.extend(below(&means(option)));
        }
    }
    for option in question.options.iter().filter(|_| one_by_one) {
        lines.extend(below(&format!("{}: {}", option.id, means(option))));
    }
    lines
}

/// What is asked besides the questions on its card.
pub fn heading(question: &api::Decision) -> &str {
    let texts: Vec<&str> = question.questions.iter().map(|one| one.text.as_str()).collect();
    question.question.strip_suffix(&texts.join("\n")).filter(|_| !texts.is_empty()).unwrap_or(&question.question).trim()
}

/// What a question proposes, and how it was answered.
pub fn proposed(one: &api::CardQuestion) -> Vec<String> {
    let option = |option: &String| {
        let recommended = if one.recommendation.as_ref() == Some(option) { " (recommended)" } else { "" };
        format!("- {option}{recommended}")
    };
    let by = one.by.as_ref().map(|by| by.name.as_str()).unwrap_or_default();
    // In words of its own, with what speaks for it.
    let words = one.recommendation.iter().filter(|recommended| !one.options.contains(recommended));
    let words = words.map(|recommended| format!("recommended: {recommended}"));
    let reason = one.reason.iter().map(|reason| format!("reason: {reason}"));
    match &one.answer {
        Some(answer) => vec![format!("answered by {by}: {answer}")],
        None => one.options.iter().map(option).chain(words).chain(reason).collect(),
    }
}

/// The end of the output of what failed.
pub fn last_lines(last: &api::LastLines, width: usize) -> Vec<Line> {
    let attempt = last.attempt.as_ref().map(|attempt| format!(" ({attempt})")).unwrap_or_default();
    let head = Line::from(format!("the last lines of {}{attempt}:", last.of));
    let text = last.lines.iter().flat_map(|line| wrap(&plain(line), width.saturating_sub(2)));
    let text = text.map(|line| Line::new().add(Style::Bad, "│ ").add(Style::Faint, line));
    std::iter::once(head).chain(text).collect()
}
