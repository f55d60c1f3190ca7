//! Events as text: one sentence each, for logs, pipes, the timeline and the wire.

use std::collections::{BTreeMap, BTreeSet};

use crate::format;
use tollgate_core::Name;
use tollgate_core::id::{AttemptId, UnitId};
use tollgate_core::protocol::Outcome;
use tollgate_core::protocol::model::Target;
use tollgate_core::report::{Disposition, Health, Judgement, Plan, Verdict};
use tollgate_core::run::Run;
use tollgate_core::run::data::UnitState;
use tollgate_core::run::event::{
    AttemptReported, AttemptStarted, CommandResult, DecisionEnd, DecisionEnded, Event, FindingChanged, FindingStatus,
    FlowMoved, LandAsked, LandChecked, LandOutcome, LandingEnded, PoolParked, QuestionAnswered, Recorded, RunLanded,
    RunOutcome, TreeOf, Work,
};
use tollgate_core::run::state::{Attempt, MAIN};
use tollgate_engine::executor::LANDED_PATHS_MAX;

/// Puts the events of a run into sentences, one after the other: what was said before is not said again.
#[derive(Debug, Default)]
pub struct Narrator {
    attempts: BTreeMap<AttemptId, (String, Option<String>)>,
    /// Those that a quota cut off: what repeats them goes on with them.
    parked: BTreeSet<AttemptId>,
}

impl Narrator {
    /// One that continues: who is at work in the run is known.
    pub fn of(run: &Run) -> Self {
        let unit = |instance: &str| run.instances.get(instance)?.unit.as_ref().map(ToString::to_string);
        let known = |attempt: &Attempt| (who(&attempt.work), unit(&attempt.instance));
        let parked = run
            .instances
            .values()
            .filter(|instance| instance.session.as_ref().is_some_and(|told| told.quota.is_some()));
        let parked = parked.filter_map(|instance| instance.lost).collect();
        Self { attempts: run.attempts.iter().map(|(id, attempt)| (*id, known(attempt))).collect(), parked }
    }

    /// What happened, and in whose flow: a unit's, or the run's. Nothing for what another line says as well.
    pub fn narrate(&mut self, run: &Run, recorded: &Recorded) -> Option<(Option<String>, String)> {
        let sentence = match &recorded.event {
            // Its rows are told; who drives is told where it matters: an attempt is lost.
            Event::ArtifactGiven(_) | Event::DriverTookOver(_) => return None,
            Event::LedgerPlanned(planned) if planned.plan.criteria.is_empty() => return None,
            Event::FlowMoved(moved) if !is_news(moved) => return None,
            // What comes of it is told soon.
            Event::AttemptStarted(started) if !is_told(started) => {
                self.know(run, recorded, started);
                return None;
            }
            // The report was told just before, and the halt comes after.
            Event::FlowHeld(held) if &*held.instance == MAIN => return None,
            Event::FlowHeld(held) => format!("held at `{}`", held.stage),
            Event::RunHalted(_) => "halted".to_owned(),
            Event::AttemptStarted(started) if started.repeats.is_some_and(|of| self.parked.contains(&of)) => {
                started_sentence(started).replace(AGAIN, ", goes on")
            }
            Event::TreeChanged(changed) => {
                let asked = run.decisions.get(&changed.decision).map(|decision| &decision.asked.tree);
                let how = if asked == Some(&changed.content.tree) { "as it was" } else { "edited by hand" };
                format!("{} gives the work tree back, {how}", recorded.by.name)
            }
            _ => sentence(recorded)?,
        };
        if let Event::AttemptParked(parked) = &recorded.event {
            self.parked.insert(parked.attempt);
        }
        if let Event::AttemptStarted(started) = &recorded.event {
            self.know(run, recorded, started);
        }
        let attempt = match &recorded.event {
            Event::AttemptReported(reported) => Some(reported.attempt),
            Event::CommandsRan(ran) => Some(ran.attempt),
            Event::LandingEnded(landing) => Some(landing.attempt),
            Event::AttemptLost(lost) => Some(lost.attempt),
            Event::AttemptUnready(unready) => Some(unready.attempt),
            Event::AttemptParked(parked) => Some(parked.attempt),
            Event::AttemptCancelled(cancelled) => Some(cancelled.attempt),
            _ => None,
        };
        let (unit, sentence) = match attempt.and_then(|id| self.attempts.get(&id).map(|known| (id, known))) {
            // The reader knows roles, not numbers.
            Some((id, (who, unit))) => (unit.clone(), sentence.replacen(&id.to_string(), who, 1)),
            None => (unit_of(run, recorded), sentence),
        };
        // The unit's name stands beside the line.
        let short = unit.as_ref().and_then(|unit| sentence.strip_prefix(&format!("{unit} ")));
        let sentence = short.map_or_else(|| sentence.clone(), ToOwned::to_owned);
        Some((unit, sentence))
    }

