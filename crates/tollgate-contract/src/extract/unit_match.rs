//! Whether a report is about the unit that was asked for.

use crate::text::is_unseen;

/// What the name of a unit in a report is, beside the one that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    Same,
    /// The same in other signs, or not: `U_3` beside `U-3`.
    Unclear,
    Another,
}

/// Compares the name in a report with the one that was asked for: `#21 — Show the total` is `21`. What holds all of its words and
/// numbers, where it has a number, or is a part of them may be the one.
pub fn compare(said: &str, wanted: &str) -> Is {
    let bare = |name: &str| name.trim().trim_start_matches('#').to_lowercase();
    let (said, wanted) = (bare(said), bare(wanted));
    let longer = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '.'));
    let begins = |said: &str| said.strip_prefix(&*wanted).is_some_and(|rest| !longer(rest));
    if begins(&said) {
        return Is::Same;
    }
    let is_marked = begins(said.trim_start_matches(|c: char| !c.is_alphanumeric()));
    let (own, given) = (parts(&said), parts(&wanted));
    let holds = |all: &[String], some: &[String]| {
        let is_numbered = some.iter().any(|part| part.starts_with(char::is_numeric));
        is_numbered && all.windows(some.len()).any(|window| window == some)
    };
    match is_marked || own.ends_with(&given) || holds(&own, &given) || holds(&given, &own) {
        true => Is::Unclear,
        false => Is::Another,
    }
}

/// The words and the numbers of a name, those without the zeros before them.
fn parts(name: &str) -> Vec<String> {
    let (mut parts, mut before) = (Vec::<String>::new(), ' ');
    for c in name.chars().filter(|c| !is_unseen(*c)) {
        match parts.last_mut().filter(|_| before.is_alphanumeric() && before.is_numeric() == c.is_numeric()) {
            Some(last) if c.is_alphanumeric() => last.push(c),
            _ if c.is_alphanumeric() => parts.push(c.to_string()),
            _ => {}
        }
        before = c;
    }
    let zeros = |part: &String| part.len() - part.trim_start_matches('0').len().max(1);
    parts.iter().map(|part| part[zeros(part)..].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_in_other_signs_is_unclear() {
        let compared = |said: &str, wanted: &str, expected: Is| assert_eq!(compare(said, wanted), expected, "{said}");
        for said in ["U-3", "u-3", "#U-3", "U-3: cart", " U-3 — cart"] {
            compared(said, "U-3", Is::Same);
        }
        for said in ["U–3", "U_3", "U 3", "U3", "`U-3`", "U-\u{200b}3", "U-03", "3", "#3", "U-3.1"] {
            compared(said, "U-3", Is::Unclear);
        }
        for said in ["Unit U-3", "unit `U_3`: cart", "U-4/U-3", "u3-implementer", "backend-U-3"] {
            compared(said, "U-3", Is::Unclear);
        }
        for said in ["U-31", "U-30", "U-4", "Unit U-4", "V-3", "", "U", "4", "30"] {
            compared(said, "U-3", Is::Another);
        }
        compared("#21 — Show the total", "21", Is::Same);
        compared("021", "21", Is::Unclear);
        compared("Task 21", "21", Is::Unclear);
        compared("#22", "21", Is::Another);
        compared("cart-api", "cart", Is::Another);
        compared("unit cart", "cart", Is::Unclear);
        compared("**cart**: done", "cart", Is::Unclear);
        compared("U-3-1", "U-31", Is::Another);
    }
}
