//! Fields given as JSON Schema: what is not checked is refused.

use super::{Code, read, told};

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
    let own = crate::defined::Defined { definition: definition.expect("a definition") };
    let judged = |text: &str| {
        let found = own.judge(text, &crate::Context::default());
        found.diagnostics.iter().map(|d| (d.code, d.place.column)).collect::<Vec<_>>()
    };
    assert_eq!(
        judged(r#"{"verdict": "fail", "findings": [{"what": "ab", "line": null, "more": 1}], "note": {"a": 1}}"#),
        []
    );
    assert_eq!(
        judged(r#"{"verdict": "no", "findings": [{"what": "a", "line": 0}], "note": 1, "x": 2}"#),
        [
            (Code::FIELD_WORD, 13),
            (Code::FIELD_LENGTH, 41),
            (Code::FIELD_LENGTH, 54),
            (Code::FIELD_KIND, 67),
            (Code::FIELD_UNKNOWN, 70)
        ]
    );
    let changed = |from: &str, to: &str| told(&BY_SCHEMA.replacen(from, to, 1));
    assert_eq!(changed("minLength: 2", "pattern: \"a+\""), [(Code::YAML_UNKNOWN_KEY, 14, 81)]);
    assert_eq!(changed("type: array", "type: tuple")[0].0, Code::YAML_VALUE);
    assert_eq!(changed("required: [verdict, findings]", "required: [verdict, finding]")[0], (Code::YAML_VALUE, 7, 23));
    assert_eq!(changed("form: json", "form: json\nfields: {}")[0].0, Code::YAML_VALUE);
}

const EXAMPLE: &str = "example: {verdict: pass, findings: [], note: null}";

/// What is said of a contract whose property `note` is described so and is this in the example.
fn with(note: &str, example: &str) -> Vec<(Code, u32, u32)> {
    let text = BY_SCHEMA.replacen("{anyOf: [{type: string}, {type: object}, {type: \"null\"}]}", note, 1);
    told(&text.replacen(EXAMPLE, &format!("example: {{verdict: pass, findings: [], note: {example}}}"), 1))
}

#[test]
fn a_limit_that_nobody_checks_is_refused() {
    for (note, column) in [
        ("{type: object, properties: {a: {type: string}}, additionalProperties: {type: integer}}", 81),
        ("{type: object, properties: {a: {type: string}}, additionalProperties: \"false\"}", 81),
        ("{type: object, properties: {a: {type: string}}, minProperties: 2}", 74),
        ("{type: object, properties: {a: {type: string}}, maxProperties: 2}", 74),
        ("{type: array, items: {type: object, properties: {}, additionalProperties: {type: integer}}}", 85),
        ("{type: object, required: [a]}", 37),
        ("{type: object, required: [], additionalProperties: maybe}", 62),
        ("{type: \"null\"}", 11),
        ("{type: []}", 18),
        ("{anyOf: []}", 19),
        ("{anyOf: [{type: \"null\"}]}", 19),
        ("{anyOf: [{type: string}], oneOf: [{type: integer}]}", 11),
        ("{type: number, minimum: 0.5}", 35),
    ] {
        assert_eq!(with(note, "null"), [(Code::YAML_VALUE, 15, column)], "{note}");
    }
    assert_eq!(with("{type: object, properties: {a: {type: string}}, additionalProperties: {}}", "{a: x, b: 1}"), []);
    assert_eq!(with("{type: object, additionalProperties: {type: integer}, minProperties: 1}", "{a: 1}"), []);
    let closed = "{type: object, additionalProperties: false}";
    assert_eq!(with(closed, "{}"), []);
    assert!(with(closed, "{a: 1}").contains(&(Code::CONTRACT_EXAMPLE, 29, 10)));
}

/// A closed value keeps its kind; what the types cannot say is refused.
#[test]
fn closed_values_keep_their_kind() {
    for (note, good, bad) in [
        ("{enum: [true, false]}", "true", "\"true\""),
        ("{type: boolean, enum: [true, false]}", "false", "null"),
        ("{enum: [1]}", "1", "\"1\""),
        ("{const: 1.5}", "1.5", "0"),
        ("{const: inf}", "inf", "1"),
        ("{enum: [\"1\", \"true\"]}", "\"true\"", "true"),
        ("{enum: [a, 1]}", "1", "\"1\""),
        ("{type: [string, \"null\"], enum: [a, b]}", "a", "null"),
        ("{type: [string, \"null\"], enum: [a, null]}", "null", "b"),
        ("{type: string, enum: [a, null]}", "a", "null"),
        ("{enum: [a, null]}", "null", "b"),
        ("{type: [string, \"null\"], const: a}", "a", "null"),
        ("{type: integer, minimum: -5}", "-5", "-6"),
    ] {
        assert_eq!(with(note, good), [], "{note}: {good}");
        assert!(with(note, bad).contains(&(Code::CONTRACT_EXAMPLE, 29, 10)), "{note}: {bad}");
    }
    for (note, column) in [
        ("{enum: [1, 2]}", 22),
        ("{enum: [true]}", 19),
        ("{const: true}", 19),
        ("{enum: []}", 18),
        ("{enum: [null]}", 18),
        ("{enum: [[a]]}", 19),
        ("{type: integer, enum: [a, b]}", 33),
        ("{type: integer, const: 1.5}", 34),
        ("{type: string, const: 1}", 33),
    ] {
        assert_eq!(with(note, "a"), [(Code::YAML_VALUE, 15, column)], "{note}");
    }
}

#[test]
fn the_schema_of_a_number_says_the_number() {
    let text = BY_SCHEMA.replacen("description: Whether it may pass.}", "description: Well}\n    n: {const: 1.5}", 1);
    let (definition, problems) = read("my.verdict", &text, false);
    assert!(problems.is_empty(), "{problems:?}");
    let schema = crate::defined::schema::schema(&definition.expect("a definition"));
    assert_eq!(schema["properties"]["n"]["const"], 1.5);
}
