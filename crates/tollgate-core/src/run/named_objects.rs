//! Which objects the fields of events name: the table of events says which fields do.

use std::collections::BTreeMap;

use super::data::{Asked, BundleItem, CommandResult, Pinned, Work};
use crate::digest::Digest;

/// A field that names objects of the store.
pub(super) trait NamesObjects {
    fn name_objects(&self, found: &mut Vec<Digest>);
}

impl NamesObjects for Digest {
    fn name_objects(&self, found: &mut Vec<Digest>) {
        found.push(*self);
    }
}

impl<T: NamesObjects> NamesObjects for Option<T> {
    fn name_objects(&self, found: &mut Vec<Digest>) {
        self.iter().for_each(|one| one.name_objects(found));
    }
}

impl<T: NamesObjects> NamesObjects for Vec<T> {
    fn name_objects(&self, found: &mut Vec<Digest>) {
        self.iter().for_each(|one| one.name_objects(found));
    }
}

impl<K, T: NamesObjects> NamesObjects for BTreeMap<K, T> {
    fn name_objects(&self, found: &mut Vec<Digest>) {
        self.values().for_each(|one| one.name_objects(found));
    }
}

impl NamesObjects for Pinned {
    fn name_objects(&self, found: &mut Vec<Digest>) {
        self.digest.name_objects(found);
    }
}

impl NamesObjects for CommandResult {
    fn name_objects(&self, found: &mut Vec<Digest>) {
        found.extend(self.objects());
    }
}

impl NamesObjects for Asked {
    fn name_objects(&self, found: &mut Vec<Digest>) {
        self.shows.name_objects(found);
    }
}

impl NamesObjects for Work {
    fn name_objects(&self, found: &mut Vec<Digest>) {
        match self {
            Self::Dispatch { bundle, .. } => bundle.name_objects(found),
            Self::Commands { .. } | Self::Land { .. } => {}
        }
    }
}

impl NamesObjects for BundleItem {
    fn name_objects(&self, found: &mut Vec<Digest>) {
        self.object.name_objects(found);
    }
}
