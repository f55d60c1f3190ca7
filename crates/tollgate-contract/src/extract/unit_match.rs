//! Whether a report is about the unit that was asked for.

use crate::text::{is_quote, is_unseen};

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
    let (own, given) = (parts(&said), parts(&wanted));
    let same = |name: &str| begins(name, &wanted) || names(&parts(name)).eq(names(&given));
    let unclear = same(&said) || named.is_some_and(same) || is_number(&own, &given) || holds(&own, &given);
    if unclear { Is::Unclear } else { Is::Another }
}

/// Whether a name is the number of another one, and nothing else: `3` beside `U-3`.
fn is_number(own: &[Part], given: &[Part]) -> bool {
    let number = |part: &&Part| part.is_number();
    matches!(own, [one] if one.is_number() && given.iter().filter(number).count() == 1 && names(given).any(|name| name == one.name))
}

/// Whether a name with a number stands in another one as a whole: `work unit U-3`, `U-4/U-3`. What begins as another unit and says more is about that one.
fn holds(own: &[Part], given: &[Part]) -> bool {
    if !given.iter().any(Part::is_number) {
        return false;
    }
    own.windows(given.len()).enumerate().any(|(at, window)| {
        let (before, behind) = (&own[..at], &own[at + given.len()..]);
        let another = before.iter().any(Part::is_number)
            && before.iter().any(|part| !part.is_number() && names(given).all(|name| name != part.name));
        let inside = window.first().is_some_and(|first| {
            !before.is_empty() && (first.joined.is_empty() || (first.is_number() && first.goes_on(before.last())))
        });
        let longer = behind
            .first()
            .is_some_and(|next| next.joined.is_empty() || (next.is_short() && next.goes_on(window.last())));
        names(window).eq(names(given)) && !another && !inside && !longer
    })
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

/// A word or a number of a name.
#[derive(Debug, Default)]
struct Part {
    /// Numbers are without the zeros before them.
    name: String,
    /// What stands between the one before and this.
    joined: String,
}

impl Part {
    fn is_number(&self) -> bool {
        self.name.starts_with(char::is_numeric)
    }

    /// Whether it numbers what is a part of something: `U-3.1`, `U-3-b`.
    fn is_short(&self) -> bool {
        self.is_number() || self.name.chars().count() == 1
    }

    /// Whether it goes on with a number: `3.1`, `3-b`.
    fn goes_on(&self, before: Option<&Self>) -> bool {
        matches!(&*self.joined, "-" | ".") && before.is_some_and(Self::is_number)
    }
}

fn names(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().map(|part| &*part.name)
}

/// The words and numbers of a name.
fn parts(name: &str) -> Vec<Part> {
    let (mut parts, mut joined, mut before) = (Vec::<Part>::new(), String::new(), ' ');
    for c in name.chars() {
        let goes_on = before.is_alphanumeric() && before.is_numeric() == c.is_numeric();
        match parts.last_mut().filter(|_| goes_on) {
            Some(last) if c.is_alphanumeric() && last.name == "0" && c.is_numeric() => last.name = c.to_string(),
            Some(last) if c.is_alphanumeric() => last.name.push(c),
            _ if c.is_alphanumeric() => parts.push(Part { name: c.to_string(), joined: std::mem::take(&mut joined) }),
            _ => joined.push(c),
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
            "work unit U-3",
            "U-03",
            "3",
            "#3",
            "U-4/U-3",
            "U-4, U-3",
            "u3-implementer",
            "U-3-implementer",
            "backend-U-3",
        ] {
            assert_eq!(compare(said, "U-3"), Is::Unclear, "{said}");
        }
        for said in [
            "U-31",
            "U-30",
            "U-3-1",
            "U-3.1",
            "U-3b",
            "U-3-b",
            "U-4",
            "Unit U-4",
            "backend-U-4",
            "U-4 — What U-3 left",
            "V-3",
            "",
            "U",
            "4",
            "30",
        ] {
            assert_eq!(compare(said, "U-3"), Is::Another, "{said}");
        }
        assert_eq!(compare("#21 — Show the total", "21"), Is::Same);
        assert_eq!(compare("#22 — What is left of 21", "21"), Is::Another);
        assert_eq!(compare("Task 21", "21"), Is::Unclear);
        assert_eq!(compare("021", "21"), Is::Unclear);
        assert_eq!(compare("1.21", "21"), Is::Another);
        assert_eq!(compare("cart-api", "cart"), Is::Another);
        assert_eq!(compare("U-3-1", "U-31"), Is::Another);
    }
}
