//! An agent that worked before: the session that it is asked in again, and what is left to say to it there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tollgate_core::Name;
use tollgate_core::id::{AttemptId, InstanceId, RoleId};
use tollgate_core::run::event::Work;
use tollgate_core::run::{AgentStats, Event, Run};

use super::LocalExecutor;
use super::workdir::PreviousWork;
use crate::session;
use crate::workers::agent::{AgentSpec, Resumption, session_in};

/// What the journal has of an attempt.
#[derive(Debug, Default)]
struct AttemptHistory {
    /// The instance and the role it was for.
    whose: (InstanceId, RoleId),
    repeats: Option<AttemptId>,
    /// The session that it told at its end.
    session: Option<Name>,
    /// Whether a limit cut it off.
    parked: bool,
}

impl LocalExecutor {
    /// Where what an attempt prints is kept.
    pub(super) fn log(&self, run: &Run, id: AttemptId) -> PathBuf {
        self.folder(run.id, "logs").join(format!("{id}.log"))
    }

    /// What the agent told whose attempt was cut off with its driver: its session, which was noted when it told it. One that was cut
    /// off before it could tell goes on in the session of the one that it repeats. What was used until then, nobody knows.
    pub(super) fn cut_off(&self, run: &Run, id: AttemptId) -> Option<AgentStats> {
        let lease = run.attempts.get(&id)?;
        let Work::Dispatch { role, worker, .. } = &lease.work else { return None };
        let whose = (lease.instance.clone(), role.clone());
        let adapter = AgentSpec::parse(worker)?.ok()?.adapter;
        let (last, past) = (lease.repeats?, self.past(run)?);
        let noted = |id: &AttemptId| session_in(&self.log(run, *id));
        let own = |id: &AttemptId| noted(id).filter(|(by, _)| **by == *adapter.name).map(|(_, session)| session);
        let before = |id: &AttemptId| past.get(id)?.repeats.filter(|before| before < id);
        let is_parked = |id: &AttemptId| past.get(id).is_some_and(|known| known.parked);
        // What a limit cut off told of itself at its end: nobody has worked since.
        let mut chain = std::iter::successors(Some(last), before).take_while(|id| !is_parked(id));
        let session = chain.find_map(|id| own(&id))?;
        // Whatever printed that: another's session is nobody's to go on in.
        let mut others = past.iter().filter(|(_, other)| other.whose != whose);
        let told = |id: &AttemptId, other: &AttemptHistory| {
            other.session.as_ref() == Some(&session) || noted(id).is_some_and(|(_, told)| told == session)
        };
        if others.any(|(id, other)| told(id, other)) {
            return None;
        }
        Some(AgentStats { adapter: adapter.name.into(), session: Some(session), ..AgentStats::default() })
    }

    /// The dispatches of a run so far.
    fn past(&self, run: &Run) -> Option<BTreeMap<AttemptId, AttemptHistory>> {
        let mut past: BTreeMap<AttemptId, AttemptHistory> = BTreeMap::new();
        for recorded in session::events(&*self.journal, run.id, 0, u64::MAX).ok()? {
            match recorded.event {
                Event::AttemptStarted(started) => {
                    let Work::Dispatch { role, .. } = started.work else { continue };
                    let whose = (started.instance, role);
                    past.insert(
                        started.attempt,
                        AttemptHistory { whose, repeats: started.repeats, ..AttemptHistory::default() },
                    );
                }
                Event::AttemptReported(reported) => {
                    if let Some(known) = past.get_mut(&reported.attempt) {
                        known.session = reported.told.and_then(|told| told.session);
                    }
                }
                Event::AttemptParked(parked) => {
                    if let Some(known) = past.get_mut(&parked.attempt) {
                        (known.session, known.parked) = (parked.told.session, true);
                    }
                }
                _ => {}
            }
        }
        Some(past)
    }
}

impl PreviousWork {
    /// What somebody is told who goes on.
    const fn words(self) -> &'static str {
        match self {
            Self::All => {
                ": what you changed is still there. Your report names everything that you created, modified or deleted, also before."
            }
            Self::Tracked => {
                ": what you changed is still there, but for files that git ignores. Your report names everything that you created, \
                 modified or deleted, also before."
            }
            Self::Recorded => {
                ". The files were put back to what is on record: look which of your changes are still there, and make the others \
                 again. Your report names everything that you created, modified or deleted and that is there."
            }
            Self::FreshCopy => ", in a fresh copy of what you look at.",
        }
    }
}

/// What is left to say to an agent that was cut off or whose report could not be used, in the session that knows the rest.
pub(super) fn resumption(
    run: &Run,
    id: AttemptId,
    brief: &str,
    left: PreviousWork,
    cut_off: Option<AgentStats>,
    marker_request: Option<String>,
    out: Option<&Path>,
) -> Option<Resumption> {
    let lease = run.attempts.get(&id)?;
    let Work::Dispatch { role, .. } = &lease.work else { return None };
    let instance = run.instances.get(&lease.instance)?;
    let same_folder = left != PreviousWork::FreshCopy;
    // Whether its session took in what it was told before it was cut off, nobody knows.
    let goes_on = |why: &str, told: AgentStats| {
        let words = left.words();
        let prompt = format!("{why} Go on where you were{words} This was your brief:\n\n{brief}");
        Some(Resumption { prompt, told, same_folder })
    };
    if let Some(told) = cut_off {
        return goes_on("You were cut off.", told);
    }
    if let Some(told) = instance.session.clone().filter(|told| told.quota.is_some()) {
        return goes_on("A limit of your plan had stopped you; it has passed.", told);
    }
    let told = instance.session.clone().filter(|_| instance.remarks_of.as_ref() == Some(role))?;
    let points: String = instance.remarks.iter().map(|remark| format!("- {remark}\n")).collect();
    // What the first attempt changed is on record, and no report has named it so far.
    let request = marker_request.map_or_else(String::new, |request| format!(" {request}"));
    // The folder is another one now.
    let documents = out.map(|out| format!(" Write the documents of your stage again, into {}.", out.display()));
    let request = documents.unwrap_or_default() + &request;
    let prompt = format!(
        "Your report cannot be used:\n{points}\nFix this and send the whole report again as your last message. It names everything that you created, \
         modified or deleted, also before.{request}\n"
    );
    Some(Resumption { prompt, told, same_folder }).filter(|_| !instance.remarks.is_empty())
}
