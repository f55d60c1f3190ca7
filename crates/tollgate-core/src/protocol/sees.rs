//! What roles can be shown.

use serde::Serialize;

use crate::Name;

/// What there is to see besides documents and reports.
pub const ITEMS: [&str; 10] =
    ["goal", "project", "unit", "units", "criteria", "findings", "evidence", "change", "decisions", NOTICES];

/// The item that holds what reports left open.
pub const NOTICES: &str = "notices";

/// What a role is shown. Items are names of the closed list, artifacts, or `role.section` (`*.section`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sees {
    Full,
    Only(Vec<Name>),
    AllBut(Vec<Name>),
}
