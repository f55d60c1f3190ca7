//! What a side may change: `Scope:` and patterns.

/// What follows the `Scope:` that a text begins with, bold or not.
pub(super) fn announced(text: &str) -> Option<&str> {
    let signs = ['*', '_'];
    let bare = text.trim_start().trim_start_matches(signs);
    let rest = bare.get(..5).filter(|word| word.eq_ignore_ascii_case("scope")).map(|_| &bare[5..])?;
    let rest = rest.trim_start_matches(signs).trim_start().strip_prefix(':')?;
    (!rest.starts_with(':')).then(|| rest.trim_start_matches(signs))
}

/// The one pattern that an item of a list is.
pub(super) fn listed(item: &str) -> Option<String> {
    match patterns(item)?.as_slice() {
        [only] if item.contains('`') || only.contains(['/', '*']) => Some(only.clone()),
        _ => None,
    }
}

/// The patterns of a text that holds nothing else: in code quotes, or bare words that only a path can be.
pub(super) fn patterns(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for (at, part) in text.split('`').enumerate() {
        let words = part.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
        if at % 2 == 1 {
            // With white space in it, it is a command or the words of a row.
            let mut words = words;
            found.extend(words.next().map(str::to_owned));
            if words.next().is_some() {
                return None;
            }
            continue;
        }
        for word in words.filter(|word| !matches!(*word, "-" | "*" | "+")) {
            if !word.contains(['/', '*', '.']) || word.contains(['(', '<', ':']) {
                return None;
            }
            found.push(word.to_owned());
        }
    }
    Some(found)
}
