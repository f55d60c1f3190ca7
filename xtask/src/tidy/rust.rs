//! Just enough of Rust's syntax to count: comments and literals blanked out, functions found by their braces.

/// A function and the lines it takes, from its `fn` to its closing brace.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// Replaces everything inside comments, strings and characters by spaces; lines and offsets stay as they are.
pub fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_or_comment(bytes, at);
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = if end > at { end } else { past_word(bytes, at) };
    }
    // Only whole comments and literals were blanked, and each ends at a character boundary.
    String::from_utf8_lossy(&out).into_owned()
}

/// The string literals of a source, with their quotes.
pub fn literals(source: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = source.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let end = literal_or_comment(bytes, at);
        if end > at && bytes[end - 1] != b'\'' && bytes[at..end].contains(&b'"') && bytes[at] != b'/' {
            found.push(at..end);
        }
        at = if end > at { end } else { past_word(bytes, at) };
    }
    found
}

/// The end of the comment or literal that starts here; `at` itself when none does.
fn literal_or_comment(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    match rest {
        [b'/', b'/', ..] => at + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(bytes, at),
        [b'"', ..] => quoted(bytes, at + 1, b'"'),
        [b'b' | b'c', b'"', ..] => quoted(bytes, at + 2, b'"'),
        [b'b', b'\'', ..] => quoted(bytes, at + 2, b'\''),
        [b'r', b'"' | b'#', ..] => raw(bytes, at, at + 1),
        [b'b' | b'c', b'r', b'"' | b'#', ..] => raw(bytes, at, at + 2),
        [b'\'', b'\\', ..] => quoted(bytes, at + 1, b'\''),
        [b'\'', ..] => character(bytes, at),
        _ => at,
    }
}

fn block_comment(bytes: &[u8], at: usize) -> usize {
    let (mut depth, mut at) = (0, at);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The end of a literal whose closing quote may be escaped.
fn quoted(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of `r"…"` or `r#"…"#`; `start` itself for a raw identifier such as `r#type`.
fn raw(bytes: &[u8], start: usize, from: usize) -> usize {
    let hashes = bytes[from..].iter().take_while(|&&byte| byte == b'#').count();
    if bytes.get(from + hashes) != Some(&b'"') {
        return start;
    }
    let mut at = from + hashes + 1;
    while at < bytes.len() {
        let closes =
            bytes[at] == b'"' && bytes[at + 1..].iter().take(hashes).filter(|&&byte| byte == b'#').count() == hashes;
        at += 1;
        if closes {
            return at + hashes;
        }
    }
    bytes.len()
}

/// The end of `'x'`; `at` itself for a lifetime.
fn character(bytes: &[u8], at: usize) -> usize {
    // One character takes at most four bytes.
    let close = bytes[at + 1..].iter().take(5).position(|&byte| byte == b'\'');
    let width = bytes.get(at + 1).map_or(0, |&lead| match lead {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    });
    if close == Some(width) { at + 1 + width + 1 } else { at }
}

/// The next place at which a token can start: words are passed whole, so that the `r` of `for"` opens no raw string.
fn past_word(bytes: &[u8], at: usize) -> usize {
    let word = bytes[at..].iter().take_while(|&&byte| is_word(byte)).count();
    at + word.max(1)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The functions with a body in a source whose comments and literals are blanked.
pub fn functions(code: &str) -> Vec<Function> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let next = past_word(bytes, at);
        if &bytes[at..next] == b"fn"
            && let Some(name) = name_after(code, next)
            && let Some(end) = body_end(bytes, next)
        {
            let lines = 1 + bytes[at..end].iter().filter(|&&byte| byte == b'\n').count();
            found.push(Function { name, line, lines });
        }
        line += bytes[at..next].iter().filter(|&&byte| byte == b'\n').count();
        at = next;
    }
    found
}

/// The name of a function, absent for the type `fn(…)`.
fn name_after(code: &str, at: usize) -> Option<String> {
    let rest = code[at..].trim_start();
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '#')).collect();
    (!name.is_empty()).then_some(name)
}

/// The end of the body, absent for a declaration that ends in `;`.
fn body_end(bytes: &[u8], from: usize) -> Option<usize> {
    let (mut round, mut braces) = (0_i32, 0_i32);
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => round += 1,
            b')' | b']' => round -= 1,
            b';' if round == 0 && braces == 0 => return None,
            b'{' => braces += 1,
            b'}' => {
                braces -= 1;
                if braces == 0 && round == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(code_only(source), expected);
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        check("a // } b\nc", "a       \nc");
        check("a /* { /* } */ */ b", "a                 b");
        check(r#"x = "}\"{"; y"#, r"x =       ; y");
        check(r##"x = r#"}"{"#; y"##, r"x =         ; y");
        check("x = b'{'; y = '}'; z = '\\''", "x =     ; y =    ; z =     ");
        check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check("'é'x '𝄞'y r#type for\"z\"", "    x       y r#type for   ");
    }

    #[test]
    fn functions_are_counted_by_their_braces() {
        let source = "trait T { fn declared(&self) -> [u8; 2]; }\nfn one() { \"}\"; }\n\nimpl X {\n    fn two(\n        f: fn(u8),\n    ) {\n        if true {\n        }\n    }\n}\n";
        let found = functions(&code_only(source));
        let expected = [("one", 2, 1), ("two", 5, 6)];
        let expected = expected.map(|(name, line, lines)| Function { name: name.to_owned(), line, lines });
        assert_eq!(found, expected);
    }

    #[test]
    fn a_cut_off_source_ends() {
        for source in ["\"", "r#\"", "/*", "'", "b'", "'\\", "fn f() {", "fn", "fn f(", "r#"] {
            functions(&code_only(source));
        }
    }
}
