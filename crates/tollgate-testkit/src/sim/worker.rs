//! Workers, commands and landings: what they do, and how they misbehave.

use std::collections::BTreeMap;

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::protocol::condition::SetKind;
use tollgate_core::protocol::model::{Budget, Role, Stage, VariableKind};
use tollgate_core::protocol::{Condition, Declaration, Dialects};
use tollgate_core::report::{
    CriterionReport, FindingReport, Health, Judgement, Notice, Plan, QuestionReport, Report, Verdict,
};
use tollgate_core::run::agent_stats::{AgentStats, Quota, Usage};
use tollgate_core::run::decide::{AttemptResult, Landing, OpenArtifact};
use tollgate_core::run::event::{ChangeKind, Changed, CommandRef, CommandResult, LandOutcome, Work};
use tollgate_core::run::state::{Attempt, Instance};
use tollgate_core::run::{Run, gate};
use tollgate_core::scope;

use super::opening::fields;
use super::rng::Rng;
use crate::world::{self, World};

/// Files of the tree that commands have to write.
const WRITTEN: [&str; 2] = ["gen.txt", "Cargo.lock"];
/// A file that the set-up of commands runs, and that the work changed.
const PREPARES: &str = "prep.sh";

/// How a worker behaves in one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conduct {
    /// It does what it can.
    Honest,
    /// It ends with an error.
    Crash,
    /// It never comes back; its budget ends it.
    Hang,
    /// It accepts what is not there, or claims what it did not do.
    Lie,
    /// It answers after its lease was lost.
    Late,
    /// It answers twice.
    Twice,
    /// It repeats its prompt.
    Echo,
    /// It says nothing that can be read.
    Malformed,
    /// It writes where it may not.
    Outside,
    /// It asks and stops.
    Blocked,
    /// It meets the minimum only.
    Partial,
    /// A limit of its plan cuts it off.
    Quota,
}

impl Conduct {
    /// A worker's conduct; in a calm world all are honest.
    pub fn choose(rng: &mut Rng, calm: bool) -> Self {
        if calm {
            return Self::Honest;
        }
        match rng.below(100) {
            0..60 => Self::Honest,
            60..64 => Self::Quota,
            64..68 => Self::Crash,
            68..71 => Self::Hang,
            71..77 => Self::Lie,
            77..82 => Self::Late,
            82..87 => Self::Twice,
            87..89 => Self::Echo,
            89..91 => Self::Malformed,
            91..94 => Self::Outside,
            94..97 => Self::Blocked,
            _ => Self::Partial,
        }
    }
}

/// One attempt as its hands see it.
pub struct Task<'a> {
    /// The run as its driver knows it.
    pub run: &'a Run,
    /// The attempt.
    pub attempt: &'a Attempt,
    /// What the contract of its role declares.
    pub declared: &'a Declaration,
    /// What all contracts declare.
    pub dialects: &'a Dialects,
    /// How it goes.
    pub conduct: Conduct,
    /// Whether everybody wants the run to end.
    pub calm: bool,
    /// Whether nobody changes a file.
    pub idle: bool,
}

impl std::fmt::Debug for Task<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("attempt", &self.attempt).field("conduct", &self.conduct).finish_non_exhaustive()
    }
}

