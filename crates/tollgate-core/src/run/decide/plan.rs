//! What a plan may say: names that can be used, and nothing else of what was planned before.

use std::collections::{BTreeMap, BTreeSet};

use super::super::event::UnitState;
use super::super::state::{Criterion, Ledger, Requirement, Unit};
use crate::Name;
use crate::id::UnitId;
use crate::report::{CriterionRow, Disposition, Plan};

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

/// What is wrong with a plan. Names of units are parts of other names (`main/build:UNIT`, `reviewer@UNIT`), and a planner
/// is not to be trusted with those.
pub fn problem(plan: &Plan, ledger: &Ledger) -> Option<String> {
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
    if let Some(name) = twice(plan.units.iter().map(|unit| &*unit.name)) {
        return Some(format!("unit `{name}` is planned twice"));
    }
    let rows = plan.criteria.iter().map(|row| &*row.id).chain(plan.requirements.iter().map(|row| &*row.id));
    if let Some(id) = twice(rows) {
        return Some(format!("`{id}` is planned twice"));
    }
    let retired =
        ledger.units.iter().find(|old| old.retired.is_some() && plan.units.iter().any(|unit| unit.name == old.name));
    if let Some(unit) = retired {
        return Some(format!("unit `{}` was retired: plan it under another name", unit.name));
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

/// Why a worker cannot take something back. Units whose work is not in the tree go; what they were to show stays.
fn not_retired(
    id: &Name,
    why: &str,
    needs: &BTreeMap<&UnitId, &Vec<UnitId>>,
    plan: &Plan,
    ledger: &Ledger,
) -> Option<String> {
    if why.trim().is_empty() {
        return Some(format!("it retires `{id}` without a reason"));
    }
    let is_row = ledger.criteria.iter().any(|row| row.id == *id) || ledger.requirements.iter().any(|row| row.id == *id);
    if is_row || ledger.persons.contains(&**id) {
        return Some(format!("it retires `{id}`: only a person takes that back"));
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

/// The first name that is there again.
fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
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
            text: old.text.clone(),
            command: old.command.clone(),
            unit: old.unit.clone(),
            ..CriterionRow::default()
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
            let text = |title: &str, scope: &[Name], attrs: &BTreeMap<Name, Vec<Name>>| {
                let attrs = attrs.iter().map(|(name, values)| format!("; {name}: {}", values.join(", ")));
                let scope = if scope.is_empty() { "everything".to_owned() } else { scope.join(" ") };
                format!("{title} (scope: {scope}{})", attrs.collect::<String>())
            };
            let same = (&old.title, &old.scope, &old.attrs) == (&row.title, &row.scope, &row.attrs)
                && old.requirements == row.requirements;
            let before = text(&old.title, &old.scope, &old.attrs);
            (!same).then(|| otherwise(&row.name, &before, &text(&row.title, &row.scope, &row.attrs)))
        })
    };
    row.or_else(requirement).or_else(unit)
}

fn words(row: &CriterionRow) -> String {
    let command = row.command.as_ref().map(|command| format!(" `cmd: {command}`"));
    let unit = row.unit.as_ref().map(|unit| format!(" (of {unit})"));
    format!("{}{}{}", row.text, command.unwrap_or_default(), unit.unwrap_or_default())
}

fn otherwise(id: &str, before: &str, now: &str) -> String {
    format!(
        "`{id}` was planned as: {before}; the report says: {now}. What is planned does not change; plan another one"
    )
}
