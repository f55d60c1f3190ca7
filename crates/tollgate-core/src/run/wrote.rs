//! What a role has changed, as far as its later reports answer for it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::AttemptReported;
use crate::Name;
use crate::report::Health;

/// The paths that a role has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Wrote {
    pub all: BTreeSet<Name>,
    /// Since it last reported that it is done.
    pub unfinished: BTreeSet<Name>,
    /// Those of them that no report was held against.
    pub unclaimed: BTreeSet<Name>,
}

impl Wrote {
    /// Takes in what an attempt changed, and whether its report answers for it.
    pub(super) fn note(&mut self, reported: &AttemptReported) {
        let changed = || reported.changed.iter().map(|change| change.path.clone());
        self.all.extend(changed());
        if reported.health == Health::Ok {
            self.unfinished.clear();
            self.unclaimed.clear();
            return;
        }
        self.unfinished.extend(changed());
        if reported.unclaimed {
            self.unclaimed.extend(changed());
        } else if !reported.changed.is_empty() || !reported.contradictions.is_empty() {
            // A report that changed and named nothing answers for nothing.
            self.unclaimed.clear();
        }
    }
}
