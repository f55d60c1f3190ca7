//! Repairing a run: its journal is cut back to the last event that verifies, and a person learns what that lost.
//!
//! What is cut is kept in a file first. What the lost events may have done in the world (workers, landings, the branch) is
//! read from them as far as they can be read, and from what lies around where they cannot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, RunId};
use tollgate_core::run::event::{By, ByKind, Committed, DecisionEnd, LandOutcome, RunRepaired, Work};
use tollgate_core::run::pool::Around;
use tollgate_core::run::{self, Command, Event, Recorded, Rejection, Run, Stamp};
use tollgate_store::{
    Append, AppendError, Cut, Filed, Filter, HeadDamage, HeadRecord, Journal, LeaseError, LeaseRequest, SqliteJournal,
    Stray,
};

use crate::driver::LEASE_MS;
use crate::process::holder;
use crate::session::{LoadError, Replay};
use crate::session::{other_runs, summary};
use crate::verify::state_directory::{is_beside, unknown_end};
use crate::verify::{Breach, verify};
use crate::workers::bundle;
use crate::workspace::{Workspace, run_folder};

/// More events than this are not counted one by one: a number that large is damage itself.
const LOST_MAX: u64 = 1_000_000;
/// How many things that may have happened are named one by one.
const NAMED_MAX: usize = 40;

/// Why a run was not repaired.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// It holds.
    #[error("{0} holds: there is nothing to repair")]
    Sound(RunId),
    /// Not even its first event verifies.
    #[error("nothing of {run} verifies")]
    Nothing {
        /// The run.
        run: RunId,
        /// What does not hold.
        breach: Breach,
    },
    /// What does not hold is no damage: another version wrote it, or it cannot be read just now.
    #[error("{run} is not repaired: {}", breach.what)]
    NotDamage {
        /// The run.
        run: RunId,
        /// What does not hold.
        breach: Breach,
    },
    /// Somebody drives it.
    #[error("another tollgate is running {run}: {}", holder::display(holder))]
    Held {
        /// The run.
        run: RunId,
        /// By whom.
        holder: String,
    },
    /// The lease could not be had.
    #[error(transparent)]
    Lease(LeaseError),
    /// The run could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The kernel says no.
    #[error("{0}")]
    Rejected(Rejection),
    /// The journal could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// An event could not be written as JSON.
    #[error("an event could not be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}

impl RepairError {
    /// The code of its page.
    pub fn code(&self) -> Code {
        match self {
            Self::Sound(_) => Code::NOTHING_TO_REPAIR,
            Self::Nothing { .. } => Code::NOTHING_LEFT,
            Self::NotDamage { breach, .. } => breach.code,
            Self::Held { .. } => Code::RUN_HELD,
            Self::Lease(error) => error.code(),
            Self::Load(error) => error.code(),
            Self::Rejected(rejection) => rejection.code(),
            Self::Append(error) => error.code(),
            Self::Unwritable(_) => Code::INTERNAL,
        }
    }
}

/// What a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairOutcome {
    /// The run as it is now.
    pub run: Run,
    /// The last event that verifies, and is kept.
    pub kept: u64,
    /// The last event that is known to have been there.
    pub until: u64,
    /// How many events were taken out of the journal.
    pub cut: u64,
    /// What did not hold.
    pub breach: Breach,
    /// The file that keeps what was cut.
    pub file: Option<PathBuf>,
    /// What may have happened after the cut.
    pub after: Vec<String>,
    /// The head of the chain now.
    pub head: Digest,
}

/// Who repairs, where and when.
#[derive(Debug, Clone, Copy)]
pub struct RepairContext<'a> {
    /// The state directory.
    pub state: &'a Path,
    /// The person's name.
    pub person: &'a str,
    /// Now.
    pub now_ms: u64,
}

/// What holds of a run, and what does not.
struct Found {
    run: Run,
    head: Digest,
    kept: BTreeSet<u64>,
    breach: Breach,
    strays: Vec<Stray>,
    committed: Option<HeadRecord>,
    /// The last event that the run's own row names, where it can be read.
    said: u64,
}

