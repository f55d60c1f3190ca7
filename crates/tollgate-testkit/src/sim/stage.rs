//! Where a simulation plays: the protocols and what is given with them, the stores and what goes wrong in them, the clock.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tollgate_core::Name;
use tollgate_core::id::{RunId, UnitId};
use tollgate_core::protocol::model::Value;
use tollgate_core::report::{CriterionRow, Plan};
use tollgate_core::run::budget::{Budgets, Measure};
use tollgate_core::run::decide::{Open, OpenArtifact};
use tollgate_engine::clock::Clock;
use tollgate_engine::session::pinned_protocol;
use tollgate_store::{Fault, Faults, Journal, MemoryJournal, Object, Options, Point, SqliteJournal};

use super::rng::Rng;
use crate::script::protocol_text;
use crate::temp::TempDir;
use crate::world::World;

/// The time in a simulation.
#[derive(Debug, Default)]
pub struct FakeClock(AtomicU64);

impl FakeClock {
    /// Lets time pass.
    pub fn pass(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for FakeClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What goes wrong at the next write of one handle.
#[derive(Debug, Default)]
pub struct Mishap(Mutex<Option<(Point, Fault)>>);

impl Mishap {
    /// Something will go wrong.
    pub fn arm(&self, point: Point, fault: Fault) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((point, fault));
    }

    /// It will not happen.
    pub fn disarm(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether it still has to happen.
    pub fn is_armed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Faults for Mishap {
    fn at(&self, point: Point) -> Option<Fault> {
        let mut armed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *armed {
            Some((wanted, fault)) if wanted == point => {
                *armed = None;
                Some(fault)
            }
            _ => None,
        }
    }
}

/// The store of one simulation: in memory, or a database that several handles open.
#[derive(Debug)]
pub enum Store {
    /// In memory.
    Memory(MemoryJournal),
    /// SQLite in a folder of its own.
    Sqlite(TempDir),
}

impl Store {
    /// A new, empty store.
    pub fn new(sqlite: bool) -> Self {
        if sqlite { Self::Sqlite(TempDir::new()) } else { Self::Memory(MemoryJournal::default()) }
    }

    /// Another handle, with mishaps of its own.
    pub fn connect(&self, mishap: Option<Arc<Mishap>>) -> Result<Arc<dyn Journal>, String> {
        let faults = mishap.map(|mishap| mishap as Arc<dyn Faults>);
        match self {
            Self::Memory(journal) => Ok(Arc::new(journal.connect(faults))),
            Self::Sqlite(folder) => SqliteJournal::open(folder.path(), Options { faults, ..Options::default() })
                .map(|journal| Arc::new(journal) as Arc<dyn Journal>)
                .map_err(|error| error.to_string()),
        }
    }
}

/// What is played.
pub const SCENES: [&str; 5] = ["standard", "fan-out", "ledger", "simple", "both-sides"];

/// The beginning of a run: what is in force, and the objects it names.
pub fn open(scene: &str, seed: u64, world: &mut World) -> Result<(Open, Vec<Object>), String> {
    let mut rng = Rng::new(seed, 1);
    let name = if SCENES[1..3].contains(&scene) { scene } else { "build-plan" };
    let text = protocol_text(name).ok_or("no such protocol")?;
    let object = Object::new(text.as_bytes());
    let protocol = pinned_protocol::protocol(object.digest(), &mut |_| Ok(Some(text.as_bytes().into())))
        .map_err(|error| format!("{name}: {error}"))?;
    let mut inputs: BTreeMap<Name, Value> = BTreeMap::new();
    let mut commands = BTreeMap::new();
    match scene {
        "fan-out" => {
            inputs.insert("width".into(), Value::Int(i64::try_from(rng.between(1, 3)).unwrap_or(1)));
            let look = if rng.percent(85) { "yes" } else { "no" };
            inputs.insert("last-look".into(), Value::Text(look.into()));
        }
        "ledger" => {
            let path = if rng.percent(70) { "careful" } else { "quick" };
            inputs.insert("path".into(), Value::Text(path.into()));
            if rng.percent(60) {
                commands.insert("ci".into(), vec!["make".to_owned()]);
            }
        }
        _ => {
            let complexity = match scene {
                "both-sides" => "complex",
                other => other,
            };
            inputs.insert("complexity".into(), Value::Text(complexity.into()));
            let sides: &[&str] = if scene == "both-sides" { &["backend", "frontend"] } else { &["backend"] };
            inputs.insert("sides".into(), Value::List(sides.iter().map(|side| Name::from(*side)).collect()));
            if rng.percent(30) {
                inputs.insert("infra".into(), Value::Text("needed".into()));
            }
        }
    }
    let plan = task(scene, &mut rng);
    let task = Object::new(format!("task {seed}").into_bytes());
    let artifact = OpenArtifact { object: task.digest(), plan, ..OpenArtifact::default() };
    let artifacts = protocol.artifacts.contains_key("task").then(|| (Name::from("task"), artifact));
    let files = ["src/main.rs", "src/lib.rs", "docs/index.md", "tests/all.rs"];
    let tree = world.put(files.iter().map(|path| (Name::from(*path), 0)).collect());
    let content = world.opening(&tree, &protocol, RunId::from_bits(seed), &inputs);
    let answers = if name == "build-plan" && rng.percent(40) {
        BTreeMap::from([("sign-off".into(), "approve".into())])
    } else {
        BTreeMap::new()
    };
    let open = Open {
        id: RunId::from_bits(seed),
        title: format!("{scene} {seed}"),
        digest: object.digest(),
        pins: BTreeMap::new(),
        repository: "/repository".to_owned(),
        base: "base".into(),
        inputs,
        artifacts: artifacts.into_iter().collect(),
        workers: BTreeMap::new(),
        commands,
        areas: BTreeMap::new(),
        config: serde_json::Value::Null,
        answers,
        scopes: BTreeMap::new(),
        budgets: budgets(&mut rng),
        pools: BTreeMap::new(),
        checkout: None,
        content,
        protocol,
    };
    Ok((open, vec![object, task]))
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
