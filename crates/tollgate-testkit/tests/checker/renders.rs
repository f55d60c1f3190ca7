//! How protocols look as a table, which shows what their contracts can answer.

use tollgate_core::protocol::{self, render};

use super::shipped::{SHIPPED, dialects, text};

#[test]
fn build_plan_as_a_table() {
    let (protocol, _) = protocol::read(text("build-plan"));
    insta::assert_snapshot!(render::table(&protocol.unwrap(), dialects(), 120));
}

/// Every line of the table fits a terminal, and each stage shows each of its outcomes with a route.
#[test]
fn the_table_is_complete_and_fits() {
    for name in SHIPPED {
        let protocol = protocol::read(text(name)).0.unwrap();
        for width in [80, 120] {
            let table = render::table(&protocol, dialects(), width);
            assert!(table.lines().all(|line| line.chars().count() <= width), "{table}");
            assert!(!table.contains("no route"), "{table}");
        }
    }
}
