//! Every document has a meaning, and every case is one of them.

use super::{Code, GOOD, read};
use crate::{Context, ReportDialect, defined::Defined};
use tollgate_core::report::Health;

/// Numbers and sizes are told apart by their limits, as words are.
#[test]
fn cases_may_be_split_by_numbers_and_sizes() {
    let with = |cases: &str| {
        let whole = GOOD
            .replacen("rules:\n", "  n: {int: {min: 0, max: 10}}\n  r: {number: {min: 0, max: 1}}\nrules:\n", 1)
            .replace("example: {verdict: pass,", "example: {verdict: pass, n: 2, r: 0.5,");
        let (first, rest) = whole.split_once("  cases:\n").expect("cases");
        let rest = rest.split_once("  findings:").expect("findings").1;
        let cases: String = cases.lines().map(|case| format!("    - {{{case}}}\n")).collect();
        let text = format!("{first}  cases:\n{cases}  findings:{rest}");
        let messages: Vec<String> = read("my.verdict", &text, false).1.into_iter().map(|one| one.message).collect();
        messages
    };
    for whole in [
        "when: {n: {at_least: 5}}, health: ok, verdict: accept\nwhen: {n: {at_most: 4}}, health: ok, verdict: reject",
        "when: {has: findings}, health: ok, verdict: reject\nwhen: {findings: {at_most: 0}}, health: ok, verdict: accept",
        "when: {r: {at_most: 0}}, health: ok, verdict: reject\nhealth: ok, verdict: accept",
        "when: {n: [0, 1, 2]}, health: ok, verdict: reject\nwhen: {n: {at_least: 3}}, health: ok, verdict: accept",
        "when: {r: 0}, health: ok, verdict: reject\nwhen: {not: {r: 0}}, health: ok, verdict: accept",
    ] {
        assert_eq!(with(whole), [""; 0], "{whole}");
    }
    for (partly, missed) in [
        (
            "when: {n: {at_least: 6}}, health: ok, verdict: accept\nwhen: {n: {at_most: 4}}, health: ok, verdict: reject",
            "n: 5",
        ),
        (
            "when: {r: {at_least: 1}}, health: ok, verdict: accept\nwhen: {r: {at_most: 0}}, health: ok, verdict: reject",
            "r: 0.5",
        ),
        (
            "when: {findings: {at_least: 2}}, health: ok, verdict: reject\nwhen: {not: {has: findings}}, health: ok, verdict: accept",
            "findings: 1",
        ),
    ] {
        assert_eq!(with(partly), [format!("no case of the mapping applies to: {missed}")], "{partly}");
    }
    let never = "when: {n: {at_least: 5}}, health: ok, verdict: accept\nwhen: {n: {at_least: 7}}, health: ok, verdict: reject\nhealth: ok";
    assert_eq!(with(never), ["case 2 of the mapping is never reached"]);
}

const FIELDS: &str = "contract: my.c
version: 1
purpose: A test.
form: json
roles: [X, Y, Z]
fields:
  v: {one_of: [a, b]}
  l: {list: text}
  r: {record: {w: {one_of: [a, b]}, n: int}, optional: true}
  o: {number: {}, optional: true}
report:
  cases:
";

fn contract(cases: &[&str]) -> String {
    let cases: String = cases.iter().map(|when| format!("    - {{{when}health: ok}}\n")).collect();
    format!("{FIELDS}{cases}example: {{v: a, l: []}}\n")
}

/// What is said of conditions, each that of one case.
fn said(cases: &[&str]) -> Vec<String> {
    let cases: Vec<String> =
        cases.iter().map(|when| if when.is_empty() { String::new() } else { format!("when: {when}, ") }).collect();
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    let problems = read("my.c", &contract(&cases), false).1;
    assert!(problems.iter().all(|one| one.code == Code::NOT_MAPPED), "{cases:?}: {problems:?}");
    problems.into_iter().map(|one| one.message).collect()
}

/// Who reports may be unknown: neither a condition on the role nor its opposite holds then.
#[test]
fn a_report_without_a_role_needs_a_case() {
    let nobody = "no case of the mapping applies to: by: (none)";
    for cases in [
        &["{by: X}", "{not: {by: X}}"][..],
        &["{any: [{by: X}, {not: {by: X}}]}"],
        &["{by: [X, Y]}", "{not: {by: [X, Y]}}"],
        &["{by: X}", "{by: Y}", "{by: Z}"],
    ] {
        assert_eq!(said(cases), [nobody], "{cases:?}");
    }
    assert_eq!(said(&["{v: b}", "{all: [{v: a}, {by: X}]}", "{all: [{v: a}, {not: {by: X}}]}"]).len(), 1);
    let asks_each = ["{every: l, is: {by: X}}", "{not: {every: l, is: {by: X}}}"];
    assert_eq!(said(&asks_each), ["no case of the mapping need apply: each of their conditions may fail"]);
    for whole in [
        &["{by: X}", "{not: {by: X}}", ""][..],
        &["{by: [X, Y]}", "{not: {by: [X, Y]}}", ""],
        &["{by: [X, Y, Z]}", "{not: {by: [X, Y, Z]}}", ""],
        &["{any: [{by: X}, {v: a}]}", "{v: b}"],
    ] {
        assert_eq!(said(whole), [""; 0], "{whole:?}");
    }
}

