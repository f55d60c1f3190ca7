//! What lists show of a run, written with every append.

use serde::{Deserialize, Serialize};
use tollgate_core::Name;
use tollgate_core::id::DecisionId;
use tollgate_core::run::Run;
use tollgate_core::run::budget::Stopped;
use tollgate_core::run::event::{RunOutcome, Work};
use tollgate_core::run::state::{At, Attempt, Instance, Phase};
use tollgate_store::SummaryText;

/// How much of a question or a reason a list shows.
const SENTENCE_CHARS_MAX: usize = 240;
/// How many places or questions a list names.
const NAMED_MAX: usize = 4;

/// How a run stands, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryStatus {
    /// Somebody works, or could.
    Working,
    /// A person is asked, and nothing else can move.
    Waiting,
    /// A quota is used up: it goes on by itself at a time.
    Sleeping,
    /// Nothing moves without a person's `retry`.
    Halted,
    /// Closed: every mandatory gate held at the closing tree.
    Succeeded,
    /// Closed: it ended with its report.
    Reported,
    /// Closed: given up.
    Dropped,
    /// Closed: a person ended it.
    Cancelled,
}

impl SummaryStatus {
    const ALL: [Self; 8] = [
        Self::Working,
        Self::Waiting,
        Self::Sleeping,
        Self::Halted,
        Self::Succeeded,
        Self::Reported,
        Self::Dropped,
        Self::Cancelled,
    ];

    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Sleeping => "sleeping",
            Self::Halted => "halted",
            Self::Succeeded => "succeeded",
            Self::Reported => "reported",
            Self::Dropped => "dropped",
            Self::Cancelled => "cancelled",
        }
    }

    /// The standing of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.word() == word)
    }
}

/// How a run stands.
pub fn status(run: &Run) -> SummaryStatus {
    match &run.phase {
        Phase::Closed { outcome: RunOutcome::Succeeded, .. } => SummaryStatus::Succeeded,
        Phase::Closed { outcome: RunOutcome::Reported, .. } => SummaryStatus::Reported,
        Phase::Closed { outcome: RunOutcome::Dropped, .. } => SummaryStatus::Dropped,
        Phase::Closed { outcome: RunOutcome::Cancelled, .. } => SummaryStatus::Cancelled,
        Phase::Halted { .. } => SummaryStatus::Halted,
        Phase::Open => {
            let moves = |name: &str, instance: &Instance| match instance.at {
                At::Leased { .. } => true,
                At::Ready { .. } => run.is_live(name) && run.stopped(instance).is_none(),
                _ => false,
            };
            match run.instances.iter().any(|(name, instance)| moves(name, instance)) {
                true => SummaryStatus::Working,
                false if run.pending().next().is_some() => SummaryStatus::Waiting,
                false if run.sleeps_until().is_some() => SummaryStatus::Sleeping,
                false => SummaryStatus::Working,
            }
        }
    }
}

/// Why nothing moves without a person's `retry`: the run is halted, or what is held is all that is left.
pub fn halted(run: &Run) -> Option<Vec<String>> {
    let idle = |name: &str, at: &At| match at {
        At::Ready { .. } | At::Waiting { .. } => !run.is_live(name),
        At::Leased { .. } => false,
        At::Each { .. } | At::Held { .. } | At::Closing { .. } | At::Ended { .. } => true,
    };
    match &run.phase {
        Phase::Closed { .. } => None,
        Phase::Halted { reasons } => Some(reasons.clone()),
        Phase::Open if run.pending().next().is_some() => None,
        Phase::Open if !run.instances.iter().all(|(name, instance)| idle(name, &instance.at)) => None,
        Phase::Open => {
            let held = run.instances.values().filter_map(|instance| match &instance.at {
                At::Held { why, .. } => Some(why.clone()),
                _ => None,
            });
            Some(held.collect()).filter(|held: &Vec<String>| !held.is_empty())
        }
    }
}

/// The body of a summary: what a list shows beyond its columns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SummaryBody {
    /// What the run is for.
    pub title: String,
    /// Its protocol.
    pub protocol: String,
    /// When it was opened.
    pub opened_ms: u64,
    /// Whether it succeeded and has no branch yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unpublished: bool,
    /// Whether it succeeded without a change: it has no branch, and nothing of it can land.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub empty: bool,
    /// Whether it landed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub landed: bool,
    /// Why it stands where it stands, in one sentence.
    pub reason: String,
    /// How many questions are open.
    pub open: u32,
    /// The first of them.
    pub asks: Vec<Ask>,
    /// Until when it sleeps, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleeps_until_ms: Option<u64>,
}

impl SummaryBody {
    /// The body that a summary was written with; none of one that another version wrote, or that somebody changed.
    pub fn of(text: &SummaryText) -> Option<Self> {
        serde_json::from_slice(&text.body).ok()
    }
}

/// An open question, as far as it takes to answer it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The decision.
    pub decision: DecisionId,
    /// The options; none: any text answers.
    pub options: Vec<Name>,
    /// Its open questions that are answered one by one: the number of each, and the input that it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<(u32, Option<Name>)>,
}

