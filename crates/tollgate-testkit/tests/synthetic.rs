//! The synthetic protocols are proved like any other.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use tollgate_core::protocol::{check, read};
use tollgate_testkit::script::{dialects, play_under, protocol_text};

#[test]
fn the_synthetic_protocols_check_clean() {
    for name in ["fan-out", "intake", "ledger", "outgrown", "relay"] {
        let (protocol, problems) = read(protocol_text(name).unwrap());
        assert!(problems.is_empty(), "{name}: {problems:#?}");
        let breaches = check(&protocol.unwrap(), &dialects());
        assert!(breaches.is_empty(), "{name}: {breaches:#?}");
    }
}

#[test]
fn what_this_build_cannot_run_is_refused_at_the_start() {
    let text = protocol_text("fan-out").unwrap();
    let nested = text.replace("{over: it, flow: verify}", "{over: [x, y], flow: verify, at_once: 1, trees: shared}");
    assert_ne!(nested, text);
    let (_, log) = play_under(&nested, "input width=1 | advance");
    assert_eq!(log.trim(), "! stage `verify` fans out inside a unit's flow, which comes later");
    let base = text.replace("land: run", "land: base");
    let (_, log) = play_under(&base, "input width=1 | advance");
    assert_eq!(log.trim(), "! stage `land` lands on `base`, which comes later");
}

#[test]
fn what_this_build_cannot_run_is_not_refused_where_the_inputs_never_lead_there() {
    let text = protocol_text("fan-out").unwrap();
    let publish = "    - {id: publish, when: {last-look: \"yes\"}, land: base, on: {landed: look, conflict: hold, skipped: look}}\n    - id: look\n";
    let later = text.replace("{accept: look, reject", "{accept: publish, reject").replace("    - id: look\n", publish);
    assert_eq!(later.matches("publish").count(), 2);
    let (_, log) = play_under(&later, "input width=1 | input last-look=no | advance");
    assert!(!log.contains("comes later"), "{log}");
    let (_, log) = play_under(&later, "input width=1 | input last-look=yes | advance");
    assert_eq!(log.trim(), "! stage `publish` lands on `base`, which comes later");
}
