//! Reading what a report means: its cases and its lists.

use super::conditions::{Scope, list, resolve, through_list};
use super::{
    Case, ClaimMap, CodeMap, CriterionMap, FindingMap, Kind, Mapping, NoticeMap, OptionMap, Path, QuestionMap, Said,
    Type, WordMap,
};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
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
    let notices = fields.take("notices");
    let rows = fields.take("rows");
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
    let notices = list(notices, problems).iter().filter_map(|node| notice(node, scope, problems)).collect();
    let rows_shown = rows.and_then(|node| problems.word(node, "what a verdict counts for", &[("shown", true)]));
    let claims = claims.map(|node| self::claims(node, scope, problems)).unwrap_or_default();
    let gives = gives.map(|node| problems.entries(node, "`gives`")).unwrap_or_default();
    let gives = gives.iter().filter_map(|(key, node)| given(&key.text, node, scope, problems)).collect();
    let sections = sections.map(|node| problems.entries(node, "`sections`")).unwrap_or_default();
    let sections = sections.iter().filter_map(|(key, node)| section(&key.text, node, scope, problems)).collect();
    let rows_shown = rows_shown.unwrap_or_default();
    Mapping { unit, cases, criteria, findings, questions, notices, rows_shown, claims, gives, sections }
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
    let reason = reason.map(|node| said(node, &Around::document(scope), problems)).unwrap_or_default();
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
    let item = Around::document(scope).inside(each?, problems)?;
    let result = result?;
    let written = problems.text(result, "a field")?;
    let (path, of) = item.resolve(&written, result.place, problems)?;
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
    Some(CriterionMap { each: item.each?, id, result: path, words, evidence })
}

