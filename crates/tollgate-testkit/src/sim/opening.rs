//! How a history begins: the protocol that it is played under, and what a person gives with the run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tollgate_core::Name;
use tollgate_core::id::{RunId, UnitId};
use tollgate_core::protocol::model::{Given, Value, VariableKind};
use tollgate_core::protocol::{Condition, Dialects, Protocol};
use tollgate_core::report::{CriterionRow, Plan};
use tollgate_core::run::budget::{Budgets, Measure};
use tollgate_core::run::decide::{Open, OpenArtifact};
use tollgate_core::run::gate;
use tollgate_engine::session::pinned_protocol;
use tollgate_store::Object;

use super::rng::Rng;
use crate::script::{dialects, protocol_text};
use crate::world::World;

/// All that are shipped. They are played unless one is named, and so are [`OF_KIT`].
const SHIPPED: [&str; 3] = ["build-plan", "team", "supervisor"];
/// Those of the kit that exercise what no shipped one does.
const OF_KIT: [&str; 3] = ["fan-out", "ledger", "bare"];
/// Played for what must never be: its stages leave a run where only a person's luck ends it.
const UNGUARDED: &str = "bare";
/// The ways in which `build-plan` is played.
const SCENES: [&str; 3] = ["standard", "simple", "both-sides"];

/// A protocol that histories are played under.
#[derive(Debug)]
pub struct Played {
    /// Its name.
    pub name: String,
    text: String,
    /// What the contracts of its roles declare.
    pub dialects: Dialects,
}

impl Played {
    fn new(name: &str, text: String) -> Self {
        Self { name: name.to_owned(), text, dialects: dialects() }
    }

    /// Every protocol that is played unless one is named.
    pub fn all() -> Vec<Self> {
        SHIPPED.iter().chain(&OF_KIT).filter_map(|name| Self::named(name)).collect()
    }

    /// Whether it is one of the kit.
    pub fn is_of_kit(&self) -> bool {
        OF_KIT.contains(&self.name.as_str())
    }

    /// Whether calm people bring every run of it to a good end.
    pub fn is_to_end_well(&self) -> bool {
        self.name != UNGUARDED
    }

    /// Whether some of its runs are to end with a report.
    pub fn reports(&self) -> bool {
        self.text.contains(": reported")
    }

    /// A protocol of the product or of the kit.
    pub fn named(name: &str) -> Option<Self> {
        protocol_text(name).map(|text| Self::new(name, text.to_owned()))
    }

    /// A protocol that is not shipped, with what the `dialects.yaml` beside it declares.
    pub fn file(path: &Path) -> Result<Self, String> {
        let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        let mut played = Self::new(&path.display().to_string(), read(path)?);
        let beside = path.with_file_name("dialects.yaml");
        if beside.exists() {
            let (dialects, problems) = Dialects::read(&read(&beside)?);
            if let Some(problem) = problems.first() {
                return Err(format!("{}: {}", beside.display(), problem.message));
            }
            played.dialects.merge(dialects);
        }
        Ok(played)
    }

    /// The beginning of a run: what is in force, and the objects it names.
    pub fn open(&self, seed: u64, world: &mut World) -> Result<(Open, Vec<Object>), String> {
        let mut rng = Rng::new(seed, 1);
        let object = Object::new(self.text.as_bytes());
        let protocol = pinned_protocol::protocol(object.digest(), &mut |_| Ok(Some(self.text.as_bytes().into())))
            .map_err(|error| format!("{}: {error}", self.name))?;
        let (mut inputs, mut answers, mut plan) = (any_inputs(&protocol, &mut rng), BTreeMap::new(), Plan::default());
        if self.name == "build-plan" {
            let scene = SCENES[usize::try_from(seed % SCENES.len() as u64).unwrap_or(0)];
            fit_scene(scene, &mut inputs);
            plan = task(scene, &mut rng);
            if rng.percent(40) {
                answers.insert("sign-off".into(), "approve".into());
            }
        } else if rng.percent(40) {
            // Some are asked for.
            inputs.retain(|_, _| rng.percent(50));
        }
        let task = task_of(RunId::from_bits(seed));
        let artifacts = documents(&protocol, RunId::from_bits(seed), &inputs, &plan);
        let named = protocol.conditions().filter_map(|condition| match condition {
            Condition::Command { name, .. } => Some(name.clone()),
            _ => None,
        });
        let commands = named.filter(|_| rng.percent(60)).map(|name| (name, vec!["make".to_owned()])).collect();
        let files = ["src/main.rs", "src/lib.rs", "docs/index.md", "tests/all.rs"].map(str::to_owned);
        let of_units = ["u1", "u2", "u3"].map(|unit| format!("src/{unit}/0.rs"));
        let tree = world.put(files.into_iter().chain(of_units).map(|path| (path.into(), 0)).collect());
        let open = Open {
            id: RunId::from_bits(seed),
            title: format!("{} {seed}", self.name),
            digest: object.digest(),
            pins: BTreeMap::new(),
            repository: "/repository".to_owned(),
            base: "base".into(),
            content: world.opening(&tree, &protocol, RunId::from_bits(seed), &inputs),
            inputs,
            artifacts,
            workers: BTreeMap::new(),
            commands,
            areas: BTreeMap::new(),
            config: serde_json::Value::Null,
            answers,
            scopes: BTreeMap::new(),
            budgets: budgets(&mut rng),
            pools: BTreeMap::new(),
            checkout: None,
            protocol: Arc::clone(&protocol),
        };
        Ok((open, vec![object, task]))
    }
}

