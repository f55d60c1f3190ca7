//! What happened: the journal folded into attempts, and the moments of a timeline.

use std::collections::BTreeMap;

use crate::format;
use tollgate_api::{self as api, AttemptStatus};
use tollgate_core::Name;
use tollgate_core::id::{AttemptId, DecisionId, InstanceId, StageId, UnitId};
use tollgate_core::protocol::Outcome;
use tollgate_core::protocol::model::Kind;
use tollgate_core::report::{Health, Judgement, SectionRead, Verdict};
use tollgate_core::run::agent_stats::Usage;
use tollgate_core::run::event::{
    AttemptReported, AttemptStarted, BundleItem, ChangeKind, Changed, Event, FlowMoved, Recorded, Work,
};
use tollgate_core::run::repetition::Once;
use tollgate_core::run::state::MAIN;
use tollgate_core::run::{Run, event};
use tollgate_core::scope;

use crate::event_text::{sentence, target};

/// What the journal of a run tells.
#[derive(Debug, Default)]
pub struct History {
    pub attempts: Vec<AttemptDetail>,
    pub moments: Vec<Moment>,
    /// When each decision ended.
    pub ended_ms: BTreeMap<DecisionId, u64>,
    /// What an answer waived or changed.
    pub answered: BTreeMap<DecisionId, Vec<String>>,
    /// Answers that were given before they were asked for.
    pub in_advance: Vec<DecisionId>,
    /// What an attempt cites for a row, and when.
    pub cited: BTreeMap<(AttemptId, Name), String>,
    /// Each run of the command of a row or of a name.
    pub runs: BTreeMap<(AttemptId, Name), Vec<Once>>,
    /// Why each unit is in its state.
    pub unit_why: BTreeMap<UnitId, String>,
    /// The stage that each flow instance last came from.
    pub last_stage: BTreeMap<InstanceId, StageId>,
    /// The branch that holds the tree.
    pub branch: Option<String>,
    /// When the last event was recorded.
    pub changed_ms: u64,
}

/// An attempt, and what the wire does not show of it.
#[derive(Debug)]
pub struct AttemptDetail {
    pub id: AttemptId,
    pub wire: api::Attempt,
    pub instance: InstanceId,
    /// What it was shown.
    pub bundle: Vec<BundleItem>,
    /// What was read of its report.
    pub reads: Vec<SectionRead>,
    /// What its agent told that it used.
    pub used: Option<Usage>,
}

/// Something to show in a timeline.
#[derive(Debug)]
pub struct Moment {
    pub at_ms: u64,
    pub what: What,
}

/// What a moment is about.
#[derive(Debug)]
pub enum What {
    /// An attempt, by its place in the list.
    Attempt(usize),
    Decision(DecisionId),
    /// A sentence; about a unit or the run.
    Event {
        unit: Option<UnitId>,
        text: String,
    },
}

/// Tells a journal from its first event on.
pub fn tell(run: &Run, events: &[Recorded]) -> History {
    let (by_id, unrouted, taken) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut teller = Teller { run, history: History::default(), by_id, unrouted, current: None, taken };
    for recorded in events {
        teller.event(recorded);
        teller.history.changed_ms = recorded.at_ms;
    }
    teller.history
}

struct Teller<'a> {
    run: &'a Run,
    history: History,
    by_id: BTreeMap<AttemptId, usize>,
    /// The attempts of each instance that have reported and were not routed yet.
    unrouted: BTreeMap<InstanceId, Vec<usize>>,
    /// The attempt whose report is being settled.
    current: Option<usize>,
    /// How often each route was taken.
    taken: BTreeMap<(InstanceId, StageId, Name), u32>,
}

