//! Reads of an agent's line what its adapter looks at. The rest is most of it (what its tools printed): it is passed over, and
//! nothing is made of it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What an adapter wants of the value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldUse {
    Nothing,
    /// The value; of objects, the keys that are wanted themselves.
    Value,
    /// All of it.
    Whole,
}

/// How deep objects and lists may stand in each other; a reader of JSON takes a few more.
const DEPTH_MAX: usize = 120;

/// What stands in a line, as far as it is wanted; none where it is no JSON object.
pub(super) fn read(line: &[u8], wants: fn(&str) -> FieldUse) -> Option<Value> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    let read = |line: &str| {
        let mut from = serde_json::Deserializer::from_str(line);
        let value = Wanted(wants).deserialize(&mut from).ok()?;
        from.end().ok()?;
        Some(value)
    };
    leniently(line, read)
}

/// Whether a line means to be an agent's, whether it can be read or not.
pub(super) fn is_meant(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{\"")
}

/// Reads a line as it is, or else as it was meant. A line that counts for an agent counts against it, too: whoever finds a report in one
/// reads it so.
pub fn leniently<T>(line: &[u8], read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let text = String::from_utf8_lossy(line);
    read(&text).or_else(|| read(&mended(&text)))
}

/// A line whose halves of characters (`\\ud83d` alone, of a text that was cut) stand for one that is not known, as do signs that a string may
/// not have, and in which nothing stands too deep.
fn mended(line: &str) -> String {
    let (mut mended, mut depth, mut rest) = (String::with_capacity(line.len()), 0_usize, line);
    while let Some(first) = rest.chars().next() {
        let deep = depth > DEPTH_MAX;
        let end = match first {
            '"' => string(rest, &mut |piece| {
                if !deep {
                    mended.push_str(piece)
                }
            }),
            '{' | '[' => {
                depth += 1;
                if depth == DEPTH_MAX + 1 {
                    mended.push_str("null");
                } else if depth <= DEPTH_MAX {
                    mended.push(first);
                }
                1
            }
            '}' | ']' => {
                if !deep {
                    mended.push(first);
                }
                depth = depth.saturating_sub(1);
                1
            }
            _ => {
                let end = rest.find(['"', '{', '[', '}', ']']).unwrap_or(rest.len());
                if !deep {
                    mended.push_str(&rest[..end]);
                }
                end
            }
        };
        rest = &rest[end..];
    }
    mended
}

/// Gives out the string that a text begins with, piece by piece; where it ends.
fn string(text: &str, out: &mut dyn FnMut(&str)) -> usize {
    let half = |at: usize, of: std::ops::RangeInclusive<u32>| {
        let code = text.get(at..at + 6).and_then(|escape| escape.strip_prefix("\\u"));
        code.and_then(|code| u32::from_str_radix(code, 16).ok()).is_some_and(|code| of.contains(&code))
    };
    let (mut from, mut at) = (0, 1);
    while let Some(next) = text.get(at..).and_then(|rest| rest.find(|c: char| matches!(c, '"' | '\\' | '\0'..'\u{20}')))
    {
        at += next;
        if !text[at..].starts_with(['"', '\\']) {
            out(&text[from..at]);
            out("\u{fffd}");
            (from, at) = (at + 1, at + 1);
            continue;
        }
        if text[at..].starts_with('"') {
            out(&text[from..=at]);
            return at + 1;
        }
        let whole = half(at, 0xd800..=0xdbff) && half(at + 6, 0xdc00..=0xdfff);
        if !whole && half(at, 0xd800..=0xdfff) {
            out(&text[from..at]);
            out("\u{fffd}");
            from = at + 6;
        }
        at += if whole { 12 } else { 2 };
    }
    out(text.get(from..).unwrap_or_default());
    text.len()
}

/// Values of which only what is wanted is kept.
#[derive(Clone, Copy)]
struct Wanted(fn(&str) -> FieldUse);

impl<'de> DeserializeSeed<'de> for Wanted {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Wanted {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(Key(key)) = pairs.next_key()? {
            let value = match (self.0)(&key) {
                FieldUse::Nothing => {
                    pairs.next_value::<IgnoredAny>()?;
                    continue;
                }
                FieldUse::Value => pairs.next_value_seed(self)?,
                FieldUse::Whole => pairs.next_value()?,
            };
            map.insert(key.into_owned(), value);
        }
        Ok(map.into())
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Borrows;
        impl<'de> Visitor<'de> for Borrows {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(key.into()))
            }

            fn visit_str<E: Error>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(key.to_owned().into()))
            }
        }
        from.deserialize_str(Borrows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(key: &str) -> FieldUse {
        match key {
            "type" | "a" => FieldUse::Value,
            "usage" => FieldUse::Whole,
            _ => FieldUse::Nothing,
        }
    }

    fn shown(line: &str) -> String {
        read(line.as_bytes(), wants).map_or_else(|| "-".to_owned(), |value| value.to_string())
    }

    #[test]
    fn what_nobody_wants_is_not_there() {
        for (line, expected) in [
            (
                r#" {"type":"x","b":{"type":1},"a":[{"a":-1,"b":2},1.5,null,true]} "#,
                r#"{"a":[{"a":-1},1.5,null,true],"type":"x"}"#,
            ),
            (r#"{"usage":{"b":[{"c":1}]},"b":"\ud83d\ude00"}"#, r#"{"usage":{"b":[{"c":1}]}}"#),
            (r#"{"\u0061":"x\ny","a":2}"#, r#"{"a":2}"#),
            (r#"{"\u0061":"x\ny"}"#, r#"{"a":"x\ny"}"#),
            ("{}", "{}"),
            ("[1]", "-"),
            (r#"{"type":"x"} more"#, "-"),
            (r#"{"type":"x","b":}"#, "-"),
            (r#"{"type":"x""#, "-"),
            ("", "-"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_meant() {
        assert_eq!(read(b"{\"a\":\"caf\xe9\"}", wants), Some(serde_json::json!({"a": "caf\u{fffd}"})));
        for (line, expected) in [
            (r#"{"a":"cut \ud83d","type":"\ude00"}"#, "{\"a\":\"cut \u{fffd}\",\"type\":\"\u{fffd}\"}"),
            (r#"{"a":"\ud83d\ude00\ud83d","b":"\\ud83d\""}"#, "{\"a\":\"😀\u{fffd}\"}"),
            ("{\"a\":\"x\ty\u{1b}\"}", "{\"a\":\"x\u{fffd}y\u{fffd}\"}"),
            (r#"{"a":"\ud83d""#, "-"),
            (r#"{"a":"\"#, "-"),
            ("{\"a\":\"\\é", "-"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
        // What stands too deep is nothing; what stands beside it counts.
        for (open, close) in [("{\"a\":", "}"), ("[", "]")] {
            let deep = format!("{{\"b\":{}\"}}\"{},\"type\":1}}", open.repeat(5000), close.repeat(5000));
            assert_eq!(shown(&deep), "{\"type\":1}");
        }
        let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
        assert_eq!(shown(&deep).matches('a').count(), DEPTH_MAX);
    }
}
