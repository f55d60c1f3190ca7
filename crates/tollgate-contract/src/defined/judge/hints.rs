//! What to write instead, where the form of a text says it.

use crate::defined::definition::text_pattern::Like;
use crate::defined::definition::{Kind, Type};
use crate::text::quote;
use crate::tree::Node;

/// What to do about a text of which its colon made a map: `cmd: npm test` in YAML.
pub fn parted(of: &Type, node: &Node<'_>) -> Option<String> {
    let (Kind::Text(text), [only]) = (&of.kind, node.map()?) else { return None };
    let said = format!("{}: {}", only.key, only.node.word()?);
    let fits = text.like.iter().any(|like| like.matches(&said));
    fits.then(|| format!("put it in quotes: `\"{}\"`", quote(&said).trim_matches('`')))
}

/// What to write where only a number is meant, and a text ends with it: an address, a link.
pub fn numbered(forms: &[Like], said: &str) -> Option<String> {
    let number = said.split(|c: char| !c.is_ascii_digit()).rfind(|digits| !digits.is_empty())?;
    let mut meant = forms.iter().map(|like| (like, like.to_string().replace("{count}", number)));
    let (_, meant) = meant.find(|(like, meant)| *meant != like.to_string() && like.matches(meant))?;
    Some(format!("write `{meant}` and nothing else"))
}

/// How a text of a form is written, with a text that has it wherever it has holes.
pub fn like(forms: &[Like]) -> String {
    let form = |like: &Like| match like.sample() {
        sample if sample == like.to_string() => format!("`{like}`"),
        sample => format!("`{like}`, for example `{sample}`,"),
    };
    let forms: Vec<String> = forms.iter().map(form).collect();
    format!("write it like {}", forms.join(" or ").trim_end_matches(','))
}
