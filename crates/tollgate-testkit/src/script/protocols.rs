//! The protocols that scripts, tests and the simulator run.

/// A protocol of the kit or of the product, by name.
pub fn protocol_text(name: &str) -> Option<&'static str> {
    match name {
        "build-plan" => Some(include_str!("../../../../protocols/build-plan.yaml")),
        "fan-out" => Some(include_str!("../../protocols/fan-out.yaml")),
        "ledger" => Some(include_str!("../../protocols/ledger.yaml")),
        "outgrown" => Some(include_str!("../../protocols/outgrown.yaml")),
        "relay" => Some(include_str!("../../protocols/relay.yaml")),
        _ => None,
    }
}

/// What the dialect of the synthetic protocols declares.
pub const fn dialects_text() -> &'static str {
    include_str!("../../protocols/dialects.yaml")
}
