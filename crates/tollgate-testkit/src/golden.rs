//! What came of a run that is over: the moments that it came to, and its state as a text that a person can read and compare.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;
use tollgate_core::digest::Digest;
use tollgate_core::protocol::model::Class;
use tollgate_core::report::Verdict;
use tollgate_core::run::event::{By, ByKind, LandOutcome, Work};
use tollgate_core::run::state::{Criterion, Decision, Instance, Ledger, On, Requirement, Shown, Unit};
use tollgate_core::run::{Event, Recorded, Run};
use tollgate_engine::session::LoadError;
use tollgate_engine::session::events;
use tollgate_engine::verify::{Proof, verify_rows};
use tollgate_store::bundle::{self, BundleError, Limits, Manifest};
use tollgate_store::{Journal, chain};

use crate::log;

/// How much of a tree's id is shown where it is only compared.
const SHORT: usize = 12;

/// An exported run, read and replayed from its first event on.
#[derive(Debug)]
pub struct Replayed {
    /// What the file says it is.
    pub manifest: Manifest,
    /// What holds of it.
    pub proof: Proof,
    /// Its state, as far as it holds.
    pub run: Option<Run>,
    /// Its events, if all of them can be read.
    pub events: Vec<Recorded>,
}

/// Replays an exported run.
pub fn replay(file: &[u8]) -> Result<Replayed, BundleError> {
    let (manifest, journal) = bundle::read(file, Limits::default())?;
    let rows = chain::rows(&journal, manifest.run, 0).map(|row| row.map_err(LoadError::from));
    let (proof, run) = verify_rows(manifest.run, rows, &|digest| Ok(journal.object(digest)?));
    let events = events(&journal, manifest.run, 0, u64::MAX).unwrap_or_default();
    Ok(Replayed { manifest, proof, run, events })
}

/// The moments that a run came to: questions that a person answered, work that was sent back and by whom, landings that failed, and what
/// a crash leaves.
pub fn moments(events: &[Recorded]) -> BTreeSet<String> {
    let mut roles = BTreeMap::new();
    let mut asked = BTreeMap::new();
    let mut found = BTreeSet::new();
    for recorded in events {
        let moment = match &recorded.event {
            Event::AttemptStarted(started) => {
                if let Work::Dispatch { role, .. } = &started.work {
                    roles.insert(started.attempt, role.clone());
                }
                continue;
            }
            Event::DecisionAsked(question) => {
                asked.insert(question.decision, question.asked.class);
                continue;
            }
            Event::DecisionEnded(ended) if recorded.by.kind == ByKind::Person => match asked.get(&ended.decision) {
                Some(Class::Clarification) => "a question is answered".to_owned(),
                _ => continue,
            },
            Event::AttemptReported(report) if report.verdict == Verdict::Reject => {
                format!("{} rejects", roles.get(&report.attempt).map_or("no role", |role| role))
            }
            Event::AttemptReported(report) if report.verdict == Verdict::AcceptWithNotes => {
                format!("{} accepts with notes", roles.get(&report.attempt).map_or("no role", |role| role))
            }
            Event::LandingEnded(landing) if landing.outcome != LandOutcome::Landed => {
                format!("a landing is {}", landing.outcome.word())
            }
            Event::TreeChanged(_) => "mended by hand".to_owned(),
            Event::AttemptLost(_) => "an attempt is lost".to_owned(),
            Event::AttemptUnready(_) => "an attempt is not ready".to_owned(),
            Event::InputsGiven(_) => "inputs are given".to_owned(),
            Event::RequirementsDisposed(_) => "requirements are decided on".to_owned(),
            Event::RunRetried(_) => "retried".to_owned(),
            _ => continue,
        };
        found.insert(moment);
    }
    found
}

/// A run's state and the way that led to it, line by line: what a replay of its journal must give.
pub fn text(run: &Run, events: &[Recorded], head: Digest) -> String {
    let ledger = &run.ledger;
    let parts = [
        ("run", summary(run, events, head)),
        ("came to", moments(events).into_iter().collect()),
        ("variables", run.vars.iter().map(|(name, value)| format!("{name} = {}", word(value))).collect()),
        ("requirements", ledger.requirements.iter().map(requirement).collect()),
        ("units", ledger.units.iter().map(unit).collect()),
        ("rows", ledger.criteria.iter().map(row).collect()),
        ("findings", findings(ledger)),
        ("judgements", judgements(ledger)),
        ("decisions", run.decisions.iter().map(|(id, asked)| format!("{id} {}", decision(asked))).collect()),
        ("flows", run.instances.iter().map(|(name, at)| flow(name, at)).collect()),
        ("path", events.iter().filter_map(step).collect()),
    ];
    let mut text = String::new();
    for (title, lines) in parts.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        let _ = writeln!(text, "{title}");
        for line in lines {
            let _ = writeln!(text, "  {}", line.trim_end());
        }
    }
    text
}