    fn know(&mut self, run: &Run, recorded: &Recorded, started: &AttemptStarted) {
        self.attempts.insert(started.attempt, (who(&started.work), unit_of(run, recorded)));
    }
}

/// Whether the beginning of an attempt is worth a line: agents take long, commands and landings tell what came of them.
fn is_told(started: &AttemptStarted) -> bool {
    matches!(started.work, Work::Dispatch { .. }) || started.repeats.is_some()
}

fn who(work: &Work) -> String {
    match work {
        Work::Dispatch { role, .. } => role.to_string(),
        Work::Commands { .. } => "the run of commands".to_owned(),
        Work::Land { .. } => "the landing".to_owned(),
    }
}

/// Whether a move says what no other line does: an outcome that nobody reported.
fn is_news(moved: &FlowMoved) -> bool {
    let unreported = [Outcome::Verdict(Verdict::Inconclusive), Outcome::Fail, Outcome::Stale, Outcome::Unobservable];
    unreported.contains(&moved.outcome) && matches!(moved.to, Target::Stage(_) | Target::Again)
}

/// One sentence for an event; none for those that only move bookkeeping.
pub fn sentence(recorded: &Recorded) -> Option<String> {
    let by = &recorded.by.name;
    Some(match &recorded.event {
        Event::RunOpened(opened) => format!("started by {by} ({}): {}", opened.protocol.name, opened.title),
        Event::DriverTookOver(_) => match recorded.epoch {
            1 => return None,
            epoch => format!("another process goes on with it (the {})", format::nth(epoch)),
        },
        Event::ArtifactGiven(given) => format!("`{}` was given", given.name),
        Event::LedgerPlanned(planned) => format!("`{}` gives {}", planned.from, plan_text(&planned.plan)),
        Event::InputsGiven(given) => {
            let inputs: Vec<&str> = given.inputs.keys().map(|name| &**name).collect();
            format!("it begins with {}", format::list(&inputs))
        }
        Event::VariableGiven(given) => format!("{} is {}", given.name, given.value),
        Event::FlowEntered(entered) => match &entered.unit {
            Some(unit) => format!("{unit} starts at `{}`", entered.stage),
            None => return None,
        },
        Event::FlowMoved(moved) => return moved_sentence(moved),
        Event::FlowReturned(_) | Event::EachEntered(_) | Event::JudgementRests(_) | Event::JudgementEnded(_) => {
            return None;
        }
        Event::FlowResumed(resumed) => format!("taken up again at `{}`", resumed.stage),
        Event::FlowHeld(held) => format!("held at `{}`: {}", held.stage, held.why),
        Event::AttemptStarted(started) => started_sentence(started),
        Event::AttemptReported(reported) => reported_sentence(reported),
        Event::AttemptLost(lost) => format!("{} was lost: {}", lost.attempt, lost.why),
        Event::AttemptUnready(unready) => format!("{} was not started: {}", unready.attempt, first_line(&unready.why)),
        Event::AttemptParked(parked) => format!("{} was cut off: {}", parked.attempt, first_line(&parked.reason)),
        Event::PoolParked(parked) => closed_sentence(parked, recorded.at_ms),
        Event::DayCounted(_) => return None,
        Event::BudgetChanged(changed) => match changed.limit {
            Some(limit) => format!("{by} allows {} in all", changed.over.measure.shown(limit)),
            None => format!("{by} lifts the budget of {}", changed.over.measure.word()),
        },
        Event::AttemptCancelled(cancelled) => format!("{} was ended: {}", cancelled.attempt, cancelled.why),
        Event::AttemptRefused(refused) => {
            format!("{} had been ended when its result came: that does not count", refused.attempt)
        }
        Event::CommandsRan(ran) => {
            let results: Vec<String> = ran.results.iter().map(came).collect();
            format!("commands ran: {}", format::list(&results))
        }
        Event::LandingEnded(landing) => landing_sentence(landing),
        Event::FindingOpened(opened) => format!("{} opened: {}", opened.finding, first_line(&opened.about.what)),
        Event::FindingRestated(restated) => {
            format!("{} now says: {}", restated.finding, first_line(&restated.about.what))
        }
        Event::FindingChanged(changed) => {
            let ids: Vec<String> = changed.findings.iter().map(ToString::to_string).collect();
            format!("{} {}: {}", format::list(&ids), stands(changed), changed.why)
        }
        Event::UnitChanged(changed) => match changed.state {
            UnitState::Lapsed => format!("{} needs a new check: {}", changed.unit, changed.why),
            state => format!("{} is {}: {}", changed.unit, state.word(), changed.why),
        },
        Event::RequirementsDisposed(disposed) => {
            let each = |(id, word): (&Name, &Disposition)| format!("{id} is {}", word.replace('_', " "));
            let all: Vec<String> = disposed.dispositions.iter().map(each).collect();
            format!("{by} decided: {}", format::list(&all))
        }
        Event::ScopeWidened(widened) => format!("{by} widened the scope by {}", format::list(&widened.paths)),
        Event::WaiverGranted(waiver) => {
            let findings = waiver.findings.iter().map(ToString::to_string);
            let names = waiver.criteria.iter().chain(&waiver.commands).chain(&waiver.requirements);
            let judgements = waiver.judgements.iter().map(|role| format!("the judgement of {role}"));
            let all: Vec<String> = names.map(ToString::to_string).chain(findings).chain(judgements).collect();
            format!("{by} waived {}", format::list(&all))
        }
        Event::TreeChanged(_) => format!("{by} gives the work tree back, edited by hand"),
        Event::DecisionAsked(asked) => {
            format!("{} asks: {}", asked.decision, first_line(&asked.asked.question))
        }
        Event::DecisionEnded(ended) => ended_sentence(by, ended),
        Event::QuestionAnswered(answered) => {
            let QuestionAnswered { decision, question, text } = answered;
            format!("{by} answers question {question} of {decision}: {}", first_line(text))
        }
        Event::DecisionDeferred(deferred) => {
            let why = if deferred.why.is_empty() { String::new() } else { format!(": {}", first_line(&deferred.why)) };
            let until = format::then(recorded.at_ms, deferred.until_ms);
            format!("{by} puts {} off: it is asked again {until}{why}", deferred.decision)
        }
        Event::DecisionRefused(refused) => format!("an answer was refused: {}", refused.why),
        Event::RunHalted(halted) => format!("halted: {}", halted.reasons.join("; ")),
        Event::RunRepaired(repaired) => {
            let lost = (repaired.until + 1).saturating_sub(recorded.seq);
            let lost = format::count(usize::try_from(lost).unwrap_or(usize::MAX), "event");
            let kept = repaired.file.as_ref().map(|file| format!("; what was cut is in {file}")).unwrap_or_default();
            format!("{by} repaired the journal, {lost} lost: {}{kept}", repaired.why)
        }
        Event::RunRetried(_) => format!("{by} says: try again"),
        Event::RunClosed(closed) => match closed.outcome {
            RunOutcome::Succeeded => format!("succeeded: {}", closed.why),
            RunOutcome::Reported => format!("reported: {}", closed.why),
            RunOutcome::Dropped => format!("closed without success: {}", closed.why),
            RunOutcome::Cancelled => format!("cancelled: {}", closed.why),
        },
        Event::RunPublished(published) => {
            let short: String = published.commit.chars().take(12).collect();
            format!("the tree is on branch {} as {short}", published.branch)
        }
        Event::LandAsked(asked) => land_asked(by, asked),
        Event::LandChecked(checked) => land_checked(checked),
        Event::LandLeft(left) => format!("it did not land: {}", left.why),
        Event::RunLanded(landed) => run_landed(landed),
    })
}

