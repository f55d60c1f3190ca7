//! What must be the same after any number of kills: unit states, ledger, decisions, documents, variables, tree, and the path of each flow
//! instance. Left out: ids, times, tokens, and what was repeated.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tollgate_core::run::event::Work;
use tollgate_core::run::{Event, Recorded, Run};

use crate::Outcome;

/// Fields that say when, by which process or under which number something happened.
const LEFT_OUT: &[&str] = &[
    "attempt",
    "token",
    "seq",
    "epoch",
    "started",
    "each_entered",
    "asked_ms",
    "by",
    "lost",
    "decision",
    "revisions",
    "arrived",
];

/// The picture of a run that is over, as lines that can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Lines by what they are about.
    pub parts: BTreeMap<String, Vec<String>>,
}

impl Picture {
    /// The picture of a run; `root` is the folder of its history.
    pub fn of(run: &Run, events: &[Recorded], root: &str) -> Outcome<Self> {
        let scrub = Scrub::new(run, root);
        let mut parts = paths(events, &scrub);
        let ledger = serde_json::to_value(&*run.ledger)?;
        for (name, value) in ledger.as_object().into_iter().flatten() {
            parts.insert(format!("ledger {name}"), scrub.lines(value));
        }
        for (name, instance) in &run.instances {
            parts.insert(format!("instance {name}"), scrub.lines(&serde_json::to_value(instance)?));
        }
        let mut decisions = Vec::new();
        for decision in run.decisions.values() {
            decisions.push(scrub.text(&serde_json::to_value(decision)?));
        }
        parts.insert("decisions".to_owned(), decisions);
        parts.insert("documents".to_owned(), scrub.lines(&serde_json::to_value(&run.artifacts)?));
        parts.insert("variables".to_owned(), scrub.lines(&serde_json::to_value(&run.vars)?));
        parts.insert("tree".to_owned(), vec![run.tree.to_string()]);
        parts.insert("phase".to_owned(), scrub.lines(&serde_json::to_value(&run.phase)?));
        parts.insert("published".to_owned(), vec![run.published.is_some().to_string()]);
        Ok(Self { parts })
    }

    /// What differs from the run that was never killed; and whether there is more of it rather than less.
    pub fn differs(&self, whole: &Self) -> Vec<(bool, String)> {
        let none = Vec::new();
        let names: std::collections::BTreeSet<&String> = self.parts.keys().chain(whole.parts.keys()).collect();
        let mut found = Vec::new();
        for name in names {
            let (ours, theirs) = (self.parts.get(name).unwrap_or(&none), whole.parts.get(name).unwrap_or(&none));
            if ours == theirs {
                continue;
            }
            let at = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
            let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_else(|| "nothing".to_owned());
            let what = format!("{name}, line {}: {}\n    never killed: {}", at + 1, line(ours), line(theirs));
            found.push((ours.len() > theirs.len(), what));
        }
        found
    }
}

