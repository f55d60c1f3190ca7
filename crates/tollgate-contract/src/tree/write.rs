//! Writing the tree: JSON, one line of JSON, and YAML in which every text is quoted.

use super::{Node, Value};

/// How long a list in one line may be.
const LINE_BYTES: usize = 80;

/// JSON over several lines, two spaces a level.
pub fn json_pretty(node: &Node<'_>) -> String {
    let mut out = String::new();
    pretty(node, 0, &mut out);
    out.push('\n');
    out
}

/// JSON in one line.
pub fn json_line(node: &Node<'_>) -> String {
    let mut out = String::new();
    line(node, &mut out);
    out
}

/// YAML: maps and lists by indentation, texts as JSON writes them.
pub fn yaml_text(node: &Node<'_>) -> String {
    let mut out = String::new();
    block(node, 0, &mut out);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

fn pretty(node: &Node<'_>, depth: usize, out: &mut String) {
    match &node.value {
        Value::List(items) if !items.is_empty() && !is_short(node) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "\n" } else { ",\n" });
                indent(depth + 1, out);
                pretty(item, depth + 1, out);
            }
            out.push('\n');
            indent(depth, out);
            out.push(']');
        }
        Value::Map(entries) if !entries.is_empty() => {
            out.push('{');
            for (at, entry) in entries.iter().enumerate() {
                out.push_str(if at == 0 { "\n" } else { ",\n" });
                indent(depth + 1, out);
                quoted(&entry.key, out);
                out.push_str(": ");
                pretty(&entry.node, depth + 1, out);
            }
            out.push('\n');
            indent(depth, out);
            out.push('}');
        }
        _ => line(node, out),
    }
}

/// Whether a list is plain values that fit on a line.
fn is_short(node: &Node<'_>) -> bool {
    let items = node.list().unwrap_or_default();
    let plain = items.iter().all(|item| !matches!(item.value, Value::List(_) | Value::Map(_)));
    let size = |item: &Node<'_>| item.word().map_or(4, str::len) + 4;
    plain && items.iter().map(size).sum::<usize>() <= LINE_BYTES
}

fn line(node: &Node<'_>, out: &mut String) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(text) => out.push_str(text),
        Value::Text(text) => quoted(text, out),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                line(item, out);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (at, entry) in entries.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                quoted(&entry.key, out);
                out.push_str(": ");
                line(&entry.node, out);
            }
            out.push('}');
        }
    }
}

fn block(node: &Node<'_>, depth: usize, out: &mut String) {
    match &node.value {
        Value::Map(entries) if !entries.is_empty() => {
            for (at, entry) in entries.iter().enumerate() {
                if at > 0 {
                    indent(depth, out);
                }
                key(&entry.key, out);
                out.push(':');
                nested(&entry.node, depth, out);
            }
        }
        Value::List(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    indent(depth, out);
                }
                out.push_str("- ");
                block(item, depth + 1, out);
                if !out.ends_with('\n') {
                    out.push('\n');
                }
            }
        }
        _ => line(node, out),
    }
}

fn nested(node: &Node<'_>, depth: usize, out: &mut String) {
    let long = match &node.value {
        Value::Map(entries) => !entries.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => false,
    };
    if long {
        out.push('\n');
        indent(depth + 1, out);
        block(node, depth + 1, out);
    } else {
        out.push(' ');
        line(node, out);
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

/// A key without quotes where it cannot be taken for anything else.
fn key(key: &str, out: &mut String) {
    let plain = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && key != "null";
    if plain { out.push_str(key) } else { quoted(key, out) }
}

fn indent(depth: usize, out: &mut String) {
    (0..depth).for_each(|_| out.push_str("  "));
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // YAML breaks lines at these too, and some are not printable there.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