fn landing_sentence(landing: &LandingEnded) -> String {
    match landing.outcome {
        LandOutcome::Landed if landing.by_policy.is_empty() => {
            format!("landed in the run's tree, {} changed", landed_files(landing.paths.len()))
        }
        LandOutcome::Landed => format!(
            "landed in the run's tree, {} changed; outside the scope, as the policy of its role allows: {}",
            landed_files(landing.paths.len()),
            format::list(&landing.by_policy)
        ),
        LandOutcome::Conflict => {
            format!("did not land: it collides with what landed before in {}", format::list(&landing.paths))
        }
        LandOutcome::OutOfScope => {
            format!("did not land: {} outside the scope", landed_files(landing.paths.len()))
        }
        LandOutcome::Refused => format!("did not land: {}", landing.why),
    }
}

fn ended_sentence(by: &str, ended: &DecisionEnded) -> String {
    match (ended.end, &ended.option) {
        (DecisionEnd::Answered, Some(option)) => {
            let advance = if ended.in_advance { " in advance" } else { "" };
            format!("{by} answers {}{advance}: {option}", ended.decision)
        }
        (DecisionEnd::Answered, None) if ended.text.is_empty() => format!("{} is answered", ended.decision),
        (DecisionEnd::Answered, None) => format!("{by} answers {}: {}", ended.decision, first_line(&ended.text)),
        (DecisionEnd::Cancelled, _) if !ended.text.is_empty() => {
            format!("{by} cancels {}: {}", ended.decision, first_line(&ended.text))
        }
        (DecisionEnd::Cancelled, _) => format!("{} is no longer asked", ended.decision),
        (DecisionEnd::Skipped, _) => format!("{by} skips {}: {}", ended.decision, first_line(&ended.text)),
        (DecisionEnd::Replaced, _) => format!("{} is asked again, as things stand now", ended.decision),
    }
}

