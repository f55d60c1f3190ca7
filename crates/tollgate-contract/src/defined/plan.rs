//! What a document without errors brings into the ledger, and what is wrong with that.

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::{command_of, resembles_command};
use crate::defined::definition::{Definition, IdMap, ItemMap, RequirementMap, RowMap, Said, UnitMap};
use crate::defined::items::{Item, items};
use crate::defined::judge::{Found, Pointing, Wrong, find_circles};
use crate::defined::mapping::word;
use crate::path_list::held::unit_patterns;
use crate::text::quote;
use crate::tree::{Node, Places};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::id::UnitId;
use tollgate_core::report::{CriterionRow, Plan, REPEAT_MAX, RequirementReport, Retired, UnitReport};

const COMMAND_HINT: &str = "write `cmd: program arguments`, or `manual: what to look at`";

/// The plan of a document, and what is wrong with it. One of a set is in a file of it.
pub fn plan(definition: &Definition, root: &Node<'_>, file: Option<&str>, found: &mut Found) -> Plan {
    let map = &definition.plan;
    let retired = |map: &ItemMap, found: &mut Found| {
        let mut named = Named::new(map, "retired item", file);
        let one = |item: &Item<'_, '_>| named.take(item, found).map(|(id, why)| Retired { id, why });
        items(root, map.each.as_ref()).iter().filter_map(one).collect()
    };
    Plan {
        units: map.units.as_ref().map(|map| units(map, root, file, found)).unwrap_or_default(),
        requirements: map.requirements.as_ref().map(|map| requirements(map, root, file, found)).unwrap_or_default(),
        criteria: map.criteria.as_ref().map(|map| rows(map, root, file, found)).unwrap_or_default(),
        retires: map.retires.as_ref().map(|map| retired(map, found)).unwrap_or_default(),
    }
}

/// What is wrong with the plan of a document that stands nowhere.
pub fn faults(definition: &Definition, root: &Node<'_>) -> Vec<Diagnostic> {
    let mut found = Found::default();
    plan(definition, root, None, &mut found);
    found.place(&Places::Noted(Vec::new()))
}

/// The ids of one kind of item.
struct Named<'m> {
    map: &'m ItemMap,
    what: &'static str,
    /// What ids by position begin with.
    file: String,
    /// Where each id was first.
    seen: BTreeMap<Name, u32>,
    counted: BTreeMap<Name, usize>,
}

impl<'m> Named<'m> {
    fn new(map: &'m ItemMap, what: &'static str, file: Option<&str>) -> Self {
        let stem = |file: &str| file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
        let file = file.map(|file| format!("{}.", stem(file))).unwrap_or_default();
        Self { map, what, file, seen: BTreeMap::new(), counted: BTreeMap::new() }
    }

    /// The id and the text of an item that has both.
    fn take(&mut self, item: &Item<'_, '_>, found: &mut Found) -> Option<(Name, String)> {
        let (id, at) = self.id(item, found)?;
        let text = item.said(&self.map.text);
        if text.is_empty() {
            let message = format!("the {} `{id}` says nothing", self.what);
            found.error(Code::FIELD_MISSING, item.at(), message, fill_in(&self.map.text));
        }
        self.add(id, at, found).map(|id| (id, text))
    }

    fn id(&mut self, item: &Item<'_, '_>, found: &mut Found) -> Option<(Name, u32)> {
        let (from, counts) = match &self.map.id {
            IdMap::Field(from) => (from, false),
            IdMap::PositionIn(from) => (from, true),
            IdMap::Position(prefix) => {
                let count = self.count(prefix.clone());
                let id = format!("{}{prefix}-{count}", self.file);
                return Some((id.into(), item.at()));
            }
        };
        let values = item.first(from);
        let Some((named, said)) = values.first().and_then(|named| Some((named, Name::from(named.word()?)))) else {
            found.error(Code::FIELD_MISSING, item.at(), format!("this {} has no id", self.what), fill_in(from));
            return None;
        };
        if !counts {
            return Some((said, named.at));
        }
        let count = self.count(said.clone());
        Some((format!("{}{said}.{count}", self.file).into(), item.at()))
    }

