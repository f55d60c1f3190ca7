//! Events as lines for people: what the table tests compare and what a failed simulation prints.

use tollgate_core::Name;
use tollgate_core::id::UnitId;
use tollgate_core::protocol::model::{Target, Value};
use tollgate_core::report::{Health, Verdict};
use tollgate_core::run::event::{
    AskedQuestion, AttemptReported, ByKind, CommandResult, DecisionEnd, DecisionEnded, Event, InputsGiven, LandAsked,
    PoolParked, Recorded, TreeOf, Work,
};

/// One event as a line; none for what says nothing a reader of routes would miss.
pub fn line(recorded: &Recorded) -> Option<String> {
    let by = match recorded.by.kind {
        ByKind::Person => " by a person",
        ByKind::Timer => " by the timer",
        ByKind::Driver | ByKind::Worker => "",
    };
    Some(match &recorded.event {
        Event::RunOpened(_) | Event::ArtifactGiven(_) | Event::EachEntered(_) | Event::JudgementRests(_) => {
            return None;
        }
        Event::JudgementEnded(ended) => format!("{} accepts no more", ended.attempt),
        Event::DriverTookOver(taken) => format!("{} took over, epoch {}", taken.driver, recorded.epoch),
        Event::LedgerPlanned(planned) => {
            let units = planned.plan.units.iter().map(|unit| &*unit.name);
            let rows = planned.plan.requirements.iter().map(|row| &*row.id);
            let criteria = planned.plan.criteria.iter().map(|row| &*row.id);
            format!("planned {}", units.chain(rows).chain(criteria).collect::<Vec<_>>().join(" "))
        }
        Event::InputsGiven(given) => inputs(given),
        Event::VariableGiven(given) => format!("{} = {}", given.name, given.value),
        Event::FlowEntered(entered) => format!("{} enters `{}`", entered.instance, entered.stage),
        Event::FlowMoved(moved) => {
            let cut = if moved.cut_off { ", cut off" } else { "" };
            format!("{}: {} {} -> {}{cut}", moved.instance, moved.stage, moved.outcome, target(&moved.to))
        }
        Event::FlowResumed(resumed) => {
            let renewed = if resumed.renewed { ", renewed" } else { "" };
            format!("{} resumes `{}`{renewed}", resumed.instance, resumed.stage)
        }
        Event::FlowReturned(returned) => {
            let renews = returned.renews.as_ref().map(|rule| format!(", renews {rule}")).unwrap_or_default();
            format!("{}: {} -> {}{renews}", returned.instance, skipped(returned.decision), target(&returned.to))
        }
        Event::FlowHeld(held) => format!("{} is held at `{}`: {}", held.instance, held.stage, held.why),
        Event::AttemptStarted(started) => {
            let repeats = started.repeats.map(|lost| format!(", repeats {lost}")).unwrap_or_default();
            format!("{} {}{repeats}", started.attempt, work(&started.work, &started.instance))
        }
        Event::AttemptReported(reported) => report(reported),
        Event::AttemptParked(parked) => {
            let wrote = if parked.content.is_some() && !parked.changed.is_empty() { ", wrote" } else { "" };
            format!("{} is parked{wrote}", parked.attempt)
        }
        Event::PoolParked(parked) => closed(parked, recorded.at_ms),
        Event::DayCounted(counted) => {
            let used = &counted.elsewhere;
            format!("elsewhere today: {} attempts, {} tokens", used.attempts, used.tokens.known)
        }
        Event::BudgetChanged(changed) => match changed.limit {
            Some(limit) => format!("{} is {limit} now{by}", changed.over.key()),
            None => format!("{} holds no more{by}", changed.over.key()),
        },
        Event::AttemptLost(lost) => format!("{} is lost", lost.attempt),
        Event::AttemptUnready(unready) => format!("{} is not ready: {}", unready.attempt, unready.why),
        Event::AttemptCancelled(cancelled) => format!("{} is cancelled: {}", cancelled.attempt, cancelled.why),
        Event::AttemptRefused(refused) => format!("{} is refused: {}", refused.attempt, refused.why),
        Event::CommandsRan(ran) => format!("{}: ran {}", ran.attempt, results(&ran.results)),
        Event::LandingEnded(landing) => {
            let beside = landing.by_policy.join(" ");
            let beside = if beside.is_empty() { beside } else { format!(", by policy {beside}") };
            format!("{}: {} {}{beside}", landing.attempt, landing.outcome.word(), landing.paths.join(" "))
        }
        Event::FindingOpened(opened) => {
            let who = opened.about.role.as_deref().unwrap_or("measured");
            format!("{} ({who}{}): {}", opened.finding, of(&opened.about.units), opened.about.what)
        }
        Event::FindingRestated(restated) => format!("{} now says: {}", restated.finding, restated.about.what),
        Event::FindingChanged(changed) => {
            let ids: Vec<String> = changed.findings.iter().map(ToString::to_string).collect();
            format!("{} {}{}", ids.join(" "), changed.status.word(), in_tree(changed.tree.as_ref()))
        }
        Event::UnitChanged(changed) => format!("`{}` is {}: {}", changed.unit, changed.state.word(), changed.why),
        Event::RequirementsDisposed(disposed) => {
            let rows = disposed.dispositions.iter().map(|(id, what)| format!("{id} {what}"));
            format!("disposed {}", rows.collect::<Vec<_>>().join(", "))
        }
        Event::ScopeWidened(widened) => format!("scope widened by {}{by}", widened.paths.join(" ")),
        Event::WaiverGranted(waiver) => {
            let rows = waiver.criteria.iter().chain(&waiver.requirements).chain(&waiver.commands).map(|row| &**row);
            let rows = rows.chain(waiver.judgements.iter().map(|role| &**role)).map(str::to_owned);
            let all: Vec<String> = rows.chain(waiver.findings.iter().map(ToString::to_string)).collect();
            format!("waived {}{by}", all.join(" "))
        }
        Event::TreeChanged(changed) => format!("tree mended by hand{}", of(changed.unit.as_slice())),
        Event::DecisionAsked(asked) => {
            let options = asked.asked.options.iter().map(|option| {
                if option.waives.is_empty() {
                    option.id.to_string()
                } else {
                    format!("{} (waives {})", option.id, option.waives.join(" "))
                }
            });
            let options = options.collect::<Vec<_>>().join(", ") + "]" + &recommended(&asked.asked.questions);
            let beside = if asked.asked.blocking { "" } else { " beside" };
            let question = asked.asked.question.replace('\n', " / ");
            format!("{}{beside} {}: {question} [{options}", asked.decision, asked.asked.ask)
        }
        Event::DecisionEnded(ended) => format!("{} ends: {}", ended.decision, end(ended, by)),
        Event::QuestionAnswered(answered) => {
            format!("{} question {} answered: {:?}{by}", answered.decision, answered.question, answered.text)
        }
        Event::DecisionDeferred(deferred) => {
            format!("{} deferred until {}s: {:?}{by}", deferred.decision, deferred.until_ms / 1000, deferred.why)
        }
        Event::DecisionRefused(refused) => {
            format!("{} is refused `{}`: {}", refused.decision, refused.option, refused.why)
        }
        Event::RunHalted(halted) => format!("HALTED: {}", halted.reasons.join("; ")),
        Event::RunRepaired(repaired) => format!("repaired, lost up to {}: {}", repaired.until, repaired.why),
        Event::RunRetried(retried) => format!("retried{}", of(retried.unit.as_slice())),
        Event::RunClosed(closed) => format!("CLOSED {:?}: {}", closed.outcome, closed.why),
        Event::RunPublished(published) => format!("published on {}", published.branch),
        Event::LandAsked(asked) => land_asked(asked) + by,
        Event::LandChecked(checked) => format!("landing {}: ran {}", checked.token, results(&checked.results)),
        Event::LandLeft(left) => format!("landing {} is left: {}", left.token, left.why),
        Event::RunLanded(landed) => {
            format!("LANDED {} on {}", landed.how.word(), landed.branch.as_deref().unwrap_or("nothing"))
        }
    })
}

