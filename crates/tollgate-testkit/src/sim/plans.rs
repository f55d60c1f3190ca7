//! Plans of workers: what a report and its documents bring into the ledger, as far as their contracts declare it, and how a plan goes wrong.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_core::Name;
use tollgate_core::id::UnitId;
use tollgate_core::protocol::Condition;
use tollgate_core::protocol::Declaration;
use tollgate_core::protocol::model::{Resource, Stage};
use tollgate_core::report::{CriterionRow, Disposition, Plan, RequirementReport, Retired, UnitReport};
use tollgate_core::run::event::UnitState;
use tollgate_core::run::state::Unit;

use super::rng::Rng;
use super::worker::{Conduct, Task};

/// How a plan goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// It does not.
    Not,
    /// A unit has a name that is part of other names.
    Named,
    /// What was planned before is said otherwise.
    Otherwise,
    /// Something is taken back that is not a worker's to take back.
    Retires,
    /// A unit has no row.
    Bare,
    /// No unit serves one of the requirements.
    Short,
}

/// What a plan may bring, by the words of its contract and of the document that it stands in.
struct Brings {
    words: BTreeSet<Name>,
    attrs: Vec<Name>,
}

impl Brings {
    fn of(declared: &Declaration, only: Option<&[Resource]>) -> Self {
        let may = |word: &str| only.is_none_or(|only| only.iter().any(|resource| **resource == *word));
        // Units bring what takes them back.
        let counts = |word: &str| may(word) || word == "retires" && may("units");
        let words = declared.brings.iter().map(|brought| brought.word()).filter(|word| counts(word));
        Self { words: words.map(Name::from).collect(), attrs: declared.attrs.clone() }
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| **known == *word)
    }
}

