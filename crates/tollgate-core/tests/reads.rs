//! Every built-in protocol and draft is read without a word.

use tollgate_core::protocol;

const ALL: [(&str, &str); 5] = [
    ("build-plan", include_str!("../../../protocols/build-plan.yaml")),
    ("decree", include_str!("drafts/decree.yaml")),
    ("pipeline", include_str!("drafts/pipeline.yaml")),
    ("supervisor", include_str!("drafts/supervisor.yaml")),
    ("team", include_str!("drafts/team.yaml")),
];

#[test]
fn every_protocol_is_read() {
    for (name, text) in ALL {
        let (protocol, diagnostics) = protocol::read(text);
        assert!(diagnostics.is_empty(), "{name}: {diagnostics:#?}");
        assert_eq!(&*protocol.unwrap().name, name);
    }
}
