//! The shortest message that tells a model what to fix: each error with where it is, what is wrong and what is allowed, and nothing else.

use tollgate_core::diagnostic::{Diagnostic, Place, Severity};

/// How many errors are named; once those are fixed, the next message names the rest.
const ERRORS_MAX: usize = 12;
/// How many characters one error may take.
const CHARS_MAX: usize = 400;

/// The message for a report with these diagnostics; none where nothing is wrong. Places are those of the report itself.
pub fn reask(diagnostics: &[Diagnostic]) -> Option<String> {
    let mut points: Vec<String> = Vec::new();
    for error in diagnostics.iter().filter(|one| one.severity == Severity::Error) {
        let point = shortened(&point(error));
        if !points.contains(&point) {
            points.push(point);
        }
    }
    let first = points.first()?;
    let whole = "send the whole report again. Change nothing else";
    if let [_] = &points[..] {
        return Some(format!("Your report cannot be used: {first}\nFix this and {whole}.\n"));
    }
    let more = points.len().saturating_sub(ERRORS_MAX);
    points.truncate(ERRORS_MAX);
    let list: String = points.iter().map(|point| format!("- {point}\n")).collect();
    let more = if more > 0 { format!("- and {more} more\n") } else { String::new() };
    Some(format!("Your report cannot be used. Fix these and {whole}:\n{list}{more}"))
}

/// One diagnostic in a line: where it is, what is wrong, what to do.
pub fn point(diagnostic: &Diagnostic) -> String {
    let Diagnostic { message, place, other, hint, .. } = diagnostic;
    let at = |place: &Place| format!("line {}, column {}", place.line, place.column);
    let hint = hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    match (place.line, other) {
        // It is about the whole, or about what is not there.
        (0, _) => format!("{message}{hint}"),
        (_, Some(other)) => format!("{} and {}: {message}{hint}", at(place), at(other)),
        (_, None) => format!("{}: {message}{hint}", at(place)),
    }
}

fn shortened(point: &str) -> String {
    match point.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &point[..end]),
        None => point.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::code::Code;

    fn error(line: u32, message: &str) -> Diagnostic {
        Diagnostic::error(Code::FIELD_WORD, Place { line, column: 2 }, message).hint("one of: a, b")
    }

    #[test]
    fn one_error_is_one_sentence_and_many_are_a_list() {
        assert_eq!(reask(&[]), None);
        assert_eq!(reask(&[Diagnostic { severity: Severity::Warning, ..error(1, "x") }]), None);
        insta::assert_snapshot!(reask(&[error(3, "`v` is `c`, not one of its words")]).unwrap(), @r"
        Your report cannot be used: line 3, column 2: `v` is `c`, not one of its words (one of: a, b)
        Fix this and send the whole report again. Change nothing else.
        ");
        let both = [error(1, "x"), error(2, "y").other(Place { line: 9, column: 1 }), error(1, "x"), error(0, "z")];
        insta::assert_snapshot!(reask(&both).unwrap(), @r"
        Your report cannot be used. Fix these and send the whole report again. Change nothing else:
        - line 1, column 2: x (one of: a, b)
        - line 2, column 2 and line 9, column 1: y (one of: a, b)
        - z (one of: a, b)
        ");
    }

    #[test]
    fn it_is_bounded() {
        let many: Vec<_> = (1..200).map(|line| error(line, &"é".repeat(9_000))).collect();
        let message = reask(&many).unwrap();
        assert!(message.ends_with("- and 187 more\n") && message.chars().count() < 6_000, "{message}");
    }
}
