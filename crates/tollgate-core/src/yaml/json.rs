//! JSON is YAML but for one thing: a character beyond U+FFFF may be written as two escapes, which YAML does not know.

use std::borrow::Cow;

/// The text with each such pair as the one escape that YAML has. In JSON every backslash stands in double quotes; a text that
/// is no JSON object is left alone, since there it may stand for itself.
pub(super) fn with_yaml_escapes(text: &str) -> Cow<'_, str> {
    if !text.trim_start().starts_with('{') || !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let escape = match pair(rest) {
            Some(char) => {
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
    Cow::Owned(kept)
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
            assert_eq!(with_yaml_escapes(json), yaml);
        }
        let node = super::super::parse(r#"{"a": "\ud83d\ude00"}"#).expect("JSON is YAML");
        assert!(format!("{node:?}").contains('😀'), "{node:?}");
    }
}
