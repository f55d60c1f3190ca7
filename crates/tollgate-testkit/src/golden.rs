//! What came of a run that is over: the moments that it came to.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_core::protocol::model::Class;
use tollgate_core::report::Verdict;
use tollgate_core::run::event::{ByKind, LandOutcome, Work};
use tollgate_core::run::{Event, Recorded};

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
                format!("{} rejects", roles.get(&report.attempt).map_or("nobody", |role| role))
            }
            Event::LandingEnded(landing) if landing.outcome != LandOutcome::Landed => {
                format!("a landing is {}", landing.outcome.word())
            }
            Event::TreeChanged(_) => "mended by hand".to_owned(),
            Event::AttemptLost(_) => "an attempt is lost".to_owned(),
            Event::RunRetried(_) => "retried".to_owned(),
            _ => continue,
        };
        found.insert(moment);
    }
    found
}
