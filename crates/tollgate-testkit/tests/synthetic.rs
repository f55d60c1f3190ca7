//! The synthetic protocols are proved like any other.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use tollgate_core::protocol::{Dialects, check, read};
use tollgate_testkit::script::{dialects_text, protocol_text};

#[test]
fn the_synthetic_protocols_check_clean() {
    let (dialects, problems) = Dialects::read(dialects_text());
    assert!(problems.is_empty(), "{problems:#?}");
    for name in ["fan-out", "ledger"] {
        let (protocol, problems) = read(protocol_text(name).unwrap());
        assert!(problems.is_empty(), "{name}: {problems:#?}");
        let breaches = check(&protocol.unwrap(), &dialects);
        assert!(breaches.is_empty(), "{name}: {breaches:#?}");
    }
}
