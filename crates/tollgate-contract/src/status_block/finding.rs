//! One finding: `[major] src/a.rs:12 (RULE-3) — what is wrong`; `fnd_7` after the severity repeats an earlier one.

use super::document::{Finding, Severity};
use crate::text::quote;
use tollgate_core::id::FindingId;

/// Reads a finding.
pub(super) fn read(text: &str) -> Result<Finding, String> {
    let (first, mut rest) = text.split_at(word_end(text));
    let severity = Severity::parse(&bare(first).to_ascii_lowercase())
        .ok_or_else(|| format!("the finding {} has no severity", quote(text)))?;
    let (mut repeats, mut path, mut line, mut rule) = (None, None, None, None);
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | '-' | ':' | '·' | ','));
        let (token, after) = rest.split_at(coded_end(rest).unwrap_or_else(|| word_end(rest)));
        let word = bare(token);
        if repeats.is_none()
            && let Ok(found) = word.parse::<FindingId>()
        {
            repeats = Some(found);
        } else if path.is_none()
            && let Some((file, number)) = location(token)
        {
            (path, line) = (Some(file.to_owned()), number);
        } else if rule.is_none() && is_rule(word) {
            rule = Some(word.to_owned());
        } else {
            break;
        }
        rest = after;
    }
    let what = rest.trim();
    if what.is_empty() {
        return Err(format!("the finding {} does not say what is wrong", quote(text)));
    }
    Ok(Finding { severity, repeats, path, line, rule, text: what.to_owned() })
}

/// Where the code with which a text begins ends, with the line behind it: `` `src/my cart.rs`:42 ``.
fn coded_end(text: &str) -> Option<usize> {
    let end = text.strip_prefix('`')?.find(['`', '\n'])? + 2;
    let line = text.get(end..)?.strip_prefix(':').map_or("", |line| line);
    let digits = line.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b':')).count();
    Some(if digits > 0 { end + 1 + digits } else { end })
}

/// Where the first word of a text ends.
fn word_end(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// A word without the signs that set it off.
fn bare(token: &str) -> &str {
    let sign = |c: char| matches!(c, '*' | '`' | '[' | ']' | '(' | ')' | ':' | ',' | ';' | '—' | '–');
    // A dot in front belongs to a name (`.github/ci.yml`), one behind to the sentence; `./` is where every path begins.
    let bare = token.trim_start_matches(sign).trim_end_matches(|c| sign(c) || c == '.');
    bare.strip_prefix("./").unwrap_or(bare)
}

/// A path, and the line after its colon: `src/a.rs:12`, `src/a.rs:12-15`, `src/a.rs:12:7`, `src/a.rs#L12`, `src/a.rs`.
fn location(token: &str) -> Option<(&str, Option<u32>)> {
    let word = bare(token);
    let number = |lines: &str| lines.split('-').next()?.trim_start_matches('L').parse::<u32>().ok();
    let parted = |text: &'_ str| -> Option<(usize, u32)> {
        let marked = text.contains('#').then(|| text.rsplit_once("#L")).flatten();
        let (path, lines) = marked.or_else(|| text.rsplit_once(':'))?;
        Some((path.len(), number(lines)?))
    };
    if let Some((end, line)) = parted(word) {
        // Of a line and a column, the line comes first.
        let (end, line) = parted(&word[..end]).unwrap_or((end, line));
        let path = word[..end].trim_end_matches('`');
        return (!path.is_empty()).then_some((path, Some(line)));
    }
    if word.contains(':') {
        return None;
    }
    // `either/or` is no path: without a line it takes code quotes or a name with a dot.
    let named = word.rsplit_once('/').is_some_and(|(_, name)| name.contains('.'));
    (token.starts_with('`') || (named && !word.contains("//"))).then_some((word, None))
}

/// The id of a rule: capitals and a number, `BE-012`.
fn is_rule(word: &str) -> bool {
    let Some((prefix, number)) = word.rsplit_once('-') else { return false };
    let capitals =
        prefix.len() >= 2 && prefix.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-');
    capitals && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// Writes a finding so that reading gives it back.
pub(super) fn write(finding: &Finding) -> String {
    let mut text = format!("[{}]", finding.severity.word());
    if let Some(id) = finding.repeats {
        text.push_str(&format!(" {id}"));
    }
    match (&finding.path, finding.line) {
        (Some(path), Some(line)) => text.push_str(&format!(" `{path}:{line}`")),
        (Some(path), None) => text.push_str(&format!(" `{path}`")),
        (None, _) => {}
    }
    if let Some(rule) = &finding.rule {
        text.push_str(&format!(" ({rule})"));
    }
    format!("{text} — {}", finding.text)
}
