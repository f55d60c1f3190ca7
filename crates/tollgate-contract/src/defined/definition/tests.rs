//! What is wrong with a definition is said where it stands.

mod cases;
mod json_schema;

use super::read;
use crate::Trailing;
use tollgate_core::code::Code;

const GOOD: &str = include_str!("../../../../../docs/contracts/examples/my.verdict.yaml");

fn told(text: &str) -> Vec<(Code, u32, u32)> {
    read("my.verdict", text, false).1.iter().map(|d| (d.code, d.place.line, d.place.column)).collect()
}

/// What is said after one change.
fn after(from: &str, to: &str) -> Vec<(Code, u32, u32)> {
    assert!(GOOD.contains(from), "{from}");
    told(&GOOD.replacen(from, to, 1))
}

#[test]
fn a_sound_definition_is_read() {
    let (read, problems) = read("my.verdict", GOOD, false);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(&*read.expect("a definition").id, "my.verdict@1");
}

#[test]
fn trailing_text_is_noted_or_refused() {
    let trailing = |text: &str| read("my.verdict", text, false).0.map(|read| read.trailing);
    assert_eq!(trailing(GOOD), Some(Trailing::Note));
    let refuses = GOOD.replacen("report:", "trailing: refuse\nreport:", 1);
    assert_eq!(trailing(&refuses), Some(Trailing::Refuse));
    let line = u32::try_from(refuses.lines().position(|line| line.starts_with("trailing")).unwrap()).unwrap() + 1;
    assert_eq!(told(&refuses.replace("refuse\n", "ignore\n")), [(Code::YAML_VALUE, line, 11)]);
    // Without an acceptance there is nothing to refuse it beside.
    assert!(told(&refuses.replace("verdict: accept", "verdict: inconclusive")).contains(&(Code::YAML_VALUE, line, 11)));
}

#[test]
fn each_breach_has_a_code_and_a_place() {
    for (from, to, wrong) in [
        ("purpose:", "purpos:", vec![(Code::YAML_MISSING_KEY, 1, 1), (Code::YAML_UNKNOWN_KEY, 3, 1)]),
        ("contract: my.verdict", "contract: mine", vec![(Code::YAML_VALUE, 1, 11)]),
        ("form: json", "form: toml", vec![(Code::YAML_VALUE, 4, 7)]),
        ("of: short", "of: shorter", vec![(Code::CONTRACT_NAME, 8, 25)]),
        ("{has: findings}", "{has: finding}", vec![(Code::CONTRACT_NAME, 12, 17)]),
        ("when: {verdict: fail}", "when: {verdict: failed}", vec![(Code::CONTRACT_NAME, 11, 21)]),
        ("{has: findings}", "{verdict: [pass, fail]}", vec![(Code::RULE_IDLE, 10, 3)]),
        ("{has: findings}", "{verdict: pass}", vec![(Code::RULE_IDLE, 10, 3)]),
        ("when: {verdict: fail}", "when: {all: [{verdict: fail}, {verdict: pass}]}", vec![(Code::RULE_IDLE, 10, 3)]),
        ("{has: findings}", "{check: recommends-an-option}", vec![(Code::CONTRACT_NAME, 12, 19)]),
        ("{has: findings}", "{every: findings, is: {it: x}, wher: {it: y}}", vec![(Code::YAML_UNKNOWN_KEY, 12, 42)]),
        ("    - {when: {verdict: fail}, health: ok, verdict: reject}\n", "", vec![(Code::NOT_MAPPED, 19, 7)]),
        ("{when: {verdict: pass}, health", "{health", vec![(Code::NOT_MAPPED, 20, 7)]),
        ("verdict: reject}", "verdict: rejected}", vec![(Code::YAML_VALUE, 20, 52)]),
        ("one_of: [pass, fail]", "one_of: []", vec![(Code::YAML_VALUE, 7, 21)]),
        ("one_of: [pass, fail]", "either: []", vec![(Code::YAML_VALUE, 7, 21)]),
        ("one_of: [pass, fail]", "either: [text]", vec![(Code::YAML_VALUE, 7, 22)]),
        ("one_of: [pass, fail]", "const: true", vec![(Code::YAML_VALUE, 7, 20)]),
        ("{text: {max: 20}}", "{text: {max: 20, like: []}}", vec![(Code::YAML_VALUE, 5, 39)]),
        ("what: it}", "what: []}", vec![(Code::YAML_VALUE, 21, 37)]),
        ("form: json", "form: []", vec![(Code::YAML_VALUE, 4, 7)]),
        ("what: it}", "what: summary}", vec![(Code::CONTRACT_NAME, 21, 37)]),
        ("example: {verdict: pass", "example: {verdict: passed", vec![(Code::CONTRACT_EXAMPLE, 22, 10); 1]),
        ("bad: {set: {findings: []}}", "bad: {set: {verdict: pass}}", vec![(Code::CONTRACT_EXAMPLE, 16, 10)]),
        ("bad: {set: {findings: []}}", "bad: {set: {finding: []}}", vec![(Code::CONTRACT_NAME, 16, 17)]),
        ("one_of: [pass, fail]", "one_of: [pass, fail], text: {}", vec![(Code::YAML_VALUE, 7, 12)]),
        ("one_of: [pass, fail]", "one_of: [pass, fail, pass]", vec![(Code::YAML_VALUE, 7, 34)]),
        ("one_of: [pass, fail]", "one_of: [pass, fail, Fail]", vec![(Code::YAML_VALUE, 7, 34)]),
        ("health: ok, verdict: reject", "health: failed, verdict: accept", vec![(Code::YAML_VALUE, 20, 7)]),
        ("one_of: [pass, fail],", "one_of: [pass, fail], checked: true,", vec![(Code::YAML_VALUE, 1, 1)]),
        ("form: json", "form: json\nroles: [A, B, A]", vec![(Code::YAML_VALUE, 5, 15)]),
        ("what: it}", "what: it, severity: it}", vec![(Code::YAML_VALUE, 21, 51)]),
        (
            "  cases:\n    - {when: {verdict: pass}, health: ok, verdict: accept}\n    - {when: {verdict: fail}, health: ok, verdict: reject}\n",
            "  cases: []\n",
            vec![(Code::NOT_MAPPED, 18, 10)],
        ),
    ] {
        let found = after(from, to);
        assert!(wrong.iter().all(|wrong| found.contains(wrong)), "{from} → {to}: {found:?}");
        assert!(!found.is_empty(), "{from} → {to}");
    }
    assert_eq!(after("of: short", "of: shorter").len(), 1, "one mistake, one error");
    for wrong in ["{findings: {at_least: 3, at_most: 1}}", "{verdict: {begins: f, holds: ai}}"] {
        let found = after("{has: findings}", wrong);
        assert_eq!(found.first().map(|one| one.0), Some(Code::YAML_VALUE), "{wrong}: {found:?}");
    }
    assert_eq!(told("a: [1"), [(Code::YAML_SYNTAX, 1, 6)]);
}