/// Cuts a run back to the last event that verifies and leaves it halted for a person.
pub fn repair(journal: &SqliteJournal, id: RunId, place: RepairContext<'_>) -> Result<RepairOutcome, RepairError> {
    journal.adopt(id).map_err(LoadError::from)?;
    let found = find(journal, id)?;
    let held = hold(journal, id, place.now_ms)?;
    give_up_trees(place.state, &found.run);
    // What was appended since is refused by the cut itself: it knows every row there was.
    let repaired = cut(journal, found, place, held.unwrap_or(0));
    if let (Err(_), Some(epoch)) = (&repaired, held) {
        // What was not repaired is left to whoever comes next; a lease that cannot be given back passes by itself.
        journal.lease(id, LeaseRequest::Release { epoch }).ok();
    }
    repaired
}

/// What work trees hold that the events which are left know nothing of may be a person's: no look puts it away. A note that cannot be
/// made costs nothing but that, what is put away is kept.
fn give_up_trees(state: &Path, run: &Run) {
    let Ok(workspace) = Workspace::of(state, run) else { return };
    if let Ok(_held) = workspace.lock_clean() {
        workspace.treat_lost_as_manual(&|content| run.contents.contains_key(content.as_str()));
    }
}

/// Takes the run's lease, so that nobody drives it meanwhile; one that cannot be read nobody else can take either.
fn hold(journal: &SqliteJournal, run: RunId, now_ms: u64) -> Result<Option<u64>, RepairError> {
    let acquire = |over| LeaseRequest::Acquire { holder: holder::this_process(), now_ms, ttl_ms: LEASE_MS, over };
    let lease = match journal.lease(run, acquire(None)) {
        Err(LeaseError::Held { held, .. }) if holder::is_dead(&held.holder) => {
            journal.lease(run, acquire(Some(held.epoch)))
        }
        other => other,
    };
    match lease {
        Ok(lease) => Ok(Some(lease.epoch)),
        Err(LeaseError::Held { held, .. }) => Err(RepairError::Held { run, holder: held.holder }),
        Err(LeaseError::Store(error)) if error.code() == Code::STORE_CORRUPT => Ok(None),
        Err(error) => Err(RepairError::Lease(error)),
    }
}

