//! How build-plan looks as a graph. Its table shows what contracts can answer, and is tested with them.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use tollgate_core::protocol::{self, Protocol, render};

fn build_plan() -> Protocol {
    protocol::read(include_str!("../../../protocols/build-plan.yaml")).0.unwrap()
}

#[test]
fn build_plan_as_mermaid() {
    insta::assert_snapshot!(render::mermaid(&build_plan()));
}

#[test]
fn build_plan_as_dot() {
    insta::assert_snapshot!(render::dot(&build_plan()));
}