/// A list of nothing asks nothing: what it stands in would be passed over.
#[test]
fn a_condition_that_asks_nothing_is_refused() {
    for (empty, column) in [
        ("{}", 11),
        ("{any: []}", 17),
        ("{all: []}", 17),
        ("{verdict: []}", 21),
        ("{by: []}", 16),
        ("{has: []}", 17),
        ("{verdict: {begins: []}}", 30),
        ("{not: {any: []}}", 23),
    ] {
        assert_eq!(after("{has: findings}", empty), [(Code::YAML_VALUE, 12, column)], "{empty}");
        assert_eq!(
            after("when: {verdict: pass}", &format!("when: {empty}")),
            [(Code::YAML_VALUE, 19, column + 3)],
            "{empty}"
        );
    }
}

/// Bounds are whole numbers: of numbers also below zero, of sizes never.
#[test]
fn bounds_are_whole_numbers() {
    let with = |of: &str| {
        let text = GOOD
            .replacen("rules:\n", &format!("  n: {of}\nrules:\n"), 1)
            .replace("example: {verdict: pass,", "example: {verdict: pass, n: -2,");
        told(&text)
    };
    assert_eq!(with("{int: {min: -5, max: -1}}"), []);
    assert_eq!(with("{number: {min: -5}}"), []);
    assert!(with("{int: {min: -1}}").contains(&(Code::CONTRACT_EXAMPLE, 23, 10)));
    for (wrong, column) in [
        ("{int: {min: +5}}", 18),
        ("{int: {min: 99999999999999999999}}", 18),
        ("{number: {min: 0.25}}", 21),
        ("{number: {max: 1e3}}", 21),
        ("{text: {min: -1}}", 19),
        ("{list: {of: int, max: -1}}", 28),
    ] {
        assert_eq!(with(wrong), [(Code::YAML_VALUE, 9, column)], "{wrong}");
    }
    let asked = |asked: &str| after("{has: findings}", asked);
    assert_eq!(asked("{findings: {at_least: 0.5}}"), [(Code::YAML_VALUE, 12, 33)], "one mistake, one error");
    assert_eq!(asked("{findings: {count_of: nobody}}"), [(Code::CONTRACT_NAME, 12, 33)], "one mistake, one error");
    assert_eq!(asked("{findings: {at_least: -1}}"), [(Code::RULE_IDLE, 10, 3), (Code::CONTRACT_EXAMPLE, 16, 10)]);
}

const NOTE: &str = "contract: my.note\nversion: 1\npurpose: A note.\nform: markdown\nheading: \"## Note: {title}\"\nfields:\n  title: {text: {}, head: true}\n  kind: {one_of: [a, b], label: Kind}\n  body: {text: {}, section: Body}\nexample: {title: T, kind: a, body: x}\n";

