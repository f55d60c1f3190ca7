//! Bundles: what one attempt is shown, by what its role may see.

use super::event::BundleItem;
use super::state::Run;
use crate::Name;
use crate::protocol::model::{ITEMS, NOTICES, Role, Sees};

/// Everything a role is shown when it is dispatched in an instance. A bundle names an item even when it is empty: an empty
/// list of findings is a fact too. That nothing is left open is none: not every contract has words for it.
pub fn bundle(run: &Run, instance: &str, role: &Role) -> Vec<BundleItem> {
    let unit = run.instances.get(instance).and_then(|known| known.unit.clone());
    let leaves_open = run.ledger.notices.iter().any(|row| row.is_near(unit.as_ref()));
    let is_there = |item: &str| match item {
        "unit" => unit.is_some(),
        NOTICES => leaves_open,
        _ => true,
    };
    let plain = ITEMS.iter().filter(|item| is_there(item));
    let own = run.ledger.criteria.iter().filter(|row| unit.is_none() || row.unit == unit);
    let rows: Option<Vec<Name>> = role.judges().then(|| own.map(|row| row.id.clone()).collect());
    let plain = plain.map(|item| BundleItem {
        item: (*item).into(),
        object: None,
        attempt: None,
        rows: rows.clone().filter(|_| *item == "criteria"),
    });
    let documents = run.artifacts.iter().map(|(name, artifact)| BundleItem {
        item: name.clone(),
        object: Some(artifact.object),
        attempt: None,
        rows: None,
    });
    // Reports on the same subject and on the run as a whole; the run sees its units' too.
    let near = run.reports.iter().filter(|(id, _)| {
        let theirs = run.instances.get(*id).and_then(|known| known.unit.as_ref());
        unit.is_none() || theirs.is_none() || theirs == unit.as_ref()
    });
    let sections = near.flat_map(|(_, reports)| reports).flat_map(|report| {
        report.sections.iter().map(|section| BundleItem {
            item: format!("{}.{section}", report.role).into(),
            object: Some(report.object),
            attempt: Some(report.attempt),
            rows: None,
        })
    });
    plain.chain(documents).chain(sections).filter(|item| sees(&role.sees, &item.item)).collect()
}

/// The rows that a judge was shown; none: its journal does not say.
pub fn rows_shown(bundle: &[BundleItem]) -> Option<&[Name]> {
    match bundle.iter().find(|item| &*item.item == "criteria") {
        Some(item) => item.rows.as_deref(),
        None => Some(&[]),
    }
}

/// Whether a role may see an item.
pub fn sees(sees: &Sees, item: &str) -> bool {
    match sees {
        Sees::Full => true,
        Sees::Only(items) => items.iter().any(|pattern| names(pattern, item)),
        Sees::AllBut(items) => !items.iter().any(|pattern| names(pattern, item)),
    }
}

/// Whether a pattern (`task`, `developer.coverage`, `*.coverage`, `developer.*`) names an item.
fn names(pattern: &Name, item: &str) -> bool {
    match (pattern.split_once('.'), item.split_once('.')) {
        (Some((role, section)), Some((by, heading))) => {
            (role == "*" || role == by) && (section == "*" || section == heading)
        }
        _ => **pattern == *item,
    }
}
