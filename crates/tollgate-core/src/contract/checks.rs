//! What the language of contracts cannot say: small checks by name. Each answers with the places where it is broken.

use super::tree::Node;

/// A check over a whole document.
pub type Check = fn(&Node<'_>) -> Vec<u32>;

const CHECKS: [(&str, Check); 3] = [
    ("recommends-an-option", recommends_an_option),
    ("one-priority", |root| exactly_one(root, "priority:", &["high", "medium", "low"])),
    ("one-complexity", |root| exactly_one(root, "complexity:", &["simple", "complex"])),
];

/// The check of a name.
pub fn find(name: &str) -> Option<Check> {
    CHECKS.iter().find(|(known, _)| *known == name).map(|(_, check)| *check)
}

/// Among `labels` exactly one begins with a prefix, and goes on with a known word.
fn exactly_one(root: &Node<'_>, prefix: &str, words: &[&str]) -> Vec<u32> {
    let labels = root.get("labels").and_then(Node::list).unwrap_or_default();
    let own: Vec<&str> = labels.iter().filter_map(|label| label.word()?.strip_prefix(prefix)).collect();
    match &own[..] {
        [word] if words.contains(word) => Vec::new(),
        _ => vec![root.get("labels").map_or(0, |labels| labels.at)],
    }
}

/// `recommendation` names one of `options`: by its name, its number or its letter.
fn recommends_an_option(root: &Node<'_>) -> Vec<u32> {
    let (Some(said), Some(options)) = (root.get("recommendation"), root.get("options").and_then(Node::list)) else {
        return Vec::new();
    };
    // Without options or words there is another error already.
    if options.is_empty() || said.is_blank() {
        return Vec::new();
    }
    let text = said.text().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let after_option = words.windows(2).filter(|pair| pair[0] == "option").map(|pair| pair[1]);
    let named: Vec<&str> = after_option.chain(words.first().copied()).collect();
    let names_one = options.iter().enumerate().any(|(at, option)| {
        let name = option.get("name").and_then(Node::text).or_else(|| option.text()).unwrap_or_default().to_lowercase();
        let name = name.split(" -- ").next().unwrap_or_default().replace("**", "");
        let name = name.split(" — ").next().unwrap_or_default().trim();
        let letter = u8::try_from(at).ok().filter(|at| *at < 26).map(|at| char::from(b'a' + at).to_string());
        (!name.is_empty() && text.contains(name))
            || named.iter().any(|word| *word == (at + 1).to_string() || Some(*word) == letter.as_deref())
    });
    if names_one { Vec::new() } else { vec![said.at] }
}
