//! JSON is YAML but for one thing: a character beyond U+FFFF may be written as two escapes, which YAML does not know.

use std::borrow::Cow;

use crate::diagnostic::Place;

/// How many characters shorter the one escape is than the two.
const SHORTER: u32 = 2;

/// Where escapes became shorter: the character that each begins at in the text that was made, in order.
#[derive(Debug, Default)]
pub(super) struct Shortened(Vec<(u32, u32)>);

impl Shortened {
    /// A place in the text as it was given.
    pub fn given(&self, place: Place) -> Place {
        let line = self.0.partition_point(|(line, _)| *line < place.line);
        let before = self.0.partition_point(|at| *at < (place.line, place.column));
        let count = u32::try_from(before.saturating_sub(line)).unwrap_or(u32::MAX);
        Place { column: place.column.saturating_add(count.saturating_mul(SHORTER)), ..place }
    }
}

/// The text with each such pair as the one escape that YAML has, and where that was done. In JSON every backslash stands in double
/// quotes; a text that is no JSON object is left alone, since there it may stand for itself.
pub(super) fn with_yaml_escapes(text: &str) -> (Cow<'_, str>, Shortened) {
    let mut shortened = Shortened::default();
    if !text.trim_start().starts_with('{') || !text.contains("\\u") {
        return (Cow::Borrowed(text), shortened);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    // The line and the column that `kept` ends at.
    let mut end = Place { line: 1, column: 1 };
    let mut counted = 0;
    while let Some(at) = rest.find('\\') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let escape = match pair(rest) {
            Some(char) => {
                end = after(end, &kept[counted..]);
                counted = kept.len();
                shortened.0.push((end.line, end.column));
                kept.push_str(&format!("\\U{:08X}", u32::from(char)));
                12
            }
            // With what it escapes, so that an escaped backslash begins nothing.
            None => {
                let escape = rest.chars().take(2).map(char::len_utf8).sum();
                kept.push_str(&rest[..escape]);
                escape
            }
        };
        rest = &rest[escape..];
    }
    kept.push_str(rest);
    (Cow::Owned(kept), shortened)
}

/// Where a text ends that begins at a place.
fn after(start: Place, text: &str) -> Place {
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    match text.rfind('\n') {
        None => Place { column: start.column.saturating_add(small(text.chars().count())), ..start },
        Some(last) => {
            let lines = small(text.matches('\n').count());
            Place { line: start.line.saturating_add(lines), column: small(text[last + 1..].chars().count()) + 1 }
        }
    }
}

/// The character that two escapes at the start of a text stand for.
fn pair(text: &str) -> Option<char> {
    let unit = |escape: &str| {
        let digits = escape.strip_prefix("\\u").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (high, low) = (unit(text.get(..6)?)?, unit(text.get(6..12)?)?);
    let surrogates = (0xD800..0xDC00).contains(&high) && (0xDC00..0xE000).contains(&low);
    surrogates.then(|| char::decode_utf16([high, low]).next()?.ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_escapes_is_one_character() {
        for (json, yaml) in [
            (r#"{"a":"x \ud83d\uDE00 y"}"#, r#"{"a":"x \U0001F600 y"}"#),
            (r#" {"a":"\ud83d\ude00\ud83d\ude01"}"#, r#" {"a":"\U0001F600\U0001F601"}"#),
            (r#"{"a":"\\ud83d\\ude00"}"#, r#"{"a":"\\ud83d\\ude00"}"#),
            (r#"{"a":"\ud83d \ude00 \u00e9 \n"}"#, r#"{"a":"\ud83d \ude00 \u00e9 \n"}"#),
            (r"a: '\ud83d\ude00'", r"a: '\ud83d\ude00'"),
            ("{\\", "{\\"),
            ("{\\ué\\u", "{\\ué\\u"),
        ] {
            assert_eq!(with_yaml_escapes(json).0, yaml);
        }
        let place =
            |text: &str, key: &str| super::super::parse(text).expect("JSON is YAML").get(key).expect("a key").place;
        for text in [
            r#"{"é": "\ud83d\ude00😀\ud83d\ude00", "b": 1}"#,
            "{\n\"x\": \"\\ud83d\\ude00\",\n \"y\": \"\\ud83d\\ude00\", \"b\": 1}",
        ] {
            let at = text.find("1}").expect("a value");
            let line = text[..at].matches('\n').count() + 1;
            let column = text[..at].rsplit('\n').next().expect("a line").chars().count() + 1;
            let found = place(text, "b");
            assert_eq!((found.line as usize, found.column as usize), (line, column), "{text}");
        }
        let node = super::super::parse(r#"{"a": "\ud83d\ude00"}"#).expect("JSON is YAML");
        assert!(format!("{node:?}").contains('😀'), "{node:?}");
    }
}
