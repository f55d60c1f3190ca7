//! Where a finding stands: in the run's tree, and in each tree that a unit has of its own.
//!
//! Whoever judges says something of the tree that was judged, and of no other. A unit's own tree begins with what stands in the run's;
//! when it lands, what stands in it is taken over. One that never lands takes nothing with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::event::{Finding, FindingStatus, TreeOf};
use crate::id::UnitId;

/// A finding and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingState {
    pub about: Finding,
    /// Where it stands in the run's tree.
    pub status: FindingStatus,
    /// Where it stands in the trees that units it goes to have of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub apart: BTreeMap<UnitId, Apart>,
    /// The units that did their part in the run's tree; it is addressed there when all it goes to have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub addressed: BTreeSet<UnitId>,
    /// The units that are done and left it as it is: whoever found it judges it again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left: BTreeSet<UnitId>,
}

/// Where a finding stands in a unit's own tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart {
    pub status: FindingStatus,
    /// Whether it was found in the run's tree since this one was made. What is said of this one settles nothing there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_run: bool,
}

impl FindingState {
    /// One that was just found in a tree. What is found in a unit's may lie in what was there before: it stands in the run's, too.
    pub(super) fn open(about: Finding, tree: Option<&TreeOf>, apart: impl Fn(&UnitId) -> bool) -> Self {
        let status = FindingStatus::Open;
        let own = Apart { status, in_run: tree == Some(&TreeOf::Run) };
        let apart = about.units.iter().filter(|unit| apart(unit)).map(|unit| (unit.clone(), own)).collect();
        let (addressed, left) = Default::default();
        Self { about, status, apart, addressed, left }
    }

    /// Whether a command of a row found it, which nobody's word closes.
    pub const fn is_of_command(&self) -> bool {
        self.about.role.is_none() && self.about.of.is_none() && self.about.criterion.is_some()
    }

    /// Where it stands in the tree of a subject.
    pub fn status_in(&self, unit: Option<&UnitId>) -> FindingStatus {
        unit.and_then(|unit| self.apart.get(unit)).map_or(self.status, |own| own.status)
    }

    /// Where it stands for a subject: what a unit has addressed or left is not open for it any more, though it is for others.
    pub fn status_for(&self, unit: Option<&UnitId>) -> FindingStatus {
        match (self.status_in(unit), unit) {
            (FindingStatus::Open, Some(unit)) if self.addressed.contains(unit) || self.left.contains(unit) => {
                FindingStatus::Addressed
            }
            (status, _) => status,
        }
    }

    /// Whether it was found in the run's tree since a unit's own was made.
    pub(super) fn is_runs(&self, unit: Option<&UnitId>) -> bool {
        unit.and_then(|unit| self.apart.get(unit)).is_some_and(|own| own.in_run)
    }

    /// Whether it stands so already, in one tree or in all.
    pub(super) fn stands(&self, status: FindingStatus, tree: Option<&TreeOf>) -> bool {
        let untouched = |unit: &UnitId| !self.addressed.contains(unit) && !self.left.contains(unit);
        let open = status == FindingStatus::Open;
        let own = |(unit, own): (&UnitId, &Apart)| own.status == status && (!open || untouched(unit));
        let in_run = self.status == status && (!open || self.addressed.is_empty() && self.left.is_empty());
        match tree {
            Some(TreeOf::Unit(unit)) => self.apart.get_key_value(unit).is_none_or(own),
            Some(TreeOf::Run) => in_run,
            None => in_run && self.apart.iter().all(own),
        }
    }

    /// Whether it was found in a tree, as far as it matters elsewhere: who has a tree of its own from before does not see it there.
    pub(super) fn is_found(&self, tree: Option<&TreeOf>) -> bool {
        let known = tree != Some(&TreeOf::Run) || self.apart.values().all(|own| own.in_run);
        known && self.stands(FindingStatus::Open, tree)
    }

    /// It stands otherwise in one tree, or in all of them. Where it is open again, all it goes to have to look at it again.
    pub(super) fn set(&mut self, status: FindingStatus, tree: Option<&TreeOf>) {
        let open = status == FindingStatus::Open;
        for (unit, own) in &mut self.apart {
            if tree.is_none_or(|tree| matches!(tree, TreeOf::Unit(name) if name == unit)) {
                own.status = status;
                if open {
                    self.addressed.remove(unit);
                    self.left.remove(unit);
                }
            }
            own.in_run |= open && tree == Some(&TreeOf::Run);
        }
        if !matches!(tree, Some(TreeOf::Unit(_))) {
            self.status = status;
            if open {
                self.addressed.clear();
                self.left.clear();
            }
        }
    }

    /// A unit did its part, in its own tree or in the run's.
    pub(super) fn address(&mut self, unit: &UnitId, gone: impl Fn(&UnitId) -> bool) {
        match self.apart.get_mut(unit) {
            Some(own) => own.status = FindingStatus::Addressed,
            None => drop(self.addressed.insert(unit.clone())),
        }
        self.sum_up(gone);
    }