fn find(journal: &SqliteJournal, id: RunId) -> Result<Found, RepairError> {
    let proof = verify(journal, id)?;
    let committed = journal.committed(id).map_err(LoadError::from)?;
    let proved = committed.is_some_and(|record| (record.seq, record.head) == (proof.events, proof.head));
    let mut breaches = proof.breaches;
    let whole = breaches.is_empty();
    let damage = journal.check_heads().map_err(LoadError::from)?.into_iter().find(|damage| had(damage).run == id);
    breaches.extend(damage.as_ref().map(|damage| Breach {
        code: damage.code(),
        seq: Some(match damage {
            HeadDamage::LostTail { has, .. } => has + 1,
            HeadDamage::Differs { had, .. } => had.seq,
        }),
        what: damage.to_string(),
    }));
    for missing in journal.unrecorded().map_err(LoadError::from)?.iter().filter(|missing| missing.run == id) {
        breaches.extend(unknown_end(journal, missing)?);
    }
    if let Some(breach) = breaches.iter().find(|breach| !is_damage(breach.code)) {
        return Err(RepairError::NotDamage { run: id, breach: breach.clone() });
    }
    // A row that contradicts events which are known to be committed is wrong itself.
    let cuts = |breach: &&Breach| !(is_beside(breach.code) || proved && breach.code == Code::CHAIN_HEAD);
    let first = breaches.iter().filter(cuts).filter_map(|breach| breach.seq).min().unwrap_or(u64::MAX);
    let mut replay = Replay::auditing(id);
    let mut kept = BTreeSet::new();
    let mut known_loss = None;
    for row in tollgate_store::chain::rows(journal, id, 0) {
        let Ok(row) = row else { break };
        if row.last >= first || replay.row(&row, &mut |digest| Ok(journal.object(digest)?)).is_err() {
            break;
        }
        kept.insert(row.place);
        let read = row.events().filter_map(|text| Recorded::from_bytes(text).ok());
        known_loss = read.filter_map(|recorded| loss_in(&recorded.event)).last().or(known_loss);
    }
    // A repair that was cut off after its commit: the journal says what was lost, the file of heads does not know it yet.
    let known = known_loss.is_some() && known_loss == committed.map(|record| (record.seq, record.head));
    if whole && known {
        let record = HeadRecord { run: id, seq: proof.events, head: proof.head };
        journal.record_head(record).map_err(LoadError::from)?;
        return Err(RepairError::Sound(id));
    }
    let (head, state) = (replay.head(), replay.into_run());
    let mut strays = journal.strays_of(id, &kept).map_err(LoadError::from)?;
    if breaches.is_empty() {
        // It lacks nothing: what another run has of it is that run's damage.
        strays.retain(|stray| !matches!(stray.filed, Filed::Under(_)));
    }
    breaches.sort_by_key(|breach| (is_beside(breach.code), breach.seq));
    let mut breach = match breaches.into_iter().next() {
        Some(breach) => breach,
        None if strays.is_empty() => return Err(RepairError::Sound(id)),
        None => {
            Breach { code: Code::CHAIN_BROKEN, seq: None, what: "rows are said to be its that it never had".to_owned() }
        }
    };
    breach.what.extend(strays.iter().filter_map(filed_elsewhere));
    let Some(run) = state else { return Err(RepairError::Nothing { run: id, breach }) };
    let filter = Filter { prefix: Some(id.digits().to_owned()), limit: Some(1), ..Filter::default() };
    let listed = journal.list(&filter).map_err(LoadError::from)?.runs;
    let said = listed.first().map_or(0, |summary| summary.head.seq);
    Ok(Found { run, head, kept, breach, strays, committed, said })
}

/// Where a row was that is one of the run's by its events only; it is cut and kept like the others.
fn filed_elsewhere(stray: &Stray) -> Option<String> {
    let whose = match stray.filed {
        Filed::Here => return None,
        Filed::Under(other) => format!("under {other}"),
        Filed::Nowhere => "under no run".to_owned(),
    };
    Some(format!("; the row at place {}, which names it, was filed {whose} and is cut too", stray.place))
}

/// The committed head that a repair found missing.
fn loss_in(event: &Event) -> Option<(u64, Digest)> {
    match event {
        Event::RunRepaired(repaired) => repaired.committed.as_ref().map(|lost| (lost.seq, lost.head)),
        _ => None,
    }
}

const fn had(damage: &HeadDamage) -> &HeadRecord {
    let (HeadDamage::LostTail { had, .. } | HeadDamage::Differs { had, .. }) = damage;
    had
}

/// Whether something is wrong with what is stored, and not with the reader or the machine.
fn is_damage(code: Code) -> bool {
    !matches!(
        code,
        Code::NEWER_EVENT | Code::STORE_FAILED | Code::STORE_FULL | Code::STORE_READ_ONLY | Code::STORE_LOCKED
    )
}