/// The text of every document that is given with a run.
fn task_of(id: RunId) -> Object {
    Object::new(format!("task of {id}").into_bytes())
}

/// The documents that are given with a run of these inputs.
pub fn documents(
    protocol: &Protocol,
    id: RunId,
    inputs: &BTreeMap<Name, Value>,
    plan: &Plan,
) -> BTreeMap<Name, OpenArtifact> {
    let is_given = |given: &Given| match given {
        Given::ByStage => false,
        Given::Input => true,
        Given::InputWhen(when) => gate::over_inputs(when, &|name| inputs.get(name)),
    };
    let given = protocol.artifacts.iter().filter(|(_, artifact)| is_given(&artifact.given));
    let artifacts = given.map(|(name, _)| {
        let (object, fields, plan) = (task_of(id).digest(), fields(protocol, name), plan.clone());
        (name.clone(), OpenArtifact { object, fields, plan, ..OpenArtifact::default() })
    });
    artifacts.collect()
}

/// The fields that some gate wants a document to have.
pub fn fields(protocol: &Protocol, document: &Name) -> BTreeMap<Name, Name> {
    let wanted = protocol.conditions().filter_map(|condition| match condition {
        Condition::Artifact { name, with } if name == document => Some(with.clone()),
        _ => None,
    });
    wanted.flatten().collect()
}

/// Any value of each input.
fn any_inputs(protocol: &Protocol, rng: &mut Rng) -> BTreeMap<Name, Value> {
    protocol.inputs.iter().map(|(name, input)| (name.clone(), any_value(&input.kind, rng))).collect()
}

/// Any value of an input.
pub fn any_value(kind: &VariableKind, rng: &mut Rng) -> Value {
    match kind {
        VariableKind::OneOf(values) => Value::Text(rng.pick(values).cloned().unwrap_or_default()),
        VariableKind::ListOf(values) => {
            let from = usize::try_from(rng.below(values.len() as u64)).unwrap_or(0);
            Value::List(values[from..].to_vec())
        }
        VariableKind::Int => Value::Int(i64::try_from(rng.between(1, 3)).unwrap_or(1)),
        VariableKind::Text => Value::Text("text".into()),
    }
}

/// The sides of `build-plan` go with its complexity.
fn fit_scene(scene: &str, inputs: &mut BTreeMap<Name, Value>) {
    let (complexity, sides): (&str, &[&str]) = match scene {
        "both-sides" => ("complex", &["backend", "frontend"]),
        other => (other, &["backend"]),
    };
    inputs.insert("complexity".into(), Value::Text(complexity.into()));
    inputs.insert("sides".into(), Value::List(sides.iter().map(|side| Name::from(*side)).collect()));
}

/// What some runs may use: little, so that it is reached.
fn budgets(rng: &mut Rng) -> Budgets {
    let mut budgets = Budgets::default();
    if rng.percent(30) {
        for allowance in [&mut budgets.run, &mut budgets.unit, &mut budgets.day] {
            for measure in Measure::ALL {
                let most = if measure == Measure::Attempts { 20 } else { 20_000 };
                *allowance.of_mut(measure) = rng.percent(20).then(|| rng.between(most / 20, most));
            }
        }
    }
    budgets
}

/// The rows of a task file.
fn task(scene: &str, rng: &mut Rng) -> Plan {
    let mut plan = Plan::default();
    let sides: &[Option<&str>] = match scene {
        "standard" => &[Some("backend")],
        "both-sides" => &[Some("backend"), Some("frontend")],
        "simple" => &[None],
        _ => return plan,
    };
    if scene == "both-sides" {
        for side in ["backend", "frontend"] {
            plan.units.push(tollgate_core::report::UnitReport {
                name: side.into(),
                title: side.to_owned(),
                scope: vec![format!("{side}/**").into()],
                ..tollgate_core::report::UnitReport::default()
            });
        }
    }
    let mut number = 0;
    let mut row = |group: &str, unit: Option<&str>, command: bool| {
        number += 1;
        plan.criteria.push(CriterionRow {
            id: format!("DoD-{number}").into(),
            text: format!("row {number}"),
            group: Some(group.into()),
            unit: unit.map(UnitId::from),
            command: command.then(|| "make check".to_owned()),
            repeat: (command && number % 2 == 0).then_some(3),
            ..CriterionRow::default()
        });
    };
    for side in sides {
        for _ in 0..rng.between(1, 3) {
            let command = rng.percent(25);
            row("dod", *side, command);
        }
    }
    for _ in 0..rng.between(0, 2) {
        let command = rng.percent(25);
        row("tester", None, command);
    }
    plan
}
