//! The canonical report: what a worker said, whatever dialect it said it in.
//!
//! Health is how the worker's run went; verdict is what it judged. They are independent: a checker that ran cleanly and
//! found gaps is `ok` and `reject`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::id::UnitId;
use crate::words::{words, words_or_name};

/// How the run of the worker went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// It ran and said so in full.
    Ok,
    /// It met its contract's declared minimum only.
    Partial,
    /// It cannot go on without an answer.
    NeedsInput,
    /// It hit an error it could not recover from.
    Failed,
    /// It ran out of budget.
    Exhausted,
    /// What it said is absent, unknown or contradicts itself. Never advances.
    Malformed,
}

words!(Health {
    Ok = "ok",
    Partial = "partial",
    NeedsInput = "needs_input",
    Failed = "failed",
    Exhausted = "exhausted",
    Malformed = "malformed",
});

/// What a judging role judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It judged nothing.
    #[default]
    None,
    /// It accepts.
    Accept,
    /// It accepts and has notes.
    AcceptWithNotes,
    /// It rejects.
    Reject,
    /// It could not tell.
    Inconclusive,
}

impl Verdict {
    /// Whether it accepts, with or without notes.
    pub const fn accepts(self) -> bool {
        match self {
            Self::Accept | Self::AcceptWithNotes => true,
            Self::None | Self::Reject | Self::Inconclusive => false,
        }
    }
}

words!(Verdict {
    None = "none",
    Accept = "accept",
    AcceptWithNotes = "accept_with_notes",
    Reject = "reject",
    Inconclusive = "inconclusive",
});

/// The part that a role plays in a protocol, for contracts whose reports differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// It does the work and judges nothing.
    Developer,
    /// It compares the work with the criteria, row by row.
    Checker,
    /// It reviews the change and lists findings.
    Reviewer,
    /// It tests; its verdict follows from the rows it marks.
    Tester,
}

words!(Part { Developer = "developer", Checker = "checker", Reviewer = "reviewer", Tester = "tester" });

impl Part {
    /// Whether who plays it gives a verdict.
    pub const fn judges(self) -> bool {
        !matches!(self, Self::Developer)
    }
}

/// Which rows a verdict speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowWord {
    /// Those that the report names.
    #[default]
    Named,
    /// Every row that its worker was shown: the contract cannot name rows.
    Shown,
    /// None: the contract cannot name rows, and says nothing of those that were shown.
    Silent,
}

words!(RowWord { Named = "named", Shown = "shown", Silent = "silent" });

impl RowWord {
    fn is_named(&self) -> bool {
        *self == Self::Named
    }
}

/// What somebody or something found about one criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It holds.
    Pass,
    /// It does not hold.
    Fail,
    /// It cannot be observed here; never counts as a pass.
    Unobservable,
}

/// A report's word on one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriterionReport {
    /// The criterion's id (`DoD-1`).
    pub id: Name,
    /// The result.
    pub result: Judgement,
    /// What the report cites for it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// A report's finding, before the ledger gives it an id.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FindingReport {
    /// The id of a finding already in the ledger that this repeats (`fnd_7`), when the report names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<crate::id::FindingId>,
    /// The dialect's word for how bad it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Name>,
    /// The dialect's word for what kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Name>,
    /// The file it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Name>,
    /// The line in that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The criterion it is about, when it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<Name>,
    /// The unit it is about, when it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<UnitId>,
    /// What is wrong.
    pub what: String,
    /// Why it matters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What would mend it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
}

/// A report's question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QuestionReport {
    /// The question, word for word.
    pub text: String,
    /// Whether the worker stopped for it.
    pub blocking: bool,
    /// The answers it offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The one it would take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<String>,
    /// Why it would take that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a report says was done: compared with what the engine measured, never believed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Claims {
    /// Paths it says it created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<Name>,
    /// Paths it says it modified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modified: Vec<Name>,
    /// Paths it says it deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<Name>,
    /// How many files it says it deleted, where its dialect only counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_count: Option<u32>,
    /// Who it thinks comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Name>,
    /// Ids of findings a repair says it addressed; absent: all it was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Vec<crate::id::FindingId>>,
}

impl Claims {
    /// Whether it says what it changed, be it nothing.
    pub fn are_stated(&self) -> bool {
        self.paths().next().is_some() || self.deleted_count.is_some()
    }

    /// Every path it says it changed.
    pub fn paths(&self) -> impl Iterator<Item = &Name> {
        self.created.iter().chain(&self.modified).chain(&self.deleted)
    }
}