impl Teller<'_> {
    fn event(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::AttemptStarted(started) => self.started(recorded.at_ms, started),
            Event::AttemptReported(reported) => {
                let reason = self.reported_words(reported);
                for said in &reported.criteria {
                    self.history.cited.insert((reported.attempt, said.id.clone()), said.evidence.clone());
                }
                let changes = self.changes(reported);
                if let Some(told) = self.end(reported.attempt, recorded.at_ms, AttemptStatus::Reported, reason) {
                    told.wire.report = Some(reported.report.to_string());
                    told.wire.changes = changes;
                    told.reads.clone_from(&reported.reads);
                    told.used = reported.told.as_ref().map(|told| told.usage);
                }
            }
            Event::CommandsRan(ran) => {
                for result in &ran.results {
                    let key = (ran.attempt, result.command.name().clone());
                    self.history.cited.insert(key.clone(), result.note.clone());
                    self.history.runs.insert(key, result.runs.clone());
                }
                let said = sentence(recorded).unwrap_or_default();
                let worst = ran.results.iter().map(|result| result.result).max_by_key(|result| match result {
                    Judgement::Pass => 0,
                    Judgement::Unobservable => 1,
                    Judgement::Fail => 2,
                });
                if let Some(told) = self.end(ran.attempt, recorded.at_ms, AttemptStatus::Reported, said) {
                    told.wire.outcome = match worst {
                        Some(Judgement::Fail) => Some("fail".to_owned()),
                        Some(Judgement::Unobservable) => Some("unobservable".to_owned()),
                        Some(Judgement::Pass) | None => None,
                    };
                }
            }
            Event::LandingEnded(landing) => {
                let reason = sentence(recorded).unwrap_or_default();
                self.end(landing.attempt, recorded.at_ms, AttemptStatus::Reported, reason);
            }
            Event::AttemptParked(parked) => {
                let reason = format!("cut off: {}", parked.reason);
                if let Some(told) = self.end(parked.attempt, recorded.at_ms, AttemptStatus::Parked, reason) {
                    told.wire.report = Some(parked.report.to_string());
                    told.used = Some(parked.told.usage);
                }
            }
            Event::AttemptLost(lost) => {
                self.end(lost.attempt, recorded.at_ms, AttemptStatus::Lost, format!("lost: {}", lost.why));
            }
            Event::AttemptUnready(unready) => {
                let reason = format!("not started: {}", unready.why);
                if let Some(told) = self.end(unready.attempt, recorded.at_ms, AttemptStatus::Unready, reason) {
                    told.wire.report = unready.output.map(|output| output.to_string());
                }
            }
            Event::AttemptCancelled(ended) => {
                self.end(ended.attempt, recorded.at_ms, AttemptStatus::Cancelled, format!("ended: {}", ended.why));
            }
            Event::FlowMoved(moved) => self.moved(recorded.at_ms, moved),
            Event::FlowHeld(held) => self.held(recorded, held),
            Event::FindingOpened(opened) => {
                let place = self.by_id.get(&opened.about.attempt).copied();
                self.note(place, recorded, format!("opens {}", opened.finding));
            }
            Event::FindingRestated(restated) => {
                let place = self.by_id.get(&restated.about.attempt).copied();
                self.note(place, recorded, format!("says {} anew", restated.finding));
            }
            Event::FindingChanged(changed) => {
                let ids: Vec<String> = changed.findings.iter().map(ToString::to_string).collect();
                self.note(self.current, recorded, format!("{} {}", format::list(&ids), changed.status.word()));
            }
            Event::DecisionAsked(asked) => {
                self.history.moments.push(Moment { at_ms: recorded.at_ms, what: What::Decision(asked.decision) });
            }
            Event::DecisionEnded(ended) => self.decided(recorded.at_ms, ended),
            Event::BudgetChanged(changed) => self.answered(changed.decision, recorded),
            Event::WaiverGranted(waiver) => self.answered(waiver.decision, recorded),
            Event::TreeChanged(changed) => self.answered(changed.decision, recorded),
            Event::ScopeWidened(widened) => self.answered(widened.decision, recorded),
            Event::RequirementsDisposed(disposed) => self.answered(disposed.decision, recorded),
            Event::UnitChanged(changed) => {
                self.history.unit_why.insert(changed.unit.clone(), changed.why.clone());
                self.say(recorded, Some(changed.unit.clone()));
            }
            Event::RunPublished(published) => {
                self.history.branch = Some(published.branch.to_string()).filter(|_| !published.commit.is_empty());
                self.say(recorded, None);
            }
            Event::RunOpened(_)
            | Event::DriverTookOver(_)
            | Event::AttemptRefused(_)
            | Event::QuestionAnswered(_)
            | Event::DecisionDeferred(_)
            | Event::DecisionRefused(_)
            | Event::RunHalted(_)
            | Event::RunRepaired(_)
            | Event::RunRetried(_)
            | Event::RunClosed(_)
            | Event::LandAsked(_)
            | Event::LandChecked(_)
            | Event::LandLeft(_)
            | Event::RunLanded(_)
            | Event::PoolParked(_)
            | Event::InputsGiven(_)
            | Event::VariableGiven(_) => self.say(recorded, None),
            Event::ArtifactGiven(_)
            | Event::LedgerPlanned(_)
            | Event::FlowEntered(_)
            | Event::FlowResumed(_)
            | Event::FlowReturned(_)
            | Event::EachEntered(_)
            | Event::DayCounted(_)
            | Event::JudgementRests(_)
            | Event::JudgementEnded(_) => {}
        }
    }

    fn decided(&mut self, at_ms: u64, ended: &event::DecisionEnded) {
        self.history.ended_ms.insert(ended.decision, at_ms);
        if ended.in_advance {
            self.history.in_advance.push(ended.decision);
        }
    }

    fn say(&mut self, recorded: &Recorded, unit: Option<UnitId>) {
        if let Some(text) = sentence(recorded) {
            self.history.moments.push(Moment { at_ms: recorded.at_ms, what: What::Event { unit, text } });
        }
    }

    fn answered(&mut self, decision: DecisionId, recorded: &Recorded) {
        self.history.answered.entry(decision).or_default().extend(sentence(recorded));
    }

    /// Adds to what came of an attempt; without one it is a moment of its own.
    fn note(&mut self, place: Option<usize>, recorded: &Recorded, text: String) {
        match place.and_then(|place| self.history.attempts.get_mut(place)) {
            Some(told) if told.wire.reason.is_empty() => told.wire.reason = text,
            Some(told) => told.wire.reason = format!("{}; {text}", told.wire.reason),
            None => self.say(recorded, None),
        }
    }

    fn started(&mut self, at_ms: u64, started: &AttemptStarted) {
        let unit = self.run.instances.get(&started.instance).and_then(|known| known.unit.clone());
        let (role, worker, iteration, bundle) = match &started.work {
            Work::Dispatch { role, worker, iteration, bundle } => {
                (Some(role.to_string()), Some(worker.to_string()), *iteration, bundle.clone())
            }
            Work::Commands { .. } | Work::Land { .. } => (None, None, 1, Vec::new()),
        };
        let wire = api::Attempt {
            id: started.attempt.to_string(),
            stage: started.stage.to_string(),
            unit: unit.as_ref().map(ToString::to_string),
            role,
            worker,
            iteration,
            status: AttemptStatus::Working,
            outcome: None,
            reason: started.repeats.map(|lost| format!("repeats {lost}")).unwrap_or_default(),
            routed_to: None,
            started_at_ms: at_ms,
            ended_at_ms: None,
            report: None,
            changes: Vec::new(),
        };
        let place = self.history.attempts.len();
        self.by_id.insert(started.attempt, place);
        self.history.moments.push(Moment { at_ms, what: What::Attempt(place) });
        let instance = started.instance.clone();
        self.history.attempts.push(AttemptDetail {
            id: started.attempt,
            wire,
            instance,
            bundle,
            reads: Vec::new(),
            used: None,
        });
    }

    fn end(&mut self, id: AttemptId, at_ms: u64, status: AttemptStatus, reason: String) -> Option<&mut AttemptDetail> {
        let place = self.by_id.get(&id).copied()?;
        self.current = Some(place);
        let told = self.history.attempts.get_mut(place)?;
        if status == AttemptStatus::Reported {
            self.unrouted.entry(told.instance.clone()).or_default().push(place);
        }
        let wire = &mut told.wire;
        (wire.status, wire.ended_at_ms) = (status, Some(at_ms));
        wire.reason = if wire.reason.is_empty() { reason } else { format!("{}; {reason}", wire.reason) };
        Some(told)
    }

    fn moved(&mut self, at_ms: u64, moved: &FlowMoved) {
        self.current = None;
        self.history.last_stage.insert(moved.instance.clone(), moved.stage.clone());
        let limit = self.limit(moved);
        self.route(&moved.instance, &moved.stage, Some(&moved.outcome), &format!("{}{limit}", target(&moved.to)));
        let stage = self.run.instances.get(&moved.instance).and_then(|known| self.run.stage(known, &moved.stage));
        let checks = stage.is_some_and(|stage| matches!(stage.kind, Kind::Check { .. }));
        if checks && matches!(moved.outcome, Outcome::Fail | Outcome::Stale | Outcome::Unobservable) {
            let unit = self.run.instances.get(&moved.instance).and_then(|known| known.unit.clone());
            let text = format!("check `{}`: {} → {}{limit}", moved.stage, moved.outcome, target(&moved.to));
            self.history.moments.push(Moment { at_ms, what: What::Event { unit, text } });
        }
    }

    /// Why a route was cut off: too often, or with the same still open too often in a row.
    fn limit(&mut self, moved: &FlowMoved) -> String {
        let key = (moved.instance.clone(), moved.stage.clone(), moved.rule.clone());
        let taken = self.taken.entry(key).or_default();
        if !moved.cut_off {
            *taken += 1;
            return String::new();
        }
        let instance = self.run.instances.get(&moved.instance);
        let stage = instance.and_then(|known| self.run.stage(known, &moved.stage));
        let route = stage.and_then(|stage| self.run.protocol.route(stage, &moved.outcome)).map(|(rule, _)| &rule.route);
        match route.and_then(|route| route.same.filter(|_| route.limit.is_some_and(|limit| *taken < limit))) {
            Some(same) => format!(
                ", the same is open {} in a row",
                format::count(usize::try_from(same).unwrap_or(usize::MAX), "time")
            ),
            None => ", its limit is reached".to_owned(),
        }
    }

    fn held(&mut self, recorded: &Recorded, held: &event::FlowHeld) {
        self.route(&held.instance, &held.stage, held.outcome.as_ref(), "held");
        let by_attempt = self
            .history
            .attempts
            .last()
            .is_some_and(|told| told.instance == held.instance && told.wire.routed_to.as_deref() == Some("held"));
        self.history.last_stage.insert(held.instance.clone(), held.stage.clone());
        // What an attempt came to says it already, and the run's own flow halts the run, which says the same.
        if &*held.instance != MAIN && !by_attempt {
            let unit = self.run.instances.get(&held.instance).and_then(|known| known.unit.clone());
            self.say(recorded, unit);
        }
    }

    /// An outcome belongs to what a role last reported at its stage and to the commands that were run on that; without
    /// a role, to the last attempt there.
    fn route(&mut self, instance: &InstanceId, stage: &StageId, outcome: Option<&Outcome>, to: &str) {
        let places = self.unrouted.remove(instance).unwrap_or_default();
        let attempts = &mut self.history.attempts;
        let here: Vec<usize> = places.into_iter().filter(|place| *attempts[*place].wire.stage == **stage).collect();
        let role = here.iter().rposition(|place| attempts[*place].wire.role.is_some());
        let from = role.unwrap_or_else(|| here.len().saturating_sub(1));
        for place in here.into_iter().skip(from) {
            let wire = &mut attempts[place].wire;
            wire.outcome = Some(outcome.map(ToString::to_string).unwrap_or_default());
            wire.routed_to = Some(to.to_owned());
            if let Some(Outcome::Verdict(verdict)) = outcome
                && wire.reason.starts_with("accepts")
            {
                wire.reason.push_str(match verdict {
                    Verdict::Inconclusive => ", but what it must establish does not hold",
                    Verdict::Reject => ", but the command of a row fails",
                    Verdict::None | Verdict::Accept | Verdict::AcceptWithNotes => "",
                });
            }
        }
    }

    fn role_of(&self, id: AttemptId) -> Option<&tollgate_core::protocol::model::Role> {
        let told = self.history.attempts.get(*self.by_id.get(&id)?)?;
        self.run.protocol.roles.get(told.wire.role.as_deref()?)
    }

    /// What a report says, in plain words.
    fn reported_words(&self, reported: &AttemptReported) -> String {
        let because = |words: &str| match reported.reason.lines().next() {
            Some(reason) => format!("{words}: {reason}"),
            None => words.to_owned(),
        };
        let files = || match reported.changed.len() {
            0 => String::new(),
            files => format!(", {} changed", format::count(files, "file")),
        };
        let judges = self.role_of(reported.attempt).is_some_and(tollgate_core::protocol::model::Role::judges);
        let said = match reported.health {
            Health::Ok if judges => format!("{}{}", verdict_words(reported), files()),
            Health::Ok => {
                let contradicted = match reported.contradictions.len() {
                    0 => String::new(),
                    claims => format!("; {} contradicted by what was measured", format::count(claims, "claim")),
                };
                format!(
                    "done{}{contradicted}",
                    if reported.changed.is_empty() { ", no file changed".into() } else { files() }
                )
            }
            Health::Partial => because("did the least it had to"),
            Health::NeedsInput => because("stopped with a question"),
            Health::Failed => because("failed"),
            Health::Exhausted => because("stopped before it was finished"),
            Health::Malformed => because("its report cannot be used"),
        };
        match reported.noticed.is_empty() {
            true => said,
            false => {
                let outside = |what: &String| match what.strip_prefix("scope: ") {
                    Some(path) => format!("outside its scope: {path}"),
                    None => what.clone(),
                };
                let noticed: Vec<String> = reported.noticed.iter().map(outside).collect();
                format!("{said}; also noticed: {}", noticed.join(", "))
            }
        }
    }

    fn changes(&self, reported: &AttemptReported) -> Vec<api::Change> {
        let told = self.by_id.get(&reported.attempt).and_then(|place| self.history.attempts.get(*place));
        let unit = told.and_then(|told| told.wire.unit.as_deref()).and_then(|unit| self.run.unit(unit));
        let scope = unit.map(|unit| unit.scope.as_slice()).unwrap_or_default();
        reported.changed.iter().map(|changed| change(self.run, changed, scope)).collect()
    }
}

