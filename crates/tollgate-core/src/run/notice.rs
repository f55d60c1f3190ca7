//! Notices: what reports left open, as rows of the ledger. A gate can read them; no later report takes one back.

use serde::{Deserialize, Serialize};

use crate::id::{RoleId, UnitId};
use crate::report::Notice;

/// What a report left open, and who said it of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeRow {
    pub notice: Notice,
    pub role: RoleId,
    /// The unit that its author worked on; none: the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<UnitId>,
}

impl NoticeRow {
    /// Whether who works on a unit is shown it: one of that unit, or of the run as a whole. Who works on the run is shown all.
    pub fn is_near(&self, unit: Option<&UnitId>) -> bool {
        unit.is_none() || self.unit.is_none() || self.unit.as_ref() == unit
    }

    /// What `has` may ask of it.
    pub fn parts(&self) -> Vec<&'static str> {
        self.notice.requirement.iter().map(|_| "requirement").collect()
    }
}

/// Keeps what a report leaves open. What its role said of the same subject before is one notice.
pub(super) fn note(rows: &mut Vec<NoticeRow>, said: &[Notice], role: &RoleId, unit: Option<&UnitId>) {
    for notice in said {
        let row = NoticeRow { notice: notice.clone(), role: role.clone(), unit: unit.cloned() };
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
}