impl Task<'_> {
    /// What the report of a stage brings into the ledger, and what each of its documents does.
    pub(super) fn plans(&self, stage: &Stage, rng: &mut Rng) -> (Plan, BTreeMap<Name, Plan>) {
        let wrong = self.goes_wrong(rng);
        let gives = |what: Resource| stage.gives.contains(&what);
        let own = Brings::of(self.declared, None);
        let documents: Vec<(Name, Brings)> = stage.gives.iter().filter_map(|name| self.document(name)).collect();
        let with = |word: &str| documents.iter().find(|(_, brings)| brings.has(word));
        let mut report = Plan::default();
        let mut brought: BTreeMap<Name, Plan> = BTreeMap::new();
        let mut rows = Vec::new();
        if let Some((name, brings)) = with("units") {
            let mut plan = self.units(brings, wrong, rng);
            if !brings.has("criteria") {
                rows = std::mem::take(&mut plan.criteria);
            }
            brought.insert(name.clone(), plan);
        } else if gives(Resource::Units) && own.has("units") {
            report = self.units(&own, wrong, rng);
        }
        if let Some((name, _)) = with("requirements") {
            brought.entry(name.clone()).or_default().requirements = self.requirements(rng).requirements;
        } else if gives(Resource::Requirements) && own.has("requirements") {
            let Plan { requirements, criteria, .. } = self.requirements(rng);
            report.requirements = requirements;
            report.criteria.extend(criteria);
            if own.has("criteria") && rng.percent(40) {
                report.criteria.extend(self.rows(("run", None), None, rng));
            }
        }
        // Rows of units stand with them, else where rows are; what has rows besides has those of the run.
        for (name, _) in documents.iter().filter(|(_, brings)| brings.has("criteria") && !brings.has("units")) {
            let plan = brought.entry(name.clone()).or_default();
            plan.criteria =
                if rows.is_empty() { self.rows((name, None), None, rng) } else { std::mem::take(&mut rows) };
        }
        if gives(Resource::Criteria) && own.has("criteria") && with("criteria").is_none() {
            report.criteria.extend(self.rows(("run", None), None, rng));
        }
        let said = |plan: Plan| if wrong == Wrong::Otherwise { self.otherwise(plan) } else { self.as_planned(plan) };
        (said(report), brought.into_iter().map(|(name, plan)| (name, said(plan))).collect())
    }

    /// A document with rows, and what of them counts.
    fn document(&self, name: &Resource) -> Option<(Name, Brings)> {
        let artifact = self.run.protocol.artifacts.get(&**name)?;
        let declared = self.dialects.document(artifact.schema.as_ref()?)?;
        Some((Name::from(&**name), Brings::of(declared, artifact.brings.as_deref())))
    }

    fn goes_wrong(&self, rng: &mut Rng) -> Wrong {
        let dice = rng.below(100);
        match (self.calm, self.conduct) {
            (true, _) => Wrong::Not,
            (false, Conduct::Lie) => match dice {
                0..10 => Wrong::Named,
                10..50 => Wrong::Otherwise,
                50..80 => Wrong::Retires,
                80..90 => Wrong::Short,
                _ => Wrong::Bare,
            },
            (false, _) => match dice {
                0..5 => Wrong::Bare,
                5..10 => Wrong::Otherwise,
                10..14 => Wrong::Retires,
                14..24 => Wrong::Short,
                _ => Wrong::Not,
            },
        }
    }

    /// What was planned before is said again as it was.
    fn as_planned(&self, mut plan: Plan) -> Plan {
        let ledger = &self.run.ledger;
        for unit in &mut plan.units {
            if let Some(old) = ledger.units.iter().find(|old| old.name == unit.name) {
                (unit.title, unit.scope) = (old.title.clone(), old.scope.clone());
                (unit.attrs, unit.requirements) = (old.attrs.clone(), old.requirements.clone());
            }
        }
        for row in &mut plan.requirements {
            if let Some(old) = ledger.requirements.iter().find(|old| old.id == row.id) {
                (row.text, row.disposition) = (old.text.clone(), None);
            }
        }
        for row in &mut plan.criteria {
            if let Some(old) = ledger.criteria.iter().find(|old| old.id == row.id) {
                (row.text, row.group, row.unit) = (old.text.clone(), old.group.clone(), old.unit.clone());
                (row.requirement, row.command, row.repeat) = (old.requirement.clone(), old.command.clone(), old.repeat);
            }
        }
        plan
    }

    /// What was planned before, with another command: a look in place of a run, or another run.
    fn otherwise(&self, plan: Plan) -> Plan {
        let mut plan = self.as_planned(plan);
        for row in &mut plan.criteria {
            if self.run.criterion(&row.id).is_some() {
                row.command = if row.command.is_some() { None } else { Some("true".to_owned()) };
            }
        }
        plan
    }

    /// Units with needs, scopes that sometimes overlap, attributes and rows; together they serve every requirement.
    fn units(&self, brings: &Brings, wrong: Wrong, rng: &mut Rng) -> Plan {
        let mut plan = Plan::default();
        let ledger = &self.run.ledger;
        if brings.has("retires") {
            plan.retires = self.retires(wrong, rng);
        }
        let retires = plan.retires.clone();
        let goes = |name: &str| {
            let is_gone = |unit: &Unit| unit.retired.is_some() && *unit.name == *name;
            retires.iter().any(|row| *row.id == *name) || ledger.units.iter().any(is_gone)
        };
        let known = ledger.units.iter().filter(|unit| unit.name.starts_with('u')).count() as u64;
        let is_served = |id: &Name| ledger.units.iter().any(|unit| unit.requirements.contains(id) && !goes(&unit.name));
        let owed = ledger.requirements.iter().map(|row| &row.id).filter(|id| !is_served(id));
        let mut owed: Vec<Name> = owed.cloned().collect();
        if wrong == Wrong::Short {
            owed.pop();
        }
        let none_stays = ledger.units.iter().all(|unit| goes(&unit.name));
        // What is new takes another name than what was planned before.
        let last = if known == 0 { rng.between(2, 4) } else { known + u64::from(!owed.is_empty() || none_stays) };
        let bare = (wrong == Wrong::Bare).then(|| rng.between(1, last));
        for number in (1..=last).filter(|number| !goes(&format!("u{number}"))) {
            let name = UnitId::from(format!("u{number}"));
            let mut scope: Vec<Name> = vec![format!("src/{name}/**").into(), format!("tests/{name}/**").into()];
            if rng.percent(25) {
                scope.push("src/shared/**".into());
            }
            let before = format!("u{}", number - 1);
            let is_needed = number > 1 && rng.percent(30) && !goes(&before);
            let needs = if is_needed { vec![before.into()] } else { Vec::new() };
            let some = |values: &Vec<Name>, rng: &mut Rng| values.iter().filter(|_| rng.percent(50)).cloned().collect();
            let attrs = self.run.protocol.attrs.iter().filter(|(attr, _)| brings.attrs.contains(attr));
            let attrs = attrs.map(|(attr, of)| (attr.clone(), some(&of.values, rng))).collect();
            let many = if number == last { owed.len() } else { owed.len().min(usize::from(number > known)) };
            let mut requirements: Vec<Name> = owed.drain(..many).collect();
            if bare != Some(number) {
                plan.criteria.extend(self.rows((&name, Some(&name)), None, rng));
                for requirement in &requirements {
                    plan.criteria.extend(self.rows((&name, Some(&name)), Some(requirement), rng));
                }
            }
            // What it refers to need not be a requirement of the ledger.
            requirements.push("the goal".into());
            plan.units.push(UnitReport { title: name.to_string(), name, needs, scope, attrs, requirements });
        }
        if wrong == Wrong::Named {
            plan.units.push(UnitReport { name: "u1/verify".into(), ..UnitReport::default() });
        }
        plan
    }

    /// Units that nobody has begun with are taken back now and then; a liar takes back rows, and work that is done.
    fn retires(&self, wrong: Wrong, rng: &mut Rng) -> Vec<Retired> {
        let ledger = &self.run.ledger;
        let is_new = |unit: &&Unit| unit.state == UnitState::New && !unit.in_tree;
        let stays = ledger.units.iter().filter(|unit| unit.retired.is_none());
        let ids: Vec<Name> = if wrong == Wrong::Retires {
            let begun = stays.filter(|unit| !is_new(unit)).map(|unit| Name::from(&*unit.name));
            begun.chain(ledger.criteria.iter().map(|row| row.id.clone())).collect()
        } else {
            stays.filter(is_new).map(|unit| Name::from(&*unit.name)).collect()
        };
        let id = rng.pick(&ids).filter(|_| wrong == Wrong::Retires || rng.percent(25));
        id.map(|id| Retired { id: id.clone(), why: "it is not needed any more".to_owned() }).into_iter().collect()
    }

    /// Rows of a unit or of the run, with and without commands, in the groups that gates read.
    fn rows(
        &self,
        (of, unit): (&str, Option<&UnitId>),
        requirement: Option<&Name>,
        rng: &mut Rng,
    ) -> Vec<CriterionRow> {
        let groups = self.run.protocol.conditions().filter_map(|condition| match condition {
            Condition::Set { filter, .. } => filter.iter().find(|(key, _)| &**key == "group"),
            _ => None,
        });
        let groups: Vec<Name> = groups.flat_map(|(_, values)| values.clone()).collect();
        let row = |number, rng: &mut Rng| CriterionRow {
            id: match requirement {
                Some(requirement) => format!("{of}.{requirement}.{number}").into(),
                None => format!("{of}.{number}").into(),
            },
            text: format!("row {number} of {of}"),
            group: rng.pick(&groups).cloned(),
            unit: unit.cloned(),
            requirement: requirement.cloned(),
            command: rng.percent(35).then(|| "make check".to_owned()),
            repeat: rng.percent(30).then_some(3),
        };
        let many = if requirement.is_some() { 1 } else { rng.between(1, 2) };
        (0..many).map(|number| row(number, rng)).collect()
    }

    fn requirements(&self, rng: &mut Rng) -> Plan {
        let mut plan = Plan::default();
        let mut stages = self.run.protocol.flows.iter().flat_map(|flow| &flow.stages);
        // Where units are planned, their rows show what is required.
        let planned_later = stages.any(|stage| stage.gives.contains(&Resource::Units));
        for number in 1..=rng.between(2, 4) {
            let id: Name = format!("R{number}").into();
            let disposition = match rng.below(6) {
                0 if !self.calm => None,
                1 => Some(Disposition::Deferred),
                2 => Some(Disposition::NonMaterial),
                _ => Some(Disposition::InScope),
            };
            // A requirement nobody shows has no owner: the run may not close over it.
            if !planned_later && (self.calm || rng.percent(85)) {
                plan.criteria.extend(self.rows(("run", None), Some(&id), rng));
            }
            plan.requirements.push(RequirementReport {
                text: format!("requirement {number}"),
                id,
                disposition,
                ..RequirementReport::default()
            });
        }
        plan
    }
}
