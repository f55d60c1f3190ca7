//! Net changes: how each path differs in the end from what it was when its changes began to be counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::event::{ChangeKind, Changed};
use crate::Name;

/// The paths that differ in the end. One that came and went, or was put back byte for byte, does not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NetChange(BTreeMap<Name, Since>);

/// How a path differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Since {
    kind: ChangeKind,
    /// What was at the path first; none where nothing was, or where its journal does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was: Option<Name>,
    /// What is at the path now; none where nothing is, or where its journal does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    now: Option<Name>,
}

impl NetChange {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The paths that differ.
    pub fn paths(&self) -> impl Iterator<Item = &Name> {
        self.0.keys()
    }

    /// The paths that differ, and how.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (&Name, ChangeKind)> {
        self.0.iter().map(|(path, since)| (path, since.kind))
    }

    /// How a path differs.
    pub(super) fn kind(&self, path: &Name) -> Option<ChangeKind> {
        self.0.get(path).map(|since| since.kind)
    }

    /// A path that differs, as one change.
    pub(super) fn change(&self, path: &Name) -> Option<Changed> {
        let Since { kind, was, now } = self.0.get(path)?.clone();
        Some(Changed { path: path.clone(), kind, was, now })
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds changes to what there was before them.
    pub(super) fn add(&mut self, changed: &[Changed]) {
        changed.iter().for_each(|change| self.add_one(change));
    }

    fn add_one(&mut self, change: &Changed) {
        let Some(since) = self.0.get_mut(&change.path) else {
            let since = Since { kind: change.kind, was: change.was.clone(), now: change.now.clone() };
            self.0.insert(change.path.clone(), since);
            return;
        };
        let is_back = match (since.kind, change.kind) {
            (ChangeKind::Created, ChangeKind::Deleted) => true,
            // A journal that does not say what was there cannot show that it is there again.
            (ChangeKind::Modified | ChangeKind::Deleted, ChangeKind::Created | ChangeKind::Modified) => {
                since.was.is_some() && since.was == change.now
            }
            (ChangeKind::Created, ChangeKind::Created | ChangeKind::Modified)
            | (ChangeKind::Modified | ChangeKind::Deleted, ChangeKind::Deleted) => false,
        };
        if is_back {
            self.0.remove(&change.path);
            return;
        }
        since.kind = match (since.kind, change.kind) {
            (ChangeKind::Created, ChangeKind::Modified) => ChangeKind::Created,
            (ChangeKind::Deleted, ChangeKind::Created) => ChangeKind::Modified,
            (_, kind) => kind,
        };
        since.now.clone_from(&change.now);
    }

    /// Somebody else deleted these. Those that were deleted here are still gone.
    pub(super) fn lose<'a>(&mut self, deleted: impl Iterator<Item = &'a Name>) {
        for path in deleted {
            self.0.retain(|known, since| known != path || since.kind == ChangeKind::Deleted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `MtoN`: what is at the path `f` changes; `-` is nothing, `?` is something that its journal does not name.
    fn net(steps: &str) -> String {
        let mut net = NetChange::default();
        for step in steps.split_whitespace() {
            let (was, now) = step.split_once('>').unwrap();
            let kind = match (was, now) {
                ("-", _) => ChangeKind::Created,
                (_, "-") => ChangeKind::Deleted,
                _ => ChangeKind::Modified,
            };
            let known = |what: &str| (!matches!(what, "-" | "?")).then(|| Name::from(what));
            net.add(&[Changed { path: "f".into(), kind, was: known(was), now: known(now) }]);
        }
        let kinds: Vec<String> = net.kinds().map(|(path, kind)| format!("{path} {kind:?}")).collect();
        kinds.concat()
    }

    #[test]
    fn what_is_back_as_it_was_did_not_change() {
        for (steps, expected) in [
            ("a>b", "f Modified"),
            ("a>b b>a", ""),
            ("a>b b>c c>a", ""),
            ("a>b b>a a>c", "f Modified"),
            ("a>- ->a", ""),
            ("a>- ->b", "f Modified"),
            ("a>b b>-", "f Deleted"),
            ("a>b b>- ->a", ""),
            ("->a a>-", ""),
            ("->a a>b", "f Created"),
            ("->a a>b b>a", "f Created"),
            // Without a name it is not known to be the same.
            ("?>? ?>?", "f Modified"),
            ("?>- ->?", "f Modified"),
            ("->? ?>-", ""),
            ("a>? ?>a", ""),
            ("?>b b>c", "f Modified"),
        ] {
            assert_eq!(net(steps), expected, "{steps}");
        }
    }
}