fn finding(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<FindingMap> {
    let mut fields = Fields::open(node, "the findings", problems);
    let item = Around::taken(&mut fields, scope, problems)?;
    let when = fields.take("when");
    let what = fields.need("what", problems);
    let mut optional = |key: &'static str| fields.take(key);
    let parts = ["why", "fix", "severity", "category", "path", "line", "criterion"].map(&mut optional);
    let group = fields.take("group");
    fields.close(problems);
    let group = group.and_then(|node| self::group(node, item.each.as_ref(), scope, problems));
    let when = match when {
        Some(node) => Some(scope.condition(node, 0, problems)?),
        None => None,
    };
    let what = said(what?, &item, problems);
    let [_, _, severity, ..] = parts;
    if let Some(node) = severity {
        closed(node, &item, problems);
    }
    let [why, fix, severity, mut category, path, line, criterion] =
        parts.map(|node| node.map(|node| said(node, &item, problems)).unwrap_or_default());
    category.extend(group);
    Some(FindingMap { each: item.each, when, what, why, fix, severity, category, path, line, criterion })
}

/// What conditions ask of findings is one of declared words.
fn closed(node: &Node, item: &Around, problems: &mut Problems) {
    for (written, place) in problems.one_or_more(node, "the fields") {
        if item.resolve(&written, place, problems).is_some_and(|(_, of)| of.words().is_none()) {
            let message = "severities are closed: the field must be a `one_of`";
            problems.value(place, message, "name a `one_of`; what is said in words goes into `why`");
        }
    }
}

/// A field of something that the list of a mapping stands in, by its path from the document.
fn group(node: &Node, each: Option<&Path>, scope: Scope<'_>, problems: &mut Problems) -> Option<Path> {
    let written = problems.text(node, "a field")?;
    let (path, _) = resolve(scope.here, &written, node.place, problems)?;
    let (field, around) = path.steps.split_last()?;
    let holds = each.is_some_and(|each| each.steps.len() > around.len() && each.steps.starts_with(around));
    if !holds {
        problems.value(
            node.place,
            format!("the list does not stand in what has `{written}`"),
            "name a field beside it",
        );
    }
    holds.then(|| Path { outer: Some(around.len()), steps: vec![field.clone()], ..path.clone() })
}

fn question(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<QuestionMap> {
    let mut fields = Fields::open(node, "the questions", problems);
    let item = Around::taken(&mut fields, scope, problems)?;
    let when = fields.take("when");
    let text = fields.need("text", problems);
    let blocking = fields.need("blocking", problems).and_then(|n| problems.bool(n, "`blocking`"));
    let options = fields.take("options");
    let [recommendation, reason] = ["recommendation", "reason"].map(|key| fields.take(key));
    fields.close(problems);
    let when = match when {
        Some(node) => Some(scope.condition(node, 0, problems)?),
        None => None,
    };
    let text = said(text?, &item, problems);
    let options = match options {
        Some(node) => Some(self::options(node, &item, problems)?),
        None => None,
    };
    let [recommendation, reason] =
        [recommendation, reason].map(|node| node.map(|node| said(node, &item, problems)).unwrap_or_default());
    Some(QuestionMap { each: item.each, when, text, blocking: blocking?, options, recommendation, reason })
}

/// A list of texts, or the texts of a list of items of which some may be marked as recommended.
fn options(node: &Node, around: &Around, problems: &mut Problems) -> Option<OptionMap> {
    if node.map().is_none() {
        let text = said(node, around, problems);
        return Some(OptionMap { each: None, text, recommended: Said::new(), reason: Said::new() });
    }
    let mut fields = Fields::open(node, "the options", problems);
    let [each, text] = ["each", "text"].map(|key| fields.need(key, problems));
    let [recommended, reason] = ["recommended", "reason"].map(|key| fields.take(key));
    fields.close(problems);
    let item = around.inside(each?, problems)?;
    let is_mark = |path: &Path, of: &Type| matches!(of.kind, Kind::Bool) && !item.is_many(path);
    let recommended = recommended.map(|node| fitting(node, &item, problems, is_mark, "name a field that is `bool`"));
    let reason = reason.map(|node| said(node, &item, problems)).unwrap_or_default();
    let text = said(text?, &item, problems);
    Some(OptionMap { each: item.each, text, recommended: recommended.unwrap_or_default(), reason })
}

fn notice(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> Option<NoticeMap> {
    let mut fields = Fields::open(node, "the notices", problems);
    let item = Around::taken(&mut fields, scope, problems)?;
    let when = fields.take("when");
    let kind = fields.need("kind", problems);
    let text = fields.need("text", problems);
    let requirement = fields.take("requirement");
    fields.close(problems);
    let when = match when {
        Some(node) => Some(scope.condition(node, 0, problems)?),
        None => None,
    };
    let kind = word_of(kind?, &item, problems)?;
    let text = said(text?, &item, problems);
    let requirement = requirement.map(|node| one_word(node, &item, problems)).unwrap_or_default();
    Some(NoticeMap { each: item.each, when, kind, text, requirement })
}

fn claims(node: &Node, scope: Scope<'_>, problems: &mut Problems) -> ClaimMap {
    let mut fields = Fields::open(node, "the claims", problems);
    let parts = ["created", "modified", "deleted", "next"].map(|key| fields.take(key));
    fields.close(problems);
    let [created, modified, deleted, next] =
        parts.map(|node| node.map(|node| said(node, &Around::document(scope), problems)).unwrap_or_default());
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
    Some((name.clone(), class?, said(of?, &Around::document(scope), problems)))
}

/// What a mapping speaks of: the document or the items of a list, and what those are inside of.
pub struct Around {
    pub each: Option<Path>,
    /// The document first, the item last: how many steps of the way lead to it, and what it is.
    levels: Vec<(usize, Type)>,
}

impl Around {
    /// The document.
    fn document(scope: Scope<'_>) -> Self {
        Self { each: None, levels: vec![(0, scope.here.clone())] }
    }

    /// The items of the list at `each`; without that key, the document.
    pub fn taken(fields: &mut Fields<'_>, scope: Scope<'_>, problems: &mut Problems) -> Option<Self> {
        match fields.take("each") {
            Some(node) => Self::document(scope).inside(node, problems),
            None => Some(Self::document(scope)),
        }
    }

    /// The items of a list of the item.
    fn inside(&self, node: &Node, problems: &mut Problems) -> Option<Self> {
        let (from, here) = self.levels.last()?;
        let (path, item) = list(here, node, problems)?;
        let mut levels = self.levels.clone();
        let mut of = here;
        for (at, step) in path.steps.iter().enumerate().take(path.steps.len().saturating_sub(1)) {
            let Some((next, _)) = of.step(step) else { break };
            of = next;
            if matches!(of.kind, Kind::List(_)) || &**step == "*" {
                levels.push((from + at + 1, of.item().clone()));
            }
        }
        levels.push((from + path.steps.len(), item));
        Some(Self { each: Some(path), levels })
    }

    /// Whether a path of [`Self::resolve`] leads to the items of a list.
    fn is_many(&self, path: &Path) -> bool {
        let level = self.levels.iter().find(|(steps, _)| path.outer == Some(*steps));
        level.or(self.levels.last()).is_some_and(|(_, start)| through_list(start, path))
    }

    /// Reads a field of the item, or with a `^` for each level of an item around it, and finds what it leads to.
    pub fn resolve(&self, written: &str, place: Place, problems: &mut Problems) -> Option<(Path, &Type)> {
        let inner = written.trim_start_matches('^');
        let up = written.len() - inner.len();
        let Some((steps, of)) = self.levels.iter().rev().nth(up) else {
            let hint = "each `^` leads from an item to what its list is in, and the document is in nothing";
            problems.value(place, format!("`{written}` leads out of the document"), hint);
            return None;
        };
        let (path, of) = resolve(of, inner, place, problems)?;
        Some((Path { outer: (up > 0).then_some(*steps), written: written.into(), ..path }, of))
    }
}

/// Paths from which texts are taken.
pub fn said(node: &Node, around: &Around, problems: &mut Problems) -> Said {
    let paths = problems.some(node, "the fields");
    paths
        .into_iter()
        .filter_map(|(written, place)| around.resolve(&written, place, problems).map(|(path, _)| path))
        .collect()
}

/// Paths from which words are taken: to a text, or to a list of texts.
pub fn words(node: &Node, around: &Around, problems: &mut Problems) -> Said {
    fitting(node, around, problems, |_, of| holds_words(of.item()), "name a text, or a list of texts")
}

/// Paths from which one word is taken: to a text.
pub fn one_word(node: &Node, around: &Around, problems: &mut Problems) -> Said {
    let is_one = |path: &Path, of: &Type| holds_words(of) && !around.is_many(path);
    fitting(node, around, problems, is_one, "name a single text")
}

fn fitting(
    node: &Node,
    around: &Around,
    problems: &mut Problems,
    fits: impl Fn(&Path, &Type) -> bool,
    hint: &str,
) -> Said {
    let mut paths = Vec::new();
    for (written, place) in problems.some(node, "the fields") {
        match around.resolve(&written, place, problems) {
            Some((path, of)) if fits(&path, of) => paths.push(path),
            Some((path, of)) if holds_words(of) && around.is_many(&path) => {
                problems.value(place, format!("`{written}` leads to many values"), hint);
            }
            Some((_, of)) => problems.value(place, format!("`{written}` is {}", of.describe()), hint),
            None => {}
        }
    }
    paths
}

fn holds_words(of: &Type) -> bool {
    match &of.kind {
        Kind::Record(_) | Kind::Map(_) | Kind::List(_) => false,
        Kind::Union(types) => types.iter().all(holds_words),
        Kind::Any | Kind::Bool | Kind::Const(..) | Kind::Text(_) | Kind::Int(_) | Kind::Number(_) | Kind::OneOf(_) => {
            true
        }
    }
}

/// A field, or a fixed word: `{word: dod}`.
pub fn word_of(node: &Node, around: &Around, problems: &mut Problems) -> Option<WordMap> {
    if node.map().is_none() {
        return Some(WordMap::Field(one_word(node, around, problems)));
    }
    let mut fields = Fields::open(node, "the fixed word", problems);
    let word = fields.need("word", problems).and_then(|node| problems.text(node, "`word`"));
    fields.close(problems);
    word.map(WordMap::Fixed)
}
