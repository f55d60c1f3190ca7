//! Paths of a tree as text: as they are where they are plain, else in git's quotes.

use std::borrow::Cow;

use crate::Name;

/// The one way a path is written: as it is when it is plain text, else in git's quotes.
///
/// Two different names never look the same, and no name breaks a line.
pub fn quote(path: &[u8]) -> Name {
    let plain = |text: &str| !text.chars().any(|char| char.is_control() || char == '\\') && !text.starts_with('"');
    if let Some(text) = str::from_utf8(path).ok().filter(|text| plain(text)) {
        return text.into();
    }
    let mut quoted = String::from("\"");
    for byte in path {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => quoted.push(char::from(*byte)),
            _ => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted.push('"');
    quoted.into()
}

/// The bytes of a path that [`quote`] wrote.
pub fn unquote(path: &str) -> Cow<'_, [u8]> {
    let Some(quoted) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else {
        return path.as_bytes().into();
    };
    let mut bytes = Vec::new();
    let mut rest = quoted.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        rest = match (first, octal) {
            (b'\\', Some(byte)) => {
                bytes.push(byte);
                &after[3..]
            }
            (b'\\', None) => {
                bytes.extend(after.first());
                after.get(1..).unwrap_or_default()
            }
            _ => {
                bytes.push(*first);
                after
            }
        };
    }
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_only_when_it_must_be() {
        for (path, text) in [
            (&b"src/lib.rs"[..], "src/lib.rs"),
            ("süß/ß".as_bytes(), "süß/ß"),
            (b"a b", "a b"),
            (b"a\nb", "\"a\\012b\""),
            (b"\xff", "\"\\377\""),
            (b"\"a\"", "\"\\\"a\\\"\""),
            (b"a\\b", "\"a\\\\b\""),
        ] {
            assert_eq!(&*quote(path), text);
            assert_eq!(unquote(text), path);
        }
        let every: Vec<u8> = (0..=255).chain(0..=255).collect();
        for path in every.windows(4) {
            assert_eq!(unquote(&quote(path)), path);
        }
    }
}
