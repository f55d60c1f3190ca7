//! What a plan may say: names that can be used, and nothing else of what was planned before.

use std::collections::{BTreeMap, BTreeSet};

use super::super::event::UnitState;
use super::super::fan_out::is_named_lane;
use super::super::state::{Criterion, Ledger, Requirement, Run, Unit};
use crate::Name;
use crate::id::UnitId;
use crate::protocol::Protocol;
use crate::protocol::model::{Kind, Over, Resource};
use crate::report::{CriterionRow, Disposition, Plan, RequirementReport, UnitReport};
use crate::text::is_blank;

/// The longest name of a unit.
const UNIT_NAME_MAX: usize = 64;

/// What a worker says of requirements is a proposal. That one is in scope takes nothing away: it counts, of what nobody has said
/// otherwise.
pub fn propose(plan: &mut Plan, ledger: &Ledger) {
    plan.propose();
    for row in plan.requirements.iter_mut().filter(|row| row.disposition.is_none()) {
        let known = ledger.requirements.iter().find(|known| known.id == row.id);
        let stays =
            known.is_none_or(|known| known.disposed_by.is_none() && known.disposition == Some(Disposition::InScope));
        row.disposition = row.proposed.take_if(|proposed| stays && *proposed == Disposition::InScope);
    }
}

/// What counts of a plan: what the stage gives, or its document brings.
pub fn used(given: &[Resource], plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let gives = |what| given.contains(&what);
    if !gives(Resource::Units) {
        plan.units.clear();
        plan.retires.clear();
    }
    if !gives(Resource::Requirements) {
        plan.requirements.clear();
    }
    if !gives(Resource::Units) && !gives(Resource::Requirements) && !gives(Resource::Criteria) {
        plan.criteria.clear();
    }
    plan
}

/// What counts of the plan of a document: what its `brings` names, and all of it without.
pub fn brought(protocol: &Protocol, document: &str, plan: &Plan) -> Plan {
    let Some(brings) = protocol.artifacts.get(document).and_then(|artifact| artifact.brings.as_ref()) else {
        return plan.clone();
    };
    let mut plan = used(brings, plan);
    // Rows come with units where a stage gives them; a document brings what it says.
    plan.criteria.retain(|_| brings.contains(&Resource::Criteria));
    plan
}

/// Plans that come at once, as one: what they say otherwise of each other's items is said twice. What they say alike is said once.
pub fn together<'p>(plans: impl Iterator<Item = &'p Plan>) -> Plan {
    let mut all = Plan::default();
    for plan in plans {
        let said: BTreeMap<&str, &UnitReport> = all.units.iter().map(|row| (&*row.name, row)).collect();
        let new = |row: &&UnitReport| said.get(&*row.name) != Some(row);
        let units: Vec<UnitReport> = plan.units.iter().filter(new).cloned().collect();
        let said: BTreeMap<&str, &CriterionRow> = all.criteria.iter().map(|row| (&*row.id, row)).collect();
        let new = |row: &&CriterionRow| said.get(&*row.id) != Some(row);
        let criteria: Vec<CriterionRow> = plan.criteria.iter().filter(new).cloned().collect();
        let said: BTreeMap<&str, &RequirementReport> = all.requirements.iter().map(|row| (&*row.id, row)).collect();
        let reads = |row: &RequirementReport| (row.text.clone(), row.disposition.clone(), row.proposed.clone());
        let new = |row: &&RequirementReport| said.get(&*row.id).is_none_or(|known| reads(known) != reads(row));
        let requirements: Vec<RequirementReport> = plan.requirements.iter().filter(new).cloned().collect();
        all.units.extend(units);
        all.criteria.extend(criteria);
        all.requirements.extend(requirements);
        all.retires.extend(plan.retires.iter().cloned());
    }
    all
}

