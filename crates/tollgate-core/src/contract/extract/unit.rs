//! Whether a report is about the unit that was asked for.

use crate::contract::text::{is_quote, is_unseen};

/// What the name of a unit in a report is, beside the one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    Same,
    /// The same in other signs, or not: `U_3` beside `U-3`.
    Unclear,
    Another,
}

/// Compares the name in a report with the one that was asked for: `#21 — Show the total` is `21`.
pub fn compare(said: &str, wanted: &str) -> Is {
    let bare = |name: &str| name.trim().trim_start_matches('#').to_lowercase();
    let (said, wanted) = (bare(said), bare(wanted));
    if begins(&said, &wanted) {
        return Is::Same;
    }
    let (said, wanted) = (plain(&said), plain(&wanted));
    // One word before it says what it is: `Unit U-3`.
    let named =
        said.split_once(' ').filter(|(kind, name)| kind.chars().all(char::is_alphabetic) && !name.contains(' '));
    let named = named.map(|(_, name)| name.trim_start_matches('#'));
    let same = |name: &str| begins(name, &wanted) || parts(name) == parts(&wanted);
    if same(&said) || named.is_some_and(same) { Is::Unclear } else { Is::Another }
}

/// Whether a text begins with a name, and not with a longer one.
fn begins(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '.'))
}

/// A name with one sign for all that join its parts, and without those that are only around it.
fn plain(name: &str) -> String {
    let seen = name.chars().filter(|c| !is_quote(*c) && !is_unseen(*c) && !matches!(c, '*' | '#'));
    let joined = seen.map(|c| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' | '_' => '-',
        _ if c.is_whitespace() => ' ',
        _ => c,
    });
    joined.collect::<String>().trim().to_owned()
}

/// The words and numbers of a name.
fn parts(name: &str) -> Vec<String> {
    let (mut parts, mut before) = (Vec::<String>::new(), ' ');
    for c in name.chars() {
        let goes_on = before.is_alphanumeric() && before.is_numeric() == c.is_numeric();
        match parts.last_mut().filter(|_| goes_on) {
            Some(last) if c.is_alphanumeric() => last.push(c),
            _ if c.is_alphanumeric() => parts.push(c.to_string()),
            _ => {}
        }
        before = c;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_in_other_signs_is_unclear() {
        for said in ["U-3", "u-3", "#U-3", "U-3: cart", " U-3 — cart"] {
            assert_eq!(compare(said, "U-3"), Is::Same, "{said}");
        }
        for said in [
            "U\u{2011}3",
            "U–3",
            "U−3",
            "U_3",
            "U 3",
            "U3",
            "`U-3`",
            "**U-3**",
            "Unit U-3",
            "unit `U_3`: cart",
            "U-\u{200b}3",
        ] {
            let expected = if said.contains("cart") { Is::Another } else { Is::Unclear };
            assert_eq!(compare(said, "U-3"), expected, "{said}");
        }
        for said in ["U-31", "U-3-1", "U-3.1", "U-4", "Unit U-4", "V-3", "", "U", "3"] {
            assert_eq!(compare(said, "U-3"), Is::Another, "{said}");
        }
        assert_eq!(compare("#21 — Show the total", "21"), Is::Same);
        assert_eq!(compare("#22 — What is left of 21", "21"), Is::Another);
        assert_eq!(compare("Task 21", "21"), Is::Unclear);
        assert_eq!(compare("U-3-1", "U-31"), Is::Another);
    }
}
