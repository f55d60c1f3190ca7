//! Every built-in protocol and draft is read and checked without a word.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use tollgate_core::protocol::{self, Dialects};

const ALL: [(&str, &str); 5] = [
    ("build-plan", include_str!("../../../protocols/build-plan.yaml")),
    ("decree", include_str!("drafts/decree.yaml")),
    ("pipeline", include_str!("drafts/pipeline.yaml")),
    ("supervisor", include_str!("drafts/supervisor.yaml")),
    ("team", include_str!("drafts/team.yaml")),
];

#[test]
fn every_protocol_is_clean() {
    let (dialects, problems) = Dialects::read(include_str!("drafts/dialects.yaml"));
    assert!(problems.is_empty(), "{problems:#?}");
    for (name, text) in ALL {
        let (protocol, read) = protocol::read(text);
        let protocol = protocol.unwrap_or_else(|| panic!("{name}: {read:#?}"));
        assert!(read.is_empty(), "{name}: {read:#?}");
        assert_eq!(&*protocol.name, name);
        let start = std::time::Instant::now();
        let found = protocol::check(&protocol, &dialects);
        println!("{name}: checked in {:?}", start.elapsed());
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

/// A built-in protocol needs no declarations but those of the dialects that are built in.
#[test]
fn the_built_in_protocol_needs_no_file_of_dialects() {
    let mut dialects = Dialects::default();
    for (name, declaration) in tollgate_core::contract::registry::declarations() {
        dialects.add(&name, declaration);
    }
    let (protocol, _) = protocol::read(ALL[0].1);
    assert_eq!(protocol::check(&protocol.unwrap(), &dialects), []);
}