fn cut(
    journal: &SqliteJournal,
    found: Found,
    place: RepairContext<'_>,
    held: u64,
) -> Result<RepairOutcome, RepairError> {
    let (kept, id) = (found.run.seq, found.run.id);
    let lost = Lost::of(&found);
    let prepared = bundle::prepared(&run_folder(place.state, id).join("bundles"));
    let after = after_the_cut(&found, &lost, &prepared, place.state);
    let file = match found.strays.is_empty() {
        true => None,
        false => Some(journal.keep_cut(id, kept, &kept_text(&found)?).map_err(LoadError::from)?),
    };
    let name = file.as_ref().and_then(|path| path.file_name()).map(|name| format!("cuts/{}", name.to_string_lossy()));
    let repaired =
        RunRepaired {
            why: found.breach.what.clone(),
            until: lost.until,
            committed: found
                .committed
                .filter(|record| record.seq > kept)
                .map(|record| Committed { seq: record.seq, head: record.head }),
            file: name.map(Into::into),
            after: after.clone(),
            next_attempt: lost.next(found.run.next_attempt, prepared.last().map(|attempt| attempt.0), |event| {
                match event {
                    Event::AttemptStarted(started) => Some(started.attempt.0),
                    _ => None,
                }
            }),
            next_decision: lost.next(found.run.next_decision, None, |event| match event {
                Event::DecisionAsked(asked) => Some(asked.decision.0),
                _ => None,
            }),
            next_finding: lost.next(found.run.next_finding, None, |event| match event {
                Event::FindingOpened(opened) => Some(opened.finding.0),
                _ => None,
            }),
        };
    let seen = lost.known.values().map(|recorded| recorded.epoch).chain([found.run.epoch, held]).max().unwrap_or(0);
    let by = By { kind: ByKind::Person, name: place.person.into() };
    let stamp = Stamp { now_ms: place.now_ms, by, epoch: seen + 1, around: Around::default() };
    let decided =
        run::decide(&found.run, Command::Repair(Box::new(repaired)), &stamp).map_err(RepairError::Rejected)?;
    let append = Append {
        run: id,
        expected: kept,
        head: Some(found.head),
        fence: None,
        seen: BTreeMap::new(),
        events: decided.events.iter().map(Recorded::to_bytes).collect::<Result<_, _>>()?,
        objects: Vec::new(),
        summary: summary::text(&decided.run, place.now_ms),
        says: other_runs::said(&decided.run),
        snapshot: None,
    };
    let (here, elsewhere): (Vec<&Stray>, Vec<&Stray>) =
        found.strays.iter().partition(|stray| stray.filed == Filed::Here);
    let places = |strays: Vec<&Stray>| strays.into_iter().map(|stray| stray.place).collect();
    let (strays, foreign) = (places(here), places(elsewhere));
    let appended = journal.cut(&Cut { kept: found.kept, strays, foreign, epoch: stamp.epoch }, append)?;
    let cut = found.strays.iter().map(|stray| stray.events.len() as u64).sum();
    let until = lost.until;
    Ok(RepairOutcome { run: decided.run, kept, until, cut, breach: found.breach, file, after, head: appended.head })
}

