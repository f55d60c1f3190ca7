//! Table tests: a text file of cases, each with what must come of it.
//!
//! A case is a line `== NAME`, its script, a line `--` and the answer. One without an answer is the head of all that follow it, up to
//! the next such: its script goes before theirs. `TOLLGATE_BLESS=1 cargo test -p tollgate-contract cases` writes the answers as they
//! are now; the change is then reviewed like any other.

use std::fmt::Write as _;
use std::path::Path;

use crate::defined::definition::Sample;
use crate::extract::Dialect;
use crate::tree::Node;
use crate::{Context, registry};
use tollgate_core::diagnostic::{Diagnostic, Severity};

/// Compares what comes of each case of a file, a path below `src/`, with the answer that the file has.
#[track_caller]
pub fn check(file: &str, answer: impl Fn(&str) -> String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let text = format!("\n{}", std::fs::read_to_string(&file).expect("a file of cases"));
    let (mut head, mut blessed, mut wrong) = (String::new(), String::new(), Vec::new());
    for case in text.split("\n== ").skip(1) {
        let (name, rest) = case.split_once('\n').unwrap_or((case, ""));
        let Some((script, expected)) =
            format!("\n{rest}\n").split_once("\n--\n").map(|(a, b)| (a.to_owned(), b.to_owned()))
        else {
            head = if rest.trim().is_empty() { String::new() } else { format!("{}\n", rest.trim_end()) };
            write!(blessed, "== {name}\n{head}\n").expect("a text");
            continue;
        };
        let script = script.trim_matches('\n');
        let found = answer(&format!("{head}{script}\n"));
        let (found, expected) = (found.trim_end(), expected.trim_end());
        if found != expected {
            wrong.push(format!("== {name}\n{script}\n--\n{found}\n(expected)\n{expected}"));
        }
        write!(blessed, "== {name}\n{script}\n--\n{found}\n\n").expect("a text");
    }
    if std::env::var_os("TOLLGATE_BLESS").is_some() {
        std::fs::write(&file, blessed.trim_end().to_owned() + "\n").expect("a file");
    } else {
        assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n\n"));
    }
}

/// A diagnostic in a line: how severe it is, where it is, what is wrong and what to do.
pub fn line(one: &Diagnostic) -> String {
    let letter = if one.severity == Severity::Error { 'E' } else { 'W' };
    let other = one.other.map(|place| format!("/{}:{}", place.line, place.column)).unwrap_or_default();
    let hint = one.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{letter} {}:{}{other} {} {}{hint}", one.place.line, one.place.column, one.code, one.message)
}

/// Who says an example of a contract, and the labels of the issue that it is.
pub fn context(sample: &Sample<'_>) -> Context {
    let labels = sample.document.get("labels").and_then(Node::list);
    let labels = labels.map(|labels| labels.iter().filter_map(Node::word).map(Into::into).collect());
    Context { role: sample.by.clone(), labels, ..Context::default() }
}

/// The dialect of a contract of this build.
pub fn dialect(id: &str) -> Dialect<'static> {
    match registry::report_dialect(id) {
        Some(dialect) => Dialect::Report(dialect),
        None => Dialect::Document(registry::document_dialect(id).expect(id)),
    }
}

/// A text with the changes of a script, lines `with A => B` in which `\n` is the end of a line; and the other lines of the script.
pub fn changed(text: &str, script: &str) -> (String, Vec<String>) {
    let (mut text, mut others) = (text.to_owned(), Vec::new());
    for line in script.lines() {
        let Some((from, to)) = line.strip_prefix("with ").and_then(|change| change.split_once(" =>")) else {
            others.push(line.to_owned());
            continue;
        };
        let [from, to] = [from, to.strip_prefix(' ').unwrap_or(to)].map(|part| part.replace("\\n", "\n"));
        assert!(text.contains(&from), "{from:?} is not there:\n{text}");
        text = text.replacen(&from, &to, 1);
    }
    (text, others)
}