/// What is wrong with a plan. Names of units are parts of other names (`main/build:UNIT`, `reviewer@UNIT`), and a planner
/// is not to be trusted with those.
pub fn problem(plan: &Plan, run: &Run) -> Option<String> {
    if *plan == Plan::default() {
        return None;
    }
    let ledger = &run.ledger;
    let plain = |name: &str| {
        (1..=UNIT_NAME_MAX).contains(&name.len())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
    };
    if let Some(unit) = plan.units.iter().find(|unit| !plain(&unit.name)) {
        return Some(format!(
            "`{}` is no name for a unit: letters, digits, `-`, `_` and `.`, at most {UNIT_NAME_MAX}",
            unit.name
        ));
    }
    // Stages that run over planned units leave lanes to their own.
    let lane = plan.units.iter().find(|unit| runs_planned_units(&run.protocol) && is_named_lane(run, &unit.name));
    if let Some(unit) = lane {
        return Some(format!("`{}` is a lane of the protocol: plan the unit under another name", unit.name));
    }
    let units = plan.units.iter().map(|row| (&*row.name, unit_words(row)));
    let rows = plan.criteria.iter().map(|row| (&*row.id, words(row)));
    let requirements = plan.requirements.iter().map(|row| (&*row.id, requirement_words(row)));
    if let Some(wrong) = twice(units).or_else(|| twice(rows.chain(requirements))) {
        return Some(wrong);
    }
    let retired =
        ledger.units.iter().find(|old| old.retired.is_some() && plan.units.iter().any(|unit| unit.name == old.name));
    if let Some(unit) = retired {
        return Some(format!("unit `{}` was retired: plan it under another name", unit.name));
    }
    if let Some(wrong) = undeclared(plan, &run.protocol).or_else(|| of_nothing(plan, run)) {
        return Some(wrong);
    }
    let planned = plan.units.iter().map(|unit| (&unit.name, &unit.needs));
    let mut needs: BTreeMap<&UnitId, &Vec<UnitId>> =
        ledger.units.iter().map(|unit| (&unit.name, &unit.needs)).collect();
    needs.extend(planned);
    for unit in &plan.units {
        if let Some(other) = unit.needs.iter().find(|other| !needs.contains_key(other)) {
            return Some(format!("unit `{}` needs `{other}`, which no plan has", unit.name));
        }
        if is_circular(&unit.name, &needs) {
            return Some(format!("unit `{}` needs itself, by way of what it needs", unit.name));
        }
    }
    plan.retires.iter().find_map(|row| not_retired(&row.id, &row.why, &needs, plan, ledger))
}

fn runs_planned_units(protocol: &Protocol) -> bool {
    let stages = protocol.flows.iter().flat_map(|flow| &flow.stages);
    let mut each = stages.filter_map(|stage| if let Kind::Each(each) = &stage.kind { Some(each) } else { None });
    each.any(|each| each.over == Over::Units)
}

/// An attribute that the protocol declares has the values that it declares: conditions ask for those, and another one is none
/// of them, however alike.
fn undeclared(plan: &Plan, protocol: &Protocol) -> Option<String> {
    plan.units.iter().find_map(|unit| {
        unit.attrs.iter().find_map(|(attr, values)| {
            let known = &protocol.attrs.get(attr)?.values;
            let other = values.iter().find(|value| !known.contains(value))?;
            let known = known.iter().map(|value| &**value).collect::<Vec<_>>().join(", ");
            Some(format!("unit `{}` has `{attr}: {other}`, which is none of {known}", unit.name))
        })
    })
}

/// A row for what there is not would be one that nobody is asked about.
fn of_nothing(plan: &Plan, run: &Run) -> Option<String> {
    let units: BTreeSet<&UnitId> =
        plan.units.iter().map(|row| &row.name).chain(run.ledger.units.iter().map(|unit| &unit.name)).collect();
    let requirements = plan.requirements.iter().map(|row| &row.id);
    let requirements: BTreeSet<&Name> = requirements.chain(run.ledger.requirements.iter().map(|row| &row.id)).collect();
    plan.criteria.iter().find_map(|row| {
        let unit = row.unit.as_ref().filter(|unit| !units.contains(unit) && !is_named_lane(run, unit));
        let requirement = row.requirement.as_ref().filter(|id| !requirements.contains(id));
        match (unit, requirement) {
            (Some(unit), _) => Some(format!("`{}` is a row of unit `{unit}`, which no plan has", row.id)),
            (None, Some(id)) => Some(format!("`{}` shows requirement `{id}`, which no plan has", row.id)),
            (None, None) => None,
        }
    })
}