/// The body of a run's summary.
pub fn body(run: &Run) -> SummaryBody {
    let ask = |(decision, asked): (DecisionId, &tollgate_core::run::state::Decision)| Ask {
        decision,
        options: asked.asked.options.iter().map(|option| option.id.clone()).collect(),
        open: asked.open_questions().take(NAMED_MAX).map(|(number, asked)| (number, asked.input.clone())).collect(),
    };
    SummaryBody {
        title: short(&run.opened.title),
        protocol: run.opened.protocol.name.to_string(),
        opened_ms: run.opened_ms,
        unpublished: run.is_unpublished(),
        empty: run.succeeded() && !run.has_changed(),
        landed: !run.landed.is_empty() && run.landing.is_none(),
        reason: short(&reason(run)),
        open: u32::try_from(run.pending().count()).unwrap_or(u32::MAX),
        asks: run.pending().take(NAMED_MAX).map(ask).collect(),
        sleeps_until_ms: run.sleeps_until().filter(|_| status(run) == SummaryStatus::Sleeping),
    }
}

/// The summary of a run, as the store keeps it.
pub fn text(run: &Run, now_ms: u64) -> SummaryText {
    let standing = if halted(run).is_some() { SummaryStatus::Halted } else { status(run) };
    SummaryText {
        status: standing.word().to_owned(),
        repository: run.opened.repository.clone(),
        at_ms: now_ms,
        body: serde_json::to_vec(&body(run)).unwrap_or_default(),
    }
}

/// Why a run stands where it stands.
fn reason(run: &Run) -> String {
    let asked: Vec<String> = run
        .pending()
        .take(NAMED_MAX)
        .map(|(id, decision)| format!("{id}: {}", decision.asked.question.lines().next().unwrap_or_default()))
        .collect();
    if let Some(reasons) = halted(run) {
        return reasons.join("; ");
    }
    match &run.phase {
        Phase::Closed { why, .. } if run.is_unpublished() => format!("{why}; its branch is not made yet"),
        Phase::Closed { why, .. } if run.landing.is_some() || !run.landed.is_empty() => {
            format!("{why}; {}", landing(run, &asked))
        }
        Phase::Closed { why, .. } => why.clone(),
        Phase::Open | Phase::Halted { .. } => {
            let busy = run.instances.iter().filter(|(_, instance)| !matches!(instance.at, At::Each { .. }));
            let mut parts: Vec<String> =
                busy.filter_map(|(name, instance)| doing(run, name, instance)).take(NAMED_MAX).collect();
            if !asked.is_empty() {
                parts.push(format!("waits for {}", asked.join("; ")));
            }
            if parts.is_empty() { "nothing is under way".to_owned() } else { parts.join("; ") }
        }
    }
}

/// Where a run that is over landed, or is about to.
fn landing(run: &Run, asked: &[String]) -> String {
    match (&run.landing, run.landed.last()) {
        (Some(landing), _) if asked.is_empty() => format!("it lands on {}", landing.target.onto),
        (Some(landing), _) => format!("landing on {} waits for {}", landing.target.onto, asked.join("; ")),
        (None, Some(landed)) => match &landed.branch {
            Some(branch) => format!("it landed on {branch}"),
            None => "it landed as a patch".to_owned(),
        },
        (None, None) => String::new(),
    }
}

/// What a flow does, where it is not a question.
fn doing(run: &Run, name: &str, instance: &Instance) -> Option<String> {
    let on = instance.unit.as_ref().map(|unit| format!(" on {unit}")).unwrap_or_default();
    match &instance.at {
        At::Leased { attempt, .. } => run.attempts.get(attempt).map(|attempt| working(attempt, &on)),
        At::Ready { stage } if run.is_live(name) => {
            let next = format!("`{stage}` is next{}", on.replace(" on ", " for "));
            Some(match run.stopped(instance) {
                Some(Stopped::Parked { pool, .. }) => format!("{next}, once {pool} may be called again"),
                Some(Stopped::Tried { pool, attempt }) => format!("{next}, once {attempt} has tried {pool}"),
                Some(Stopped::Asked(_)) => return None,
                None => next,
            })
        }
        At::Held { stage, why, .. } => {
            Some(format!("{} is held at `{stage}`: {why}", instance.unit.as_deref().unwrap_or("the run")))
        }
        At::Ready { .. } | At::Waiting { .. } | At::Each { .. } | At::Closing { .. } | At::Ended { .. } => None,
    }
}

/// Who works on what: "developer works on backend (build, again)".
fn working(attempt: &Attempt, on: &str) -> String {
    match &attempt.work {
        Work::Dispatch { role, iteration: 1, .. } => format!("{role} works{on} ({})", attempt.stage),
        Work::Dispatch { role, .. } => format!("{role} works{on} ({}, again)", attempt.stage),
        Work::Commands { .. } => format!("commands run{on} ({})", attempt.stage),
        Work::Land { unit, .. } => format!("{unit} lands"),
    }
}

fn short(text: &str) -> String {
    if text.chars().count() <= SENTENCE_CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(SENTENCE_CHARS_MAX - 1).chain(['…']).collect()
}
