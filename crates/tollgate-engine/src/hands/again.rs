//! An agent that worked before: the session that it is asked in again, and what is left to say to it there.

use tollgate_core::id::AttemptId;
use tollgate_core::run::event::Work;
use tollgate_core::run::{Run, Told};

use super::RealHands;
use crate::workers::agent::{Again, AgentSpec, session_in};

impl RealHands {
    /// What the agent told whose attempt was cut off with its driver: its session, which its log has from its first lines on. What it used
    /// until then, nobody knows.
    pub(super) fn cut_off(&self, run: &Run, id: AttemptId) -> Option<Told> {
        let lease = run.attempts.get(&id)?;
        let Work::Dispatch { worker, .. } = &lease.work else { return None };
        // What a limit cut off told of itself at its end.
        let instance = run.instances.get(&lease.instance)?;
        if instance.session.as_ref().is_some_and(|told| told.quota.is_some()) {
            return None;
        }
        let adapter = AgentSpec::parse(worker)?.ok()?.adapter;
        let log = self.folder(run.id, "logs").join(format!("{}.log", lease.repeats?));
        let session = Some(session_in(adapter, &log)?);
        Some(Told { adapter: adapter.name.into(), session, ..Told::default() })
    }
}

/// What is left to say to an agent that was cut off or whose report could not be used, in the session that knows the rest.
pub(super) fn again(run: &Run, id: AttemptId, brief: &str, same_folder: bool, cut_off: Option<Told>) -> Option<Again> {
    let lease = run.attempts.get(&id)?;
    let Work::Dispatch { role, .. } = &lease.work else { return None };
    let instance = run.instances.get(&lease.instance)?;
    // Whether its session took in what it was told before it was cut off, nobody knows.
    if let Some(told) = cut_off {
        let prompt = format!(
            "You were cut off. Go on where you were: what you changed is still there. Your report names everything that you created, modified or \
             deleted, also before. This is what you were told:\n\n{brief}"
        );
        return Some(Again { prompt, told, same_folder });
    }
    if let Some(told) = instance.session.clone().filter(|told| told.quota.is_some()) {
        let prompt = format!(
            "A limit of your plan had stopped you; it has passed. Go on where you were: what you changed is still there. Your report names everything \
             that you created, modified or deleted, also before. This is what you were told:\n\n{brief}"
        );
        return Some(Again { prompt, told, same_folder });
    }
    let told = instance.session.clone().filter(|_| instance.remarks_of.as_ref() == Some(role))?;
    let points: String = instance.remarks.iter().map(|remark| format!("- {remark}\n")).collect();
    // What the first attempt changed is on record, and no report has named it so far.
    let prompt = format!(
        "Your report cannot be used:\n{points}\nMend this and send the whole report again as your last message. It names everything that you created, \
         modified or deleted, also before.\n"
    );
    Some(Again { prompt, told, same_folder }).filter(|_| !instance.remarks.is_empty())
}
