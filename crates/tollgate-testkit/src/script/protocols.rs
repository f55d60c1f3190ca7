//! The protocols that scripts, tests and the simulator run.

use tollgate_contract::registry::Contracts;
use tollgate_core::protocol::Dialects;
use tollgate_engine::service;

/// A protocol of the kit or of the product, by name.
pub fn protocol_text(name: &str) -> Option<&'static str> {
    match name {
        "build-plan" => Some(include_str!("../../../../protocols/build-plan.yaml")),
        "bare" => Some(include_str!("../../protocols/bare.yaml")),
        "fan-out" => Some(include_str!("../../protocols/fan-out.yaml")),
        "intake" => Some(include_str!("../../protocols/intake.yaml")),
        "ledger" => Some(include_str!("../../protocols/ledger.yaml")),
        "loose-ends" => Some(include_str!("../../protocols/loose-ends.yaml")),
        "outgrown" => Some(include_str!("../../protocols/outgrown.yaml")),
        "supervisor" => Some(include_str!("../../../../protocols/supervisor.yaml")),
        "team" => Some(include_str!("../../../../protocols/team.yaml")),
        "relay" => Some(include_str!("../../protocols/relay.yaml")),
        _ => None,
    }
}

/// What the contracts of the product and the dialect of the synthetic protocols declare.
pub fn dialects() -> Dialects {
    let mut dialects = service::dialects(&Contracts::default());
    dialects.merge(Dialects::read(include_str!("../../protocols/dialects.yaml")).0);
    dialects
}
