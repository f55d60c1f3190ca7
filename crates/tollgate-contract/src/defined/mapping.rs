//! What a document that meets its contract means: the canonical report, or what enters the ledger.

use std::collections::{BTreeMap, BTreeSet};

use crate::defined::definition::{
    Case, CodeMap, Condition, Definition, FindingMap, Mapping, Path, PlanMap, QuestionMap, Said,
};
use crate::defined::judge::Eval;
use crate::text::is_none;
use crate::tree::{Node, Value, json_line};
use tollgate_core::Name;
use tollgate_core::id::UnitId;
use tollgate_core::protocol::{Declaration, SectionClass};
use tollgate_core::report::{
    Claims, CriterionReport, CriterionRow, FindingReport, Health, Plan, QuestionReport, Report, SectionRead,
    UnitReport, Verdict,
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
    let mut report = match case(mapping, &eval) {
        Some(case) => {
            let mut report = Report::new(case.health, case.verdict);
            report.code = match &case.code {
                Some(CodeMap::Word(word)) => Some(word.clone()),
                Some(CodeMap::Field(path, _)) => text_at(root, path).map(Name::from),
                None => None,
            };
            report.reason = said(root, &case.reason);
            report
        }
        None => Report::new(Health::Malformed, Verdict::None),
    };
    for map in &mapping.criteria {
        for item in items(root, Some(&map.each)) {
            let word = text_at(item, &map.result).unwrap_or_default();
            let Some((_, result)) = map.words.iter().find(|(known, _)| **known == *word) else { continue };
            let id = Name::from(said(item, &map.id));
            report.criteria.push(CriterionReport { id, result: *result, evidence: said(item, &map.evidence) });
        }
    }
    for map in mapping.findings.iter().filter(|map| holds(&map.when)) {
        for (around, each) in groups(root, map) {
            let category = map.group.as_ref().and_then(|group| around.get(group.steps.last()?)?.word());
            let found = items(around, each.as_ref()).into_iter().filter_map(|item| finding(item, map));
            report.findings.extend(found.map(|finding| FindingReport {
                category: finding.category.clone().or_else(|| category.map(Name::from)),
                ..finding
            }));
        }
    }
    // A finding that is the word `None` is none, unless nothing else says why the work is rejected.
    let is_finding = |found: &FindingReport| !(found.why.is_empty() && found.fix.is_empty() && is_none(&found.what));
    if report.verdict != Verdict::Reject || report.findings.iter().any(is_finding) {
        report.findings.retain(is_finding);
    }
    for map in mapping.questions.iter().filter(|map| holds(&map.when)) {
        report.questions.extend(items(root, map.each.as_ref()).into_iter().filter_map(|item| question(item, map)));
    }
    let paths = |from: &Said| from.iter().flat_map(|path| texts(root, path)).map(Name::from).collect::<Vec<_>>();
    report.claims = Claims {
        created: paths(&mapping.claims.created),
        modified: paths(&mapping.claims.modified),
        deleted: paths(&mapping.claims.deleted),
        next: Some(said(root, &mapping.claims.next)).filter(|next| !next.is_empty()).map(Name::from),
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

/// What the lists of a mapping stand in, and the way from there to them.
fn groups<'x, 'a>(root: &'x Node<'a>, map: &FindingMap) -> Vec<(&'x Node<'a>, Option<Path>)> {
    let (Some(group), Some(each)) = (&map.group, &map.each) else { return vec![(root, map.each.clone())] };
    let (around, rest) = each.steps.split_at(group.steps.len().saturating_sub(1));
    let part = |steps: &[Name]| Path { steps: steps.to_vec(), ..each.clone() };
    let found = nodes(root, &part(around)).into_iter().flat_map(spread);
    found.map(|node| (node, Some(part(rest)))).collect()
}

fn finding(item: &Node<'_>, map: &FindingMap) -> Option<FindingReport> {
    let what = said(item, &map.what);
    let word = |from: &Said| Some(said(item, from)).filter(|word| !word.is_empty()).map(Name::from);
    (!what.is_empty()).then(|| FindingReport {
        severity: word(&map.severity),
        category: word(&map.category),
        path: word(&map.path),
        line: said(item, &map.line).parse().ok(),
        what,
        why: said(item, &map.why),
        fix: said(item, &map.fix),
        ..FindingReport::default()
    })
}

fn question(item: &Node<'_>, map: &QuestionMap) -> Option<QuestionReport> {
    let text = said(item, &map.text);
    let recommendation = said(item, &map.recommendation);
    (!text.is_empty()).then(|| QuestionReport {
        text,
        blocking: map.blocking,
        options: map.options.as_ref().map(|path| texts(item, path)).unwrap_or_default(),
        recommendation: Some(recommendation).filter(|said| !said.is_empty()),
    })
}

/// The fields that a decision rests on; what only people read is not among them.
fn reads(definition: &Definition, mapping: &Mapping, root: &Node<'_>) -> Vec<SectionRead> {
    let read = mapping.paths();
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

/// What the checker must know of a contract that is a report.
pub fn declaration(definition: &Definition, mapping: &Mapping) -> Declaration {
    let mut declaration = Declaration::default();
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
    let words =
        |path: &Path| definition.root.at(path).and_then(crate::defined::definition::Type::words).unwrap_or_default();
    declaration.gives = mapping.gives.iter().map(|(name, path)| (name.clone(), words(path))).collect();
    declaration
}

/// The sections that later agents may be shown.
pub fn sections(mapping: &Mapping, root: &Node<'_>) -> BTreeMap<Name, String> {
    let text = |paths: &Vec<Path>| {
        let parts: Vec<String> = paths
            .iter()
            .filter_map(|path| {
                let values = texts(root, path);
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

/// What a document brings into the ledger.
pub fn plan(definition: &Definition, root: &Node<'_>) -> Plan {
    let mut plan = Plan::default();
    let each = |map: &Option<PlanMap>, add: &mut dyn FnMut(&Node<'_>, &PlanMap, usize)| {
        let Some(map) = map else { return };
        for (at, item) in items(root, map.each.as_ref()).into_iter().enumerate() {
            add(item, map, at + 1);
        }
    };
    each(&definition.plan.units, &mut |item, map, at| {
        plan.units.push(UnitReport {
            name: id(item, map, "unit", at).into(),
            title: said(item, &map.text),
            needs: map.needs.iter().flat_map(|path| texts(item, path)).map(UnitId::from).collect(),
            scope: map.scope.iter().flat_map(|path| texts(item, path)).map(Name::from).collect(),
            ..UnitReport::default()
        });
    });
    each(&definition.plan.criteria, &mut |item, map, at| {
        let row = CriterionRow { id: id(item, map, "AC", at), text: said(item, &map.text), ..CriterionRow::default() };
        plan.criteria.push(row);
    });
    plan
}

fn id(item: &Node<'_>, map: &PlanMap, prefix: &str, at: usize) -> Name {
    let named = said(item, &map.id);
    if named.is_empty() { format!("{prefix}-{at}").into() } else { named.into() }
}

/// The items of a list; the document itself without one.
fn items<'x, 'a>(root: &'x Node<'a>, each: Option<&Path>) -> Vec<&'x Node<'a>> {
    match each {
        None => vec![root],
        Some(path) => nodes(root, path).into_iter().flat_map(spread).collect(),
    }
}

fn spread<'x, 'a>(node: &'x Node<'a>) -> Vec<&'x Node<'a>> {
    match &node.value {
        Value::List(items) => items.iter().collect(),
        Value::Null => Vec::new(),
        _ => vec![node],
    }
}

fn nodes<'x, 'a>(root: &'x Node<'a>, path: &Path) -> Vec<&'x Node<'a>> {
    let mut nodes = vec![root];
    for step in &path.steps {
        let into = |node: &'x Node<'a>| -> Vec<&'x Node<'a>> {
            match (&node.value, &**step) {
                (Value::Map(entries), "*") => entries.iter().map(|entry| &entry.node).collect(),
                _ => node.get(step).into_iter().collect(),
            }
        };
        nodes = nodes.into_iter().flat_map(spread).flat_map(into).collect();
    }
    nodes
}

fn text_at<'x>(root: &'x Node<'_>, path: &Path) -> Option<&'x str> {
    nodes(root, path).first().and_then(|node| node.word())
}

/// Every text at a path; what is no text as JSON.
fn texts(root: &Node<'_>, path: &Path) -> Vec<String> {
    let text = |node: &Node<'_>| match node.word() {
        Some(word) => word.to_owned(),
        None => json_line(node),
    };
    nodes(root, path).into_iter().flat_map(spread).filter(|node| !node.is_blank()).map(text).collect()
}

/// The text at the first path that says something.
fn said(root: &Node<'_>, from: &Said) -> String {
    let found = from.iter().map(|path| texts(root, path)).find(|texts| !texts.is_empty());
    found.map(|texts| texts.join("; ")).unwrap_or_default()
}
