//! The shipped protocols and what they are checked against.

use std::sync::LazyLock;

use tollgate_core::protocol::Dialects;
use tollgate_testkit::script;

/// The protocols that Tollgate ships.
pub const SHIPPED: [&str; 3] = ["build-plan", "supervisor", "team"];

static DIALECTS: LazyLock<Dialects> = LazyLock::new(script::dialects);

/// The text of a protocol of the product or of the kit.
pub fn text(name: &str) -> &'static str {
    script::protocol_text(name).unwrap_or_else(|| panic!("no protocol is called `{name}`"))
}

/// What the contracts declare; read once, since the tests check thousands of protocols.
pub fn dialects() -> &'static Dialects {
    &DIALECTS
}
