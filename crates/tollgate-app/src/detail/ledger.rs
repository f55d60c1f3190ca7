//! What must be true and what shows it; what is wrong; the gates.

use std::collections::BTreeMap;

use crate::format;
use tollgate_api::{self as api, EvidenceSource, GateStatus};
use tollgate_core::Name;
use tollgate_core::protocol::condition::{Condition, SetKind};
use tollgate_core::protocol::model::{Gate, Resource};
use tollgate_core::report::Verdict;
use tollgate_core::run::event::CommandRef;
use tollgate_core::run::finding::FindingState;
use tollgate_core::run::gate::{self, CriterionState, Status};
use tollgate_core::run::notice::NoticeRow;
use tollgate_core::run::repetition::{Flaky, Once};
use tollgate_core::run::state::{Criterion, Judged, Shown, keyed};
use tollgate_core::run::waiver::waivers;
use tollgate_core::run::{Run, is_left};

use super::history::History;
use crate::wire;
use tollgate_core::id::{GateId, UnitId};

/// How many rows or findings a reason names.
const NAMED_MAX: usize = 6;

/// The rows of the ledger.
pub fn criteria(run: &Run, history: &History) -> Vec<api::Criterion> {
    let bound = resources(run);
    let none = Vec::new();
    let criteria = run.ledger.criteria.iter();
    criteria.map(|row| criterion(run, history, row, bound.get(&row.id).unwrap_or(&none))).collect()
}

/// What the gates that read a row are bound to, by row.
fn resources(run: &Run) -> BTreeMap<Name, Vec<Resource>> {
    let mut all: BTreeMap<Name, Vec<Resource>> = BTreeMap::new();
    let subjects: Vec<Option<&UnitId>> =
        std::iter::once(None).chain(run.ledger.units.iter().map(|unit| Some(&unit.name))).collect();
    for gate in run.protocol.gates.values() {
        for subject in &subjects {
            for row in gate::rows_of(run, gate, *subject).into_iter().filter(|row| row.unit.as_ref() == *subject) {
                let bound = all.entry(row.id.clone()).or_default();
                let new = gate.bound_to.iter().filter(|name| !bound.contains(name)).cloned().collect::<Vec<_>>();
                bound.extend(new);
            }
        }
    }
    all
}

fn criterion(run: &Run, history: &History, row: &Criterion, bound: &[Resource]) -> api::Criterion {
    let subject = gate::whose(run, row, None);
    let (state, fresh) = gate::criterion(run, row, bound, subject);
    let covers: Vec<String> = bound.iter().map(ToString::to_string).collect();
    let shown = |source: EvidenceSource, said: &Shown, text: String| api::Evidence {
        source,
        text,
        ..evidence_of(run, history, said, bound, subject)
    };
    let cited = |shown: &Shown| history.cited.get(&(shown.attempt, row.id.clone())).cloned().unwrap_or_default();
    let mut evidence: Vec<api::Evidence> = Vec::new();
    evidence.extend(row.waived.as_ref().map(|waived| api::Evidence {
        source: EvidenceSource::Decision,
        result: "pass".to_owned(),
        runs: Vec::new(),
        text: match run.decisions.get(&waived.decision).and_then(|decision| decision.end.as_ref()) {
            Some(ended) => format!("waived by {}", ended.by.name),
            None => "waived".to_owned(),
        },
        from: waived.decision.to_string(),
        covers: covers.clone(),
        tree: waived.on.tree.to_string(),
        fresh: gate::is_waived(run, row, bound, None),
        object: None,
        at_ms: history.ended_ms.get(&waived.decision).copied().unwrap_or_default(),
    }));
    evidence.extend(row.judged.as_ref().map(|judged| {
        let role =
            history.attempts.iter().find(|told| told.id == judged.attempt).and_then(|told| told.wire.role.clone());
        let own = role.as_deref().and_then(|role| run.protocol.roles.get(role)).is_some_and(|role| role.self_check);
        let source = if own { EvidenceSource::SelfCheck } else { EvidenceSource::Report };
        let fresh = gate::fresh(run, &judged.on, bound, subject);
        api::Evidence { fresh, ..shown(source, judged, cited(judged)) }
    }));
    evidence.extend(row.ran.as_ref().map(|ran| {
        let text = told(row.command.as_deref().unwrap_or_default(), &cited(ran));
        let runs = runs(history, ran, &row.id);
        api::Evidence { runs, ..shown(EvidenceSource::Command, ran, text) }
    }));
    evidence.sort_by_key(|evidence| std::cmp::Reverse(evidence.at_ms));
    api::Criterion {
        id: row.id.to_string(),
        text: row.text.clone(),
        group: row.group.as_ref().map(ToString::to_string),
        unit: row.unit.as_ref().map(ToString::to_string),
        requirement: row.requirement.as_ref().map(ToString::to_string),
        command: row.command.clone(),
        repeat: row.repeat.unwrap_or(1),
        status: if fresh { state.word() } else { "stale" }.to_owned(),
        evidence,
    }
}