/// What is recommended for the questions of a card, and why.
fn recommended(questions: &[AskedQuestion]) -> String {
    let one = |(number, one): (u32, &AskedQuestion)| {
        let reason = one.reason.as_ref().map(|reason| format!(", because: {reason}")).unwrap_or_default();
        one.recommend.as_ref().map(|recommended| format!(" ({number} recommended: {recommended}{reason})"))
    };
    (1..).zip(questions).filter_map(one).collect()
}

fn inputs(given: &InputsGiven) -> String {
    let value = |value: &Value| match value {
        Value::Int(number) => number.to_string(),
        Value::Text(text) => text.to_string(),
        Value::List(items) => items.join(","),
    };
    let inputs = given.inputs.iter().map(|(name, given)| format!("{name} = {}", value(given)));
    inputs.collect::<Vec<_>>().join(", ")
}

fn results(results: &[CommandResult]) -> String {
    let flaky = |one: &CommandResult| one.flaky().map(|flaky| format!(" ({flaky})")).unwrap_or_default();
    let paths = |what: &str, paths: &[Name]| match paths.is_empty() {
        true => String::new(),
        false => format!(" ({what} {})", paths.join(" ")),
    };
    let asks = |one: &CommandResult| paths("changes", &one.changes) + &paths("set-up changed", &one.setup);
    let each = results.iter().map(|one| format!("{} {:?}{}{}", one.command.name(), one.result, flaky(one), asks(one)));
    each.collect::<Vec<_>>().join(", ")
}