#[test]
fn opposites_are_known_as_such() {
    for whole in [
        &["{some: l, is: {it: a}}", "{none: l, is: {it: a}}"][..],
        &["{every: l, is: {it: a}}", "{some: l, is: {not: {it: a}}}"],
        &["{every: l, is: {not: {it: a}}}", "{some: l, is: {it: a}}"],
        &["{every: l, is: {it: a}}", "{not: {every: l, is: {it: a}}}"],
        &["{r.w: a}", "{r.w: b}", "{not: {has: r}}"],
        &["{r.n: {at_least: -3}}", "{r.n: {at_most: -4}}", "{not: {has: r}}"],
    ] {
        assert_eq!(said(whole), [""; 0], "{whole:?}");
    }
    for partly in [
        &["{some: l, is: {it: a}}", "{none: l, is: {it: b}}"][..],
        &["{some: l, is: {it: a}}", "{every: l, is: {it: a}}"],
        &["{some: l, where: {it: b}, is: {it: a}}", "{none: l, is: {it: a}}"],
    ] {
        assert_eq!(
            said(partly),
            ["no case of the mapping need apply: each of their conditions may fail"],
            "{partly:?}"
        );
    }
    assert_eq!(said(&["{r.w: a}", "{not: {has: r}}"]), ["no case of the mapping applies to: r.w: b"]);
    assert_eq!(
        said(&["{not: {has: o}}", "{o: {at_least: 0}}", "{o: {at_most: -1}}"]),
        ["no case of the mapping applies to: o: -0.5"]
    );
}

/// Five scores and a verdict: more combinations than are tried.
const MANY: &str = "contract: my.c
version: 1
purpose: A test.
form: json
fields:
  verdict: {one_of: [pass, fail, defer]}
  a: {int: {min: 0, max: 10}}
  b: {int: {min: 0, max: 10}}
  c: {int: {min: 0, max: 10}}
  d: {int: {min: 0, max: 10}}
  e: {int: {min: 0, max: 10}}
report:
  cases:
    - {when: {verdict: pass, a: {at_least: 7}, b: {at_least: 7}, c: {at_least: 7}, d: {at_least: 7}, e: {at_least: 7}}, health: ok, verdict: accept}
    - {when: {verdict: pass}, health: ok, verdict: accept_with_notes}
    - {when: {verdict: fail}, health: ok, verdict: reject}
example: {verdict: pass, a: 8, b: 8, c: 8, d: 8, e: 8}
";

#[test]
fn what_cannot_be_tried_needs_a_last_case() {
    let (definition, problems) = read("my.c", MANY, false);
    assert!(definition.is_none());
    let [one] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!((one.code, one.place.line), (Code::NOT_MAPPED, 16));
    assert!(one.message.contains("more combinations than can be tried"), "{}", one.message);
    assert_eq!(one.hint.as_deref(), Some("add a last case without `when`"));
    let ended = MANY.replace("{when: {verdict: fail}, health", "{health");
    assert_eq!(read("my.c", &ended, false).1, []);
}

/// A definition that was not checked, as none of a repository is.
#[test]
fn a_document_without_a_case_is_never_good() {
    let (definition, problems) = read("my.c", MANY, true);
    assert!(problems.is_empty(), "{problems:?}");
    let own = Defined { definition: definition.expect("a definition") };
    let text =
        |verdict: &str| format!("\n {{\"verdict\": \"{verdict}\", \"a\": 8, \"b\": 8, \"c\": 8, \"d\": 8, \"e\": 8}}");
    for read in [ReportDialect::read, ReportDialect::read_alone] {
        let reading = read(&own, &text("defer"), &Context::default());
        let said: Vec<_> = reading.diagnostics.iter().map(|one| (one.code, one.place.line, one.place.column)).collect();
        assert_eq!((said, reading.report.health), (vec![(Code::NOT_MAPPED, 2, 2)], Health::Malformed));
        let reading = read(&own, &text("fail"), &Context::default());
        assert_eq!((reading.diagnostics.len(), reading.report.health), (0, Health::Ok));
    }
}