/// What a command showed of a content.
fn evidence_of(run: &Run, history: &History, said: &Shown, bound: &[Resource], unit: Option<&UnitId>) -> api::Evidence {
    let attempt = history.attempts.iter().find(|told| told.id == said.attempt);
    let result = if said.flaky.is_some() { "flaky" } else { wire::judgement(said.result) };
    api::Evidence {
        source: EvidenceSource::Command,
        result: result.to_owned(),
        runs: Vec::new(),
        text: said.note.clone(),
        from: said.attempt.to_string(),
        covers: bound.iter().map(ToString::to_string).collect(),
        tree: said.on.tree.to_string(),
        fresh: gate::measured(run, &said.on, bound, unit),
        object: said.object.map(|object| object.to_string()),
        at_ms: attempt.and_then(|told| told.wire.ended_at_ms).unwrap_or_default(),
    }
}

/// What came of a command, and the command, which may be long.
fn told(command: &str, note: &str) -> String {
    if note.is_empty() { command.to_owned() } else { format!("{note}: {command}") }
}

/// Each run of a command.
fn runs(history: &History, said: &Shown, name: &Name) -> Vec<api::EvidenceRun> {
    let runs = history.runs.get(&(said.attempt, name.clone())).into_iter().flatten();
    let run = |once: &Once| api::EvidenceRun {
        result: wire::judgement(once.result).to_owned(),
        exit: once.exit,
        object: once.output.map(|object| object.to_string()),
    };
    runs.map(run).collect()
}

/// The configured commands that gates ask for, as they last ran.
pub fn commands(run: &Run, history: &History) -> Vec<api::CommandRan> {
    let ran = run.ledger.commands.iter().map(|(key, said)| {
        let (name, unit) = (&key.name, key.unit.as_ref());
        let mut bound: Vec<Resource> = Vec::new();
        for gate in run.protocol.gates.values() {
            let asks = |part: &Condition| matches!(part, Condition::Command { name: asked, .. } if asked == name);
            let asks = gate.holds.parts().any(asks);
            bound.extend(
                gate.bound_to.iter().filter(|resource| asks && !bound.contains(resource)).cloned().collect::<Vec<_>>(),
            );
        }
        let wanted = CommandRef::Named(name.clone());
        let command = run.command_text(&wanted).unwrap_or_default();
        let evidence = api::Evidence {
            text: told(&command, &said.note),
            runs: runs(history, said, name),
            ..evidence_of(run, history, said, &bound, unit)
        };
        let unit = unit.map(ToString::to_string);
        api::CommandRan { name: name.to_string(), unit, command, repeat: run.repeats(&wanted), evidence }
    });
    ran.collect()
}

/// What reports leave open.
pub fn notices(run: &Run) -> Vec<api::Notice> {
    let notice = |row: &NoticeRow| api::Notice {
        kind: row.notice.kind.to_string(),
        text: row.notice.text.clone(),
        role: row.role.to_string(),
        unit: row.unit.as_ref().map(ToString::to_string),
        requirement: row.notice.requirement.as_ref().map(ToString::to_string),
    };
    run.ledger.notices.iter().map(notice).collect()
}

