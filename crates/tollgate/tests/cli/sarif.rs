//! What `contract check --format sarif` prints is SARIF: it is held against the schema of its standard.

use serde_json::Value;

use crate::world::World;

const SCHEMA: &str = include_str!("fixtures/sarif-schema-2.1.0.json");

/// Keywords that say something about the schema and nothing about a value.
const SILENT: [&str; 7] = ["$schema", "$id", "title", "description", "default", "definitions", "format"];

/// Holds a value against a schema; what it breaks, each with its place. A keyword that is not known here is a breach too.
fn breaches(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (keyword, rule) in schema.as_object().into_iter().flatten() {
        let broken = match keyword.as_str() {
            silent if SILENT.contains(&silent) => None,
            "$ref" => {
                let name =
                    rule.as_str().and_then(|name| name.strip_prefix('#')).expect("a reference within the schema");
                found.extend(breaches(root, root.pointer(name).expect("a definition"), value, at));
                None
            }
            "type" => {
                let is = match rule.as_str().expect("one type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    other => panic!("the type {other}"),
                };
                (!is).then(|| format!("is not {rule}"))
            }
            "enum" => (!rule.as_array().unwrap().contains(value)).then(|| format!("is none of {rule}")),
            "required" => {
                let missing = rule.as_array().unwrap().iter().find(|name| value.get(name.as_str().unwrap()).is_none());
                missing.map(|name| format!("has no {name}"))
            }
            "properties" => {
                for (name, inner) in rule.as_object().unwrap() {
                    let part = value.get(name);
                    found
                        .extend(part.into_iter().flat_map(|part| breaches(root, inner, part, &format!("{at}/{name}"))));
                }
                None
            }
            "additionalProperties" => {
                let known = |name: &str| schema["properties"].get(name).is_some();
                let others = value.as_object().into_iter().flatten().filter(|(name, _)| !known(name));
                match rule {
                    Value::Bool(true) => None,
                    Value::Bool(false) => others.map(|(name, _)| format!("may not have `{name}`")).next(),
                    inner => {
                        let inside =
                            others.flat_map(|(name, part)| breaches(root, inner, part, &format!("{at}/{name}")));
                        found.extend(inside.collect::<Vec<_>>());
                        None
                    }
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(breaches(root, rule, item, &format!("{at}/{index}")));
                }
                None
            }
            "minItems" => {
                let few = value.as_array().is_some_and(|items| (items.len() as u64) < rule.as_u64().unwrap());
                few.then(|| format!("has fewer than {rule} items"))
            }
            "uniqueItems" => {
                let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
                let again = items.iter().enumerate().find(|(index, item)| items[..*index].contains(item));
                again.filter(|_| rule == &Value::Bool(true)).map(|(_, item)| format!("has {item} twice"))
            }
            "minimum" => {
                value.as_f64().filter(|n| *n < rule.as_f64().unwrap()).map(|n| format!("is {n}, below {rule}"))
            }
            "maximum" => {
                value.as_f64().filter(|n| *n > rule.as_f64().unwrap()).map(|n| format!("is {n}, above {rule}"))
            }
            "anyOf" | "oneOf" => {
                let fits = |inner: &&Value| breaches(root, inner, value, at).is_empty();
                let count = rule.as_array().unwrap().iter().filter(fits).count();
                let right = if keyword == "oneOf" { count == 1 } else { count > 0 };
                (!right).then(|| format!("fits {count} of {keyword}"))
            }
            // No value that Tollgate writes has a pattern; one that had would have to be looked at here.
            other => Some(format!("is under `{other}`, which nothing checks")),
        };
        found.extend(broken.map(|broken| format!("{at}: {broken}")));
    }
    found
}

fn of_sarif(log: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).expect("a schema");
    breaches(&schema, &schema, log, "")
}

fn checked(world: &World, files: &[&str]) -> Value {
    let words: Vec<&str> = ["contract", "check", "--format", "sarif"].iter().chain(files).copied().collect();
    let output = world.program(&words).output().unwrap();
    serde_json::from_slice(&output.stdout).expect("one JSON value")
}

#[test]
fn what_is_printed_is_sarif() {
    let world = World::new();
    world.write("good.json", r#"{"kind":"wr.loop_control","loopId":"a","decision":"stop"}"#);
    world.write("bad ä.json", r#"{"kind":"wr.loop_control","loopId":"A B","decision":"maybe","x":1}"#);
    world.write("cut.json", r#"{"kind":"wr.loop_control","#);
    world.write("review.md", "## Review: Rejected\n\nno\n");
    for files in [
        &["good.json", "--contract", "wr.loop_control"][..],
        &["bad ä.json", "cut.json", "--contract", "wr.loop_control"],
        &["review.md", "--contract", "decree.review-rejection"],
    ] {
        let log = checked(&world, files);
        assert_eq!(of_sarif(&log), Vec::<String>::new(), "{log:#}");
        let found = log["runs"][0]["results"].as_array().unwrap().len();
        assert_eq!(found == 0, files[0] == "good.json", "{log:#}");
    }
}

#[test]
fn the_schema_would_see_what_is_wrong() {
    let world = World::new();
    world.write("cut.json", r#"{"kind":"#);
    let log = checked(&world, &["cut.json", "--contract", "wr.loop_control"]);
    let damage: [fn(&mut Value); 6] = [
        |log| log["version"] = "2.0".into(),
        |log| log["runs"][0]["tool"] = serde_json::json!({}),
        |log| log["runs"][0]["results"][0]["level"] = "bad".into(),
        |log| log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0.into(),
        |log| log["runs"][0]["results"][0]["message"] = serde_json::json!("text"),
        |log| log["runs"][0]["unknown"] = 1.into(),
    ];
    for damage in damage {
        let mut log = log.clone();
        damage(&mut log);
        assert!(!of_sarif(&log).is_empty(), "{log:#}");
    }
}
