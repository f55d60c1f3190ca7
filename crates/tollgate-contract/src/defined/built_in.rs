//! The contracts that are data and that Tollgate brings along. A new one is a file in contracts/ and a line here.

use std::sync::OnceLock;

use crate::defined::{Defined, definition};

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
    "supervisor.corpus",
    "supervisor.coverage",
    "supervisor.dossier",
    "supervisor.matrix",
    "supervisor.spec",
    "supervisor.units",
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
const COUNT: usize = 36;

impl BuiltIn {
    /// The contract; each of them is read by a test.
    fn get(&self) -> Option<&Defined> {
        let read = || definition::read(self.name, self.text, true).0.map(|definition| Defined { definition });
        self.read.get_or_init(read).as_ref()
    }
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

/// Whether a name, with or without its version, asks for a dialect.
pub(crate) fn asks_for(name: &str, id: &str) -> bool {
    name == id || bare(id) == name
}

pub(crate) fn bare(id: &str) -> &str {
    id.split_once('@').map_or(id, |(bare, _)| bare)
}