/// Why a worker cannot take something back. Units whose work is not in the tree go; what they were to show stays.
fn not_retired(
    id: &Name,
    why: &str,
    needs: &BTreeMap<&UnitId, &Vec<UnitId>>,
    plan: &Plan,
    ledger: &Ledger,
) -> Option<String> {
    if is_blank(why) {
        return Some(format!("it retires `{id}` without a reason"));
    }
    if ledger.criteria.iter().any(|row| row.id == *id) {
        let how = "a person waives it, with `tollgate decide RUN DECISION waive` where that is offered";
        return Some(format!("it retires `{id}`, and no plan takes a row back: {how}"));
    }
    if ledger.requirements.iter().any(|row| row.id == *id) {
        let how = format!("`tollgate decide RUN DECISION OPTION --requirement {id}=out_of_scope`");
        return Some(format!("it retires `{id}`, and no plan takes a requirement back: a person does, with {how}"));
    }
    if ledger.persons.contains(&**id) {
        let how = "they give it up, with `tollgate decide RUN DECISION drop` where that is offered";
        return Some(format!("it retires `{id}`, which a person planned: {how}"));
    }
    let Some(unit) = ledger.units.iter().find(|unit| *unit.name == **id) else {
        return Some(format!("it retires `{id}`, which no plan has"));
    };
    if unit.state != UnitState::New || unit.in_tree {
        return Some(format!("it retires `{id}`, but some of its work is done"));
    }
    let goes = |name: &UnitId| {
        let known = ledger.units.iter().find(|unit| unit.name == *name);
        known.is_some_and(|unit| unit.retired.is_some()) || plan.retires.iter().any(|row| *row.id == **name)
    };
    let needed = needs.iter().find(|(name, needs)| !goes(name) && needs.iter().any(|need| **need == **id));
    needed.map(|(name, _)| format!("it retires `{id}`, which `{name}` needs"))
}

/// The first name that is there again, with what is said of it each time.
fn twice<'a>(items: impl Iterator<Item = (&'a str, String)>) -> Option<String> {
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    for (id, words) in items {
        match seen.get(id) {
            Some(first) if *first == words => return Some(format!("`{id}` is planned twice")),
            Some(first) => return Some(format!("`{id}` is planned twice: as {first}; and as {words}")),
            None => drop(seen.insert(id, words)),
        }
    }
    None
}

fn is_circular(unit: &UnitId, needs: &BTreeMap<&UnitId, &Vec<UnitId>>) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![unit]);
    while let Some(name) = open.pop() {
        for other in needs.get(name).into_iter().copied().flatten() {
            if other == unit {
                return true;
            }
            if seen.insert(other) {
                open.push(other);
            }
        }
    }
    false
}

/// What of a plan is new. What is planned already and said again stays as it is, with what was shown of it.
pub fn news(plan: &Plan, ledger: &Ledger) -> Plan {
    let mut news = plan.clone();
    news.units.retain(|row| {
        let same = |old: &Unit| {
            (&old.name, &old.title, &old.needs, &old.scope) == (&row.name, &row.title, &row.needs, &row.scope)
                && (&old.attrs, &old.requirements) == (&row.attrs, &row.requirements)
        };
        !ledger.units.iter().any(same)
    });
    news.criteria.retain(|row| !ledger.criteria.iter().any(|old| is_same(row, old)));
    news.requirements.retain(|row| {
        let same = |old: &Requirement| {
            let decided = old.disposed_by.is_some() || old.disposition == row.disposition;
            old.id == row.id && old.text == row.text && old.proposed == row.proposed && decided
        };
        !ledger.requirements.iter().any(same)
    });
    news
}

