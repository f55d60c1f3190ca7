//! Every dialect there is. A new one is a new file and a line here.

use std::collections::BTreeMap;

use super::status_block::StatusBlock;
use super::task::Task;
use super::{Declaration, DocumentDialect, ReportDialect};
use crate::Name;

static REPORTS: [&dyn ReportDialect; 1] = [&StatusBlock];
static DOCUMENTS: [&dyn DocumentDialect; 1] = [&Task];

/// Whether a name, with or without its version, asks for a dialect.
fn asks_for(name: &str, id: &str) -> bool {
    name == id || id.split_once('@').is_some_and(|(bare, _)| name == bare)
}

/// The dialect in which a role reports: `status-block` or `status-block@1`.
pub fn report_dialect(name: &str) -> Option<&'static dyn ReportDialect> {
    REPORTS.into_iter().find(|dialect| asks_for(name, dialect.id()))
}

/// The dialect of a document: `build-plan.task` or `build-plan.task@1`.
pub fn document_dialect(name: &str) -> Option<&'static dyn DocumentDialect> {
    DOCUMENTS.into_iter().find(|dialect| asks_for(name, dialect.id()))
}

/// The ids of all dialects, reports first.
pub fn all() -> impl Iterator<Item = &'static str> {
    REPORTS.into_iter().map(super::ReportDialect::id).chain(DOCUMENTS.into_iter().map(super::DocumentDialect::id))
}

/// What every report dialect can express, by the name without version that protocols use.
pub fn declarations() -> BTreeMap<Name, Declaration> {
    let bare = |id: &'static str| id.split_once('@').map_or(id, |(bare, _)| bare);
    REPORTS.into_iter().map(|dialect| (Name::from(bare(dialect.id())), dialect.declaration())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_go_by_name_with_or_without_their_version() {
        for name in ["status-block", "status-block@1"] {
            assert_eq!(report_dialect(name).map(super::super::ReportDialect::id), Some("status-block@1"), "{name}");
        }
        assert_eq!(
            document_dialect("build-plan.task").map(super::super::DocumentDialect::id),
            Some("build-plan.task@1")
        );
        for name in ["", "status-block@2", "status", "build-plan.task"] {
            assert!(report_dialect(name).is_none(), "{name}");
        }
        assert_eq!(all().collect::<Vec<_>>(), ["status-block@1", "build-plan.task@1"]);
        assert_eq!(declarations().keys().map(|name| &**name).collect::<Vec<_>>(), ["status-block"]);
    }
}
