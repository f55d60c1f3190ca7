//! The same thing in the spellings that agents use.

use super::*;

#[test]
fn a_finding_names_its_place() {
    for (said, expected) in [
        ("`src/a.rs:42` — x", ("src/a.rs", Some(42))),
        ("src/a.rs:42 — x", ("src/a.rs", Some(42))),
        ("`src/a.rs:42-50` — x", ("src/a.rs", Some(42))),
        ("src/a.rs:42:7: x", ("src/a.rs", Some(42))),
        ("`src/a.rs:42:7` — x", ("src/a.rs", Some(42))),
        ("`src/a.rs`:42 — x", ("src/a.rs", Some(42))),
        ("`src/a.rs`: x", ("src/a.rs", None)),
        ("`src/my cart.rs:42` — x", ("src/my cart.rs", Some(42))),
        ("`src/my cart.rs`:42 — x", ("src/my cart.rs", Some(42))),
        ("src/a.rs#L42 — x", ("src/a.rs", Some(42))),
        ("src/a.rs#L42-L50 — x", ("src/a.rs", Some(42))),
    ] {
        let text = complete("REQUEST_CHANGES", &format!("## Findings\n- [major] {said}\n"));
        let reading = read(&text, &role("reviewer"));
        let [finding] = &reading.report.findings[..] else { panic!("{said}: {:?}", reading.report.findings) };
        assert_eq!((finding.path.as_deref().unwrap_or_default(), finding.line), expected, "{said}");
        assert_eq!(finding.what, "x", "{said}");
    }
}

#[test]
fn a_value_of_the_abstract_may_be_bold() {
    let good = complete("n/a", "");
    for (said, expected) in [
        ("verdict: **n/a**", "ok none"),
        ("**verdict:** n/a", "ok none"),
        ("**verdict:** **n/a**", "ok none"),
        ("**verdict: n/a**", "ok none"),
        ("- **verdict**: n/a", "ok none"),
        ("verdict: **n/a", "malformed none\nE 7:1 TG0210"),
        ("Verdict: n/a", "malformed none\nE 7:1 TG0210"),
    ] {
        check(&good.replace("verdict: n/a", said), &role("developer"), expected);
    }
}

#[test]
fn a_mark_may_stand_inside_of_its_row() {
    for line in ["✓ DoD-3 — seen", "**✓ DoD-3** — seen", "(✓) DoD-3 — seen", "[✓] DoD-3 — seen", "✓ **DoD-3** — seen"]
    {
        let reading = read(&complete("n/a", &format!("## DoD coverage\n- {line}\n")), &role("tester"));
        let [row] = &reading.report.criteria[..] else { panic!("{line}: {:?}", reading.report) };
        assert_eq!(&*row.id, "DoD-3", "{line}");
    }
}

#[test]
fn a_range_of_rows_is_no_row() {
    let coverage =
        |line: &str| shown(&read(&complete("n/a", &format!("## DoD coverage\n- ✓ {line}\n")), &role("tester")));
    let refused = coverage("DoD-3 to DoD-5");
    assert!(refused.starts_with("malformed"), "{refused}");
    for range in ["DoD-3..DoD-5", "DoD-3...DoD-5", "DoD-3–DoD-5", "DoD-3 through DoD-5"] {
        assert_eq!(coverage(range), refused, "{range}");
    }
}