/// A unit that a report or document plans.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitReport {
    /// Its name.
    pub name: UnitId,
    /// What it is, in a line.
    #[serde(default)]
    pub title: String,
    /// The units that must be done and landed before it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<UnitId>,
    /// The paths it may change; empty: everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<Name>,
    /// Its attributes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attrs: BTreeMap<Name, Vec<Name>>,
    /// The requirements it serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Name>,
}

words_or_name! {
    /// What becomes of a requirement.
    Disposition {
        InScope = "in_scope",
        Deferred = "deferred",
        OutOfScope = "out_of_scope",
        NonMaterial = "non_material",
    } or
    /// What a worker or person wrote instead: it decides nothing.
    Other
}

/// A requirement that a report or document names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequirementReport {
    /// Its id.
    pub id: Name,
    /// What must be true.
    pub text: String,
    /// Absent while nobody has decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disposition: Option<Disposition>,
    /// Where it comes from: a file, a section, a ticket.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The dialect's word for how binding its source is (`must`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Name>,
    /// What a worker proposes to do about it; it decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<Disposition>,
}

/// A unit, row or requirement that a plan withdraws.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    /// Its id.
    pub id: Name,
    /// Why it is no longer needed.
    pub why: String,
}

/// What a report leaves open: a residual risk, a check that was skipped, future work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// The dialect's word for what kind it is.
    pub kind: Name,
    /// What it says.
    pub text: String,
    /// The requirement it is about, when it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<Name>,
}

/// How often a command may be run on the same content.
pub const REPEAT_MAX: u32 = 100;

/// A criterion that a report or document names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriterionRow {
    /// Its id (`DoD-1`).
    pub id: Name,
    /// What must be true.
    pub text: String,
    /// The group it is judged in (`dod`, `tester`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Name>,
    /// The unit it belongs to; none: the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<UnitId>,
    /// The requirement it shows, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<Name>,
    /// The command that the engine runs for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How often it is run on the same content; none: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
}

/// What enters the ledger when a document is given or a report delivers it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Planned units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitReport>,
    /// Requirements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementReport>,
    /// Criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<CriterionRow>,
    /// What it withdraws.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retires: Vec<Retired>,
}

impl Plan {
    /// What a worker says of requirements is a proposal. That one is in scope takes nothing away, and counts.
    pub fn propose(&mut self) {
        for row in &mut self.requirements {
            let taken = row.disposition.take_if(|disposition| *disposition != Disposition::InScope);
            row.proposed = taken.or_else(|| row.proposed.take());
        }
    }
}

/// One section that entered a routing decision, a question or a bundle, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionRead {
    /// The section's heading as the dialect writes it.
    pub section: Name,
    /// Why its content was read for routing.
    pub reason: String,
    /// How many bytes of content were read.
    pub bytes: u64,
}

/// What a worker said, in the words of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How the worker's run went.
    pub health: Health,
    /// The dialect's closed code for a health other than ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Name>,
    /// One line on why the health is not ok.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What it judged.
    #[serde(default)]
    pub verdict: Verdict,
    /// Which rows its verdict speaks for.
    #[serde(default, skip_serializing_if = "RowWord::is_named")]
    pub rows: RowWord,
    /// Its word on single criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<CriterionReport>,
    /// What it found wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingReport>,
    /// What it asks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionReport>,
    /// What it says was done.
    #[serde(default)]
    pub claims: Claims,
    /// What it plans, for stages that give units, requirements or criteria.
    #[serde(default)]
    pub plan: Plan,
    /// Values of the variables it gives.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gives: BTreeMap<Name, Name>,
    /// What it leaves open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// The sections whose content entered all this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<SectionRead>,
}

impl Report {
    /// A report of a health, with nothing else in it.
    pub fn new(health: Health, verdict: Verdict) -> Self {
        Self {
            health,
            code: None,
            reason: String::new(),
            verdict,
            rows: RowWord::default(),
            criteria: Vec::new(),
            findings: Vec::new(),
            questions: Vec::new(),
            claims: Claims::default(),
            plan: Plan::default(),
            gives: BTreeMap::new(),
            notices: Vec::new(),
            reads: Vec::new(),
        }
    }

    /// What a worker said of work that does not count, whatever it was. Its questions stand, beside the work: it cannot be
    /// waiting for an answer to them.
    pub fn overrule(&mut self, code: &str, reason: String) {
        let questions = std::mem::take(&mut self.questions);
        let questions = questions.into_iter().map(|question| QuestionReport { blocking: false, ..question }).collect();
        let failed = Self::new(Health::Failed, Verdict::None);
        *self = Self { code: Some(code.into()), reason, questions, ..failed };
    }
}
