//! Budgets: what may be used, and what was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::UsageSum;

/// One limit of a run, and how much of it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// run, unit or day (UTC, all runs of the state directory together, as last counted).
    pub of: String,
    /// The unit, where it is a unit's; else null.
    pub unit: Option<String>,
    /// time (milliseconds), tokens, cost (billionths of a US dollar) or attempts.
    pub measure: String,
    /// How much may be used; null: a person lifted it.
    pub limit: Option<u64>,
    /// How much is used; where attempts did not tell, at least that.
    pub used: UsageSum,
}
