//! Text without what Markdown and HTML write around words, at the same length: one form of a line for the many it is written in.

use std::ops::Range;

use crate::contract::struck::strikes;
use crate::contract::text::lines;

/// The tags that stand for nothing, by their names; behind some of them a cell of a table begins.
const TAGS: [&str; 21] = [
    "p", "li", "ul", "ol", "tr", "table", "tbody", "thead", "b", "strong", "i", "em", "u", "code", "span", "div", "br",
    "dl", "dt", "summary", "details",
];
const CELLS: [&str; 3] = ["td", "th", "dd"];
/// A tag is at most so long.
const TAG_BYTES: usize = 160;
/// The lines that a table is drawn with.
const DRAWN: [char; 3] = ['│', '┃', '║'];

/// The text with what is struck through, tags, and the marks of list items as blanks, and drawn lines of a table as `|`. Every word stays where it is.
pub fn plain(text: &str) -> String {
    let mut plain = text.as_bytes().to_vec();
    for strike in strikes(text) {
        blank(&mut plain, strike);
    }
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        if let Some((name, end)) = tag(&text[at..]) {
            blank(&mut plain, at..at + end);
            let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
            let opens = !text[at..].starts_with("</");
            plain[at] = match name.as_bytes() {
                [b'h' | b'H', b'1'..=b'6'] if opens => b'#',
                _ if opens && is(&CELLS) => b'|',
                _ => b' ',
            };
        }
    }
    for (at, _) in text.match_indices(DRAWN) {
        plain[at..at + 3].copy_from_slice(b"|  ");
    }
    for (start, line) in lines(text) {
        let mark = mark(line);
        blank(&mut plain, start + mark.start..start + mark.end);
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}

fn blank(bytes: &mut [u8], range: Range<usize>) {
    bytes[range].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

/// The name of the tag that a text begins with, where it is a known one, and where it ends.
fn tag(text: &str) -> Option<(&str, usize)> {
    let inside = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    let end = inside.bytes().take(TAG_BYTES).position(|byte| !byte.is_ascii_alphanumeric())?;
    let name = &inside[..end];
    let title = matches!(name.as_bytes(), [b'h' | b'H', b'1'..=b'6']);
    let known = title || TAGS.iter().chain(&CELLS).any(|known| known.eq_ignore_ascii_case(name));
    let near = &inside[..inside.floor_char_boundary(TAG_BYTES)];
    let close = near.find('>').filter(|_| known && inside[end..].starts_with(['>', ' ', '/']))?;
    Some((name, text.len() - inside.len() + close + 1))
}

/// Where the number of a list item stands in a line, or the box behind its mark.
fn mark(line: &str) -> Range<usize> {
    let bare = line.trim_start_matches([' ', '\t', '>']);
    let lead = line.len() - bare.len();
    let item = bare.strip_prefix('(').unwrap_or(bare);
    let digits = item.bytes().take_while(u8::is_ascii_digit).count();
    let letter = usize::from(digits == 0 && item.starts_with(|c: char| c.is_ascii_lowercase()));
    let number = item[digits + letter..].strip_prefix(['.', ')']).filter(|_| (1..4).contains(&(digits + letter)));
    let behind = number.or_else(|| bare.strip_prefix(['-', '*', '+'])).filter(|rest| rest.starts_with(' '));
    let Some(behind) = behind else { return 0..0 };
    let item = behind.trim_start();
    let boxed = ["[ ]", "[x]", "[X]"].iter().find_map(|sign| item.strip_prefix(sign));
    let from = if number.is_some() { lead } else { line.len() - item.len() };
    from..line.len() - boxed.unwrap_or(item).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_where_they_are() {
        for (text, expected) in [
            ("1) a\n(2) b\nc) d\n", "   a\n    b\n   d\n"),
            ("- [x] a\n- b", "-     a\n- b"),
            ("> 3. a", ">    a"),
            ("<h2>a: b</h2>", "#   a: b     "),
            ("<tr><td>a</td><td class=\"x\">b</td></tr>", "    |   a     |             b          "),
            ("│ é │ b │", "|   é |   b |  "),
            ("a: ~~b~~ **c**", "a:       **c**"),
            ("<verdict>a</verdict> <b", "<verdict>a</verdict> <b"),
            ("a < b > c <= d", "a < b > c <= d"),
            ("2026 was - and 1.5 is", "2026 was - and 1.5 is"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
            assert_eq!(plain(text).len(), text.len(), "{text}");
        }
    }
}