fn summary(run: &Run, events: &[Recorded], head: Digest) -> Vec<String> {
    let opened = &run.opened;
    let drivers = events.iter().filter(|recorded| matches!(recorded.event, Event::DriverTookOver(_))).count();
    let mut lines = vec![
        format!("{} {}", run.id, opened.title),
        format!("protocol {} {} {}", opened.protocol.name, opened.protocol.version, opened.protocol.digest),
        format!("phase {}", word(&run.phase)),
        format!("{} events, {drivers} drivers, epoch {}", run.seq, run.epoch),
        format!("head {head}"),
        format!("tree {}", run.tree),
        format!("published {}", run.published.as_deref().unwrap_or("not at all")),
    ];
    lines.extend(run.artifacts.iter().map(|(name, given)| format!("{name} {}", given.object)));
    lines
}

fn requirement(requirement: &Requirement) -> String {
    let asked = |what, id: Option<_>| id.map(|id| format!(", {what} by {id}")).unwrap_or_default();
    format!(
        "{}: proposed {}, {}{}{}; {}",
        requirement.id,
        word(&requirement.proposed),
        word(&requirement.disposition),
        asked("decided", requirement.disposed_by),
        asked("waived", requirement.waived),
        requirement.text
    )
}

fn unit(unit: &Unit) -> String {
    let accepted = unit.accepted_on.as_ref().map(|at| format!(", accepted on {}", on(at))).unwrap_or_default();
    let tree = unit.tree.as_ref().map(|own| {
        let landed = if own.landed { "landed" } else { "not landed" };
        format!(", tree {} number {}, {landed}", short(&own.tree), own.generation)
    });
    format!(
        "{}: {}{accepted}{}, scope {}",
        unit.name,
        unit.state.word(),
        tree.unwrap_or_default(),
        unit.scope.join(" ")
    )
}

fn row(row: &Criterion) -> String {
    let of = row.unit.as_deref().unwrap_or("the run");
    let mut line = format!("{} of {of}, {}:", row.id, row.group.as_deref().unwrap_or("no group"));
    for (what, said) in [("judged", &row.judged), ("ran", &row.ran)] {
        if let Some(said) = said {
            let _ = write!(line, " {what} {};", shown(said));
        }
    }
    if let Some(waived) = &row.waived {
        let _ = write!(line, " waived by {} on {};", waived.decision, on(&waived.on));
    }
    format!("{line} {}", row.text)
}

fn findings(ledger: &Ledger) -> Vec<String> {
    let line = |(id, finding): (_, &tollgate_core::run::finding::FindingState)| {
        let about = &finding.about;
        let who = about.role.as_deref().unwrap_or("measured");
        let row = about.criterion.as_deref().unwrap_or("no row");
        let path = about.path.as_deref().unwrap_or("no path");
        format!(
            "{id} {}: {who} in {}, {row}, {path}, [{}]: {}",
            finding.status.word(),
            about.attempt,
            about.units.join(" "),
            about.what
        )
    };
    ledger.findings.iter().map(line).collect()
}

fn judgements(ledger: &Ledger) -> Vec<String> {
    let judged = ledger.judgements.iter().map(|(who, judged)| {
        let rests: Vec<String> = judged.findings.iter().map(ToString::to_string).collect();
        let attempt = judged.attempt.map_or_else(|| "a waiver".to_owned(), |id| id.to_string());
        format!("{who} {} in {} on {} [{}]", judged.verdict.word(), attempt, on(&judged.on), rests.join(" "))
    });
    let answered = ledger.answers.iter().map(|(ask, answer)| {
        let who = if answer.by_person { "a person" } else { "a timer" };
        format!("{ask} {} by {who} at event {} on {}", answer.option, answer.seq, on(&answer.on))
    });
    judged.chain(answered).collect()
}

fn decision(decision: &Decision) -> String {
    let asked = &decision.asked;
    let of = asked.unit.as_deref().unwrap_or("the run");
    let question = asked.question.replace('\n', " / ");
    let end = decision.end.as_ref().map_or_else(
        || "open".to_owned(),
        |end| {
            let option = end.option.as_deref().unwrap_or("in words");
            let early = if end.in_advance { " in advance" } else { "" };
            format!("{} {option} {:?} by {}{early}", word(&end.end), end.text, by(&end.by))
        },
    );
    format!("{} of {of}, {}: {question} -> {end}", asked.ask, word(&asked.class))
}

fn flow(name: &str, at: &Instance) -> String {
    let taken = at.counters.iter().map(|(rule, counter)| format!("{rule} {}", counter.taken));
    let times = at.iterations.iter().map(|(stage, times)| format!("{stage} {times}"));
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(", ");
    format!("{name}: {}; dispatched {}; routes {}", word(&at.at), list(&mut { times }), list(&mut { taken }))
}

fn step(recorded: &Recorded) -> Option<String> {
    Some(format!("{:>3} e{} {}", recorded.seq, recorded.epoch, log::line(recorded)?.replace('\n', " / ")))
}

fn by(by: &By) -> String {
    format!("{} {}", word(&by.kind), by.name)
}

fn shown(shown: &Shown) -> String {
    let object = shown.object.map(|digest| format!(", object {}", short(&digest.to_string()))).unwrap_or_default();
    format!("{} in {} on {}{object}", word(&shown.result), shown.attempt, on(&shown.on))
}

fn on(on: &On) -> String {
    let documents = on.documents.iter().map(|(name, digest)| format!(" {name} {}", short(digest)));
    format!("{}{}", short(&on.tree), documents.collect::<String>())
}

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// A value in its own words.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}