fn land_asked(by: &str, asked: &LandAsked) -> String {
    let again = match asked.commands.len() {
        0 => String::new(),
        many => format!("; it has moved: {} again", format::count(many, "command")),
    };
    format!("{by} lands it on {} as a {}{again}", asked.target.onto, asked.target.how.word())
}

/// What came of a command.
fn came(result: &CommandResult) -> String {
    match result.flaky() {
        Some(flaky) => format!("{} is {flaky}", result.command.name()),
        None => format!("{} {}", result.command.name(), judged(result.result)),
    }
}

fn land_checked(checked: &LandChecked) -> String {
    let results: Vec<String> = checked.results.iter().map(came).collect();
    format!("on the merged tree: {}", format::list(&results))
}

fn run_landed(landed: &RunLanded) -> String {
    let short: String = landed.commit.chars().take(12).collect();
    match &landed.branch {
        Some(branch) => format!("landed on {branch} as {short}"),
        None => format!("landed as a patch on {short}"),
    }
}

/// The unit whose flow an event belongs to; none: the run's.
pub fn unit_of(run: &Run, recorded: &Recorded) -> Option<String> {
    let instance = match &recorded.event {
        Event::FlowEntered(entered) => &entered.instance,
        Event::FlowMoved(moved) => &moved.instance,
        Event::FlowReturned(returned) => &returned.instance,
        Event::FlowResumed(resumed) => &resumed.instance,
        Event::FlowHeld(held) => &held.instance,
        Event::AttemptStarted(started) => &started.instance,
        Event::DecisionAsked(asked) => &asked.asked.instance,
        Event::UnitChanged(changed) => return Some(changed.unit.to_string()),
        Event::FindingOpened(opened) => return only(&opened.about.units),
        Event::FindingRestated(restated) => return only(&restated.about.units),
        Event::FindingChanged(changed) => {
            let first = changed.findings.first().and_then(|id| run.ledger.findings.get(id))?;
            return changed.unit.as_ref().map(ToString::to_string).or_else(|| only(&first.about.units));
        }
        Event::ScopeWidened(widened) => return widened.unit.as_ref().map(ToString::to_string),
        Event::WaiverGranted(waiver) => &run.decisions.get(&waiver.decision)?.asked.instance,
        Event::DecisionEnded(ended) => &run.decisions.get(&ended.decision)?.asked.instance,
        Event::QuestionAnswered(answered) => &run.decisions.get(&answered.decision)?.asked.instance,
        Event::DecisionDeferred(deferred) => &run.decisions.get(&deferred.decision)?.asked.instance,
        _ => return None,
    };
    run.instances.get(instance)?.unit.as_ref().map(ToString::to_string)
}