/// A changed file, its area, and whether it lies in the scope.
pub fn change(run: &Run, changed: &Changed, scope: &[Name]) -> api::Change {
    let areas = run.area_patterns();
    api::Change {
        path: changed.path.to_string(),
        kind: match changed.kind {
            ChangeKind::Created => api::ChangeKind::Created,
            ChangeKind::Modified => api::ChangeKind::Modified,
            ChangeKind::Deleted => api::ChangeKind::Deleted,
        },
        area: scope::area_of(&areas, &changed.path).map(ToString::to_string),
        scope: if scope::in_scope(&changed.path, scope) { "in_scope" } else { "out_of_scope" }.to_owned(),
    }
}

fn verdict_words(reported: &AttemptReported) -> String {
    let rows = |wanted: Judgement| -> Vec<&str> {
        reported.criteria.iter().filter(|said| said.result == wanted).map(|said| &*said.id).collect()
    };
    let failed = rows(Judgement::Fail);
    match reported.verdict {
        Verdict::Accept => match rows(Judgement::Pass).as_slice() {
            [] => "accepts".to_owned(),
            rows => format!("accepts {}", format::list(rows)),
        },
        Verdict::AcceptWithNotes => "accepts, with notes".to_owned(),
        Verdict::Reject if failed.is_empty() => "rejects".to_owned(),
        Verdict::Reject => format!("rejects {}", format::list(&failed)),
        Verdict::Inconclusive => "cannot tell".to_owned(),
        Verdict::None => "gives no verdict".to_owned(),
    }
}
