//! Acting a script out, as a process of its own.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use tollgate_contract::registry::Contracts;
use tollgate_core::code::Code;
use tollgate_core::yaml::BYTES_MAX;

use super::{Entry, Misbehaviour, Script, ScriptedReport};
use crate::process::MARKER;

/// What a script worker exits with when it cannot act.
const REFUSED: u8 = 3;

/// Acts out the script for the attempt that the environment describes; answers the exit code.
///
/// Reads the brief on stdin and the `TOLLGATE_*` variables, like any command worker. A script that cannot be read or has
/// no entry for the attempt is a refusal: a word on stderr and exit code 3. `tollgate` is the program it calls when it
/// tries to decide.
pub fn run_script(script: &Path, tollgate: &Path) -> u8 {
    match act(script, tollgate) {
        Ok(exit) => exit,
        Err((code, message)) => {
            say(&format!("error[{code}]: {message}"));
            REFUSED
        }
    }
}

type Refusal = (Code, String);

fn act(path: &Path, tollgate: &Path) -> Result<u8, Refusal> {
    let invalid = |message: String| (Code::SCRIPT_INVALID, format!("{}: {message}", path.display()));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| invalid(error.to_string()))?;
    file.take(BYTES_MAX as u64 + 1).read_to_string(&mut text).map_err(|error| invalid(error.to_string()))?;
    let script = Script::read(&text).map_err(|problems| {
        let lines = problems.iter().map(|problem| {
            let hint = problem.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{}:{}: {}{hint}", problem.place.line, problem.place.column, problem.message)
        });
        invalid(lines.collect::<Vec<_>>().join("\n"))
    })?;
    let stage = Stage::from_environment();
    let entry = script.entry(&stage.role, stage.unit.as_deref(), &stage.stage, stage.iteration).ok_or_else(|| {
        let unit = stage.unit.as_deref().map(|unit| format!(", unit `{unit}`")).unwrap_or_default();
        let at = if stage.stage.is_empty() { String::new() } else { format!(", stage `{}`", stage.stage) };
        let (file, role, iteration) = (path.display(), &stage.role, stage.iteration);
        let message = format!("{file} has no entry for role `{role}`{unit}{at}, iteration {iteration}");
        (Code::SCRIPT_NO_ENTRY, message)
    })?;
    let report = stage.report_of(entry, path).map_err(invalid)?;
    stage.perform(entry, &report, tollgate).map_err(|error| invalid(format!("line {}: {error}", entry.place.line)))?;
    Ok(entry.exit)
}

