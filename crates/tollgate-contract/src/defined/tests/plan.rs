//! What documents bring into the ledger, and what is refused.

use super::*;
use crate::DocumentDialect;
use tollgate_core::protocol::Brought;
use tollgate_core::report::{Notice, Plan};

/// A plan, a line for each item.
pub fn lines(plan: &Plan) -> Vec<String> {
    let part = |word: &str, said: &[&str]| match said {
        [] | [""] => String::new(),
        said => format!(" {word} {}", said.join(",")),
    };
    let mut lines = Vec::new();
    for unit in &plan.units {
        let [scope, serves] = [&unit.scope, &unit.requirements].map(|all| all.iter().map(|one| &**one).collect());
        let needs: Vec<&str> = unit.needs.iter().map(|name| &**name).collect();
        let (scope, serves): (Vec<&str>, Vec<&str>) = (scope, serves);
        let attrs: String = unit.attrs.iter().map(|(name, values)| format!(" {name}={}", values.join(","))).collect();
        let (needs, scope, serves) = (part("needs", &needs), part("scope", &scope), part("serves", &serves));
        lines.push(format!("unit {}: {}{needs}{scope}{attrs}{serves}", unit.name, unit.title));
    }
    for row in &plan.criteria {
        let [group, requirement] = [&row.group, &row.requirement].map(|name| name.as_deref().unwrap_or_default());
        let unit = part("of", &[row.unit.as_deref().unwrap_or_default()]);
        let (group, requirement) = (part("group", &[group]), part("shows", &[requirement]));
        let command = row.command.as_ref().map(|command| format!(" `{command}`")).unwrap_or_default();
        let repeat = row.repeat.map(|times| format!(" x{times}")).unwrap_or_default();
        lines.push(format!("row {}: {}{unit}{group}{requirement}{command}{repeat}", row.id, row.text));
    }
    for row in &plan.requirements {
        let source = part("from", &[&row.source]);
        let strength = part("strength", &[row.strength.as_deref().unwrap_or_default()]);
        let proposed = part("proposed", &[row.proposed.as_deref().unwrap_or_default()]);
        lines.push(format!("requirement {}: {}{source}{strength}{proposed}", row.id, row.text));
    }
    lines.extend(plan.retires.iter().map(|retired| format!("retired {}: {}", retired.id, retired.why)));
    lines
}

/// What a report leaves open, in a line.
pub fn notice(notice: &Notice) -> String {
    let about = notice.requirement.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
    format!("notice {}: {}{about}", notice.kind, notice.text)
}

#[test]
fn a_contract_declares_what_it_can_bring() {
    let own = contract("t.plan");
    let declared = DocumentDialect::declaration(&own);
    assert_eq!(declared.brings, [Brought::Units, Brought::Criteria, Brought::Requirements, Brought::Retires]);
    assert_eq!(declared.fields, [("state".into(), vec!["draft".into(), "final".into()])].into());
    let read = DocumentDialect::read(&own, &guide::example(&own.definition), &Context::default());
    assert_eq!(read.fields, [("state".into(), "draft".into())].into());
    let documents = registry::document_declarations();
    assert_eq!(documents["build-plan.task"].brings, [Brought::Units, Brought::Criteria]);
    assert!(!documents.contains_key("status-block") && !registry::declarations().contains_key("team.tasks"));
}

/// What a document of a set needs may stand in another file, and what it numbers begins with its own.
#[test]
fn a_document_of_a_set_needs_what_others_plan() {
    let own = contract("t.plan");
    let text = "state: final\nphases:\n  - phase: P1\n    tasks: [{id: A, title: Keep totals, after: [B]}]\n";
    let read = |of_set: Option<&str>| {
        let context = Context { of_set: of_set.map(Into::into), ..Context::default() };
        let read = DocumentDialect::read(&own, text, &context);
        let wrong = read.diagnostics.iter().map(|one| one.message.clone());
        lines(&read.plan).into_iter().chain(wrong).collect::<Vec<_>>()
    };
    assert_eq!(read(None), ["`B` is no unit of this plan (rule `needs-are-planned`)"]);
    let row = "row one.P1.1: Keep totals of A group checks";
    assert_eq!(read(Some("one.yaml")), ["unit A: Keep totals needs B about=P1", row]);
    let own = registry::defined("decree.task-issue").expect("built in");
    let context = Context { of_set: Some("T-7.md".into()), ..Context::default() };
    let plan = DocumentDialect::read(own, &guide::example(&own.definition), &context).plan;
    let rows: Vec<&str> = plan.criteria.iter().map(|row| &*row.id).collect();
    assert_eq!((&*plan.units[0].name, &*rows), ("T-7.unit-1", &["T-7.AC-1", "T-7.AC-2"][..]));
}

/// What the checker holds conditions against: parts of units, values of attributes, words of rows and findings.
#[test]
fn a_contract_declares_the_words_that_can_be_asked_for() {
    let (documents, reports) = (registry::document_declarations(), registry::declarations());
    let parts = |name: &str| documents[name].unit_parts.as_ref().map(|parts| parts.join(" "));
    assert_eq!(parts("team.tasks").as_deref(), Some("objective scope criteria labels"));
    assert_eq!(parts("supervisor.units").as_deref(), Some("objective reference scope criteria labels"));
    assert_eq!(parts("build-plan.task").as_deref(), Some("scope criteria"));
    let values = |name: &str| documents["team.tasks"].attr_words.get(name).map(|words| words.join(" "));
    assert_eq!(values("risk").as_deref(), Some("security perf breaking-change none"));
    assert_eq!(values("touches").as_deref(), Some("behaviour auth input network"));
    let asked =
        |declared: &tollgate_core::protocol::Declaration, key: &str| declared.words.get(key).map(|w| w.join(" "));
    assert_eq!(asked(&documents["build-plan.task"], "group").as_deref(), Some("dod tester"));
    assert_eq!(asked(&documents["team.tasks"], "group").as_deref(), Some(""), "its rows have no group");
    assert_eq!(asked(&reports["wr.review_verdict"], "severity").as_deref(), Some("critical major minor nit"));
    assert_eq!(asked(&reports["status-block"], "severity").as_deref(), Some("critical major minor"));
    assert_eq!(asked(&reports["status-block"], "category"), None, "the rule of a finding is a free text");
}