    fn count(&mut self, prefix: Name) -> usize {
        let count = self.counted.entry(prefix).or_default();
        *count += 1;
        *count
    }

    /// Keeps an id that is not there yet.
    fn add(&mut self, id: Name, at: u32, found: &mut Found) -> Option<Name> {
        if let Some(first) = self.seen.get(&id) {
            let message = format!("the id `{id}` belongs to another {} already", self.what);
            found.twice(Code::ITEM_TWICE, at, *first, message, "give each an id of its own");
            return None;
        }
        self.seen.insert(id.clone(), at);
        Some(id)
    }
}

fn fill_in(fields: &Said) -> String {
    let fields: Vec<String> = fields.iter().map(|path| format!("`{}`", path.written)).collect();
    format!("fill in {}", fields.join(" or "))
}

fn names(nodes: &[&Node<'_>]) -> Vec<Name> {
    nodes.iter().filter_map(|node| node.word()).map(Name::from).collect()
}

fn units(map: &UnitMap, root: &Node<'_>, file: Option<&str>, found: &mut Found) -> Vec<UnitReport> {
    let mut named = Named::new(&map.item, "unit", file);
    let (mut units, mut needed, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let all = items(root, map.item.each.as_ref());
    for item in &all {
        let Some((name, title)) = named.take(item, found) else { continue };
        let needs = item.all(&map.needs);
        let attr = |(name, from): &(Name, _)| (name.clone(), names(&item.all(from)));
        units.push(UnitReport {
            name: UnitId::from(&*name),
            title,
            needs: needs.iter().filter_map(|node| node.word()).map(UnitId::from).collect(),
            scope: scope(item, map, found),
            attrs: map.attrs.iter().map(attr).filter(|(_, values)| !values.is_empty()).collect(),
            requirements: names(&item.all(&map.requirements)),
        });
        needed.extend(needs);
        places.push(item.at());
    }
    // What a unit without an id is called is unknown.
    if units.len() == all.len() {
        // What another document of a set may plan is known once all of them are read.
        let needed = if file.is_some() { &[] } else { needed.as_slice() };
        check_needs(&units, needed, &places, found);
    }
    units
}

/// The paths that a unit may change, as patterns.
fn scope(item: &Item<'_, '_>, map: &UnitMap, found: &mut Found) -> Vec<Name> {
    let mut patterns = Vec::new();
    for node in item.all(&map.scope) {
        match unit_patterns(node.word().unwrap_or_default()) {
            Ok(held) => patterns.extend(held),
            Err(problem) => found.error(Code::TASK_SCOPE, node.at, problem.message, problem.hint),
        }
    }
    patterns
}

/// Finds needs that no unit of the plan meets, and units that need themselves.
fn check_needs(units: &[UnitReport], needed: &[&Node<'_>], places: &[u32], found: &mut Found) {
    let known: BTreeSet<&str> = units.iter().map(|unit| &*unit.name).collect();
    let mut broken = |at: u32, rule: &str, message: String, hint: &str| {
        let wrong = Wrong::new(Code::RULE_BROKEN, Severity::Error, at, format!("{message} (rule `{rule}`)"), hint);
        found.push(Wrong { rule: Some(rule.into()), ..wrong });
    };
    for node in needed {
        if let Some(name) = node.word().filter(|name| !known.contains(name)) {
            let message = format!("{} is no unit of this plan", quote(name));
            broken(node.at, "needs-are-planned", message, "name the id of a unit");
        }
    }
    let all = units.iter().zip(places).map(|(unit, at)| {
        let to = unit.needs.iter().map(|name| &**name).collect();
        Pointing { name: &unit.name, at: *at, to }
    });
    let all: Vec<Pointing<'_>> = all.collect();
    for (at, circle) in find_circles(&all) {
        let message = format!("units need each other in a circle: {circle}");
        broken(at, "needs-have-no-circle", message, "remove one of the needs");
    }
}

fn requirements(
    map: &RequirementMap,
    root: &Node<'_>,
    file: Option<&str>,
    found: &mut Found,
) -> Vec<RequirementReport> {
    let mut named = Named::new(&map.item, "requirement", file);
    let requirement = |item: &Item<'_, '_>| {
        let (id, text) = named.take(item, found)?;
        let proposed = word(item, &map.proposed).and_then(|word| {
            let meant = map.words.iter().find(|(known, _)| *known == word);
            meant.map_or_else(|| Some(word.into()), |(_, meant)| meant.clone())
        });
        let (source, strength) = (item.said(&map.source), word(item, &map.strength));
        Some(RequirementReport { id, text, disposition: None, source, strength, proposed })
    };
    items(root, map.item.each.as_ref()).iter().filter_map(requirement).collect()
}

fn rows(map: &RowMap, root: &Node<'_>, file: Option<&str>, found: &mut Found) -> Vec<CriterionRow> {
    let mut named = Named::new(&map.item, "criterion", file);
    let mut rows = Vec::new();
    for item in items(root, map.item.each.as_ref()) {
        let Some((id, text)) = named.take(&item, found) else { continue };
        let row = CriterionRow {
            id,
            text,
            group: map.group.as_ref().and_then(|group| group.of(&item)),
            unit: map.unit.as_ref().and_then(|unit| unit.of(&item)).map(UnitId::from),
            requirement: word(&item, &map.requirement),
            command: None,
            repeat: None,
        };
        let entries = item.all(&map.command);
        for entry in &entries {
            let said = entry.word().unwrap_or_default();
            if command(entry).is_none() && resembles_command(said) {
                let message = format!("{} is not run: a command begins with `cmd:`", quote(said));
                found.error(Code::TASK_COMMAND, entry.at, message, COMMAND_HINT);
            }
        }
        if !entries.iter().any(|entry| command(entry).is_some()) {
            rows.push(row);
            continue;
        }
        let repeat = repeat(&item, map, found);
        for (at, entry) in entries.into_iter().enumerate() {
            // The first has the id that everybody knows.
            let id = match at {
                0 => Some(row.id.clone()),
                at => named.add(format!("{}.{}", row.id, at + 1).into(), entry.at, found),
            };
            let Some(id) = id else { continue };
            let command = command(entry);
            if command.is_some_and(str::is_empty) {
                found.error(Code::TASK_COMMAND, entry.at, format!("the command of `{id}` is empty"), COMMAND_HINT);
            }
            let text = match command {
                Some(_) => row.text.clone(),
                None => format!("{} ({})", row.text, entry.word().unwrap_or_default()),
            };
            let repeat = repeat.filter(|_| command.is_some());
            rows.push(CriterionRow { id, text, command: command.map(str::to_owned), repeat, ..row.clone() });
        }
    }
    rows
}

/// The command that a text is.
fn command<'x>(node: &'x Node<'_>) -> Option<&'x str> {
    command_of(node.word()?)
}

/// How often the commands of a row are run.
fn repeat(item: &Item<'_, '_>, map: &RowMap, found: &mut Found) -> Option<u32> {
    let values = item.first(&map.repeat);
    let (at, said) = values.first().and_then(|node| Some((node.at, node.word()?)))?;
    let times = said.parse().ok().filter(|times| (1..=REPEAT_MAX).contains(times));
    if times.is_none() {
        let message = format!("{} is no number of times that a command can be run", quote(said));
        found.error(Code::TASK_COMMAND, at, message, format!("1 to {REPEAT_MAX} times"));
    }
    times
}
