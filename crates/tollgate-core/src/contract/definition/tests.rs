//! What is wrong with a definition is said where it stands.

use super::read;
use crate::code::Code;

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

#[test]
fn a_definition_that_nests_is_refused_not_followed() {
    let deep = "{list: {of: ".repeat(20) + "text" + &"}}".repeat(20);
    let found = after("{list: {of: short, max: 3}, doc: What speaks against it.}", &deep);
    assert!(found.iter().any(|(code, ..)| *code == Code::YAML_VALUE), "{found:?}");
    let deep = "{not: ".repeat(60) + "{verdict: pass}" + &"}".repeat(60);
    let found = after("{has: findings}", &deep);
    assert!(found.iter().any(|(code, ..)| *code == Code::YAML_VALUE || *code == Code::YAML_REFUSED), "{found:?}");
}

const BY_SCHEMA: &str = "contract: my.verdict
version: 1
purpose: A reviewer says whether the change may pass.
form: json
schema:
  type: object
  required: [verdict, findings]
  additionalProperties: false
  properties:
    verdict: {enum: [pass, fail], description: Whether it may pass.}
    findings:
      type: array
      maxItems: 3
      items: {type: object, required: [what], properties: {what: {type: string, minLength: 2}, line: {type: [integer, \"null\"], minimum: 1}}}
    note: {anyOf: [{type: string}, {type: object}, {type: \"null\"}]}
rules:
  fail-says-why:
    when: {verdict: fail}
    must: {has: findings}
    says: the verdict is fail and nothing says why
    fix: add a finding
    good: {set: {verdict: fail, findings: [{what: No test.}]}}
    bad: {set: {findings: []}}
report:
  cases:
    - {when: {verdict: pass}, health: ok, verdict: accept}
    - {health: ok, verdict: reject}
  findings: [{each: findings, what: what, line: line}]
example: {verdict: pass, findings: [], note: null}
";

#[test]
fn fields_can_be_given_as_json_schema() {
    let (definition, problems) = read("my.verdict", BY_SCHEMA, false);
    assert!(problems.is_empty(), "{problems:?}");
    let own = crate::contract::defined::Defined { definition: definition.expect("a definition") };
    let told = |text: &str| {
        let judged = own.judge(text, &crate::contract::Context::default());
        judged.diagnostics.iter().map(|d| (d.code, d.place.column)).collect::<Vec<_>>()
    };
    assert_eq!(
        told(r#"{"verdict": "fail", "findings": [{"what": "ab", "line": null, "more": 1}], "note": {"a": 1}}"#),
        []
    );
    assert_eq!(
        told(r#"{"verdict": "no", "findings": [{"what": "a", "line": 0}], "note": 1, "x": 2}"#),
        [
            (Code::FIELD_WORD, 13),
            (Code::FIELD_LENGTH, 41),
            (Code::FIELD_LENGTH, 54),
            (Code::FIELD_KIND, 67),
            (Code::FIELD_UNKNOWN, 70)
        ]
    );
    let changed = |from: &str, to: &str| self::told(&BY_SCHEMA.replacen(from, to, 1));
    assert_eq!(changed("minLength: 2", "pattern: \"a+\""), [(Code::YAML_UNKNOWN_KEY, 14, 81)]);
    assert_eq!(changed("type: array", "type: tuple")[0].0, Code::YAML_VALUE);
    assert_eq!(changed("required: [verdict, findings]", "required: [verdict, finding]")[0], (Code::YAML_VALUE, 7, 23));
    assert_eq!(changed("form: json", "form: json\nfields: {}")[0].0, Code::YAML_VALUE);
}
