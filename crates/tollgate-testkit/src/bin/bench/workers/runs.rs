//! Runs whose one role is done by this program, started as a person starts one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tollgate_engine::service::{Service, Start};
use tollgate_engine::session::Session;
use tollgate_engine::workspace::Dirty;
use tollgate_store::{Journal, Options, SqliteJournal};

use super::start::WORKER;
use crate::Outcome;
use crate::program::tollgate;

/// How often the stage comes back to itself: the attempts after the first.
pub const AGAIN: usize = 5;

/// A stage that is dispatched again and again, in one tree.
fn protocol() -> String {
    format!(
        "\
protocol: bench
version: 1
areas: {{code: [\"src/**\"]}}
roles:
  builder: {{contract: status-block, writes: [code], sees: full}}
otherwise: {{needs_input: hold, exhausted: hold, failed: hold, malformed: hold}}
flows:
  main:
    - id: work
      dispatch: builder
      on: {{ok: {{to: again, limit: {AGAIN}, then: done}}}}
"
    )
}

/// The journal of a state directory.
pub fn journal(state: &Path) -> Outcome<Arc<dyn Journal>> {
    Ok(Arc::new(SqliteJournal::open(state, Options::default())?))
}

/// Starts a run in a repository.
pub fn start(journal: &Arc<dyn Journal>, state: &Path, repository: &Path) -> Outcome<Session> {
    let service = Service { state: state.to_owned(), journal: Arc::clone(journal) };
    let program = std::env::current_exe()?;
    let worker = format!("command:'{}' {WORKER}", program.display());
    let start = Start {
        title: "Measure what a worker costs".to_owned(),
        protocol: protocol(),
        contracts: BTreeMap::new(),
        briefs: BTreeMap::from([("builder".into(), "Build it.\n".to_owned())]),
        repository: repository.to_owned(),
        dirty: Dirty::Refuse,
        inputs: BTreeMap::new(),
        artifacts: BTreeMap::new(),
        workers: BTreeMap::from([("builder".into(), worker.into())]),
        scripts: BTreeMap::new(),
        folder: BTreeMap::new(),
        commands: BTreeMap::new(),
        areas: BTreeMap::new(),
        config: serde_json::Value::Null,
        project: None,
        answers: BTreeMap::new(),
        scopes: BTreeMap::new(),
        tollgate: tollgate()?,
        budgets: Default::default(),
        pools: BTreeMap::new(),
    };
    Ok(service.start("bench", start)?.0)
}
