//! The published JSON Schema of protocols takes what the reader takes, and refuses what it refuses.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use serde_json::{Map, Value};
use tollgate_core::protocol;
use tollgate_core::yaml::{self, Content, Node};

const SHIPPED: [&str; 3] = [
    include_str!("../../../protocols/build-plan.yaml"),
    include_str!("../../../protocols/supervisor.yaml"),
    include_str!("../../../protocols/team.yaml"),
];

/// The YAML tree as JSON, by the core schema of YAML 1.2.
fn json(node: &Node) -> Value {
    match &node.value {
        Content::Seq(items) => Value::Array(items.iter().map(json).collect()),
        Content::Map(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.text.to_string(), json(value))).collect())
        }
        Content::Scalar { text, .. } => match node.plain() {
            Some("true") => Value::Bool(true),
            Some("false") => Value::Bool(false),
            Some(plain) => plain.parse::<i64>().map_or_else(|_| Value::String(plain.into()), Value::from),
            None => Value::String(text.to_string()),
        },
    }
}

/// As much of JSON Schema as the published one uses; any other keyword is an error in the schema.
struct Schema(Value);

impl Schema {
    fn accepts(&self, value: &Value) -> bool {
        self.valid(&self.0, value)
    }

    fn valid(&self, schema: &Value, value: &Value) -> bool {
        let all = |list: &Value, f: &dyn Fn(&Value) -> bool| list.as_array().unwrap().iter().filter(|s| f(s)).count();
        let object = value.as_object();
        let array = value.as_array();
        schema.as_object().unwrap().iter().all(|(keyword, rule)| match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                self.valid(self.0["$defs"].get(name).expect("a definition"), value)
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|t| is(t.as_str().unwrap(), value)),
                one => is(one.as_str().unwrap(), value),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "not" => !self.valid(rule, value),
            "anyOf" => all(rule, &|s| self.valid(s, value)) > 0,
            "oneOf" => all(rule, &|s| self.valid(s, value)) == 1,
            "properties" => object.is_none_or(|o| self.properties(rule.as_object().unwrap(), o)),
            "additionalProperties" => object.is_none_or(|o| {
                let known = schema.get("properties").and_then(Value::as_object);
                let others = o.iter().filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
                others.map(|(_, v)| v).all(|v| *rule != Value::Bool(false) && self.valid(rule, v))
            }),
            "propertyNames" => object.is_none_or(|o| o.keys().all(|k| self.valid(rule, &Value::String(k.clone())))),
            "required" => {
                object.is_none_or(|o| rule.as_array().unwrap().iter().all(|k| o.contains_key(k.as_str().unwrap())))
            }
            "minProperties" => object.is_none_or(|o| o.len() as u64 >= rule.as_u64().unwrap()),
            "maxProperties" => object.is_none_or(|o| o.len() as u64 <= rule.as_u64().unwrap()),
            "items" => array.is_none_or(|items| items.iter().all(|item| self.valid(rule, item))),
            "minItems" => array.is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            "minimum" => value.as_i64().is_none_or(|n| n >= rule.as_i64().unwrap()),
            "minLength" => value.as_str().is_none_or(|s| s.chars().count() as u64 >= rule.as_u64().unwrap()),
            "pattern" => {
                assert_eq!(rule, "^[A-Za-z0-9_-]{1,64}$", "the only pattern this test knows");
                let plain = |s: &str| s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
                value.as_str().is_none_or(|s| plain(s) && (1..=64).contains(&s.len()))
            }
            other => panic!("the schema uses `{other}`, which this test does not know"),
        })
    }

    fn properties(&self, known: &Map<String, Value>, object: &Map<String, Value>) -> bool {
        known.iter().all(|(key, schema)| object.get(key).is_none_or(|value| self.valid(schema, value)))
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        other => panic!("the schema uses the type `{other}`, which this test does not know"),
    }
}

fn schema() -> Schema {
    Schema(serde_json::from_str(include_str!("../../../docs/schemas/protocol.schema.json")).unwrap())
}

#[test]
fn every_protocol_is_accepted() {
    for text in SHIPPED {
        let value = json(&yaml::parse(text).unwrap());
        assert!(schema().accepts(&value), "{}", value["protocol"]);
    }
}

#[test]
fn a_budget_has_one_time_with_its_unit() {
    let read = |budget: &str| {
        let text = SHIPPED[0].replacen("sees: full}", &format!("sees: full, budget: {{{budget}}}}}"), 1);
        let (protocol, problems) = protocol::read(&text);
        let taken = schema().accepts(&json(&yaml::parse(&text).unwrap()));
        assert!(taken || protocol.is_none(), "the schema refuses `{budget}`");
        let messages: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
        protocol.map(|protocol| protocol.roles.values().find_map(|role| role.budget.time_ms)).ok_or(messages)
    };
    assert_eq!(read("time: 90s"), Ok(Some(90_000)));
    assert_eq!((read("minutes: 5"), read("time: 5m")), (Ok(Some(300_000)), Ok(Some(300_000))));
    assert_eq!(read("time: 5"), Err(vec!["this is not a time".to_owned()]));
    assert_eq!(read("time: 0s"), Err(vec!["this is not a time".to_owned()]));
    assert_eq!(read("time: 5m, minutes: 5"), Err(vec!["the budget has both `time` and `minutes`".to_owned()]));
}

/// What the schema refuses the reader refuses too, so nobody is sent to mend what would have run.
#[test]
fn broken_ones_are_refused_by_both() {
    let text = SHIPPED[0];
    let breaks = [
        ("protocol: build-plan", "protocol: [build-plan]"),
        ("version: 1", "version: one"),
        ("version: 1\n", ""),
        ("version: 1\n", "version: 1\nhooks: {}\n"),
        ("one_of: [simple", "some_of: [simple"),
        (
            "complexity: {one_of: [simple, standard, complex], required: true}",
            "complexity: {one_of: [], required: true}",
        ),
        ("  sides:      {list_of", "  si des: {list_of"),
        ("sees: full}", "sees: half}"),
        ("contract: status-block, part", "part"),
        ("part: tester", "part: painter"),
        ("verdicts: [accept, reject]", "verdicts: [accept, maybe]"),
        ("sees: full}", "sees: full, budget: {minutes: 0}}"),
        ("sees: full}", "sees: full, budget: {seconds: 5}}"),
        ("sees: full}", "sees: full, budget: {time: [5m]}}"),
        ("dispatch: devops", "dispach: devops"),
        ("land: run", "land: moon"),
        ("check: [closing]", "check: []"),
        ("class: approval", "class: appraisal"),
        ("trees: own", "trees: mine"),
        ("at_once: 2", "at_once: 0"),
        ("limit: 12", "limit: twelve"),
        ("when: {infra: needed}", "when: {infra: needed, complexity: simple}"),
        ("when: {infra: needed}", "when: needed"),
        ("holds: {judged: reviewer}", "holds: {judged: reviewer, by: anyone}"),
        ("is: [open, answered]}", "be: [open, answered]}"),
        ("mandatory: {run: true}", "mandatory: {all: true}"),
        ("      land: run\n", "      land: run\n      check: [closing]\n"),
        ("  main:\n", "  first:\n"),
    ];
    for (from, to) in breaks {
        assert!(text.contains(from), "build-plan has no `{from}`");
        let broken = text.replacen(from, to, 1);
        let value = json(&yaml::parse(&broken).unwrap());
        assert!(!schema().accepts(&value), "the schema takes `{to}`");
        assert!(protocol::read(&broken).0.is_none(), "the reader takes `{to}`");
    }
}
