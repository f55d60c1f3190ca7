//! Reading what a document means: the cases of a report, its lists, and what enters the ledger.

use super::conditions::{Scope, resolve};
use super::{
    Case, ClaimMap, CodeMap, CriterionMap, FindingMap, Mapping, Path, PlanMap, PlanMapping, QuestionMap, Said, Type,
};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Diagnostic;
use tollgate_core::protocol::SectionClass;
use tollgate_core::report::{Health, Judgement, Verdict};
use tollgate_core::yaml::{Fields, Node, Problems};

const CLASSES: [(&str, SectionClass); 3] =
    [("claim", SectionClass::Claim), ("fact", SectionClass::Fact), ("note", SectionClass::Note)];
const JUDGEMENTS: [(&str, Judgement); 3] =
    [("pass", Judgement::Pass), ("fail", Judgement::Fail), ("unobservable", Judgement::Unobservable)];

/// Reads `report`.
pub fn report(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Mapping {
    let mut fields = Fields::open(node, "the mapping", problems);
    let unit = fields.take("unit");
    let cases = fields.need("cases", problems);
    let criteria = fields.take("criteria");
    let findings = fields.take("findings");
    let questions = fields.take("questions");
    let claims = fields.take("claims");
    let gives = fields.take("gives");
    let sections = fields.take("sections");
    fields.close(problems);
    let unit = unit.and_then(|node| {
        let written = problems.text(node, "a field")?;
        scope.one(&written, node.place, problems).map(|(path, _)| path)
    });
    let list = |node: Option<&Node>, problems: &mut Problems| -> Vec<Node> {
        node.map(|node| problems.list(node, "the list").to_vec()).unwrap_or_default()
    };
    let places = list(cases, problems);
    if let Some(cases) = cases.filter(|_| places.is_empty()) {
        let message = "the mapping has no case, so that no document means anything";
        problems.add(Diagnostic::error(Code::NOT_MAPPED, cases.place, message).hint("add a case: `- {health: ok}`"));
    }
    let cases = places.iter().filter_map(|node| case(node, scope, problems)).collect();
    let criteria = list(criteria, problems).iter().filter_map(|node| criterion(node, scope, problems)).collect();
    let findings = list(findings, problems).iter().filter_map(|node| finding(node, scope, problems)).collect();
    let questions = list(questions, problems).iter().filter_map(|node| question(node, scope, problems)).collect();
    let claims = claims.map(|node| self::claims(node, scope, problems)).unwrap_or_default();
    let gives = gives.map(|node| problems.entries(node, "`gives`")).unwrap_or_default();
    let gives = gives.iter().filter_map(|(key, node)| given(&key.text, node, scope, problems)).collect();
    let sections = sections.map(|node| problems.entries(node, "`sections`")).unwrap_or_default();
    let sections = sections.iter().filter_map(|(key, node)| section(&key.text, node, scope, problems)).collect();
    Mapping { unit, cases, criteria, findings, questions, claims, gives, sections }
}

fn case(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<Case> {
    let mut fields = Fields::open(node, "the case", problems);
    let when = fields.take("when");
    let health = fields.need("health", problems);
    let verdict = fields.take("verdict");
    let code = fields.take("code");
    let reason = fields.take("reason");
    fields.close(problems);
    let when = match when {
        Some(node) => Some(scope.condition(node, 0, problems)?),
        None => None,
    };
    let healths: Vec<(&str, Health)> =
        Health::ALL.into_iter().filter(|h| *h != Health::Malformed).map(|h| (h.word(), h)).collect();
    let verdicts: Vec<(&str, Verdict)> = Verdict::ALL.into_iter().map(|v| (v.word(), v)).collect();
    let health = problems.word(health?, "a health", &healths)?;
    let verdict = verdict.and_then(|node| problems.word(node, "a verdict", &verdicts)).unwrap_or_default();
    let code = code.and_then(|node| code_of(node, scope, problems));
    if health != Health::Ok && matches!(verdict, Verdict::Accept | Verdict::AcceptWithNotes | Verdict::Reject) {
        let message = format!("a report that is `{}` cannot `{}`", health.word(), verdict.word());
        let hint = "only who is finished judges: say `health: ok`, or leave `verdict` out";
        problems.value(node.place, message, hint);
    }
    if (code.is_some() && health == Health::Ok) || (verdict != Verdict::None && matches!(health, Health::Partial)) {
        let hint = "`ok` has no code, and what is partial judges nothing";
        problems.value(node.place, "this health cannot be refined so", hint);
    }
    let reason = reason.map(|node| said(node, scope.here, problems)).unwrap_or_default();
    Some(Case { place: node.place, when, health, code, verdict, reason })
}

fn code_of(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<CodeMap> {
    if let Some(word) = node.text() {
        return Some(CodeMap::Word(word.clone()));
    }
    let mut fields = Fields::open(node, "the code", problems);
    let field = fields.need("field", problems);
    fields.close(problems);
    let field = field?;
    let written = problems.text(field, "a field")?;
    let (path, of) = scope.one(&written, field.place, problems)?;
    match of.words() {
        Some(words) => Some(CodeMap::Field(path, words)),
        None => {
            problems.value(field.place, "codes are closed: the field must be a `one_of`", "name a `one_of`");
            None
        }
    }
}

fn criterion(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<CriterionMap> {
    let mut fields = Fields::open(node, "the criteria", problems);
    let each = fields.need("each", problems);
    let id = fields.need("id", problems);
    let result = fields.need("result", problems);
    let words = fields.need("words", problems);
    let evidence = fields.take("evidence");
    fields.close(problems);
    let (each, item) = scope.list(each?, problems)?;
    let result = result?;
    let written = problems.text(result, "a field")?;
    let (path, of) = resolve(&item, &written, result.place, problems)?;
    let words: Vec<(Name, Judgement)> = problems
        .entries(words?, "`words`")
        .iter()
        .filter_map(|(key, node)| Some((key.text.clone(), problems.word(node, "a result", &JUDGEMENTS)?)))
        .collect();
    for word in of.words().unwrap_or_default() {
        if !words.iter().any(|(known, _)| *known == word) {
            let message = format!("`{written}` may be `{word}`, and `words` does not say what that means");
            problems.add(Diagnostic::error(Code::NOT_MAPPED, node.place, message).hint("pass, fail or unobservable"));
        }
    }
    let id = said(id?, &item, problems);
    let evidence = evidence.map(|node| said(node, &item, problems)).unwrap_or_default();
    Some(CriterionMap { each, id, result: path, words, evidence })
}

/// The item that a mapping speaks of: of a list where it has one, else the document.
fn each(fields: &mut Fields<'_>, scope: Scope<'_>, problems: &mut Problems) -> Option<(Option<Path>, Type)> {
    match fields.take("each") {
        Some(node) => scope.list(node, problems).map(|(path, item)| (Some(path), item)),
        None => Some((None, scope.here.clone())),
    }
}

fn finding(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<FindingMap> {
    let mut fields = Fields::open(node, "the findings", problems);
    let (each, item) = each(&mut fields, scope, problems)?;
    let when = fields.take("when");
    let what = fields.need("what", problems);
    let mut optional = |key: &'static str| fields.take(key);
    let parts = ["why", "fix", "severity", "category", "path", "line"].map(&mut optional);
    let group = fields.take("group");
    fields.close(problems);
    let group = group.and_then(|node| self::group(node, each.as_ref(), scope, problems));
    let when = match when {
        Some(node) => Some(scope.condition(node, 0, problems)?),
        None => None,
    };
    let what = said(what?, &item, problems);
    let [_, _, severity, ..] = parts;
    if let Some(node) = severity {
        closed(node, &item, problems);
    }
    let [why, fix, severity, category, path, line] =
        parts.map(|node| node.map(|node| said(node, &item, problems)).unwrap_or_default());
    Some(FindingMap { each, when, what, why, fix, severity, category, group, path, line })
}

/// What conditions ask of findings is one of declared words.
fn closed(node: &Node, item: &Type, problems: &mut Problems) {
    for (written, place) in problems.one_or_more(node, "the fields") {
        if resolve(item, &written, place, problems).is_some_and(|(_, of)| of.words().is_none()) {
            let message = "severities are closed: the field must be a `one_of`";
            problems.value(place, message, "name a `one_of`; what is said in words goes into `why`");
        }
    }
}

/// A field of something that the list of a mapping stands in.
fn group(node: &Node, each: Option<&Path>, scope: Scope<'_>, problems: &mut Problems) -> Option<Path> {
    let written = problems.text(node, "a field")?;
    let (path, _) = resolve(scope.here, &written, node.place, problems)?;
    let around = path.steps.split_last().map(|(_, around)| around).unwrap_or_default();
    let holds = each.is_some_and(|each| each.steps.len() > around.len() && each.steps.starts_with(around));
    if !holds {
        problems.value(
            node.place,
            format!("the list does not stand in what has `{written}`"),
            "name a field beside it",
        );
    }
    holds.then_some(path)
}

fn question(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<QuestionMap> {
    let mut fields = Fields::open(node, "the questions", problems);
    let (each, item) = each(&mut fields, scope, problems)?;
    let when = fields.take("when");
    let text = fields.need("text", problems);
    let blocking = fields.need("blocking", problems).and_then(|n| problems.bool(n, "`blocking`"));
    let options = fields.take("options");
    let recommendation = fields.take("recommendation");
    fields.close(problems);
    let when = match when {
        Some(node) => Some(scope.condition(node, 0, problems)?),
        None => None,
    };
    let text = said(text?, &item, problems);
    let options = match options {
        Some(node) => said(node, &item, problems).pop(),
        None => None,
    };
    let recommendation = recommendation.map(|node| said(node, &item, problems)).unwrap_or_default();
    Some(QuestionMap { each, when, text, blocking: blocking?, options, recommendation })
}

fn claims(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> ClaimMap {
    let mut fields = Fields::open(node, "the claims", problems);
    let parts = ["created", "modified", "deleted", "next"].map(|key| fields.take(key));
    fields.close(problems);
    let [created, modified, deleted, next] =
        parts.map(|node| node.map(|node| said(node, scope.here, problems)).unwrap_or_default());
    ClaimMap { created, modified, deleted, next }
}

fn given(name: &Name, node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<(Name, Path)> {
    let written = problems.text(node, "a field")?;
    let (path, of) = scope.one(&written, node.place, problems)?;
    if of.words().is_none() {
        problems.value(node.place, "a variable has declared values: the field must be a `one_of`", "name a `one_of`");
        return None;
    }
    Some((name.clone(), path))
}

fn section(
    name: &Name,
    node: &Node,
    scope: Scope<'_>,
    problems: &mut Problems,
) -> Option<(Name, SectionClass, Vec<Path>)> {
    let mut fields = Fields::open(node, format!("the section `{name}`"), problems);
    let class = fields.need("is", problems).and_then(|n| problems.word(n, "a class of sections", &CLASSES));
    let of = fields.need("fields", problems);
    fields.close(problems);
    Some((name.clone(), class?, said(of?, scope.here, problems)))
}

/// Reads `plan`.
pub fn plan(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> PlanMapping {
    let mut fields = Fields::open(node, "the plan", problems);
    let units = fields.take("units");
    let criteria = fields.take("criteria");
    fields.close(problems);
    let units = units.and_then(|node| plan_map(node, scope, problems));
    let criteria = criteria.and_then(|node| plan_map(node, scope, problems));
    PlanMapping { units, criteria }
}

fn plan_map(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<PlanMap> {
    let mut fields = Fields::open(node, "the plan", problems);
    let (each, item) = each(&mut fields, scope, problems)?;
    let id = fields.take("id");
    let text = fields.need("text", problems);
    let needs = fields.take("needs");
    let scope_of = fields.take("scope");
    fields.close(problems);
    let text = said(text?, &item, problems);
    let [id, needs, scope] =
        [id, needs, scope_of].map(|node| node.map(|node| said(node, &item, problems)).unwrap_or_default());
    Some(PlanMap { each, id, text, needs, scope })
}

/// Paths from which texts are taken.
fn said(node: &Node, here: &Type, problems: &mut Problems) -> Said {
    let paths = problems.some(node, "the fields");
    paths
        .into_iter()
        .filter_map(|(written, place)| resolve(here, &written, place, problems).map(|(path, _)| path))
        .collect()
}
