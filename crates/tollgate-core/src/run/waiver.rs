//! What people waived, as far as it still counts: named when a run succeeds, in its commits, and by `show`.

use super::event::FindingStatus;
use super::gate;
use super::state::{Criterion, Run, SubjectKey};
use crate::Name;
use crate::id::DecisionId;

/// One thing that a person waived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// The row, the finding, the command, or the judgement of a role.
    pub what: Name,
    /// What that is, in the words of whoever wrote it; empty where its name says it.
    pub text: String,
    /// The decision that waived it, and who answered it.
    pub by: Option<(DecisionId, Name)>,
}

/// Everything that was waived for the tree as it is.
pub fn waivers(run: &Run) -> Vec<Waiver> {
    let ledger = &run.ledger;
    let counts = |row: &&Criterion| gate::is_waived(run, row, &gate::row_rests_on(run, row), None);
    let rows = ledger.criteria.iter().filter(counts).map(|row| {
        let decision = row.waived.as_ref().map(|waived| waived.decision);
        (row.id.clone(), row.text.clone(), decision)
    });
    let requirements = ledger.requirements.iter().filter(|row| row.waived.is_some());
    let requirements = requirements.map(|row| (row.id.clone(), row.text.clone(), row.waived));
    let findings = ledger.findings.iter().filter(|(_, finding)| finding.status == FindingStatus::Waived);
    let findings = findings.map(|(id, finding)| {
        let name = Name::from(id.to_string());
        let decision = last(run, &name);
        (name, finding.about.what.clone(), decision)
    });
    let judged = ledger.judgements.iter().filter(|(_, judged)| judged.waived.is_some());
    let judgements = judged
        .map(|(key, judged)| (format!("the judgement of {}", of_subject(key)).into(), String::new(), judged.waived));
    let commands = ledger.waived_commands.iter().filter(|(_, on)| on.tree == run.tree);
    let commands = commands
        .map(|(key, _)| (format!("the command {}", of_subject(key)).into(), String::new(), last(run, &key.name)));
    let all = rows.chain(requirements).chain(findings).chain(judgements).chain(commands);
    all.map(|(what, text, decision)| Waiver { what, text, by: by(run, decision) }).collect()
}

fn of_subject(key: &SubjectKey) -> String {
    key.unit.as_ref().map_or_else(|| key.name.to_string(), |unit| format!("{} of {unit}", key.name))
}

/// What was waived for the landing that is under way.
pub fn waived_to_land(run: &Run) -> Vec<Waiver> {
    let decision = run.landing.as_deref().and_then(|landing| landing.decision).filter(|(_, lands)| *lands);
    let names = decision.into_iter().flat_map(|(id, _)| chosen(run, id).map(move |name| (id, name)));
    let waiver = |(id, name): (DecisionId, &Name)| Waiver {
        what: name.clone(),
        text: run.criterion(name).map(|row| row.text.clone()).unwrap_or_default(),
        by: by(run, Some(id)),
    };
    names.map(waiver).collect()
}

/// The last decision that waived something of this name.
fn last(run: &Run, name: &str) -> Option<DecisionId> {
    let mut decisions = run.decisions.iter().rev().filter(|(_, decision)| !decision.is_of_landing());
    decisions.find_map(|(id, _)| chosen(run, *id).any(|waived| **waived == *name).then_some(*id))
}

/// What the answer to a decision waives, by name.
fn chosen(run: &Run, id: DecisionId) -> impl Iterator<Item = &Name> {
    let decision = run.decisions.get(&id);
    let option = decision.and_then(|decision| decision.end.as_ref()?.option.as_ref());
    let offered = decision.into_iter().flat_map(|decision| &decision.asked.options);
    offered.filter(move |offered| Some(&offered.id) == option).flat_map(|offered| &offered.waives)
}

pub(super) fn by(run: &Run, decision: Option<DecisionId>) -> Option<(DecisionId, Name)> {
    let end = run.decisions.get(&decision?)?.end.as_ref()?;
    Some((decision?, end.by.name.clone()))
}
