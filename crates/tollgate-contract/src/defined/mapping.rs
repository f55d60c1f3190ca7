//! What a document that meets its contract means: the canonical report, or what enters the ledger.

use std::collections::{BTreeMap, BTreeSet};

use crate::defined::definition::{
    Case, CodeMap, Condition, Definition, FindingMap, Mapping, NoticeMap, Path, QuestionMap, Said, Type, WordMap,
};
use crate::defined::items::{self, Item, items, nodes};
use crate::defined::judge::Eval;
use crate::text::is_none;
use crate::tree::{Node, json_line};
use tollgate_core::Name;
use tollgate_core::protocol::{Brought, Declaration, SectionClass};
use tollgate_core::report::{
    Claims, CriterionReport, FindingReport, Health, Notice, QuestionReport, Report, RowWord, SectionRead, Verdict,
};

/// Whether a document means something: a case of its mapping applies. Definitions that are sound have one for every document.
pub fn has_case(definition: &Definition, mapping: &Mapping, root: &Node<'_>, role: Option<&Name>) -> bool {
    let broken = BTreeSet::new();
    mapping.cases.iter().any(|case| case.when.is_none())
        || case(mapping, &Eval::new(definition, root, role, &broken)).is_some()
}

/// Whether a document accepts the work.
pub fn accepts(definition: &Definition, mapping: &Mapping, root: &Node<'_>, role: Option<&Name>) -> bool {
    let broken = BTreeSet::new();
    let case = case(mapping, &Eval::new(definition, root, role, &broken));
    case.is_some_and(|case| matches!(case.verdict, Verdict::Accept | Verdict::AcceptWithNotes))
}

/// The case that a document is.
fn case<'d>(mapping: &'d Mapping, eval: &Eval<'d, '_, '_>) -> Option<&'d Case> {
    let holds = |when: &'d Option<Condition>| when.as_ref().is_none_or(|when| eval.holds(when) == Some(true));
    mapping.cases.iter().find(|case| holds(&case.when))
}

/// The canonical report of a document without errors.
pub fn report<'d>(definition: &'d Definition, mapping: &'d Mapping, root: &Node<'_>, role: Option<&Name>) -> Report {
    let broken = BTreeSet::new();
    let eval = Eval::new(definition, root, role, &broken);
    let holds = |when: &'d Option<Condition>| when.as_ref().is_none_or(|when| eval.holds(when) == Some(true));
    let document = Item::document(root);
    let mut report = match case(mapping, &eval) {
        Some(case) => {
            let mut report = Report::new(case.health, case.verdict);
            report.code = match &case.code {
                Some(CodeMap::Word(word)) => Some(word.clone()),
                Some(CodeMap::Field(path, _)) => text_at(root, path).map(Name::from),
                None => None,
            };
            report.reason = document.said(&case.reason);
            report
        }
        None => Report::new(Health::Malformed, Verdict::None),
    };
    report.rows = rows(mapping);
    for map in &mapping.criteria {
        for item in items(root, Some(&map.each)) {
            let values = item.values(&map.result);
            let word = values.first().and_then(|value| value.word()).unwrap_or_default();
            let Some((_, result)) = map.words.iter().find(|(known, _)| **known == *word) else { continue };
            let id = Name::from(item.said(&map.id));
            report.criteria.push(CriterionReport { id, result: *result, evidence: item.said(&map.evidence) });
        }
    }
    for map in mapping.findings.iter().filter(|map| holds(&map.when)) {
        report.findings.extend(items(root, map.each.as_ref()).iter().filter_map(|item| finding(item, map)));
    }
    // A finding that is the word `None` is none, unless nothing else says why the work is rejected.
    let is_finding = |found: &FindingReport| !(found.why.is_empty() && found.fix.is_empty() && is_none(&found.what));
    if report.verdict != Verdict::Reject || report.findings.iter().any(is_finding) {
        report.findings.retain(is_finding);
    }
    for map in mapping.questions.iter().filter(|map| holds(&map.when)) {
        report.questions.extend(items(root, map.each.as_ref()).iter().filter_map(|item| question(item, map)));
    }
    for map in mapping.notices.iter().filter(|map| holds(&map.when)) {
        report.notices.extend(items(root, map.each.as_ref()).iter().filter_map(|item| notice(item, map)));
    }
    let paths = |from: &Said| from.iter().flat_map(|path| document.texts(path)).map(Name::from).collect::<Vec<_>>();
    report.claims = Claims {
        created: paths(&mapping.claims.created),
        modified: paths(&mapping.claims.modified),
        deleted: paths(&mapping.claims.deleted),
        next: word(&document, &mapping.claims.next),
        ..Claims::default()
    };
    for (name, path) in &mapping.gives {
        if let Some(word) = text_at(root, path) {
            report.gives.insert(name.clone(), word.into());
        }
    }
    report.reads = reads(definition, mapping, root);
    report
}