fn is_same(row: &CriterionRow, old: &Criterion) -> bool {
    (&old.id, &old.text, &old.group, &old.unit) == (&row.id, &row.text, &row.group, &row.unit)
        && (&old.requirement, &old.command, old.repeat) == (&row.requirement, &row.command, row.repeat)
}

/// What a plan says otherwise than it was planned before. Rows do not change under those who were shown them: a command that
/// became a look under the same name would pass for it.
pub fn replaced(plan: &Plan, ledger: &Ledger) -> Option<String> {
    let row = plan.criteria.iter().find_map(|row| {
        let old = ledger.criteria.iter().find(|old| old.id == row.id)?;
        let before = CriterionRow {
            id: old.id.clone(),
            text: old.text.clone(),
            group: old.group.clone(),
            unit: old.unit.clone(),
            requirement: old.requirement.clone(),
            command: old.command.clone(),
            repeat: old.repeat,
        };
        (!is_same(row, old)).then(|| otherwise(&row.id, &words(&before), &words(row)))
    });
    let requirement = || {
        plan.requirements.iter().find_map(|row| {
            let old = ledger.requirements.iter().find(|old| old.id == row.id)?;
            let disposed = row.disposition.is_some() && row.disposition != old.disposition;
            let with = |text: &str, word: Option<&str>| match word.filter(|_| disposed) {
                Some(word) => format!("{text} ({word})"),
                None => text.to_owned(),
            };
            (old.text != row.text || disposed).then(|| {
                let now = with(&row.text, row.disposition.as_deref());
                otherwise(&row.id, &with(&old.text, old.disposition.as_deref().or(Some("undecided"))), &now)
            })
        })
    };
    let unit = || {
        plan.units.iter().find_map(|row| {
            let old = ledger.units.iter().find(|old| old.name == row.name)?;
            let before = UnitReport {
                name: old.name.clone(),
                title: old.title.clone(),
                // What a unit waits for may change.
                needs: row.needs.clone(),
                scope: old.scope.clone(),
                attrs: old.attrs.clone(),
                requirements: old.requirements.clone(),
            };
            (before != *row).then(|| otherwise(&row.name, &unit_words(&before), &unit_words(row)))
        })
    };
    row.or_else(requirement).or_else(unit)
}

/// A row in words: two rows that are not the same read differently.
fn words(row: &CriterionRow) -> String {
    let times = row.repeat.map(|times| format!(", {times} times")).unwrap_or_default();
    let command = row.command.as_ref().map(|command| format!(" `cmd: {command}`{times}"));
    let parts = [
        row.unit.as_ref().map(|unit| format!("of {unit}")),
        row.group.as_ref().map(|group| format!("group {group}")),
        row.requirement.as_ref().map(|id| format!("for {id}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) };
    format!("{}{}{parts}", row.text, command.unwrap_or(times))
}

/// The same of a unit.
fn unit_words(row: &UnitReport) -> String {
    let scope = if row.scope.is_empty() { "everything".to_owned() } else { row.scope.join(" ") };
    let attrs = row.attrs.iter().map(|(name, values)| (&**name, values.join(", ")));
    let needs: Vec<&str> = row.needs.iter().map(|name| &**name).collect();
    let lists = [("needs", needs.join(", ")), ("requirements", row.requirements.join(", "))];
    let parts = lists.into_iter().filter(|(_, said)| !said.is_empty()).chain(attrs);
    let parts: String = parts.map(|(name, said)| format!("; {name}: {said}")).collect();
    format!("{} (scope: {scope}{parts})", row.title)
}

/// The same of a requirement.
fn requirement_words(row: &RequirementReport) -> String {
    let words = [("", &row.disposition), ("proposed ", &row.proposed)];
    let words = words.into_iter().filter_map(|(how, word)| word.as_deref().map(|word| format!(" ({how}{word})")));
    format!("{}{}", row.text, words.collect::<String>())
}

fn otherwise(id: &str, before: &str, now: &str) -> String {
    format!(
        "`{id}` was planned as: {before}; the report says: {now}. What is planned does not change; plan another one"
    )
}
