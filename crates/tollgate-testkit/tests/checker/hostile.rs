//! No input makes the reader or the checks panic, and none takes them long.

use std::fmt::Write;

use proptest::prelude::*;
use tollgate_core::code::Code;
use tollgate_core::protocol;
use tollgate_testkit::sample::full;

use super::shipped::{SHIPPED, dialects, text};

/// Reads and checks; every diagnostic has a message, a code with a page, and a place.
fn survive(text: &str) -> Vec<Code> {
    let (protocol, mut found) = protocol::read(text);
    assert!(protocol.is_some() || !found.is_empty(), "refused without a word");
    found.extend(protocol.map(|protocol| protocol::check(&protocol, dialects())).unwrap_or_default());
    for diagnostic in &found {
        assert!(!diagnostic.message.is_empty() && !diagnostic.code.page().is_empty() && diagnostic.place.line > 0);
    }
    found.into_iter().map(|diagnostic| diagnostic.code).collect()
}

/// The text with a few of its words put where others stood.
fn shuffle(text: &str, swaps: &[(usize, usize)]) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '\n', ',', '{', '}', '[', ']']).collect();
    for (a, b) in swaps {
        let (a, b) = (a % words.len(), b % words.len());
        words.swap(a, b);
    }
    words.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_is_survived(random in "\\PC{0,200}") {
        survive(&random);
    }

    #[test]
    fn random_yaml_is_survived(text in "([a-z]{1,3}: ?|- |[\\[\\]{},&*!'\"#|>?~\n ]|on|flows){0,60}") {
        survive(&text);
    }

    #[test]
    fn a_protocol_cut_short_is_survived(name in prop::sample::select(&SHIPPED[..]), at in 0_usize..20_000) {
        let text = text(name);
        let end = (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        survive(&text[..end]);
    }

    #[test]
    fn a_protocol_with_words_swapped_is_survived(name in prop::sample::select(&SHIPPED[..]), swaps in prop::collection::vec((0_usize..5000, 0_usize..5000), 1..4)) {
        survive(&shuffle(text(name), &swaps));
    }
}

/// A chain of stages, each of which asks, loops and judges.
fn long(stages: usize) -> String {
    let mut text = String::from(
        "protocol: long\nversion: 1\nareas: {code: [\"**\"]}\nroles:\n  coder: {contract: status-block, writes: [code], sees: full}\n\
         asks:\n  q: {ask: {class: clarification, from: report}, on: {answered: back, cancelled: hold}}\n\
         otherwise: {needs_input: q, failed: {to: again, limit: 2, then: q}, exhausted: q, malformed: hold}\nflows:\n  main:\n",
    );
    for i in 0..stages {
        let next = if i + 1 == stages { "done".to_owned() } else { format!("s{}", i + 1) };
        let _ = writeln!(text, "    - {{id: s{i}, dispatch: coder, on: {{ok: {next}}}}}");
    }
    text
}

#[test]
fn two_thousand_stages_are_checked() {
    assert_eq!(survive(&long(2_000)), []);
}

#[test]
fn large_and_deep_inputs_are_refused_soon() {
    let unresolved = long(2_000).replace("ok: s", "ok: t");
    assert!(survive(&unresolved).iter().all(|code| *code == Code::NAME_UNKNOWN));
    for piece in ["[", "{a: ", "- ", "? ", "a: &x ", "\"", "'", "- - ", "a: |\n", "#\n", "[a, ", "a: b: "] {
        let bytes = if full() { 1 << 20 } else { 1 << 16 };
        let count = bytes / piece.len();
        survive(&piece.repeat(count));
    }
    let keys: String = (0..if full() { 60_000 } else { 10_000 }).map(|i| format!("k{i}: 1\n")).collect();
    assert!(survive(&keys).contains(&Code::YAML_UNKNOWN_KEY));
}

/// Flows that each run the next twice would be looked at 2^n times.
#[test]
fn calls_that_double_are_refused() {
    let mut text = String::from(
        "protocol: p\nversion: 1\nflows:\n  main:\n    - {id: m, each: {over: it, flow: f0}, on: {all: done, none: dropped}}\n",
    );
    for i in 0..40 {
        let call = |id: &str, to: &str| {
            format!("    - {{id: {id}, each: {{over: it, flow: f{}}}, on: {{all: {to}, none: dropped}}}}\n", i + 1)
        };
        let _ = write!(text, "  f{i}:\n{}{}", call("a", "b"), call("b", "done"));
    }
    text += "  f40:\n    - {id: a, ask: {class: choice, question: Q, options: {go: Go}}, on: {go: done, cancelled: dropped}}\n";
    assert_eq!(survive(&text), [Code::PROTOCOL_TOO_LARGE]);
}

/// A protocol with so many inputs, each with these values, of which conditions name `a`.
fn with_inputs(count: usize, values: &str) -> String {
    let mut text = String::from("protocol: p\nversion: 1\ninputs:\n");
    for i in 0..count {
        let _ = writeln!(text, "  v{i}: {{one_of: [{values}], required: true}}");
    }
    text += "flows:\n  main:\n";
    for i in 0..count {
        let next = if i + 1 == count { "done".to_owned() } else { format!("s{}", i + 1) };
        let _ = writeln!(
            text,
            "    - {{id: s{i}, when: {{v{i}: a}}, ask: {{class: choice, question: Q, options: {{go: Go}}}}, on: {{go: {next}, cancelled: hold, skipped: {next}}}}}"
        );
    }
    text
}

/// Every further variable multiplies the valuations.
#[test]
fn too_many_combinations_are_refused() {
    assert_eq!(survive(&with_inputs(30, "a, b, c")), [Code::PROTOCOL_TOO_LARGE]);
}

/// Values that no condition names do not.
#[test]
fn values_that_nothing_tells_apart_are_one() {
    let values: Vec<String> = (0..40).map(|i| format!("x{i}")).collect();
    assert_eq!(survive(&with_inputs(6, &format!("a, {}", values.join(", ")))), []);
}
