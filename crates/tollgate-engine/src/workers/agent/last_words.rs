//! An agent's last words as a person reads them: sentences, never the lines of its program.

use serde::de::IgnoredAny;
use tollgate_contract::extract::is_marker;

use super::AgentSpeech;

impl AgentSpeech<'_> {
    /// Its last text; where it said none, the last tool that it used, and what was said last of what went wrong. Empty: nothing of that.
    pub fn last_words(&self) -> String {
        let text = self.last_text.as_deref().map(prose).filter(|text| !text.is_empty());
        text.unwrap_or_else(|| {
            let tool = self.last_tool.as_ref().map(|tool| format!("the last tool it used: {tool}\n"));
            let error = self.last_error.as_deref().map(prose);
            [tool, error].into_iter().flatten().collect()
        })
    }
}

/// The lines of a text that are neither JSON, nor code fences, nor markers, nor blank.
pub fn prose(text: &str) -> String {
    let (mut prose, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let (line, next) = rest.split_at(rest.find('\n').map_or(rest.len(), |end| end + 1));
        let bare = line.trim();
        rest = match json(rest) {
            Some(end) => &rest[end..],
            None => {
                if !bare.is_empty() && !bare.starts_with("```") && !is_marker(bare) {
                    prose.push_str(line.trim_end());
                    prose.push('\n');
                }
                next
            }
        };
    }
    prose
}

/// Where the JSON ends that a text begins with, with the rest of its last line. What is broken goes up to a line with its last brace.
fn json(text: &str) -> Option<usize> {
    let after_line = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let is_object = text.trim_start().starts_with('{');
    match values.next() {
        Some(Ok(_)) if is_object || text.trim_start().starts_with('[') => Some(after_line(values.byte_offset())),
        _ if is_object && text.lines().next().is_some_and(|line| line.trim_start().starts_with('{')) => {
            let first = after_line(0);
            let whole = text[..first].trim_end().ends_with('}');
            let last = text[first..].split_inclusive('\n').scan(first, |at, line| {
                *at += line.len();
                Some((*at, line))
            });
            let end = last.into_iter().find(|(_, line)| line.trim_start().starts_with('}'));
            Some(if whole { first } else { end.map_or(text.len(), |(end, _)| end) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{adapter, speech};
    use super::*;

    #[test]
    fn who_said_nothing_is_known_by_its_last_tool_and_error() {
        let text = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look."}]}}"#;
        let tool = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make\n  all"}}]}}"#;
        let end = r#"{"type":"result","is_error":true,"result":"{\"error\":{\"message\":\"overloaded\"}}"}"#;
        let words = |lines: &[&str]| speech(adapter("claude").unwrap(), &lines.join("\n")).last_words();
        assert_eq!(words(&[text, tool, end]), "I look.\n");
        assert_eq!(words(&[tool, end]), "the last tool it used: Bash make all\noverloaded\n");
        assert_eq!(words(&[tool]), "the last tool it used: Bash make all\n");
        assert_eq!(words(&["{}"]), "");
    }

    #[test]
    fn words_are_kept_and_json_is_not() {
        for (text, words) in [
            ("Done.\n", "Done.\n"),
            ("I did it.\n\n```json\n{\n  \"verdict\": \"perhaps\"\n}\n```\nBye.", "I did it.\nBye.\n"),
            ("{\"a\": 1} and more\nBye.", "Bye.\n"),
            ("{\"a\": 1,}\nBye.", "Bye.\n"),
            ("So:\n{\n  \"a\": 1,\n}\nBye.", "So:\nBye.\n"),
            ("So:\n{\n  \"a\": 1,\n", "So:\n"),
            (
                "[1, 2]\n[API Error: no]\n3 tests fail\n\"quoted\" words",
                "[API Error: no]\n3 tests fail\n\"quoted\" words\n",
            ),
            (
                "TOLLGATE-REPORT-BEGIN att_3 8f44d509e0492ace\n## Status\n`TOLLGATE-REPORT-END att_3 8f44d509e0492ace`\n",
                "## Status\n",
            ),
            ("{", ""),
            ("", ""),
        ] {
            assert_eq!(prose(text), words, "{text}");
        }
    }
}