/// The contracts that can be named: where the run brings the one of this name along, it lies beside the script.
fn beside(script: &Path, contract: &str) -> Result<Contracts, String> {
    let mut contracts = Contracts::default();
    let name = contract.split_once('@').map_or(contract, |(name, _)| name);
    let path = script.with_file_name(format!("{name}.contract.yaml"));
    match std::fs::read_to_string(&path) {
        Ok(text) => contracts.add(name, &text).map_err(|_| format!("{} is no contract", path.display()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(format!("{}: {error}", path.display())),
    }
    Ok(contracts)
}

/// What the worker was told about its attempt.
struct Stage {
    run: String,
    role: String,
    unit: Option<String>,
    stage: String,
    iteration: u32,
    contract: String,
    bundle: PathBuf,
    report: PathBuf,
    out: PathBuf,
    brief: String,
}

impl Stage {
    fn from_environment() -> Self {
        let var = |name: &str| std::env::var(name).unwrap_or_default();
        let mut brief = Vec::new();
        io::stdin().read_to_end(&mut brief).ok();
        Self {
            run: var("TOLLGATE_RUN"),
            role: var("TOLLGATE_ROLE"),
            unit: Some(var("TOLLGATE_UNIT")).filter(|unit| !unit.is_empty()),
            stage: var("TOLLGATE_STAGE"),
            iteration: var("TOLLGATE_ITERATION").parse().unwrap_or(1),
            contract: var("TOLLGATE_CONTRACT"),
            bundle: var("TOLLGATE_BUNDLE").into(),
            report: var("TOLLGATE_REPORT").into(),
            out: var("TOLLGATE_OUT").into(),
            brief: String::from_utf8_lossy(&brief).into_owned(),
        }
    }

    /// The text of the report.
    fn report_of(&self, entry: &Entry, script: &Path) -> Result<String, String> {
        match &entry.says {
            None => Ok(String::new()),
            Some(ScriptedReport::Text(text)) => Ok(text.to_string()),
            Some(ScriptedReport::Report(document)) => {
                let contract = &self.contract;
                let contracts = beside(script, contract)?;
                let dialect = contracts.report(contract).ok_or_else(|| format!("there is no contract `{contract}`"))?;
                let wrong = |error| format!("{}: the report is not one of {contract}: {error}", entry.place.line);
                dialect.render(document).map_err(wrong)
            }
        }
    }

    fn perform(&self, entry: &Entry, report: &str, tollgate: &Path) -> io::Result<()> {
        let delay = Duration::from_millis(entry.delay_ms);
        // Who answers late leaves at once; another waits in its place.
        if entry.misbehave != Some(Misbehaviour::Late) {
            std::thread::sleep(delay);
        }
        if entry.misbehave != Some(Misbehaviour::Lie) {
            change_files(entry)?;
            for (path, text) in &entry.hand_over {
                write_file(&self.out.join(&**path), text)?;
            }
        }
        let answer = match entry.misbehave {
            None | Some(Misbehaviour::Lie) => report.to_owned(),
            Some(Misbehaviour::Crash) => {
                self.answer(&report[..report.floor_char_boundary(report.len() / 2)])?;
                kill_process(getpid(), Signal::KILL)?;
                return Ok(());
            }
            Some(Misbehaviour::Hang) => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            Some(Misbehaviour::Late) => return self.leave_behind(report, delay),
            // A report file holds one report: more than that is printed.
            Some(Misbehaviour::Twice) => return print(&format!("{report}\n{report}")),
            Some(Misbehaviour::Echo) => return print(&format!("{}\n{report}", self.brief)),
            Some(Misbehaviour::Outside) => {
                write_file(Path::new("outside-every-scope").join(&self.role).as_path(), "written outside the scope\n")?;
                report.to_owned()
            }
            Some(Misbehaviour::Decide) => {
                self.decide(tollgate);
                report.to_owned()
            }
            Some(Misbehaviour::Database) => {
                self.open_database();
                report.to_owned()
            }
        };
        self.answer(&answer)
    }

    fn answer(&self, text: &str) -> io::Result<()> {
        if text.is_empty() { Ok(()) } else { std::fs::write(&self.report, text) }
    }

    /// Leaves a process in a group of its own that reports when this one is long gone.
    fn leave_behind(&self, report: &str, delay: Duration) -> io::Result<()> {
        use std::os::unix::process::CommandExt;
        let line = "sleep \"$1\"; printf %s \"$2\" > \"$3\"";
        let seconds = format!("{}.{:03}", delay.as_secs(), delay.subsec_millis());
        let mut command = Command::new("sh");
        command.args(["-c", line, "late", &seconds, report]).arg(&self.report);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.spawn().map(drop)
    }

    /// Tries to answer for a person: marked as a worker, and with the marker hidden.
    fn decide(&self, tollgate: &Path) {
        for hide in [false, true] {
            let mut command = Command::new(tollgate);
            command.args(["decide", &self.run, "dec_1", "accept"]).stdin(Stdio::null());
            command.envs(self.state().map(|state| ("TOLLGATE_STATE", state)));
            if hide {
                command.env_remove(MARKER);
            }
            match command.output() {
                Ok(output) => say(&format!(
                    "decide (marker hidden: {hide}): exit {:?}: {}",
                    output.status.code(),
                    String::from_utf8_lossy(&output.stderr).trim()
                )),
                Err(error) => say(&format!("decide: {error}")),
            }
        }
    }

    fn open_database(&self) {
        let Some(state) = self.state() else { return say("database: not found") };
        let opened = std::fs::File::options().read(true).write(true).open(state.join("journal.db"));
        say(&format!(
            "database: {}",
            opened.map_or_else(|error| error.to_string(), |_| "opened for writing".to_owned())
        ));
    }

    /// The state directory, guessed from where the bundle lies.
    fn state(&self) -> Option<PathBuf> {
        self.bundle.ancestors().find(|folder| folder.join("journal.db").exists()).map(Path::to_owned)
    }
}

fn print(text: &str) -> io::Result<()> {
    io::Write::write_all(&mut io::stdout(), text.as_bytes())
}

fn change_files(entry: &Entry) -> io::Result<()> {
    for (path, text) in &entry.write {
        write_file(Path::new(&**path), text)?;
    }
    entry.delete.iter().try_for_each(|path| std::fs::remove_file(&**path))
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

fn say(text: &str) {
    writeln!(io::stderr(), "{text}").ok();
}