/// What was found wrong.
pub fn findings(run: &Run) -> Vec<api::Finding> {
    let waived = waivers(run);
    let waived_by = |id: &str| Some(waived.iter().find(|waiver| &*waiver.what == id)?.by.as_ref()?.1.to_string());
    let findings = run.ledger.findings.iter().map(|(id, finding)| {
        let about = &finding.about;
        api::Finding {
            id: id.to_string(),
            status: finding.status.word().to_owned(),
            waived_by: waived_by(&id.to_string()),
            apart: apart(run, finding),
            severity: about.severity.as_ref().map(ToString::to_string),
            category: about.category.as_ref().map(ToString::to_string),
            path: about.path.as_ref().map(ToString::to_string),
            line: about.line,
            criterion: about.criterion.as_ref().map(ToString::to_string),
            unit: Some(about.units.join(", ")).filter(|units| !units.is_empty()),
            what: about.what.clone(),
            why: about.why.clone(),
            fix: about.fix.clone(),
            role: about.role.as_ref().map(ToString::to_string),
            found_by: about.attempt.to_string(),
        }
    });
    findings.collect()
}

/// Where a finding stands in the trees that may still land.
fn apart(run: &Run, finding: &FindingState) -> BTreeMap<String, String> {
    let may_land = |name: &str| run.unit(name).is_some_and(|unit| unit.is_apart() && !is_left(run, unit));
    let own = finding.apart.iter().filter(|(name, own)| own.status != finding.status && may_land(name));
    own.map(|(name, own)| (name.to_string(), own.status.word().to_owned())).collect()
}

/// The gates of the run and of each unit.
pub fn gates(run: &Run) -> Vec<api::Gate> {
    let all = run.protocol.gates.iter();
    let mut gates: Vec<api::Gate> = all
        .clone()
        .filter(|(_, gate)| gate.mandatory_unit.is_none() || gate.mandatory_run.is_some())
        .map(|(name, gate)| {
            let mandatory = gate.mandatory_run.as_ref().is_some_and(|when| gate::truth(run, when, None));
            one(run, name, gate, None, mandatory)
        })
        .collect();
    for unit in run.ledger.units.iter().filter(|unit| !is_left(run, unit)) {
        gates.extend(all.clone().filter_map(|(name, gate)| {
            let when = gate.mandatory_unit.as_ref()?;
            Some(one(run, name, gate, Some(&unit.name), gate::truth(run, when, Some(&unit.name))))
        }));
    }
    gates
}

fn one(run: &Run, name: &GateId, gate: &Gate, unit: Option<&UnitId>, mandatory: bool) -> api::Gate {
    let status = gate::status(run, gate, unit);
    api::Gate {
        gate: name.to_string(),
        unit: unit.map(ToString::to_string),
        status: match status {
            Status::Holds => GateStatus::Holds,
            Status::Fails => GateStatus::Fails,
            Status::Stale => GateStatus::Stale,
            Status::Unobservable => GateStatus::Unobservable,
        },
        reason: reason(run, gate, unit, status),
        mandatory,
        bound_to: gate.bound_to.iter().map(ToString::to_string).collect(),
    }
}

fn reason(run: &Run, gate: &Gate, unit: Option<&UnitId>, status: Status) -> String {
    if status == Status::Holds {
        return "it holds for the content as it is".to_owned();
    }
    let parts: Vec<String> = gate
        .holds
        .atoms()
        .filter_map(|atom| {
            let alone = Gate { holds: atom.clone(), ..gate.clone() };
            match gate::status(run, &alone, unit) {
                Status::Holds => None,
                status => Some(unmet(run, &alone, atom, unit, status)),
            }
        })
        .collect();
    if parts.is_empty() { "its condition does not hold".to_owned() } else { parts.join("; ") }
}