fn finding(item: &Item<'_, '_>, map: &FindingMap) -> Option<FindingReport> {
    let what = item.said(&map.what);
    (!what.is_empty()).then(|| FindingReport {
        severity: word(item, &map.severity),
        category: word(item, &map.category),
        path: word(item, &map.path),
        line: item.said(&map.line).parse().ok(),
        criterion: word(item, &map.criterion),
        what,
        why: item.said(&map.why),
        fix: item.said(&map.fix),
        ..FindingReport::default()
    })
}

fn question(item: &Item<'_, '_>, map: &QuestionMap) -> Option<QuestionReport> {
    let text = item.said(&map.text);
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    let (mut options, mut marked, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(of) = &map.options {
        for option in item.inside(of.each.as_ref()) {
            let texts: Vec<String> = option.first(&of.text).into_iter().map(items::text).collect();
            if option.said(&of.recommended) == "true" {
                marked.extend(texts.clone());
                reasons.extend(some(option.said(&of.reason)));
            }
            options.extend(texts);
        }
    }
    // What marks an option says nothing of another recommendation.
    let (recommendation, reason) = match some(item.said(&map.recommendation)) {
        Some(said) => (Some(said), None),
        None => (some(marked.join("; ")), some(reasons.join("; "))),
    };
    let reason = some(item.said(&map.reason)).or(reason).filter(|_| recommendation.is_some());
    (!text.is_empty()).then_some(QuestionReport { text, blocking: map.blocking, options, recommendation, reason })
}

/// What an item leaves open; the word `None` leaves nothing open.
fn notice(item: &Item<'_, '_>, map: &NoticeMap) -> Option<Notice> {
    let text = item.said(&map.text);
    let kind = map.kind.of(item)?;
    (!text.is_empty() && !is_none(&text)).then(|| Notice { kind, text, requirement: word(item, &map.requirement) })
}

/// The word at the first field that says something.
pub fn word(item: &Item<'_, '_>, from: &Said) -> Option<Name> {
    Some(item.said(from)).filter(|word| !word.is_empty()).map(Name::from)
}

impl WordMap {
    /// The word that an item has.
    pub fn of(&self, item: &Item<'_, '_>) -> Option<Name> {
        match self {
            Self::Fixed(word) => Some(word.clone()),
            Self::Field(from) => word(item, from),
        }
    }
}

/// The fields that a decision rests on; what only people read is not among them.
fn reads(definition: &Definition, mapping: &Mapping, root: &Node<'_>) -> Vec<SectionRead> {
    let read: Vec<&Path> = mapping.paths().into_iter().chain(definition.plan.paths()).collect();
    let fields = definition.root.record().map(|record| &record.fields[..]).unwrap_or_default();
    let fields = fields.iter().filter(|field| read.iter().any(|path| path.steps.first() == Some(&field.name)));
    let read = |name: &Name| {
        let bytes = root.get(name).map(|node| json_line(node).len() as u64)?;
        Some(SectionRead { section: name.clone(), reason: "the mapping reads it".to_owned(), bytes })
    };
    fields.filter_map(|field| read(&field.name)).collect()
}

/// Every field that is there, with its size.
pub fn present(root: &Node<'_>) -> Vec<(Name, u64)> {
    let entries = root.map().unwrap_or_default();
    entries.iter().map(|entry| (Name::from(&*entry.key), json_line(&entry.node).len() as u64)).collect()
}

/// Which rows a verdict speaks for: those it names, where it can name any.
const fn rows(mapping: &Mapping) -> RowWord {
    match (mapping.criteria.is_empty(), mapping.rows_shown) {
        (false, _) => RowWord::Named,
        (true, true) => RowWord::Shown,
        (true, false) => RowWord::Silent,
    }
}

/// What the checker must know of a contract of documents, or of one whose reports are handed over as documents.
pub fn document_declaration(definition: &Definition) -> Declaration {
    let plan = &definition.plan;
    let brings = [
        (Brought::Units, plan.units.is_some()),
        (Brought::Criteria, plan.criteria.is_some()),
        (Brought::Requirements, plan.requirements.is_some()),
        (Brought::Retires, plan.retires.is_some()),
    ];
    let brings = brings.into_iter().filter_map(|(brought, is_there)| is_there.then_some(brought)).collect();
    let attrs = plan.units.iter().flat_map(|units| &units.attrs).map(|(attr, _)| attr.clone()).collect();
    let mut declaration = Declaration {
        fields: closed_fields(definition),
        brings,
        attrs,
        attr_words: attr_words(definition),
        unit_parts: Some(unit_parts(definition)),
        ..Declaration::default()
    };
    if let Some(rows) = &plan.criteria {
        let group = rows.group.as_ref().map_or(Some(Vec::new()), |group| match group {
            WordMap::Fixed(word) => Some(vec![word.clone()]),
            WordMap::Field(said) => closed_words(definition, rows.item.each.as_ref(), said),
        });
        declaration.words.extend(group.map(|words| ("group".into(), words)));
    }
    declaration
}

/// What the checker must know of a contract of reports.
pub fn declaration(definition: &Definition) -> Declaration {
    let mut declaration = document_declaration(definition);
    let Some(mapping) = &definition.report else { return declaration };
    declaration.brings.extend((!mapping.notices.is_empty()).then_some(Brought::Notices));
    for (filter, of) in
        [("severity", (|map| &map.severity) as fn(&FindingMap) -> &Said), ("category", |map| &map.category)]
    {
        let words = mapping.findings.iter().map(|map| closed_words(definition, map.each.as_ref(), of(map)));
        let words: Option<Vec<Vec<Name>>> = words.collect();
        declaration.words.extend(words.map(|words| (filter.into(), words.concat())));
    }
    declaration.rows = rows(mapping);
    let kinds = mapping.notices.iter().map(|map| match &map.kind {
        WordMap::Fixed(word) => Some(word.clone()),
        WordMap::Field(_) => None,
    });
    declaration.notices = kinds.collect::<Option<_>>().unwrap_or_default();
    for case in &mapping.cases {
        if case.verdict != Verdict::None && case.health == Health::Ok && !declaration.verdicts.contains(&case.verdict) {
            declaration.verdicts.push(case.verdict);
        }
        if case.health != Health::Ok && !declaration.healths.contains(&case.health) {
            declaration.healths.push(case.health);
        }
        let codes = match &case.code {
            Some(CodeMap::Word(word)) => vec![word.clone()],
            Some(CodeMap::Field(_, words)) => words.clone(),
            None => continue,
        };
        let known = declaration.codes.entry(case.health).or_default();
        for code in codes {
            if !known.contains(&code) {
                known.push(code);
            }
        }
    }
    declaration.healths.push(Health::Malformed);
    declaration.sections = mapping.sections.iter().map(|(name, class, _)| (name.clone(), *class)).collect();
    let words = |path: &Path| definition.root.at(path).and_then(Type::words).unwrap_or_default();
    declaration.gives = mapping.gives.iter().map(|(name, path)| (name.clone(), words(path))).collect();
    declaration
}

/// What the units of a plan can have, in the words of `has`.
fn unit_parts(definition: &Definition) -> Vec<Name> {
    let (units, rows) = (definition.plan.units.as_ref(), definition.plan.criteria.as_ref());
    let parts = [
        ("objective", units.is_some()),
        ("reference", units.is_some_and(|units| !units.requirements.is_empty())),
        ("scope", units.is_some_and(|units| !units.scope.is_empty())),
        ("criteria", rows.is_some_and(|rows| rows.unit.is_some())),
        ("labels", units.is_some_and(|units| !units.attrs.is_empty())),
    ];
    parts.into_iter().filter(|(_, is_there)| *is_there).map(|(part, _)| part.into()).collect()
}

/// The attributes of units that have a closed list of values.
fn attr_words(definition: &Definition) -> BTreeMap<Name, Vec<Name>> {
    let Some(units) = &definition.plan.units else { return BTreeMap::new() };
    let words = |said: &Said| closed_words(definition, units.item.each.as_ref(), said);
    units.attrs.iter().filter_map(|(attr, said)| Some((attr.clone(), words(said)?))).collect()
}

/// The words that fields of an item are limited to; none where one of them is free.
fn closed_words(definition: &Definition, each: Option<&Path>, said: &Said) -> Option<Vec<Name>> {
    let way = each.map(|path| &path.steps[..]).unwrap_or_default();
    let mut all = Vec::new();
    for path in said {
        let from = way.get(..path.outer.unwrap_or(way.len()))?;
        let mut steps = from.iter().chain(&path.steps);
        let of = steps.try_fold(&definition.root, |of, step| of.step(step).map(|(of, _)| of))?;
        all.extend(of.item().words()?);
    }
    Some(all)
}

/// The fields of a document that conditions may ask for, and their words.
fn closed_fields(definition: &Definition) -> BTreeMap<Name, Vec<Name>> {
    let fields = definition.root.record().map(|record| &record.fields[..]).unwrap_or_default();
    fields.iter().filter_map(|field| Some((field.name.clone(), field.of.words()?))).collect()
}

/// What a document says in the fields that conditions may ask for.
pub fn fields(definition: &Definition, root: &Node<'_>) -> BTreeMap<Name, Name> {
    let names = closed_fields(definition).into_keys();
    names.filter_map(|name| Some((name.clone(), root.get(&name)?.word()?.into()))).collect()
}

/// The sections that later agents may be shown.
pub fn sections(mapping: &Mapping, root: &Node<'_>) -> BTreeMap<Name, String> {
    let document = Item::document(root);
    let text = |paths: &Vec<Path>| {
        let parts: Vec<String> = paths
            .iter()
            .filter_map(|path| {
                let values = document.texts(path);
                let text = match &values[..] {
                    [] => return None,
                    [one] => one.clone(),
                    many => many.iter().map(|value| format!("- {value}")).collect::<Vec<_>>().join("\n"),
                };
                Some(if paths.len() > 1 { format!("{}:\n{text}", path.written) } else { text })
            })
            .collect();
        parts.join("\n\n")
    };
    let shown = |(name, _, paths): &(Name, SectionClass, Vec<Path>)| (name.clone(), text(paths));
    mapping.sections.iter().map(shown).filter(|(_, text)| !text.is_empty()).collect()
}

fn text_at<'x>(root: &'x Node<'_>, path: &Path) -> Option<&'x str> {
    nodes(root, path).first().and_then(|node| node.word())
}
