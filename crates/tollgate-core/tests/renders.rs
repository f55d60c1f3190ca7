//! How build-plan looks in each format.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use tollgate_core::protocol::{self, Dialects, Protocol, render};

fn build_plan() -> (Protocol, Dialects) {
    let (protocol, _) = protocol::read(include_str!("../../../protocols/build-plan.yaml"));
    let (dialects, _) = Dialects::read(include_str!("drafts/dialects.yaml"));
    (protocol.unwrap(), dialects)
}

#[test]
fn build_plan_as_a_table() {
    let (protocol, dialects) = build_plan();
    insta::assert_snapshot!(render::table(&protocol, &dialects, 120));
}

#[test]
fn build_plan_as_mermaid() {
    insta::assert_snapshot!(render::mermaid(&build_plan().0));
}

#[test]
fn build_plan_as_dot() {
    insta::assert_snapshot!(render::dot(&build_plan().0));
}

/// Every line of the table fits a terminal, and each stage shows each of its outcomes with a route.
#[test]
fn the_table_is_complete_and_fits() {
    for text in [include_str!("../../../protocols/build-plan.yaml"), include_str!("drafts/team.yaml")] {
        let (protocol, _) = protocol::read(text);
        let (_, dialects) = build_plan();
        let protocol = protocol.unwrap();
        for width in [80, 120] {
            let table = render::table(&protocol, &dialects, width);
            assert!(table.lines().all(|line| line.chars().count() <= width), "{table}");
            assert!(!table.contains("no route"), "{table}");
        }
    }
}
