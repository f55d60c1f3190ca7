//! The reader agrees with serde_json on what is JSON and what it says, and knows where it is not.

use proptest::prelude::*;

use super::super::Places;
use super::*;
use tollgate_core::diagnostic::Place;

/// The value in the words of serde_json.
fn value(node: &Node<'_>) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(is) => (*is).into(),
        Value::Number(text) => serde_json::from_str(text).expect("a number"),
        Value::Text(text) => text.as_ref().into(),
        Value::List(items) => items.iter().map(value).collect(),
        Value::Map(entries) => entries
            .iter()
            .map(|entry| (entry.key.to_string(), value(&entry.node)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

fn agrees(text: &str) {
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    match (read(text), theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(value(&ours), theirs, "{text:?}"),
        (Err(fault), Ok(_)) => assert_eq!(fault.code, Code::KEY_TWICE, "{text:?}: {fault:?}"),
        (Ok(ours), Err(error)) => panic!("{text:?} was read as {ours:?}, but {error}"),
        (Err(fault), Err(_)) => assert!(fault.at as usize <= text.len(), "{text:?}: {fault:?}"),
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(|n| serde_json::Number::from_f64(n).map_or(0.into(), Into::into)),
        ".*".prop_map(Into::into),
        "[a-z\\\\\"\u{0}-\u{1f}é€😀]{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 60, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..18).prop_map(Into::into),
            prop::collection::vec(("[a-zé]{0,3}", inner), 0..18)
                .prop_map(|entries| entries.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn what_serde_writes_is_read_the_same(value in json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        agrees(&text.expect("JSON"));
    }

    #[test]
    fn a_damaged_text_is_refused_by_both_or_by_neither(value in json(), at in any::<prop::sample::Index>(), put in "[\\[\\]{},:\"\\\\ue0-9.+tfn \u{1}é-]{0,3}", cut in 0usize..4) {
        let text: Vec<char> = serde_json::to_string(&value).expect("JSON").chars().collect();
        let at = at.index(text.len());
        let damaged: String = text[..at].iter().copied().chain(put.chars()).chain(text[(at + cut).min(text.len())..].iter().copied()).collect();
        agrees(&damaged);
    }

    #[test]
    fn noise_is_refused_by_both_or_by_neither(text in "[\\[\\]{},:\"\\\\ueE0-9.+tfnrusla \n\t-]{0,24}") {
        agrees(&text);
    }
}

#[test]
fn corner_cases_agree() {
    for text in [
        "1e400",
        "-1e400",
        "1e-400",
        "-0",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud83d\\ude00\"",
        "\"\\udc00\"",
        "\"\\u12\"",
        "\"\\x\"",
        "\"\t\"",
        "nul",
        "nulll",
        "[1,]",
        "{\"a\":1,}",
        "{,}",
        "",
        " ",
        "\u{feff}x",
        "1 2",
        "{\"a\" 1}",
        "[",
        "[1",
        "\"",
        "\"\\",
        "\u{a0}1",
        "\u{2028}",
    ] {
        agrees(text);
    }
    for depth in [126, 127, 128, 129] {
        agrees(&("[".repeat(depth) + &"]".repeat(depth)));
    }
    agrees(&"9".repeat(400));
}

/// The code and the place of what is wrong.
fn wrong(text: &str) -> (Code, Place) {
    let fault = read(text).expect_err(text);
    (fault.code, Places::of(text).place(fault.at))
}

#[test]
fn what_is_wrong_has_a_place_in_characters() {
    let at = |line, column| Place { line, column };
    assert_eq!(wrong("{\r\n\t\"é€😀\": 1,\r\n\t\"b\" 2}"), (Code::JSON_SYNTAX, at(3, 6)));
    assert_eq!(wrong("\u{feff}{\"a\": tru}"), (Code::JSON_SYNTAX, at(1, 7)));
    assert_eq!(wrong("{\"a\": 1, \"b\": 2,\n \"a\": 3}"), (Code::KEY_TWICE, at(2, 2)));
    assert_eq!(wrong("{\"a\": [1, 2"), (Code::REPORT_CUT_OFF, at(1, 12)));
    assert_eq!(wrong("Here it is:\n{}"), (Code::TEXT_AROUND, at(1, 1)));
    assert_eq!(wrong("{}\n```"), (Code::TEXT_AROUND, at(2, 1)));
    assert_eq!(wrong(""), (Code::JSON_SYNTAX, at(1, 1)));
    let many: String = (0..40).map(|n| format!("\"k{n}\": 0, ")).collect();
    let fault = read(&format!("{{{many}\"k7\": 1}}")).expect_err("twice");
    assert_eq!((fault.code, fault.other.is_some()), (Code::KEY_TWICE, true));
    assert_eq!(wrong(&"[".repeat(200)), (Code::TEXT_REFUSED, at(1, 128)));
}

/// What is read of a text, and what is wrong with it, each with the byte it stands at.
#[track_caller]
fn reads(text: &str, expected: serde_json::Value, faults: &[(Code, u32)], broken: &[u32]) {
    let parsed = parse(text);
    let told: Vec<_> = parsed.faults.iter().map(|fault| (fault.code, fault.at)).collect();
    assert_eq!(told, faults, "{text}: {:?}", parsed.faults);
    assert_eq!(parsed.node.as_ref().map_or(serde_json::Value::Null, value), expected, "{text}");
    assert_eq!(parsed.broken, broken, "{text}");
}

#[test]
fn one_mistake_is_one_fault_and_reading_goes_on() {
    use serde_json::json;
    let syntax = Code::JSON_SYNTAX;
    reads(
        r#"{"a": [1, 2,], "b": {"c": 3,},}"#,
        json!({"a": [1, 2], "b": {"c": 3}}),
        &[(syntax, 12), (syntax, 28), (syntax, 30)],
        &[],
    );
    reads(
        r#"{"a": True, "b": None, "c": yes, "d": 1}"#,
        json!({"a": true, "b": null, "c": null, "d": 1}),
        &[(syntax, 6), (syntax, 17), (syntax, 28)],
        &[17, 28],
    );
    reads(
        r#"{'a': 'x', "b": 'y', c: 1, d: 2}"#,
        json!({"a": "x", "b": "y", "c": 1, "d": 2}),
        &[(syntax, 1), (syntax, 21)],
        &[],
    );
    reads("{\"a\": 1, // one\n /* two */ \"b\": 2}", json!({"a": 1, "b": 2}), &[(syntax, 9)], &[]);
    let escapes = "{\"a\": \"x\ty\", \"b\": \"\\d\", \"c\": \"\\ud800\"}";
    reads(escapes, json!({"a": "x\ty", "b": "d", "c": "ud800"}), &[(syntax, 8), (syntax, 19), (syntax, 30)], &[18, 29]);
    reads(
        r#"{"a": 1 "b": [1 2], "a": 3, "d": 4}"#,
        json!({"a": 1, "b": [1, 2], "d": 4}),
        &[(syntax, 8), (syntax, 16), (Code::KEY_TWICE, 20)],
        &[],
    );
    reads(
        r#"{"a": , "b": 007, "c": [1,,2], "d": 1.}"#,
        json!({"a": null, "b": null, "c": [1, 2], "d": null}),
        &[(syntax, 6), (syntax, 13), (syntax, 26), (syntax, 38)],
        &[6, 13, 36],
    );
    reads("{\"a\": \"x\r\ny\"}", json!({"a": "x\r\ny"}), &[(syntax, 8)], &[]);
    reads(r#"{"a": 1} {"a": 2}"#, json!({"a": 1}), &[(Code::SECOND_DOCUMENT, 9)], &[]);
    reads(r#"{"a": 1}."#, json!({"a": 1}), &[(Code::TEXT_AROUND, 8)], &[]);
}

#[test]
fn what_cannot_be_told_ends_reading_and_is_no_second_mistake() {
    use serde_json::json;
    let syntax = Code::JSON_SYNTAX;
    reads(r#"{"a": 1, "b": [1, {"c": "x"#, json!({"a": 1, "b": [1, {}]}), &[(Code::REPORT_CUT_OFF, 26)], &[18, 14, 0]);
    reads(r#"{"a": "he said "no" to it", "b": 1}"#, json!({"a": "he said "}), &[(syntax, 16)], &[0]);
    reads("{\"a\": \"open,\n \"b\": 1}", json!({"a": "open,\n "}), &[(syntax, 12)], &[0]);
    reads(r#"{"a": 'don't', "b": 1}"#, json!({"a": "don"}), &[(syntax, 6)], &[0]);
    reads(r#"{"a": [1}, "b": 2}"#, json!({"a": [1]}), &[(syntax, 8)], &[6, 0]);
    reads("Words.", json!(null), &[(Code::TEXT_AROUND, 0)], &[]);
    let many = format!("[{}", "True, ".repeat(80));
    assert!(parse(&many).faults.len() <= FAULTS_MAX + 1);
}

#[test]
fn each_line_is_read_by_itself() {
    let lines = parse_lines("{\"a\": 1}\r\n\n{\"a\": }\n[2]\n{\"b\"");
    let list = lines.node.expect("a list");
    assert_eq!(list.list().expect("a list").len(), 4);
    let told: Vec<_> = lines.faults.iter().map(|fault| (fault.code, fault.at)).collect();
    assert_eq!(told, [(Code::JSON_SYNTAX, 17), (Code::REPORT_CUT_OFF, 27)]);
    assert_eq!(list.list().expect("a list")[2].at, 19);
    assert_eq!(lines.broken, [17, 23], "a value and the end of a line are not there");
}

#[test]
fn a_value_that_says_the_same_is_the_same() {
    let same = |a: &str, b: &str| read(a).expect("JSON").same(&read(b).expect("JSON"));
    assert!(same("{\"a\": 1, \"b\": [1.0, null]}", "{\"b\": [1, null], \"a\": 1}"));
    for (a, b) in
        [("[1]", "[1, 1]"), ("{\"a\": 1}", "{\"b\": 1}"), ("1", "\"1\""), ("{\"a\":1,\"b\":1}", "{\"a\":1,\"c\":1}")]
    {
        assert!(!same(a, b), "{a} {b}");
    }
}
