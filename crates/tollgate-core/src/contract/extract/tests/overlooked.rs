//! A last report that is almost one: with keys in another case, or inside of another object.

use super::taken_back::report;
use super::*;

fn is_malformed(id: &str, text: &str, unit: Option<&str>) -> bool {
    let context = Context { unit: unit.map(Into::into), ..Context::default() };
    let extraction = found(id, text, &context);
    shown(&extraction).starts_with("malformed none @") && extraction.earlier.is_some()
}

/// Approvals, and what is said behind them without the key that names the contract.
fn pairs() -> [(&'static str, String, String); 3] {
    let worker = report("supervisor.worker-report", "41", "42");
    [
        ("wr.gate_verdict", verdict("approved", WHY), verdict("rejected", WHY)),
        ("supervisor.worker-report", worker.clone(), worker.replacen("\"PASS\"", "\"FAIL\"", 1)),
        ("team.output", report("team.output", "\"OK\"", "\"OK\" "), report("team.output", "\"OK\"", "\"BLOCKED\"")),
    ]
}

/// An object of JSON with other keys at its top.
fn with_keys(object: &str, name: impl Fn(&str) -> Option<String>) -> String {
    let serde_json::Value::Object(object) = serde_json::from_str(object).expect("JSON") else { panic!("an object") };
    let own = object.into_iter().filter_map(|(key, value)| Some((name(&key)?, value)));
    serde_json::Value::Object(own.collect()).to_string()
}

fn title(key: &str) -> String {
    format!("{}{}", key[..1].to_uppercase(), &key[1..])
}

fn nameless(object: &str) -> String {
    with_keys(object, |key| (!matches!(key, "kind" | "schema")).then(|| key.to_owned()))
}

#[test]
fn keys_in_another_case_are_those_of_a_report() {
    for (id, approval, refusal) in pairs() {
        let capital = with_keys(&refusal, |key| Some(title(key)));
        for said in [
            capital.clone(),
            with_keys(&refusal, |key| Some(key.to_uppercase())),
            with_keys(&nameless(&refusal), |key| Some(title(key))),
            capital.replace("\"wr.gate_verdict\"", "\"WR.Gate_Verdict\""),
            capital[..capital.len() - 5].to_owned(),
            capital.replacen('{', "{,", 1),
        ] {
            assert!(
                is_malformed(id, &format!("{approval}\n\nOn reflection:\n\n```json\n{said}\n```\n"), None),
                "{said}"
            );
            assert!(is_malformed(id, &format!("{approval}\n{said}\n"), None), "{said}");
        }
    }
    for (id, approval, said) in [
        ("wr.gate_verdict", verdict("approved", WHY), r#"{"Verdict": "rejected"}"#),
        ("wr.gate_verdict", verdict("approved", WHY), r#"{"VERDICT": "REJECTED", "by": "me", "at": 3}"#),
        ("team.output", report("team.output", "\"OK\"", "\"OK\" "), r#"{"Status": "BLOCKED"}"#),
        ("supervisor.worker-report", report("supervisor.worker-report", "41", "42"), r#"{"Status": "Fail"}"#),
    ] {
        assert!(is_malformed(id, &format!("{approval}\n\n```json\n{said}\n```\n"), None), "{said}");
    }
    let (_, approval, refusal) = &pairs()[0];
    check("wr.gate_verdict", &format!("{approval}\n{{\"Status\": \"failed\", \"Version\": 1}}\n"), "ok accept @1:1");
    let other = with_keys(refusal, |key| Some(title(key)))
        .replace("wr.gate_verdict", "wr.assessment")
        .replace("Rationale", "Why");
    check("wr.gate_verdict", &format!("{approval}\n{other}\n"), "ok accept @1:1");
}

#[test]
fn a_report_inside_of_another_object_is_seen_without_its_name() {
    for (id, approval, refusal) in pairs() {
        let bare = nameless(&refusal);
        let capital = with_keys(&bare, |key| Some(title(key)));
        for said in [
            format!("{{\"report\": {bare}}}"),
            format!("{{\"report\": {capital}}}"),
            format!("{{\"report\": {bare}, \"ok\": true}}"),
            format!("{{\"name\": \"submit\", \"arguments\": {bare}}}"),
            format!("{{\"artifacts\": [{bare}]}}"),
            format!("{{\"artifacts\": [{{\"kind\": \"note\"}}, {bare}]}}"),
            format!("{{\"output\": {{\"result\": {{\"value\": {bare}}}}}}}"),
            format!("{{\"result\": {}}}", quoted(&bare)),
            format!("{{\"result\": {}}}", quoted(&format!("{{\"report\": {bare}}}"))),
            format!("{{\"result\": {}}}", quoted(&format!("So:\n\n```json\n{bare}\n```\n"))),
        ] {
            assert!(
                is_malformed(id, &format!("{approval}\n\nOn reflection:\n\n```json\n{said}\n```\n"), None),
                "{said}"
            );
            // A line of a tool is opened, and what it says may be whole.
            let line = found(id, &format!("{approval}\n{said}\n"), &Context::default());
            assert!(line.found.is_some_and(|found| found.from.line > 1), "{said}");
        }
    }
}

#[test]
fn other_objects_behind_a_report_are_data() {
    let (id, approval, refusal) = &pairs()[0];
    let bare = nameless(refusal);
    let schema = r#"{"properties": {"version": {"type": "number"}, "verdict": {"type": "string"}, "confidence": {"type": "string"}, "rationale": {}}}"#;
    for said in [
        format!("{{\"report\": {}}}", refusal.replace("wr.gate_verdict", "wr.assessment").replace("rationale", "why")),
        format!("{{\"schema\": {schema}}}"),
        format!("{{\"name\": \"submit\", \"parameters\": {schema}}}"),
        r#"{"data": {"verdict": "rejected", "id": 3}}"#.to_owned(),
        r#"{"data": [{"verdict": "rejected", "confidence": "low", "id": 3}]}"#.to_owned(),
        format!("{{\"history\": [{bare}, {}]}}", bare.replace("high", "low")),
        r#"{"id": 3, "verdict": "rejected"}"#.to_owned(),
        r#"{"ok": true, "total": 3, "report": "all is well {here}"}"#.to_owned(),
    ] {
        check(id, &format!("{approval}\n\nThe API says:\n\n```json\n{said}\n```\n"), "ok accept @1:1");
    }
    let prompt = format!("Answer as:\n{{\"report\": {bare}}}\n");
    let context = Context { prompt: Some(prompt.clone()), ..Context::default() };
    check_with(id, &format!("{approval}\n{prompt}"), &context, "ok accept @1:1");
}

#[test]
fn a_unit_that_may_be_the_one_is_not_passed_over() {
    let (id, approval, refusal) = &pairs()[1];
    let named = |unit: &str| refusal.replace("\"U-3\"", &format!("\"{unit}\""));
    for unit in ["work unit U-3", "U-03", "3", "U-4/U-3", "u3-implementer", "U-3-implementer"] {
        assert!(is_malformed(id, &format!("{approval}\n{}\n", named(unit)), Some("U-3")), "{unit}");
    }
    let context = Context { unit: Some("U-3".into()), ..Context::default() };
    for unit in ["U-30", "U-31", "backend-U-4", "U-4 — What U-3 left"] {
        let extraction = found(id, &format!("{approval}\n{}\n", named(unit)), &context);
        assert!(shown(&extraction).starts_with("ok "), "{unit}");
    }
}