    /// A unit is done, and left it as it is.
    pub(super) fn leave(&mut self, unit: &UnitId, gone: impl Fn(&UnitId) -> bool) {
        self.left.insert(unit.clone());
        self.sum_up(gone);
    }

    /// What all units it goes to did or left in the run's tree, and some did, is addressed there.
    fn sum_up(&mut self, gone: impl Fn(&UnitId) -> bool) {
        let done = |unit: &UnitId| {
            let part = self.addressed.contains(unit) || self.left.contains(unit);
            part && !self.apart.contains_key(unit) || gone(unit)
        };
        let some = self.addressed.iter().any(|unit| !self.apart.contains_key(unit));
        if self.status == FindingStatus::Open && some && self.about.units.iter().all(done) {
            self.status = FindingStatus::Addressed;
        }
    }

    /// A unit begins in a tree of its own, with what stands in the run's.
    pub(super) fn part(&mut self, unit: &UnitId) {
        if self.about.units.contains(unit) {
            self.left.remove(unit);
            self.apart.insert(unit.clone(), Apart { status: self.status, in_run: false });
        }
    }

    /// A unit's tree has the run's in it now, with all that was found there since it was made. What is not settled in both is not settled.
    pub(super) fn meet(&mut self, unit: &UnitId) {
        let Some(own) = self.apart.get_mut(unit).filter(|own| own.in_run) else { return };
        let rank = |status: FindingStatus| (status.is_closed(), status != FindingStatus::Open);
        let status = if rank(own.status) < rank(self.status) { own.status } else { self.status };
        *own = Apart { status, in_run: false };
    }

    /// A unit's tree is the run's now, and what stands in it. What nobody has settled there is open, whatever was settled without it.
    /// Whether it stands otherwise in the run's tree now.
    pub(super) fn join(&mut self, unit: &UnitId, gone: impl Fn(&UnitId) -> bool) -> bool {
        let Some(own) = self.apart.remove(unit) else { return false };
        let before = self.status;
        let alone = self.about.units.iter().all(|name| name == unit);
        match own.status {
            // What was found in the run's tree since is not looked at in the unit's, whoever worked there.
            _ if own.in_run && !self.status.is_closed() => drop(self.left.remove(unit)),
            FindingStatus::Open => self.status = own.status,
            FindingStatus::Addressed => {
                if self.status.is_closed() {
                    self.status = FindingStatus::Open;
                }
                self.addressed.insert(unit.clone());
            }
            FindingStatus::Fixed | FindingStatus::Refuted | FindingStatus::Waived if alone => self.status = own.status,
            FindingStatus::Fixed | FindingStatus::Refuted | FindingStatus::Waived => {}
        }
        self.sum_up(gone);
        self.status != before
    }

