//! The ways in which a value stands in texts: as it is, as JSON and URLs write it, in base64, a line at a time.

use super::{LENGTH_MAX, LENGTH_MIN};

/// The ways a value is written. A trailing backslash stays outside: it could escape the quote behind it.
pub(super) fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut cut = LENGTH_MAX.min(value.len());
    while !value.is_char_boundary(cut) {
        cut -= 1;
    }
    let value = &value[..cut];
    let json = |value: &str| {
        let quoted = serde_json::to_string(value).unwrap_or_default();
        quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
    };
    let ascii: String = json(value)
        .chars()
        .flat_map(|char| {
            let mut units = [0; 2];
            let escaped = |units: &[u16]| units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            if char.is_ascii() { char.to_string() } else { escaped(char.encode_utf16(&mut units)) }
                .chars()
                .collect::<Vec<_>>()
        })
        .collect();
    let percent = |upper: bool| -> String {
        let byte = |byte: u8| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            _ if upper => format!("%{byte:02X}"),
            _ => format!("%{byte:02x}"),
        };
        value.bytes().map(byte).collect()
    };
    let mut forms = vec![value.trim_end_matches('\\').to_owned(), json(value), json(value).replace('/', "\\/"), ascii];
    // Agents print JSON, and what their tools print stands in it as text: that may be JSON itself.
    forms.extend(Some(json(&json(value))).filter(|twice| *twice != json(value)));
    forms.extend([percent(true), percent(false)]);
    for in_base64 in (0..3).map(|shift| base64(value.as_bytes(), shift)) {
        let in_urls = in_base64.replace('+', "-").replace('/', "_");
        forms.extend(Some(in_urls).filter(|other| *other != in_base64));
        forms.push(in_base64);
    }
    // Keys of several lines are often printed a line at a time.
    if value.contains('\n') {
        forms.extend(value.lines().filter(|line| line.len() >= 2 * LENGTH_MIN).map(str::to_owned));
    }
    forms.retain(|form| value.len() >= LENGTH_MIN && form.len() >= LENGTH_MIN);
    forms.into_iter().map(String::into_bytes).collect()
}

/// What is certain of a value in base64, when so many bytes stand before it in its group of three.
fn base64(value: &[u8], shift: usize) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<bool> = value.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    let skip = (6 - shift * 8 % 6) % 6;
    let digit = |six: &[bool]| DIGITS[six.iter().fold(0, |sum, bit| sum << 1 | usize::from(*bit))];
    bits.get(skip..).unwrap_or_default().chunks_exact(6).map(|six| char::from(digit(six))).collect()
}
