//! The words of a script: how a step is cut up, and what a report or a plan in it says.

use std::collections::BTreeMap;

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::report::{
    CriterionReport, CriterionRow, FindingReport, Health, Judgement, Notice, Plan, QuestionReport, Report,
    RequirementReport, Retired, RowWord, UnitReport, Verdict,
};
use tollgate_core::run::decide::OpenArtifact;
use tollgate_core::run::event::{By, ByKind, CommandRef, CommandResult};

use crate::world;
use tollgate_core::id::UnitId;

pub(super) fn pair(word: &str) -> (Name, Name) {
    let (left, right) = word.split_once('=').unwrap_or((word, ""));
    (left.into(), right.into())
}

pub(super) fn names(list: &str) -> Vec<Name> {
    list.split(',').filter(|name| !name.is_empty()).map(Name::from).collect()
}

/// Words of a step; quotes keep spaces together.
pub(super) fn words(step: &str) -> Vec<String> {
    let (mut all, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for letter in step.chars() {
        match letter {
            '"' => quoted = !quoted,
            ' ' if !quoted => {
                if !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
            }
            letter => word.push(letter),
        }
    }
    if !word.is_empty() {
        all.push(word);
    }
    all
}

/// `unit NAME needs=a scope=x/** touches=…`, `row ID unit=a group=g req=R cmd=c repeat=n`, `req ID disposition=d proposed=p`, `retire ID why=w`.
pub(super) fn planned(plan: &mut Plan, kind: &str, id: &str, rest: &[String]) {
    let fields: BTreeMap<Name, Name> = rest.iter().map(|word| pair(word)).collect();
    let get = |key: &str| fields.get(key).cloned();
    match kind {
        "unit" => plan.units.push(UnitReport {
            name: id.into(),
            title: id.to_owned(),
            needs: get("needs").iter().flat_map(|list| names(list)).map(UnitId::from).collect(),
            scope: get("scope").map(|list| names(&list)).unwrap_or_default(),
            attrs: get("touches").map(|list| ("touches".into(), names(&list))).into_iter().collect(),
            requirements: get("req").map(|list| names(&list)).unwrap_or_default(),
        }),
        "row" => plan.criteria.push(CriterionRow {
            id: id.into(),
            text: format!("{id} holds"),
            group: get("group"),
            unit: get("unit").map(UnitId::from),
            requirement: get("req"),
            command: get("cmd").map(|command| command.to_string()),
            repeat: get("repeat").and_then(|times| times.parse().ok()),
        }),
        "retire" => {
            let why = get("why").map(|why| why.to_string()).unwrap_or_default();
            plan.retires.push(Retired { id: id.into(), why });
        }
        _ => plan.requirements.push(RequirementReport {
            id: id.into(),
            text: format!("{id} must hold"),
            disposition: get("disposition").map(Into::into),
            proposed: get("proposed").map(Into::into),
            ..RequirementReport::default()
        }),
    }
}

/// The kinds of things that a plan names.
const PLANNED: [&str; 4] = ["unit", "row", "req", "retire"];

/// `doc=NAME:TEXT`: documents a stage gives; `NAME.unit=…`, `NAME.row=…`: what one of them plans.
pub(super) fn documents(words: &[String]) -> BTreeMap<Name, OpenArtifact> {
    let named = words.iter().filter_map(|word| word.strip_prefix("doc=")?.split_once(':'));
    let mut documents: BTreeMap<Name, OpenArtifact> = named
        .map(|(name, text)| {
            let object = Digest::of(text.as_bytes());
            (name.into(), OpenArtifact { object, ..OpenArtifact::default() })
        })
        .collect();
    for (of, said) in words.iter().filter_map(|word| word.split_once('=')) {
        let Some((document, kind)) = of.split_once('.').filter(|(_, kind)| PLANNED.contains(kind)) else { continue };
        if let Some(document) = documents.get_mut(document) {
            plan_item(&mut document.plan, kind, said);
        }
    }
    documents
}

/// `ID;needs=b;…`: one thing that a plan names.
fn plan_item(plan: &mut Plan, kind: &str, said: &str) {
    let mut parts = said.split(';');
    let id = parts.next().unwrap_or_default();
    let rest: Vec<String> = parts.map(str::to_owned).collect();
    planned(plan, kind, id, &rest);
}

/// `ok`, `accept`, `reject fail=DoD-1`, `needs_input ask="Which?"`, `failed code=exit`, `ok open="Later?"`, `ok unit=…`,
/// `ok doc=plan:v1 plan.unit=…`.
pub(super) fn read_report(words: &[String]) -> Result<Report, String> {
    let first = words.first().map_or("", String::as_str);
    let (health, verdict) = match (Health::parse(first), Verdict::parse(first)) {
        (Some(health), _) => (health, Verdict::None),
        (None, Some(verdict)) => (Health::Ok, verdict),
        (None, None) => return Err(format!("`{first}` is neither a health nor a verdict")),
    };
    let mut report = Report::new(health, verdict);
    let (mut path, mut about) = (None, None);
    for word in words.get(1..).unwrap_or_default() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let judged = |result| {
            let said = move |id| CriterionReport { id, result, evidence: "not there".to_owned() };
            names(value).into_iter().map(said).collect::<Vec<_>>()
        };
        let question = |blocking| QuestionReport { text: value.to_owned(), blocking, ..QuestionReport::default() };
        match key {
            "rows" => report.rows = RowWord::parse(value).ok_or("rows are named, shown or silent")?,
            "code" => report.code = Some(value.into()),
            "reason" => value.clone_into(&mut report.reason),
            "pass" => report.criteria.extend(judged(Judgement::Pass)),
            "fail" => report.criteria.extend(judged(Judgement::Fail)),
            "unobservable" => report.criteria.extend(judged(Judgement::Unobservable)),
            "at" => path = Some(Name::from(value)),
            "about" => about = Some(Name::from(value)),
            "finding" => report.findings.push(FindingReport {
                what: value.to_owned(),
                path: path.take(),
                criterion: about.take(),
                ..FindingReport::default()
            }),
            "ask" => report.questions.push(question(true)),
            "open" => report.questions.push(question(false)),
            "offers" | "recommends" | "because" => {
                let question = report.questions.last_mut().ok_or("there is no question before it")?;
                match key {
                    "offers" => question.options = names(value).iter().map(ToString::to_string).collect(),
                    "recommends" => question.recommendation = Some(value.to_owned()),
                    _ => question.reason = Some(value.to_owned()),
                }
            }
            "give" => {
                let (name, value) = value.split_once(':').unwrap_or((value, ""));
                report.gives.insert(name.into(), value.into());
            }
            "notice" => {
                let (kind, text) = value.split_once(':').unwrap_or((value, "left open"));
                let (kind, requirement) =
                    kind.split_once('@').map_or((kind, None), |(kind, id)| (kind, Some(id.into())));
                report.notices.push(Notice { kind: kind.into(), text: text.to_owned(), requirement });
            }
            "quota" => report.code = Some("quota".into()),
            "tokens" | "cost" | "took" => {}
            "claims" => report.claims.modified = names(value),
            "created" => report.claims.created = names(value),
            "gone" => report.claims.deleted = names(value),
            "deleted" => report.claims.deleted_count = value.parse().ok(),
            "addresses" => {
                report.claims.addresses = Some(value.split(',').filter_map(|id| id.parse().ok()).collect());
            }
            kind if PLANNED.contains(&kind) => plan_item(&mut report.plan, kind, value),
            other if other.split_once('.').is_some_and(|(_, kind)| PLANNED.contains(&kind)) => {}
            "write" | "restore" | "delete" | "move" | "silent" | "doc" => {}
            other => return Err(format!("`{other}` is no part of a report")),
        }
    }
    Ok(report)
}

