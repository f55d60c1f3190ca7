//! Asks a program for its version, and an agent for a word.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tollgate_core::run::AgentStats;

use super::line_reader::LineReader;
use super::spec::variables;
use super::{Adapter, AgentSpec, Ask, Tally};
use crate::process::{Environment, Inherit, Program, Tail, run};

/// How long a program may take to say its version: some load a runtime first.
const LIMIT: Duration = Duration::from_secs(30);
/// How long an agent may take to answer.
const ASK_LIMIT: Duration = Duration::from_secs(120);
const BYTES_MAX: usize = 4096;
const CHARS_MAX: usize = 100;
/// The smallest question there is.
const QUESTION: &str = "Answer with the one word `ready`. Do nothing else.\n";

/// The version that an agent's program says it has; none where it does not say one.
pub fn version(adapter: &Adapter, program: &Path, folder: &Path) -> Option<String> {
    let out = Tail::new(BYTES_MAX);
    let asked = Program {
        path: program.to_owned(),
        args: vec!["--version".into()],
        cwd: folder.to_owned(),
        env: Environment { inherit: Inherit::Only(variables(adapter, &[])), ..Environment::default() },
        stdin: Vec::new(),
        limit: LIMIT,
        control: None,
    };
    let end = run(asked, out.clone(), Tail::new(BYTES_MAX)).ok()?;
    let text = String::from_utf8_lossy(&out.take().0).into_owned();
    let line = text.lines().map(str::trim).find(|line| line.bytes().any(|byte| byte.is_ascii_digit()))?;
    end.success().then(|| line.chars().take(CHARS_MAX).collect())
}

/// Asks an agent for a word, as a run would call it, with the login that it has: what it told, or why it did not answer.
pub fn ask(spec: &AgentSpec, program: &Path, tollgate: &Path, folder: &Path) -> (AgentStats, Result<(), String>) {
    let args: Vec<OsString> = spec.words.iter().skip(1).map(OsString::from).collect();
    let call = (spec.adapter.call)(&Ask {
        program,
        prompt: QUESTION,
        model: spec.model.as_deref(),
        session: None,
        schema: None,
        args: &args,
        held: false,
        out: None,
    });
    let asked = Program {
        path: if spec.adapter.bridged { tollgate.to_owned() } else { program.to_owned() },
        args: call.args,
        cwd: folder.to_owned(),
        env: Environment {
            set: call.set.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            marker: Some(format!("probe/{}", std::process::id())),
            inherit: Inherit::Only(variables(spec.adapter, &spec.env)),
        },
        stdin: call.stdin.into_bytes(),
        limit: ASK_LIMIT,
        control: None,
    };
    let reader = Arc::new(LineReader::new(Tally::new(spec.adapter, None), Default::default()));
    let errors = Tail::new(BYTES_MAX);
    let end = match run(asked, reader.clone(), errors.clone()) {
        Ok(end) => end,
        Err(error) => return (AgentStats::default(), Err(format!("it could not be started: {error}"))),
    };
    let account = reader.account().unwrap_or_else(|| Tally::new(spec.adapter, None));
    let silent = account.is_silent();
    let (told, failure) = account.end(end.success());
    let said = String::from_utf8_lossy(&errors.take().0).into_owned();
    let last = said
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(|line| line.chars().take(200).collect::<String>());
    let answer = match failure {
        Some(failure) => Err(failure.reason),
        None if end.success() && !silent => Ok(()),
        None if end.success() => Err("it ended without a word".to_owned()),
        None => Err(last.map_or_else(|| format!("it {end}"), |last| format!("it {end}: {last}"))),
    };
    (told, answer)
}