    /// A unit was given up, and its tree with it.
    pub(super) fn forget(&mut self, unit: &UnitId) {
        if self.apart.remove(unit).is_some() {
            self.left.remove(unit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::AttemptId;

    use FindingStatus::{Addressed, Fixed, Open, Waived};

    fn found(units: &[&str], apart: &[&str]) -> FindingState {
        let about = Finding {
            role: None,
            of: None,
            attempt: AttemptId(1),
            units: units.iter().map(|unit| UnitId::from(*unit)).collect(),
            criterion: None,
            severity: None,
            category: None,
            path: None,
            line: None,
            what: "it leaks".to_owned(),
            why: String::new(),
            fix: String::new(),
        };
        FindingState::open(about, Some(&in_tree("a")), |unit| apart.contains(&&**unit))
    }

    fn name(unit: &str) -> UnitId {
        UnitId::from(unit)
    }

    fn in_tree(unit: &str) -> TreeOf {
        TreeOf::Unit(name(unit))
    }

    fn nobody(_: &UnitId) -> bool {
        false
    }

    /// What is said of one tree stands in no other.
    #[test]
    fn a_word_counts_for_the_tree_it_was_said_of() {
        let mut finding = found(&["a"], &["a"]);
        finding.set(Fixed, Some(&TreeOf::Run));
        assert_eq!((finding.status, finding.status_in(Some(&name("a")))), (Fixed, Open));
        finding.set(Open, Some(&TreeOf::Run));
        finding.set(Fixed, Some(&in_tree("a")));
        assert_eq!((finding.status, finding.status_in(Some(&name("a")))), (Open, Fixed));
        assert!(finding.stands(Fixed, Some(&in_tree("a"))) && !finding.stands(Fixed, None));
        finding.set(Waived, None);
        assert_eq!((finding.status, finding.status_in(Some(&name("a")))), (Waived, Waived));
    }

    /// What stands in a tree is taken over when it lands: what is open there, too.
    #[test]
    fn what_stands_in_a_tree_lands_with_it() {
        for (in_run, own, then) in [
            (Open, Fixed, Fixed),
            (Fixed, Open, Open),
            (Addressed, Open, Open),
            (Fixed, Addressed, Addressed),
            (Open, Addressed, Addressed),
            (Open, Waived, Waived),
        ] {
            let mut finding = found(&["a"], &["a"]);
            // As it was opened, nobody has found it in the run's tree by itself.
            if in_run != Open {
                finding.set(in_run, Some(&TreeOf::Run));
            }
            finding.set(own, Some(&in_tree("a")));
            let moves = finding.join(&name("a"), nobody);
            assert_eq!((finding.status, moves), (then, in_run != then), "{in_run:?} joined by {own:?}");
            assert!(finding.apart.is_empty());
        }
    }

    /// What was found in the run's tree since the unit's was made is settled by nothing that is said of the unit's.
    #[test]
    fn what_was_found_in_the_run_s_tree_since_is_not_settled_by_a_landing() {
        for own in [Addressed, Fixed, Waived] {
            let mut finding = found(&["a"], &["a"]);
            finding.set(own, Some(&in_tree("a")));
            assert!(!finding.is_found(Some(&TreeOf::Run)), "it was not, in this tree");
            finding.set(Open, Some(&TreeOf::Run));
            assert!(finding.is_found(Some(&TreeOf::Run)));
            finding.join(&name("a"), nobody);
            assert_eq!((finding.status, finding.status_for(Some(&name("a")))), (Open, Open), "{own:?}");
        }
        // That somebody says to have mended it in the run's tree is no judgement of it either.
        let mut finding = found(&["a"], &["a"]);
        finding.set(Open, Some(&TreeOf::Run));
        finding.set(Addressed, Some(&TreeOf::Run));
        finding.set(Fixed, Some(&in_tree("a")));
        finding.join(&name("a"), nobody);
        assert_eq!(finding.status, Addressed);
        // Opened again by all, it has to be looked at again by all.
        let mut finding = found(&["a", "b"], &[]);
        finding.address(&name("a"), nobody);
        finding.part(&name("a"));
        finding.set(Open, Some(&TreeOf::Run));
        assert_eq!(finding.status_for(Some(&name("a"))), Open);
    }

    /// Where the run's tree comes into a unit's, so does what was found in it, and can be settled there.
    #[test]
    fn what_was_found_in_the_run_s_tree_comes_with_it() {
        for (in_run, own, then) in [
            (Open, Waived, Open),
            (Addressed, Fixed, Addressed),
            (Fixed, Waived, Fixed),
            // What was found in the unit's, too, is not settled by what was done to the run's.
            (Fixed, Open, Open),
            (Fixed, Addressed, Addressed),
            (Addressed, Open, Open),
            (Open, Addressed, Open),
        ] {
            let mut finding = found(&["a"], &["a"]);
            finding.set(Open, Some(&TreeOf::Run));
            finding.set(in_run, Some(&TreeOf::Run));
            finding.set(own, Some(&in_tree("a")));
            finding.meet(&name("a"));
            assert_eq!(finding.status_in(Some(&name("a"))), then, "{in_run:?} meets {own:?}");
            finding.set(Fixed, Some(&in_tree("a")));
            finding.join(&name("a"), nobody);
            assert_eq!(finding.status, Fixed);
        }
        // What was not found there since stands as it did.
        let mut finding = found(&["a"], &["a"]);
        finding.set(Fixed, Some(&in_tree("a")));
        finding.meet(&name("a"));
        assert_eq!((finding.status, finding.status_in(Some(&name("a")))), (Open, Fixed));
    }

    /// A tree that is made anew begins with what stands in the run's, whatever was said of the one that is lost.
    #[test]
    fn a_tree_that_is_lost_takes_nothing_with_it() {
        let mut finding = found(&["a"], &["a"]);
        finding.set(Fixed, Some(&in_tree("a")));
        finding.leave(&name("a"), nobody);
        finding.part(&name("a"));
        assert_eq!(finding.status_for(Some(&name("a"))), Open);
        finding.address(&name("a"), nobody);
        finding.forget(&name("a"));
        assert_eq!((finding.status, finding.status_for(Some(&name("a")))), (Open, Open));
    }

    /// It is addressed in the run's tree when all it goes to have done their part there.
    #[test]
    fn it_is_addressed_when_every_part_has_landed() {
        let mut finding = found(&["a", "b"], &["a"]);
        finding.address(&name("a"), nobody);
        finding.address(&name("b"), nobody);
        assert_eq!((finding.status, finding.status_for(Some(&name("a")))), (Open, Addressed));
        finding.join(&name("a"), nobody);
        assert_eq!(finding.status, Addressed);
        // One that left it as it is did nothing; all leaving it is no mending.
        let mut finding = found(&["a", "b"], &[]);
        finding.leave(&name("a"), nobody);
        finding.leave(&name("b"), nobody);
        assert_eq!((finding.status, finding.status_for(Some(&name("b")))), (Open, Addressed));
        // One that was given up is not waited for.
        let mut finding = found(&["a", "b"], &[]);
        finding.address(&name("a"), |unit| **unit == *"b");
        assert_eq!(finding.status, Addressed);
    }
}
