//! Conditions and fields in the words of a reader.

use crate::defined::definition::{Condition, Field, Layout, Path, Quantifier, Test};

/// Where a field stands in Markdown.
pub fn layout(field: &Field) -> String {
    match &field.layout {
        Layout::Section(titles) => {
            format!("section {}", titles.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(" or "))
        }
        Layout::Label(label) => format!("`{label}:`"),
        Layout::Head => "heading or first words".to_owned(),
        Layout::Body => "all of it".to_owned(),
        Layout::Given => "`--labels`".to_owned(),
    }
}

/// A text that begins with a capital letter and ends without a stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

/// A condition as a sentence would say it.
pub fn condition(of: &Condition) -> String {
    let joined = |all: &[Condition], word: &str| all.iter().map(condition).collect::<Vec<_>>().join(word);
    match of {
        Condition::All(all) => joined(all, " and "),
        Condition::Any(any) => format!("({})", joined(any, " or ")),
        Condition::Not(inner) => format!("not ({})", condition(inner)),
        Condition::By(roles) => format!("said by {}", code(roles, " or ")),
        Condition::Has(path) => format!("`{}` says something", path.written),
        Condition::Test(path, test) => format!("`{}` {}", path.written, self::test(test)),
        Condition::Each { quantifier, over, filter, is } => {
            let word = match quantifier {
                Quantifier::Every => "every",
                Quantifier::Some => "some",
                Quantifier::None => "no",
            };
            let filter = filter.as_ref().map(|filter| format!(" with {}", condition(filter))).unwrap_or_default();
            format!("{word} `{}`{filter} has: {}", over.written, condition(is))
        }
        Condition::Acyclic { over, .. } => format!("`{}` has no cycle", over.written),
        Condition::Numbered { over, by, prefix } => {
            format!("`{by}` of `{}` goes `{prefix}1`, `{prefix}2`, …", over.written)
        }
        Condition::Check(name) => format!("the check `{name}`"),
    }
}

fn test(test: &Test) -> String {
    let path = |path: &Path| format!("`{}`", path.written);
    match test {
        Test::Is(words) => format!("is {}", code(words, " or ")),
        Test::Within(range) => format!("is {}", range.described("").unwrap_or_default().trim_end()),
        Test::Begins(words) => format!("begins with {}", code(words, " or ")),
        Test::Holds(words) => format!("holds {}", code(words, " or ")),
        Test::In(of) => format!("is in {}", path(of)),
        Test::Same(of) => format!("is the same as {}", path(of)),
        Test::CountOf(of) => format!("is the count of {}", path(of)),
    }
}

fn code(words: &[tollgate_core::Name], between: &str) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(between)
}