/// The path of each flow instance: what was entered, done and routed, in order.
fn paths(events: &[Recorded], scrub: &Scrub) -> BTreeMap<String, Vec<String>> {
    let mut paths: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut begun = BTreeMap::new();
    for recorded in events {
        let of = |attempt| begun.get(attempt).cloned().unwrap_or_default();
        let (instance, line) = match &recorded.event {
            Event::AttemptStarted(started) => {
                let what = match &started.work {
                    Work::Dispatch { role, iteration, .. } => format!("{} {role} {iteration}", started.stage),
                    Work::Commands { .. } => format!("{} commands", started.stage),
                    Work::Land { unit, .. } => format!("{} lands {unit}", started.stage),
                };
                begun.insert(started.attempt, (started.instance.to_string(), what));
                continue;
            }
            Event::FlowEntered(flow) => (flow.instance.to_string(), format!("enters {}", flow.stage)),
            Event::FlowMoved(flow) => {
                let cut = if flow.cut_off { " at its limit" } else { "" };
                (flow.instance.to_string(), format!("{} is {}{cut}, to {:?}", flow.stage, flow.outcome, flow.to))
            }
            Event::FlowResumed(flow) => (flow.instance.to_string(), format!("resumes {}", flow.stage)),
            Event::FlowReturned(flow) => {
                (flow.instance.to_string(), format!("{} returns to {:?}", flow.stage, flow.to))
            }
            Event::EachEntered(flow) => (flow.instance.to_string(), format!("{} over {:?}", flow.stage, flow.units)),
            Event::FlowHeld(flow) => (flow.instance.to_string(), format!("{} is held", flow.stage)),
            Event::AttemptReported(report) => {
                let (instance, what) = of(&report.attempt);
                let tree = report.content.as_ref().map(|content| content.tree.to_string()).unwrap_or_default();
                let said = json!([report.health, report.verdict, report.reason, report.changed, tree]);
                (instance, format!("{what} reports {}", scrub.text(&said)))
            }
            Event::CommandsRan(ran) => {
                let (instance, what) = of(&ran.attempt);
                let said = serde_json::to_value(&ran.results).unwrap_or_default();
                (instance, format!("{what} ran {}", scrub.text(&said)))
            }
            Event::LandingEnded(landing) => {
                let (instance, what) = of(&landing.attempt);
                (instance, format!("{what}: {:?} {:?}", landing.outcome, landing.paths))
            }
            Event::AttemptUnready(unready) => {
                let (instance, what) = of(&unready.attempt);
                (instance, format!("{what} is not ready: {}", unready.why))
            }
            Event::AttemptCancelled(cancelled) => {
                let (instance, what) = of(&cancelled.attempt);
                (instance, format!("{what} is cancelled: {}", cancelled.why))
            }
            _ => continue,
        };
        paths.entry(format!("path of {instance}")).or_default().push(line);
    }
    paths
}

/// How many attempts each flow instance lost.
pub fn lost_by_instance(events: &[Recorded]) -> BTreeMap<String, usize> {
    let mut begun = BTreeMap::new();
    let mut lost: BTreeMap<String, usize> = BTreeMap::new();
    for recorded in events {
        match &recorded.event {
            Event::AttemptStarted(started) => drop(begun.insert(started.attempt, started.instance.to_string())),
            Event::AttemptLost(gone) => {
                *lost.entry(begun.get(&gone.attempt).cloned().unwrap_or_default()).or_default() += 1
            }
            _ => {}
        }
    }
    lost
}

/// Takes out what differs from history to history.
struct Scrub {
    replaced: Vec<(String, String)>,
}

impl Scrub {
    fn new(run: &Run, root: &str) -> Self {
        let mut replaced = vec![(root.to_owned(), "ROOT".to_owned()), (run.id.to_string(), "RUN".to_owned())];
        // The longest first: `fnd_1` is the beginning of `fnd_12`.
        for (id, finding) in run.ledger.findings.iter().rev() {
            replaced.push((id.to_string(), format!("<{}>", finding.about.what)));
        }
        for (id, decision) in run.decisions.iter().rev() {
            let unit = decision.asked.unit.as_deref().unwrap_or_default();
            replaced.push((id.to_string(), format!("<{}@{unit}>", decision.asked.ask)));
        }
        for number in (1..run.next_attempt + 1).rev() {
            replaced.push((format!("att_{number}"), "att".to_owned()));
        }
        Self { replaced }
    }

    /// A value in one line.
    fn text(&self, value: &Value) -> String {
        let mut text = cleaned(value).to_string();
        for (from, to) in &self.replaced {
            text = text.replace(from, to);
        }
        text
    }

    /// A list or a map as lines, sorted: its numbers are left out, and so is its order.
    fn lines(&self, value: &Value) -> Vec<String> {
        let mut lines: Vec<String> = match value {
            Value::Array(items) => items.iter().map(|item| self.text(item)).collect(),
            Value::Object(fields) => {
                let keys = fields.iter().filter(|(key, _)| !LEFT_OUT.contains(&key.as_str()));
                keys.map(|(key, value)| self.text(&json!({ key: value }))).collect()
            }
            other => vec![self.text(other)],
        };
        lines.sort();
        lines
    }
}

fn cleaned(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(cleaned).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !LEFT_OUT.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), cleaned(value))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}
