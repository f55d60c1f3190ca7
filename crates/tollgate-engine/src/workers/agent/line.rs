//! Reads of an agent's line what its adapter looks at. The rest is most of it (what its tools printed): it is passed over, and
//! nothing is made of it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What an adapter wants of the value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    Nothing,
    /// The value; of objects, the keys that are wanted themselves.
    Value,
    /// All of it.
    Whole,
}

/// What stands in a line, as far as it is wanted; none where it is no JSON object.
pub(super) fn read(line: &[u8], wants: fn(&str) -> Wants) -> Option<Value> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    let mut from = serde_json::Deserializer::from_str(std::str::from_utf8(line).ok()?);
    let value = Wanted(wants).deserialize(&mut from).ok()?;
    from.end().ok()?;
    Some(value)
}

/// Values of which only what is wanted is kept.
#[derive(Clone, Copy)]
struct Wanted(fn(&str) -> Wants);

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
                Wants::Nothing => {
                    pairs.next_value::<IgnoredAny>()?;
                    continue;
                }
                Wants::Value => pairs.next_value_seed(self)?,
                Wants::Whole => pairs.next_value()?,
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

    fn wants(key: &str) -> Wants {
        match key {
            "type" | "a" => Wants::Value,
            "usage" => Wants::Whole,
            _ => Wants::Nothing,
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
        assert_eq!(read(b"{\"b\":\"\xff\"}", wants), None);
        let deep = format!("{}1{}", "{\"a\":".repeat(5000), "}".repeat(5000));
        assert_eq!(shown(&deep), "-");
    }
}
