//! Every dialect there is. One in code is a new file and a line here, one that is data a file in contracts/ and a line here.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::defined::Defined;
use super::definition;
use super::status_block::StatusBlock;
use super::task::Task;
use super::{Declaration, DocumentDialect, ReportDialect};
use crate::Name;

static REPORTS: [&dyn ReportDialect; 1] = [&StatusBlock];
static DOCUMENTS: [&dyn DocumentDialect; 1] = [&Task];

/// A contract that Tollgate brings along: its name, its definition, and what was read from it when it was first asked for.
struct BuiltIn {
    name: &'static str,
    text: &'static str,
    read: OnceLock<Option<Defined>>,
}

macro_rules! built_in {
    ($($name:literal,)*) => {
        [$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../../../contracts/", $name, ".yaml")),
            read: OnceLock::new(),
        },)*]
    };
}

static DEFINED: [BuiltIn; COUNT] = built_in![
    "decree.blocker",
    "decree.escalation",
    "decree.implementor-result",
    "decree.planner-output",
    "decree.refinement-issue",
    "decree.review-approval",
    "decree.review-rejection",
    "decree.reviewer-result",
    "decree.scope-correction",
    "decree.task-issue",
    "decree.validation-failure",
    "supervisor.dossier",
    "supervisor.worker-report",
    "team.acceptance",
    "team.architecture",
    "team.design-history",
    "team.input",
    "team.output",
    "team.spec",
    "team.status",
    "team.tasks",
    "wr.assessment",
    "wr.coding_handoff",
    "wr.coordinator_signal",
    "wr.council",
    "wr.discovery_handoff",
    "wr.gate_verdict",
    "wr.interpretation",
    "wr.loop_control",
    "wr.review_verdict",
    "wr.shaping_handoff",
];
const COUNT: usize = 31;

impl BuiltIn {
    /// The contract; each of them is read by a test.
    fn get(&self) -> Option<&Defined> {
        let read = || definition::read(self.name, self.text, true).0.map(|definition| Defined { definition });
        self.read.get_or_init(read).as_ref()
    }
}

/// Whether a name, with or without its version, asks for a dialect.
fn asks_for(name: &str, id: &str) -> bool {
    name == id || bare(id) == name
}

fn bare(id: &str) -> &str {
    id.split_once('@').map_or(id, |(bare, _)| bare)
}

/// The contract of a name that is data.
pub fn defined(name: &str) -> Option<&'static Defined> {
    let found = DEFINED.iter().find(|built_in| built_in.name == bare(name))?.get()?;
    asks_for(name, &found.definition.id).then_some(found)
}

/// Every contract that is data.
pub fn all_defined() -> impl Iterator<Item = &'static Defined> {
    DEFINED.iter().filter_map(BuiltIn::get)
}

/// The definitions that Tollgate brings along, as they are written.
pub fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    DEFINED.iter().map(|built_in| (built_in.name, built_in.text))
}

/// The dialect in which a role reports: `status-block` or `status-block@1`.
pub fn report_dialect(name: &str) -> Option<&'static dyn ReportDialect> {
    let coded = REPORTS.into_iter().find(|dialect| asks_for(name, dialect.id()));
    coded.or_else(|| defined(name).filter(|own| own.definition.report.is_some()).map(|own| own as &dyn ReportDialect))
}

/// The dialect of a document: `build-plan.task` or `build-plan.task@1`.
pub fn document_dialect(name: &str) -> Option<&'static dyn DocumentDialect> {
    let coded = DOCUMENTS.into_iter().find(|dialect| asks_for(name, dialect.id()));
    coded.or_else(|| defined(name).filter(|own| own.definition.report.is_none()).map(|own| own as &dyn DocumentDialect))
}

/// The ids of all dialects: those in code first.
pub fn all() -> impl Iterator<Item = &'static str> {
    let reports = REPORTS.into_iter().map(super::ReportDialect::id);
    let documents = DOCUMENTS.into_iter().map(super::DocumentDialect::id);
    reports.chain(documents).chain(all_defined().map(|own| &*own.definition.id))
}

/// What every report dialect can express, by the name without version that protocols use.
pub fn declarations() -> BTreeMap<Name, Declaration> {
    let coded = REPORTS.into_iter().map(|dialect| (Name::from(bare(dialect.id())), dialect.declaration()));
    let own = all_defined().filter(|own| own.definition.report.is_some());
    coded.chain(own.map(|own| (own.definition.name.clone(), ReportDialect::declaration(own)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_go_by_name_with_or_without_their_version() {
        for name in ["status-block", "status-block@1", "wr.loop_control", "wr.loop_control@1"] {
            let id = report_dialect(name).map(super::super::ReportDialect::id);
            assert_eq!(id.map(bare), Some(bare(name)), "{name}");
        }
        assert_eq!(
            document_dialect("build-plan.task").map(super::super::DocumentDialect::id),
            Some("build-plan.task@1")
        );
        for name in ["", "status-block@2", "status", "build-plan.task", "wr.loop_control@2", "wr"] {
            assert!(report_dialect(name).is_none(), "{name}");
        }
        assert_eq!(all().count(), REPORTS.len() + DOCUMENTS.len() + DEFINED.len(), "each definition can be read");
        assert!(declarations().contains_key("status-block"));
    }
}
