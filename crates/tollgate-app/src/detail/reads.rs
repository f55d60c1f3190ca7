//! What each routing decision read of a report, and what it only checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::format::list;
use tollgate_api as api;
use tollgate_contract::registry::Contracts;
use tollgate_contract::{Context, ReportDialect, extract};
use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::id::AttemptId;
use tollgate_core::run::Run;
use tollgate_engine::session::pinned_protocol;

use super::history::{AttemptDetail, History};

/// Per report that was routed: the sections whose content entered the routing, a question or a bundle, with the reason
/// and the bytes; and those that were checked only. The report's own bytes say which sections there are.
pub fn reads(
    run: &Run,
    history: &History,
    object: &dyn Fn(Digest) -> Option<Arc<[u8]>>,
    prompt: &dyn Fn(AttemptId) -> Option<String>,
) -> Vec<api::Reads> {
    let contracts = pinned_protocol::contracts_of(&run.opened, &mut |digest| Ok(object(digest))).unwrap_or_default();
    let shown = shown(history);
    let none = Vec::new();
    let reported = history.attempts.iter().filter(|attempt| attempt.wire.report.is_some());
    reported
        .map(|attempt| of_report(run, &contracts, attempt, shown.get(&attempt.id).unwrap_or(&none), object, prompt))
        .collect()
}

fn of_report(
    run: &Run,
    contracts: &Contracts,
    attempt: &AttemptDetail,
    shown: &[(Name, String)],
    object: &dyn Fn(Digest) -> Option<Arc<[u8]>>,
    prompt: &dyn Fn(AttemptId) -> Option<String>,
) -> api::Reads {
    let role = attempt.wire.role.as_deref().and_then(|role| run.protocol.roles.get(role));
    let dialect = role.and_then(|role| contracts.report(&role.contract));
    let digest = attempt.wire.report.as_deref().and_then(|digest| digest.parse::<Digest>().ok());
    let bytes = digest.and_then(object).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let context = Context {
        role: attempt.wire.role.as_deref().map(Into::into),
        judges: role.map(tollgate_core::protocol::model::Role::judges),
        part: role.and_then(|role| role.part),
        prompt: prompt(attempt.id),
        ..Context::default()
    };
    let present = dialect.map(|dialect| extract::report(dialect, &text, &context).present).unwrap_or_default();
    let mut read: Vec<api::SectionRead> = attempt
        .reads
        .iter()
        .map(|read| api::SectionRead {
            section: read.section.to_string(),
            reason: read.reason.clone(),
            bytes: read.bytes,
        })
        .collect();
    for (heading, reason) in dialect.map(|dialect| shown_to(shown, dialect)).unwrap_or_default() {
        let known = read.iter_mut().find(|read| *read.section == *heading);
        let there = present.iter().find(|(name, _)| **name == *heading);
        match (known, there) {
            (Some(known), _) => known.reason = format!("{}; {reason}", known.reason),
            // An empty section gives a bundle nothing.
            (None, Some((_, bytes))) if *bytes > 0 => {
                read.push(api::SectionRead { section: heading.to_string(), reason, bytes: *bytes });
            }
            (None, _) => {}
        }
    }
    let only = present.iter().filter(|(name, _)| !read.iter().any(|read| *read.section == **name));
    api::Reads {
        attempt: attempt.wire.id.clone(),
        stage: attempt.wire.stage.clone(),
        outcome: attempt.wire.outcome.clone().unwrap_or_default(),
        checked_only: only.map(|(name, _)| name.to_string()).collect(),
        read,
    }
}

/// The sections of each report that later bundles hold, and whose bundles those are.
fn shown(history: &History) -> BTreeMap<AttemptId, Vec<(Name, String)>> {
    let mut all: BTreeMap<AttemptId, Vec<(Name, String)>> = BTreeMap::new();
    for later in &history.attempts {
        let who = format!("{} ({})", later.wire.role.as_deref().unwrap_or_default(), later.wire.id);
        for item in &later.bundle {
            if let (Some(of), Some((_, section))) = (item.attempt, item.item.split_once('.')) {
                all.entry(of).or_default().push((section.into(), who.clone()));
            }
        }
    }
    all
}

/// The headings that were shown, and to whom.
fn shown_to(shown: &[(Name, String)], dialect: &dyn ReportDialect) -> Vec<(Name, String)> {
    let mut headings: Vec<(Name, Vec<&str>)> = Vec::new();
    for (section, who) in shown {
        for heading in dialect.headings(section) {
            match headings.iter_mut().find(|(known, _)| *known == heading) {
                Some((_, to)) => to.push(who),
                None => headings.push((heading, vec![who])),
            }
        }
    }
    headings.into_iter().map(|(heading, to)| (heading, format!("shown to {}", list(&to)))).collect()
}