fn land_asked(asked: &LandAsked) -> String {
    let commands: Vec<&str> = asked.commands.iter().map(|one| &**one.name()).collect();
    let again = if commands.is_empty() { String::new() } else { format!(", runs {}", commands.join(" ")) };
    format!("lands on {} as {}{again}", asked.target.onto, asked.target.how.word())
}

fn of(units: &[UnitId]) -> String {
    if units.is_empty() { String::new() } else { format!(" of {}", units.join(" ")) }
}

fn work(work: &Work, instance: &str) -> String {
    match work {
        Work::Dispatch { role, iteration, .. } => format!("{role} #{iteration} in {instance}"),
        Work::Commands { commands } => {
            let names: Vec<&str> = commands.iter().map(|one| &**one.name()).collect();
            format!("runs {} in {instance}", names.join(" "))
        }
        Work::Land { unit, .. } => format!("lands {unit}"),
    }
}

fn target(to: &Target) -> String {
    match to {
        Target::Stage(name) | Target::Ask(name) => name.to_string(),
        Target::Again => "again".to_owned(),
        Target::Done => "done".to_owned(),
        Target::Reported => "reported".to_owned(),
        Target::Dropped => "dropped".to_owned(),
        Target::Hold => "hold".to_owned(),
        Target::Raise(name) => format!("raise {name}"),
        Target::Back => "back".to_owned(),
        Target::Origin => "origin".to_owned(),
        Target::As(name) => format!("as {name}"),
    }
}

fn report(reported: &AttemptReported) -> String {
    let health = reported.health.word();
    let code = reported.code.as_ref().map(|code| format!(".{code}")).unwrap_or_default();
    let verdict = match reported.verdict {
        Verdict::None => String::new(),
        verdict => format!(" {}", verdict.word()),
    };
    let wrote = if reported.content.is_some() && !reported.changed.is_empty() { ", wrote" } else { "" };
    let notes: Vec<&str> = reported.diagnostics.iter().chain(&reported.contradictions).map(|s| &**s).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    // Why one is not routed as its worker meant it.
    let why = Some(&reported.reason).filter(|why| reported.health == Health::Ok && !why.is_empty());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    format!("{}: {health}{code}{verdict}{wrote}{notes}{why}", reported.attempt)
}

fn closed(parked: &PoolParked, at_ms: u64) -> String {
    let how = if parked.tried { "is tried by" } else { "says" };
    let said = parked.run.map(|run| format!(", {how} {run}")).unwrap_or_default();
    format!("{} is closed for {} s{said}", parked.pool, parked.until_ms.saturating_sub(at_ms) / 1000)
}

fn in_tree(tree: Option<&TreeOf>) -> String {
    match tree {
        None => String::new(),
        Some(TreeOf::Run) => " in the run's tree".to_owned(),
        Some(TreeOf::Unit(unit)) => format!(" in the tree of {unit}"),
    }
}

fn skipped(decision: Option<tollgate_core::id::DecisionId>) -> String {
    decision.map_or_else(|| "skipped".to_owned(), |id| id.to_string())
}

fn end(ended: &DecisionEnded, by: &str) -> String {
    let advance = if ended.in_advance { " in advance" } else { "" };
    let end = match (&ended.option, &*ended.text) {
        (Some(option), "") => option.to_string(),
        (Some(option), text) => format!("{option}, {text:?}"),
        (None, "") => format!("{:?}", ended.end).to_lowercase(),
        (None, text) if ended.end == DecisionEnd::Answered => format!("{text:?}"),
        (None, text) => format!("{}, {text:?}", format!("{:?}", ended.end).to_lowercase()),
    };
    format!("{end}{by}{advance}")
}
