//! The blocks of a Markdown text, at the price of blocks: signs that only style words are what its parser spends most of its time on.

use std::borrow::Cow;

/// One such sign in so many bytes is rare.
const RARE: usize = 64;
/// Of a longer text so many bytes are looked at, in pieces: whether signs are rare decides what it costs, never what is read.
const SAMPLE: usize = 1 << 10;
/// A piece is short enough for its signs to be counted in a byte.
const PIECE: usize = 64;

/// The text with the signs inside of its lines that only style words taken for letters. Its blocks are those of the text, and every byte
/// stays where it is.
pub fn unstyled(text: &str) -> Cow<'_, str> {
    // Where they are rare, a copy of the text costs more than they do.
    if !is_styled(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    // Definitions of links, and HTML, end where such signs say so.
    if memchr::memchr_iter(b']', bytes).any(|at| bytes.get(at + 1) == Some(&b':')) {
        return Cow::Borrowed(text);
    }
    let mut plain: Vec<u8> = bytes.iter().map(|byte| if styles(*byte) { b'x' } else { *byte }).collect();
    let mut end = 0;
    while end < bytes.len() {
        let start = end;
        end = memchr::memchr2(b'\n', b'\r', &bytes[start..]).map_or(bytes.len(), |at| start + at + 1);
        let line = &bytes[start..end];
        let content = content(line);
        let kept = match &line[content..] {
            // The parser looks for the end of a fence's first line behind a carriage return that stands alone.
            [.., b'\r'] if bytes.get(end) != Some(&b'\n') => return Cow::Borrowed(text),
            [b'<', ..] => return Cow::Borrowed(text),
            [b'`', b'`', b'`', ..] => line.len(),
            [sign @ (b'*' | b'_'), rest @ ..] if rest.iter().all(|byte| byte == sign || byte.is_ascii_whitespace()) => {
                line.len()
            }
            _ => content,
        };
        plain[start..start + kept].copy_from_slice(&line[..kept]);
    }
    String::from_utf8(plain).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Whether signs that style words are more than rare.
fn is_styled(bytes: &[u8]) -> bool {
    let count = |piece: &[u8]| usize::from(piece.iter().fold(0, |signs, byte| signs + u8::from(styles(*byte))));
    match bytes.len() {
        ..=SAMPLE => bytes.chunks(PIECE).map(count).sum::<usize>() > bytes.len() / RARE,
        all => {
            let starts = (0..SAMPLE / PIECE).map(|at| all / (SAMPLE / PIECE) * at);
            starts.map(|at| count(&bytes[at..at + PIECE])).sum::<usize>() > SAMPLE / RARE
        }
    }
}

/// Whether a sign styles the words around it; `^`, which stands between two that do, means nothing.
fn styles(byte: u8) -> bool {
    (byte.wrapping_sub(b'[') <= b'`' - b'[') | (byte == b'*') | (byte == b'&') | (byte == b'!') | (byte == b'<')
}

/// Where the words of a line begin, behind the marks of quotes and list items.
fn content(line: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let rest = &line[at..];
        at += match rest {
            [b' ' | b'\t' | b'>', ..] => 1,
            [b'-' | b'+' | b'*', b' ' | b'\t' | b'\n' | b'\r', ..] | [b'-' | b'+' | b'*'] => 1,
            [b'0'..=b'9', ..] => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                match rest.get(digits..) {
                    Some([b'.' | b')', b' ' | b'\t' | b'\n' | b'\r', ..] | [b'.' | b')']) => digits + 1,
                    _ => return at,
                }
            }
            _ => return at,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser, Tag};

    use super::*;

    /// Whether a tag is that of a block.
    fn is_block(tag: &Tag<'_>) -> bool {
        matches!(
            tag,
            Tag::Paragraph
                | Tag::Heading { .. }
                | Tag::BlockQuote(_)
                | Tag::CodeBlock(_)
                | Tag::HtmlBlock
                | Tag::List(_)
                | Tag::Item
        )
    }

    /// Every block, what it is and where it stands.
    fn blocks(text: &str) -> Vec<String> {
        let kind = |tag: &Tag<'_>| match tag {
            Tag::CodeBlock(kind) => format!("code {}", kind.is_fenced()),
            Tag::Heading { level, .. } => format!("heading {level}"),
            Tag::List(start) => format!("list {start:?}"),
            other => format!("{other:?}"),
        };
        let events = Parser::new(text).into_offset_iter();
        let starts = events.filter_map(|(event, range)| match event {
            Event::Start(tag) if is_block(&tag) => Some(format!("{} {range:?}", kind(&tag))),
            _ => None,
        });
        starts.collect()
    }

    #[track_caller]
    fn same(text: &str) {
        assert_eq!(blocks(text), blocks(&unstyled(text)), "{text:?}\n{:?}", unstyled(text));
    }

    #[test]
    fn blocks_stay_what_they_are() {
        for text in [
            "# *a* `b`\n\n- [major] `src/a.rs:1` (B-1) — what *is* wrong\n- **b**\n  `c\n\n  d`\n1. __e__\n",
            "***\n* * *\n_ _ _\n**a\n---\nb\n===\n",
            "```a`b\n*c*\n```\n> ``` x\n> *y*\n> ```\n",
            "\\# a\n\\- b\n\\```\n    *c*\n",
            "[a\nb]: c\n\n[d]: e\n'*f*'\n",
            "a <b>\n<!-- *c* -->\n\n<pre>\n*d*\n</pre>\n",
            "1) *a*\n   2) _b_\n- - * c\n-\n*\n10. x\n",
            "*a*\r\n- `b`\r- c\r\n",
            "```a\rb `c`\n",
        ] {
            same(text);
        }
        assert!(matches!(unstyled("- a `b`\n"), Cow::Owned(text) if text == "- a xbx\n"));
        assert!(matches!(unstyled("- a b\n"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn no_text_has_other_blocks(text in "([-+*_`^\\[\\]&\\\\!<># \t\n\r>=~:.)(0-9a|]|\n\n|```|~~~|\\*\\*\\*|- |1\\. |> |# |    |\\]:|<!--|-->|<b>|é){0,40}") {
            same(&text);
        }
    }
}