/// Where findings stand now. In which tree is said where it is not that of who is named beside it.
fn stands(changed: &FindingChanged) -> String {
    match (changed.status, &changed.unit, &changed.tree) {
        (FindingStatus::Open, Some(_), _) => "left as it is".to_owned(),
        (status, _, Some(TreeOf::Run)) => format!("{} in the run's tree", status.word()),
        (status, ..) => status.word().to_owned(),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The word for a result.
pub const fn judged(result: Judgement) -> &'static str {
    match result {
        Judgement::Pass => "passed",
        Judgement::Fail => "failed",
        Judgement::Unobservable => "cannot be observed",
    }
}

/// How an attempt is told that a crash repeats.
const AGAIN: &str = ", repeated after a crash";

fn closed_sentence(parked: &PoolParked, at_ms: u64) -> String {
    let then = format::then(at_ms, parked.until_ms);
    match parked.run {
        Some(run) if parked.tried => format!("{run} tries whether {} may be called", parked.pool),
        Some(run) => format!("{} is called again {then}, says {run}", parked.pool),
        None => format!("{} is called again {then}", parked.pool),
    }
}

fn started_sentence(started: &AttemptStarted) -> String {
    let again = if started.repeats.is_some() { AGAIN } else { "" };
    match &started.work {
        Work::Dispatch { role, iteration: 1, .. } => format!("{role} works at `{}`{again}", started.stage),
        Work::Dispatch { role, iteration, .. } => {
            format!("{role} works at `{}`, {}{again}", started.stage, format::nth_time(*iteration))
        }
        Work::Commands { commands } => {
            let noun = if commands.len() == 1 { "command runs" } else { "commands run" };
            format!("{} {noun} for `{}`{again}", commands.len(), started.stage)
        }
        Work::Land { unit, .. } => format!("{unit} lands{again}"),
    }
}

/// How many files a landing names: one with more than it can name says that there are more.
fn landed_files(named: usize) -> String {
    let least = if named >= LANDED_PATHS_MAX { "at least " } else { "" };
    format!("{least}{}", format::count(named, "file"))
}

fn reported_sentence(reported: &AttemptReported) -> String {
    let said = match (reported.health, reported.verdict) {
        (Health::Ok, Verdict::None) => "reports ok",
        (Health::Ok, Verdict::Accept) => "accepts",
        (Health::Ok, Verdict::AcceptWithNotes) => "accepts with notes",
        (Health::Ok, Verdict::Reject) => "rejects",
        (Health::Ok, Verdict::Inconclusive) => "cannot tell",
        (Health::Partial, _) => "reports only the least that counts",
        (Health::NeedsInput, _) => "needs an answer",
        (Health::Failed, _) => "failed",
        (Health::Exhausted, _) => "stopped unfinished",
        (Health::Malformed, _) => "left no valid report",
    };
    let mut text = format!("{} {said}", reported.attempt);
    if !reported.changed.is_empty() {
        text.push_str(&format!(", {} changed", format::count(reported.changed.len(), "file")));
    }
    if !reported.reason.is_empty() {
        text.push_str(&format!(": {}", first_line(&reported.reason)));
    }
    if !reported.contradictions.is_empty() {
        let contradicted = format::count(reported.contradictions.len(), "claim");
        text.push_str(&format!(" ({contradicted} contradicted by what was measured)"));
    }
    if !reported.noticed.is_empty() {
        text.push_str(&format!("; also noticed: {}", reported.noticed.join(", ")));
    }
    text
}

/// What a plan holds, in numbers.
fn plan_text(plan: &Plan) -> String {
    let parts = [(plan.units.len(), "unit"), (plan.requirements.len(), "requirement")];
    let mut parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, noun)| format::count(*n, noun)).collect();
    parts.extend(match plan.criteria.len() {
        0 => None,
        1 => Some("1 criterion".to_owned()),
        n => Some(format!("{n} criteria")),
    });
    let commands = match plan.criteria.iter().filter(|row| row.command.is_some()).count() {
        0 => String::new(),
        n => format!(", {n} with a command"),
    };
    format!("{}{commands}", format::list(&parts))
}

