//! Documents that are handed over together: one object of the store, each under its name.

use std::collections::BTreeMap;

/// The longest name of a document.
const NAME_MAX: usize = 100;

/// Whether a text names a document of a set: it is part of a path, and a worker chose it.
pub fn is_name(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    (1..=NAME_MAX).contains(&name.len()) && !name.starts_with('.') && name.chars().all(plain)
}

/// The object of a set.
pub fn pack(documents: &BTreeMap<String, String>) -> String {
    let entries = documents.iter().map(|(name, text)| (name.clone(), text.clone().into()));
    serde_json::Value::Object(entries.collect()).to_string()
}

/// The documents of a set.
pub fn unpack(object: &str) -> Option<BTreeMap<String, String>> {
    serde_json::from_str::<BTreeMap<String, String>>(object).ok().filter(|set| set.keys().all(|name| is_name(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_one_text_and_comes_back_whole() {
        let set = BTreeMap::from([("b.md".to_owned(), "\"b\"\n".to_owned()), ("a".to_owned(), String::new())]);
        assert_eq!(unpack(&pack(&set)), Some(set));
        assert_eq!(unpack(r#"{"../x": ""}"#), None);
        let names = ["a.md", "A-1_b", "", ".", "..", ".git", "a/b", "a b", "\u{e4}"];
        assert_eq!(names.map(is_name), [true, true, false, false, false, false, false, false, false]);
    }
}