/// Why one part of a gate does not hold.
fn unmet(run: &Run, gate: &Gate, atom: &Condition, unit: Option<&UnitId>, status: Status) -> String {
    let stale = status == Status::Stale;
    match atom {
        Condition::Judged(role) => {
            let judgements = &run.ledger.judgements;
            let own = unit.and_then(|unit| judgements.get(&keyed(role, Some(unit))));
            let attempt = |judged: &Judged| judged.attempt.map(|id| format!(" ({id})")).unwrap_or_default();
            match own.into_iter().chain(judgements.get(&keyed(role, None))).max_by_key(|judged| judged.seq) {
                None => format!("{role} has not judged it"),
                Some(judged) if stale => format!("{role} judged other content{}", attempt(judged)),
                Some(judged) if judged.verdict == Verdict::Reject => format!("{role} rejects{}", attempt(judged)),
                Some(judged) => format!("{role} does not accept{}", attempt(judged)),
            }
        }
        Condition::Answer { ask, .. } if stale => format!("`{ask}` was answered for other content"),
        Condition::Answer { ask, options, .. } => format!("`{ask}` is not answered with {}", format::list(options)),
        Condition::Command { name, .. } if stale => format!("command `{name}` ran on other content"),
        Condition::Command { name, .. } if status == Status::Unobservable => {
            format!("command `{name}` cannot be observed")
        }
        Condition::Command { name, .. } => {
            let flaky = run.ledger.commands.get(&keyed(name, unit)).and_then(|said| said.flaky);
            flaky.map_or_else(|| format!("command `{name}` fails"), |flaky| format!("command `{name}` is {flaky}"))
        }
        // What it lacks says more than its name; gates read each other in no circle.
        Condition::Holds(name) => run.protocol.gates.get(name).map_or_else(
            || format!("there is no gate `{name}`"),
            |other| reason(run, other, unit, gate::status(run, other, unit)),
        ),
        Condition::Artifact { name, .. } => format!("`{name}` is not there as it must be"),
        Condition::Set { set: SetKind::Criterion | SetKind::Command, .. } => {
            named(gate::rows_read(run, gate, unit).into_iter().filter_map(|(row, state, fresh)| match (state, fresh) {
                (CriterionState::Passed | CriterionState::Waived, true) => None,
                (_, false) => Some(format!("{} is stale", row.id)),
                (state, true) => Some(match row.ran.as_ref().and_then(|ran| ran.flaky) {
                    Some(Flaky { failed, of }) => format!("{} is flaky ({failed} of {of} runs failed)", row.id),
                    None => format!("{} is {}", row.id, state.word()),
                }),
            }))
        }
        Condition::Set { set: SetKind::Finding, .. } => named(
            run.ledger
                .findings
                .iter()
                .filter(|(_, finding)| unit.is_none_or(|unit| finding.about.units.contains(unit)))
                .map(|(id, finding)| (id, finding.status_in(unit)))
                .filter(|(_, status)| !status.is_closed())
                .map(|(id, status)| format!("{id} is {}", status.word())),
        ),
        Condition::Set { set: SetKind::Unit, is, .. } => named(
            run.ledger
                .units
                .iter()
                .map(|unit| (&unit.name, gate::unit_word(run, unit)))
                .filter(|(_, word)| !is.iter().any(|wanted| &**wanted == *word))
                .map(|(name, word)| format!("{name} is {word}")),
        ),
        Condition::Var { name, values } => format!("{name} is not {}", format::list(values)),
        Condition::Set { .. } | Condition::Count { .. } | Condition::It { .. } => {
            "its condition does not hold".to_owned()
        }
        Condition::All(_) | Condition::Any(_) | Condition::Not(_) => String::new(),
    }
}

fn named(items: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = items.collect();
    match all.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        _ if all.is_empty() => "its condition does not hold".to_owned(),
        Some(more) => format!("{} and {more} more", all[..NAMED_MAX].join(", ")),
        None => format::list(&all),
    }
}