fn moved_sentence(moved: &FlowMoved) -> Option<String> {
    let limit = if moved.cut_off { " (its limit is reached)" } else { "" };
    let to = match &moved.to {
        Target::Stage(_) if moved.outcome == Outcome::Skipped => return None,
        Target::Stage(stage) => format!("goes to `{stage}`"),
        Target::Again => "asked once more".to_owned(),
        Target::Ask(_) => "a person is asked".to_owned(),
        Target::Hold => return None,
        Target::Done => "is done".to_owned(),
        Target::Reported => "the run ends with a report".to_owned(),
        Target::Dropped => "is given up".to_owned(),
        Target::Raise(name) => format!("leaves the flow: {name}"),
        Target::Back | Target::Origin | Target::As(_) => return None,
    };
    let outcome = match &moved.outcome {
        Outcome::Verdict(Verdict::Inconclusive) => "accepted, but the measurements do not confirm it".to_owned(),
        outcome => outcome.word().replace('_', " "),
    };
    Some(format!("`{}`: {outcome}; {to}{limit}", moved.stage))
}

/// What belongs to one unit is its own; what belongs to several is the run's.
fn only(units: &[UnitId]) -> Option<String> {
    match units {
        [one] => Some(one.to_string()),
        _ => None,
    }
}

/// Where an outcome leads, in plain words.
pub fn target(target: &Target) -> String {
    match target {
        Target::Stage(stage) => stage.to_string(),
        Target::Ask(ask) => format!("a person ({ask})"),
        Target::Again => "the same stage again".to_owned(),
        Target::Done => "done".to_owned(),
        Target::Reported => "reported".to_owned(),
        Target::Dropped => "given up".to_owned(),
        Target::Hold => "held".to_owned(),
        Target::Raise(name) => format!("raise {name}"),
        Target::Back | Target::Origin => "back where it came from".to_owned(),
        Target::As(outcome) => format!("on as {outcome}"),
    }
}