/// `NAME=pass`: what came of the commands that are named; `NAME=pass,fail` of each run; `NAME=changes:PATHS` of one that has to write;
/// `NAME=setup:PATHS` of one whose set-up the work changed.
pub(super) fn judged(commands: &[CommandRef], words: &[String]) -> Vec<CommandResult> {
    let said: BTreeMap<Name, Name> = words.iter().map(|word| pair(word)).collect();
    let results = commands.iter().filter_map(|command| {
        let result = |word: &str| match word {
            "pass" => Judgement::Pass,
            "fail" => Judgement::Fail,
            _ => Judgement::Unobservable,
        };
        let said = said.get(command.name())?;
        let unobserved = || CommandResult::unobserved(command.clone(), "");
        if let Some(changes) = said.strip_prefix("changes:") {
            return Some(CommandResult { changes: names(changes), ..unobserved() });
        }
        if let Some(setup) = said.strip_prefix("setup:") {
            return Some(CommandResult { setup: names(setup), ..unobserved() });
        }
        let runs: Vec<Judgement> = said.split(',').map(result).collect();
        Some(world::ran(command.clone(), &runs))
    });
    results.collect()
}

/// Somebody.
pub fn by(kind: ByKind, name: &str) -> By {
    By { kind, name: name.into() }
}