impl Task<'_> {
    fn place(&self) -> Option<(&Instance, &Stage, &Role)> {
        let instance = self.run.instances.get(&self.attempt.instance)?;
        let stage = self.run.stage(instance, &self.attempt.stage)?;
        let Work::Dispatch { role, .. } = &self.attempt.work else { return None };
        Some((instance, stage, self.run.protocol.roles.get(role)?))
    }

    /// What a worker leaves and says.
    pub fn dispatch(&self, world: &mut World, rng: &mut Rng) -> Option<AttemptResult> {
        let (instance, stage, role) = self.place()?;
        let mut report = self.report(instance, stage, role, rng);
        let changes = if role.writes.is_empty() { Vec::new() } else { self.writes(world, instance, role, rng) };
        let tree = world.write(&self.attempt.tree, &changes);
        let changed = world.changed(&self.attempt.tree, &tree);
        let (deleted, there): (Vec<&Changed>, Vec<&Changed>) =
            changed.iter().partition(|change| change.kind == ChangeKind::Deleted);
        let paths = |changed: Vec<&Changed>| changed.into_iter().map(|change| change.path.clone()).collect();
        (report.claims.modified, report.claims.deleted) = (paths(there), paths(deleted));
        if self.conduct == Conduct::Lie && !role.judges() {
            report.claims.modified.push("src/never.rs".into());
        }
        if report.health == Health::Ok && !self.calm && rng.percent(6) {
            let text = format!("Is {} right?", self.attempt.stage);
            report.questions.push(QuestionReport { text, blocking: false, ..QuestionReport::default() });
        }
        let mut artifacts = BTreeMap::new();
        if report.health == Health::Ok {
            let (plan, brought) = self.plans(stage, rng);
            report.plan = plan;
            artifacts = self.artifacts(stage, brought, rng);
        }
        let malformed = report.health == Health::Malformed;
        Some(AttemptResult {
            object: Digest::of(format!("{} {}", self.attempt.token, rng.draw()).as_bytes()),
            sections: self.declared.sections.keys().cloned().collect(),
            diagnostics: if malformed { vec!["there is no report".to_owned()] } else { Vec::new() },
            content: (!role.writes.is_empty()).then(|| world.content(self.run, &tree)),
            changed,
            artifacts,
            told: Some(self.told(rng)),
            noticed: Vec::new(),
            leash: None,
            report,
        })
    }

    /// What its agent tells: not always all of it.
    fn told(&self, rng: &mut Rng) -> AgentStats {
        let quota = (self.conduct == Conduct::Quota).then(|| Quota {
            said: "the limit is reached".to_owned(),
            resets_ms: rng.percent(80).then(|| self.attempt.started_ms + rng.below(60_000)),
        });
        let some = |rng: &mut Rng| (!rng.percent(20)).then(|| rng.below(2_000));
        let usage =
            Usage { input_tokens: some(rng), output_tokens: some(rng), cost_nano_usd: some(rng), ..Usage::default() };
        AgentStats { adapter: "sim".into(), session: Some("s-1".into()), usage, quota, ..AgentStats::default() }
    }

    /// A code that the contract declares for a health, or none.
    fn code(&self, health: Health, rng: &mut Rng) -> Option<Name> {
        let codes = self.declared.codes.get(&health).filter(|_| rng.percent(40))?;
        rng.pick(codes).cloned()
    }

    /// What a worker reports that does not get to its work: nothing its contract does not declare and no engine finds by itself.
    fn unfinished(&self, role: &Role, rng: &mut Rng) -> Option<Report> {
        let can = |health| self.declared.healths.contains(&health);
        let (health, reason) = match self.conduct {
            Conduct::Crash => (Health::Failed, "exit 101"),
            Conduct::Quota => (Health::Failed, "its quota is used up"),
            Conduct::Hang if can(Health::Exhausted) || role.budget != Budget::default() => {
                (Health::Exhausted, "out of time")
            }
            Conduct::Echo => (Health::Malformed, "it is its prompt"),
            Conduct::Malformed => (Health::Malformed, "no report"),
            Conduct::Partial if can(Health::Partial) => (Health::Partial, "the minimum"),
            Conduct::Blocked if can(Health::NeedsInput) => (Health::NeedsInput, ""),
            Conduct::Hang
            | Conduct::Partial
            | Conduct::Blocked
            | Conduct::Honest
            | Conduct::Lie
            | Conduct::Late
            | Conduct::Twice
            | Conduct::Outside => return None,
        };
        let code = if self.conduct == Conduct::Quota { Some("quota".into()) } else { self.code(health, rng) };
        let mut report = Report { code, reason: reason.to_owned(), ..Report::new(health, Verdict::None) };
        if health == Health::NeedsInput {
            for number in 0..rng.between(1, 2) {
                let text = format!("Question {number} of {}?", self.attempt.stage);
                report.questions.push(QuestionReport { text, blocking: true, ..QuestionReport::default() });
            }
        }
        Some(report)
    }

    fn report(&self, instance: &Instance, stage: &Stage, role: &Role, rng: &mut Rng) -> Report {
        if let Some(unfinished) = self.unfinished(role, rng) {
            return unfinished;
        }
        let mut report = if role.judges() {
            self.judgement(instance, stage, role, rng)
        } else {
            Report::new(Health::Ok, Verdict::None)
        };
        for given in &stage.gives {
            let value = self.value(given, rng).map(|value| (Name::from(&**given), value));
            report.gives.extend(value);
        }
        let is_read = |condition: &Condition| matches!(condition, Condition::Set { set: SetKind::Notice, .. });
        if self.run.protocol.conditions().any(is_read) && rng.percent(10) {
            let kind = rng.pick(&self.declared.notices).cloned().unwrap_or_default();
            report.notices.push(Notice { kind, text: format!("seen {}", rng.below(3)), requirement: None });
        }
        if !role.judges() && rng.percent(15) {
            let open: Vec<_> = self.run.ledger.findings.keys().copied().filter(|_| rng.percent(50)).collect();
            report.claims.addresses = (!self.calm).then_some(open);
        }
        report
    }

    /// A value of a variable, of those that the contract declares where it does.
    fn value(&self, name: &str, rng: &mut Rng) -> Option<Name> {
        let VariableKind::OneOf(values) = &self.run.protocol.vars.get(name)?.kind else { return None };
        let declared = self.declared.gives.get(name);
        let can: Vec<&Name> = values.iter().filter(|value| declared.is_none_or(|all| all.contains(value))).collect();
        rng.pick(&can).map(|value| (*value).clone())
    }

    fn judgement(&self, instance: &Instance, stage: &Stage, role: &Role, rng: &mut Rng) -> Report {
        let gates = stage.ensures.iter().filter_map(|name| self.run.protocol.gates.get(name));
        let rows = gates.flat_map(|gate| gate::rows_of(self.run, gate, instance.unit.as_ref()));
        let rows: std::collections::BTreeSet<Name> = rows.map(|row| row.id.clone()).collect();
        let rejects = !self.calm && self.conduct != Conduct::Lie && rng.percent(55);
        let notes = role.verdicts.contains(&Verdict::AcceptWithNotes) && rng.percent(30);
        let verdict = match (rejects, notes) {
            (true, _) => Verdict::Reject,
            (false, true) => Verdict::AcceptWithNotes,
            (false, false) => Verdict::Accept,
        };
        let mut report = Report::new(Health::Ok, verdict);
        for id in rows {
            let ran = self.run.criterion(&id).and_then(|row| row.ran.as_ref()).map(|shown| shown.result);
            let result = match (rejects, ran) {
                (true, _) if rng.percent(40) => Judgement::Fail,
                (false, Some(Judgement::Fail)) if self.conduct == Conduct::Lie => Judgement::Pass,
                (_, Some(result)) => result,
                (_, None) if !self.calm && rng.percent(4) => Judgement::Unobservable,
                (_, None) => Judgement::Pass,
            };
            // A liar says it accepts and leaves rows out.
            if !(self.conduct == Conduct::Lie && rng.percent(50)) {
                report.criteria.push(CriterionReport { id, result, evidence: format!("seen {}", rng.below(3)) });
            }
        }
        if rejects {
            let named = self.run.ledger.units.iter().map(|unit| unit.name.clone()).collect::<Vec<_>>();
            let paths = ["src/main.rs", "src/u1/a.rs", "backend/a.rs"];
            for number in 0..rng.between(1, 2) {
                report.findings.push(FindingReport {
                    what: format!("wrong {}", rng.below(3)),
                    severity: Some("major".into()),
                    path: rng.percent(50).then(|| rng.pick(&paths).map_or("", |path| path).into()),
                    unit: (number == 0 && rng.percent(50)).then(|| rng.pick(&named).cloned()).flatten(),
                    ..FindingReport::default()
                });
            }
        }
        report
    }

    /// Paths a writer changes: within its areas and its unit's scope, unless it misbehaves.
    fn writes(&self, world: &World, instance: &Instance, role: &Role, rng: &mut Rng) -> Vec<(Name, Option<u64>)> {
        let unit = instance.unit.as_ref().and_then(|name| self.run.unit(name));
        let areas = self.run.area_patterns();
        let mut paths: Vec<String> = vec!["src/main.rs".into(), "src/lib.rs".into(), "tests/all.rs".into()];
        paths.extend(["docs/index.md", "Makefile", "tests/e2e.rs"].map(str::to_owned));
        if let Some(unit) = unit {
            let inside = ["src", "tests"].map(|top| format!("{top}/{}/{}.rs", unit.name, rng.below(3)));
            paths.extend(inside);
            paths.push(format!("{}/{}.rs", unit.name, rng.below(3)));
            paths.push(format!("src/shared/{}.rs", rng.below(2)));
        }
        let may = |path: &String| {
            scope::area_of(&areas, path).is_some_and(|area| role.writes.contains(area))
                && unit.is_none_or(|unit| scope::in_scope(path, &unit.scope))
        };
        let mut good: Vec<String> = paths.iter().filter(|path| may(path)).cloned().collect();
        good.truncate(usize::try_from(rng.between(1, 3)).unwrap_or(1));
        let mut changes: Vec<(Name, Option<u64>)> =
            good.into_iter().map(|path| (Name::from(path), (!rng.percent(8)).then(|| rng.draw() >> 40))).collect();
        if rng.percent(10) {
            changes = self.put_back(world, &may);
        }
        if self.conduct == Conduct::Outside {
            let bad: Vec<String> = paths.into_iter().filter(|path| !may(path)).collect();
            if let Some(path) = rng.pick(&bad) {
                changes.push((path.as_str().into(), Some(rng.draw() >> 40)));
            }
        }
        if self.idle || rng.percent(if self.calm { 50 } else { 6 }) { Vec::new() } else { changes }
    }

    /// Every file that a writer may change, as it was when the run began.
    fn put_back(&self, world: &World, may: &dyn Fn(&String) -> bool) -> Vec<(Name, Option<u64>)> {
        let opening = &self.run.opened.content.tree;
        let changed = world.changed(opening, &self.attempt.tree).into_iter();
        let changed = changed.filter(|change| may(&change.path.to_string()));
        let opening = world.tree(opening);
        changed.map(|change| (change.path.clone(), opening.get(&change.path).copied())).collect()
    }

    fn artifacts(
        &self,
        stage: &Stage,
        mut brought: BTreeMap<Name, Plan>,
        rng: &mut Rng,
    ) -> BTreeMap<Name, OpenArtifact> {
        let given = stage.gives.iter().filter(|name| self.run.protocol.artifacts.contains_key(&***name));
        let forgets = !self.calm && self.conduct == Conduct::Lie && rng.percent(50);
        given
            .filter(|_| !forgets)
            .map(|name| {
                let (object, name) = (Digest::of(&rng.below(3).to_be_bytes()), Name::from(&**name));
                let (fields, plan) = (self.fields(&name, rng), brought.remove(&name).unwrap_or_default());
                (name, OpenArtifact { object, fields, plan, ..OpenArtifact::default() })
            })
            .collect()
    }

    /// The fields of a document: often what some gate wants, otherwise any value that its contract declares.
    fn fields(&self, document: &Name, rng: &mut Rng) -> BTreeMap<Name, Name> {
        let mut fields = fields(&self.run.protocol, document);
        let schema = self.run.protocol.artifacts.get(document).and_then(|artifact| artifact.schema.as_ref());
        let Some(declared) = schema.and_then(|schema| self.dialects.document(schema)) else { return fields };
        for (field, value) in &mut fields {
            let other = declared.fields.get(field).filter(|_| rng.percent(40)).and_then(|values| rng.pick(values));
            *value = other.cloned().unwrap_or_else(|| value.clone());
        }
        fields
    }

    /// What comes of commands; some have to write files of the tree, or are prepared by what the work changed.
    pub fn commands(&self, rng: &mut Rng) -> Vec<CommandResult> {
        let Work::Commands { commands } = &self.attempt.work else { return Vec::new() };
        let told = commands.iter().filter(|_| self.calm || !rng.percent(3)).cloned().collect::<Vec<_>>();
        let result = |command: CommandRef, rng: &mut Rng| {
            let missing = matches!(&command, CommandRef::Named(name) if !self.run.opened.commands.contains_key(name));
            let once = |rng: &mut Rng| match rng.below(100) {
                _ if missing => Judgement::Unobservable,
                0..15 if !self.calm => Judgement::Fail,
                15..23 if !self.calm => Judgement::Unobservable,
                _ => Judgement::Pass,
            };
            // Some stop too early, and some say that it passed whatever they saw.
            let short = u32::from(!self.calm && rng.percent(10));
            let times = self.run.repeats(&command).saturating_sub(short).max(1);
            let runs: Vec<Judgement> = (0..times).map(|_| once(rng)).collect();
            let mut ran = world::ran(command, &runs);
            // What has to change the tree is not observed; some name what they may write already.
            if ran.result == Judgement::Unobservable && !missing {
                let writes = |(at, _): &(u64, &str)| (self.run.seq + at).is_multiple_of(3);
                ran.changes = (0..).zip(WRITTEN).filter(writes).map(|(_, path)| path.into()).collect();
                // What is not prepared did not run.
                if self.run.seq.is_multiple_of(4) {
                    (ran.setup, ran.changes) = (vec![PREPARES.into()], Vec::new());
                }
            }
            let lies = !self.calm && times > 1 && rng.percent(10);
            if lies { CommandResult { result: Judgement::Pass, ..ran } } else { ran }
        };
        told.into_iter().map(|command| result(command, rng)).collect()
    }

    /// What comes of a landing.
    pub fn landing(&self, world: &mut World, rng: &mut Rng) -> Option<Landing> {
        let Work::Land { unit, base, onto } = &self.attempt.work else { return None };
        let mut landing = world.land(self.run, unit, base, onto);
        let chance = if self.calm { 100 } else { rng.below(100) };
        if landing.outcome == LandOutcome::Landed && chance < 12 {
            let refused = chance < 3;
            let collided = landing.content.take().filter(|_| !refused);
            landing.outcome = if refused { LandOutcome::Refused } else { LandOutcome::Conflict };
            landing.collided = collided;
        }
        Some(landing)
    }
}