#[test]
fn a_markdown_contract_reads_its_own_example() {
    let told = |text: &str| -> Vec<(Code, u32, u32)> {
        read("my.note", text, false).1.iter().map(|d| (d.code, d.place.line, d.place.column)).collect()
    };
    assert_eq!(told(NOTE), []);
    for (from, to) in [
        ("body: {text: {}, section: Body}", "body: {text: {}, label: Kind}"),
        ("title: {text: {}, head: true}", "title: {text: {}, section: Body}"),
        ("one_of: [a, b], label: Kind", "one_of: [a, b], head: true"),
        ("## Note: {title}", "## Note"),
    ] {
        assert!(NOTE.contains(from), "{from}");
        let found = told(&NOTE.replacen(from, to, 1));
        assert_eq!(found, [(Code::CONTRACT_EXAMPLE, 10, 10)], "{from} → {to}");
    }
    for (from, to) in [
        ("kind:", "n: {int: {min: 5, max: 1}, label: N, optional: true}\n  kind:"),
        ("kind:", "n: {text: {min: 5, max: 1}, label: N, optional: true}\n  kind:"),
        ("kind:", "n: {list: {of: text, min: 5, max: 1}, section: N, optional: true}\n  kind:"),
        ("kind:", "n: {text: {max: 3, like: \"abcdef-{text}\"}, label: N, optional: true}\n  kind:"),
        ("section: Body", "section: \"\""),
        ("section: Body", "section: \"## Body\""),
        ("section: Body", "section: \"Note: x\""),
        ("section: Body", "section: Body, label: B"),
        ("label: Kind", "label: \"Kind:\""),
        ("label: Kind", "label: \"*Kind*\""),
        ("version: 1", "version: 0"),
    ] {
        let found = told(&NOTE.replacen(from, to, 1));
        assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), [Code::YAML_VALUE], "{from} → {to}");
    }
}

#[test]
fn the_hole_of_a_heading_is_a_field() {
    let (_, problems) = read("my.note", &NOTE.replacen("{title}\"", "{titel}\"", 1), false);
    assert_eq!(problems.iter().map(|one| (one.code, one.place.line)).collect::<Vec<_>>(), [(Code::CONTRACT_NAME, 5)]);
}

/// What texts and numbers can be is not tried: an example shows that all that is asked of one can be so together.
#[test]
fn a_rule_that_asks_what_no_document_can_be_is_refused() {
    let fields = "  n: {int: {min: 1, max: 5}}\n  s: {text: {max: 10}}\n  o: {text: {}, optional: true}\nrules:\n";
    let whole = GOOD
        .replacen("rules:\n", fields, 1)
        .replace("example: {verdict: pass,", "example: {verdict: pass, n: 2, s: abc,");
    let (first, rest) = whole.split_once("    good:").expect("a good example");
    let rest = rest.split_once("    bad:").and_then(|(_, rest)| rest.split_once('\n')).expect("a bad example").1;
    let with = |must: &str, good: &str| {
        let first = first.replacen("{has: findings}", must, 1);
        told(&format!("{first}{good}    bad: {{set: {{verdict: fail}}}}\n{rest}"))
    };
    for must in [
        "{all: [{n: {at_least: 4}}, {n: {at_most: 3}}]}",
        "{s: {at_least: 11}}",
        "{s: {begins: abcdefghijklmnop}}",
        "{s: {holds: abcdefghijklmnop}}",
        "{s: abcdefghijklmnop}",
        "{all: [{has: o}, {not: {has: o}}]}",
        "{n: {same_as: s}}",
        "{any: [{n: {at_least: 6}}, {s: {at_least: 11}}]}",
        "{some: findings, is: {it: {at_least: 300}}}",
        "{all: [{some: findings, is: {it: a}}, {none: findings, is: {it: a}}]}",
        "{all: [{s: {begins: abc}}, {s: {begins: abd}}]}",
        "{all: [{s: {begins: abcd}}, {s: {at_most: 3}}]}",
    ] {
        let found = with(must, "");
        assert!(found.iter().any(|one| one.0 == Code::RULE_IDLE), "{must}: {found:?}");
    }
    assert_eq!(with("{has: o}", ""), [], "one thing that can be asked");
    let two = "{all: [{n: {at_least: 3}}, {n: {at_most: 4}}]}";
    assert!(with(two, "").iter().any(|one| one.0 == Code::RULE_IDLE));
    let shown = format!(
        "{}    bad: {{set: {{n: 5}}}}\n{rest}",
        first.replacen("{has: findings}", two, 1) + "    good: {set: {verdict: fail, n: 3}}\n"
    );
    assert_eq!(told(&shown), [], "shown by its good example");
}

#[test]
fn a_definition_that_nests_is_refused_not_followed() {
    let deep = "{list: {of: ".repeat(20) + "text" + &"}}".repeat(20);
    let found = after("{list: {of: short, max: 3}, doc: What speaks against it.}", &deep);
    assert!(found.iter().any(|(code, ..)| *code == Code::YAML_VALUE), "{found:?}");
    let deep = "{not: ".repeat(60) + "{verdict: pass}" + &"}".repeat(60);
    let found = after("{has: findings}", &deep);
    assert!(found.iter().any(|(code, ..)| *code == Code::YAML_VALUE || *code == Code::YAML_REFUSED), "{found:?}");
}