/// The text of the file that keeps what was cut: a line that says of what, and a line per row.
fn kept_text(found: &Found) -> Result<Vec<u8>, serde_json::Error> {
    let head = serde_json::json!({
        "format": 1,
        "run": found.run.id,
        "kept": { "seq": found.run.seq, "head": found.head },
        "committed": found.committed.map(|record| serde_json::json!({ "seq": record.seq, "head": record.head })),
        "why": found.breach.what,
    });
    let mut text = Vec::new();
    for line in std::iter::once(&head).chain(found.strays.iter().map(|stray| &stray.line)) {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    Ok(text)
}

/// The events that are lost, as far as something is known of them.
struct Lost {
    until: u64,
    known: BTreeMap<u64, Recorded>,
    unknown: u64,
}

impl Lost {
    fn of(found: &Found) -> Self {
        let kept = found.run.seq;
        let read =
            found.strays.iter().flat_map(|stray| &stray.events).filter_map(|text| Recorded::from_bytes(text).ok());
        let near = |seq: u64| seq > kept && seq - kept <= LOST_MAX;
        let mut known = BTreeMap::new();
        for recorded in read.filter(|recorded| recorded.run == found.run.id && near(recorded.seq)) {
            known.entry(recorded.seq).or_insert(recorded);
        }
        let last = known.keys().next_back().copied();
        let committed = found.committed.map(|record| record.seq);
        let until =
            last.into_iter().chain(committed).chain([found.said]).filter(|seq| near(*seq)).max().unwrap_or(kept);
        let unknown = until - kept - known.range(..=until).count() as u64;
        Self { until, known, unknown }
    }

    /// The first id that no lost event can have given: each gives one at most.
    fn next(&self, state: u64, seen: Option<u64>, id: impl Fn(&Event) -> Option<u64>) -> u64 {
        let known = self.known.values().filter_map(|recorded| id(&recorded.event)).chain(seen).max();
        known.map_or(state, |last| state.max(last.saturating_add(1))).saturating_add(self.unknown)
    }
}

/// What may have happened in the world that the journal no longer says.
fn after_the_cut(found: &Found, lost: &Lost, prepared: &BTreeSet<AttemptId>, state: &Path) -> Vec<String> {
    let mut after: Vec<String> = Vec::new();
    for (id, attempt) in &found.run.attempts {
        after.push(format!("{id} was under way: {}", working(&attempt.work)));
    }
    let mut named = BTreeSet::new();
    for recorded in lost.known.values() {
        if let Event::AttemptStarted(started) = &recorded.event {
            named.insert(started.attempt);
        }
        after.extend(happened(recorded));
    }
    let more = prepared.iter().filter(|id| id.0 >= found.run.next_attempt && !named.contains(id));
    after.extend(more.map(|id| format!("{id} was prepared: its worker may have been started")));
    if let Some(landing) = &found.run.landing {
        after.push(format!("it was to land on {}", landing.target.onto));
    }
    let told = lost.known.values().any(|recorded| matches!(recorded.event, Event::RunPublished(_)));
    let published = Workspace::of(state, &found.run).ok().and_then(|workspace| workspace.published());
    if let Some(commit) = published.filter(|_| !told && found.run.published.is_none() && lost.until > found.run.seq) {
        after.push(format!("the branch tollgate/{} is there, at {commit}", found.run.id));
    }
    let more = after.len().saturating_sub(NAMED_MAX);
    after.truncate(NAMED_MAX);
    if more > 0 {
        after.push(format!("and {more} more"));
    }
    if lost.unknown > 0 {
        after.push(format!(
            "{} of the lost events cannot be read: workers may have been started, trees landed, the branch published",
            lost.unknown
        ));
    }
    after
}

fn working(work: &Work) -> String {
    match work {
        Work::Dispatch { role, .. } => format!("the worker of {role}"),
        Work::Commands { .. } => "commands that check".to_owned(),
        Work::Land { unit, .. } => format!("the landing of {unit}"),
    }
}

/// What a lost event did, where that reaches beyond the journal: into the world, or a person's word.
fn happened(recorded: &Recorded) -> Option<String> {
    let by = &recorded.by.name;
    match &recorded.event {
        Event::AttemptStarted(started) => Some(match &started.work {
            Work::Dispatch { role, .. } => {
                format!("{} was started: the worker of {role} may have run", started.attempt)
            }
            work => format!("{} was started: {}", started.attempt, working(work)),
        }),
        Event::LandingEnded(landing) if landing.outcome == LandOutcome::Landed => {
            let tree = landing.content.as_ref().map_or("", |content| &content.tree);
            Some(format!("{} landed its change: the tree {tree}", landing.attempt))
        }
        Event::TreeChanged(changed) => Some(format!("{by} changed a work tree by hand: {}", changed.content.tree)),
        Event::DecisionEnded(ended) if ended.end == DecisionEnd::Answered => {
            let answer = ended.option.as_deref().unwrap_or(&ended.text);
            Some(format!("{by} answered {}: {answer}", ended.decision))
        }
        Event::WaiverGranted(waiver) => Some(format!("{by} waived rows or findings with {}", waiver.decision)),
        Event::RunRetried(_) => Some(format!("{by} said to try again")),
        Event::RunClosed(closed) => Some(format!("the run was closed: {}", closed.why)),
        Event::RunPublished(published) => {
            Some(format!("the branch {} was published, at {}", published.branch, published.commit))
        }
        Event::RunLanded(landed) => {
            let to = landed.branch.as_deref().unwrap_or("a patch");
            Some(format!("it landed on {to}, at {}", landed.commit))
        }
        _ => None,
    }
}
