//! What is wrong with a definition is said at its place (`tests/cases.txt`).
//!
//! A script names a sound definition, the example of the page on the language (`verdict`) or a file beside the cases, and has lines
//! `with A => B`, each of which changes it.

use super::read;
use crate::defined::Defined;
use crate::{Context, ReportDialect};
use tollgate_core::code::Code;
use tollgate_core::report::Health;

/// A definition that scripts change.
fn base(name: &str) -> String {
    let file = match name {
        "verdict" => "../../docs/contracts/examples/my.verdict.yaml".to_owned(),
        name => format!("src/defined/definition/tests/{name}.yaml"),
    };
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(&file).unwrap_or_else(|why| panic!("{file:?}: {why}"))
}

/// What is wrong with the definition of a script.
fn answer(script: &str) -> String {
    let name = script.lines().next().unwrap_or_default();
    let (text, _) = crate::cases::changed(&base(name), script);
    let contract = match name {
        "verdict" | "schema" => "my.verdict",
        "note" => "my.note",
        "plan" => "t.plan",
        "asks" => "t.asks",
        _ => "my.c",
    };
    let (read, problems) = read(contract, &text, false);
    let trailing = read.map(|read| format!("sound, trailing text: {:?}", read.trailing));
    trailing.into_iter().chain(problems.iter().map(crate::cases::line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn cases() {
    crate::cases::check("defined/definition/tests/cases.txt", answer);
    assert_eq!(read("my.verdict", "a: [1", false).1[0].code, Code::YAML_SYNTAX);
}

#[test]
fn a_definition_that_nests_is_refused_not_followed() {
    let deep = "{list: {of: ".repeat(20) + "text" + &"}}".repeat(20);
    let after = |from: &str, to: &str| -> Vec<Code> {
        let good = base("verdict");
        assert!(good.contains(from), "{from}");
        read("my.verdict", &good.replacen(from, to, 1), false).1.iter().map(|one| one.code).collect()
    };
    let found = after("{list: {of: short, max: 3}, doc: What speaks against it.}", &deep);
    assert!(found.contains(&Code::YAML_VALUE), "{found:?}");
    let deep = "{not: ".repeat(60) + "{verdict: pass}" + &"}".repeat(60);
    let found = after("{has: findings}", &deep);
    assert!(found.contains(&Code::YAML_VALUE) || found.contains(&Code::YAML_REFUSED), "{found:?}");
}

/// A definition that was not checked, as none of a repository is.
#[test]
fn a_document_without_a_case_is_never_good() {
    let (definition, problems) = read("my.c", &base("many"), true);
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

#[test]
fn fields_can_be_given_as_json_schema() {
    let (definition, problems) = read("my.verdict", &base("schema"), false);
    assert!(problems.is_empty(), "{problems:?}");
    let own = Defined { definition: definition.expect("a definition") };
    let judged = |text: &str| {
        let found = own.judge(text, &Context::default());
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
}

#[test]
fn the_schema_of_a_number_says_the_number() {
    let text =
        base("schema").replacen("description: Whether it may pass.}", "description: Well}\n    n: {const: 1.5}", 1);
    let (definition, problems) = read("my.verdict", &text, false);
    assert!(problems.is_empty(), "{problems:?}");
    let schema = crate::defined::schema::schema(&definition.expect("a definition"));
    assert_eq!(schema["properties"]["n"]["const"], 1.5);
}
