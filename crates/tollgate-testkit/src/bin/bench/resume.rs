//! From `tollgate resume` after a kill to the first new step.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::Outcome;
use crate::figures::{Figures, median};
use crate::program::{time_ms, tollgate};

const FILES: usize = 1_000;
const RESUMES: usize = 7;
/// The event that begins a step.
const STEP: &str = "attempt.started";

const TASK: &str = "\
# Task: fix the greeting

## Definition of Done

- The greeting names the person it greets
";

/// A worker that never comes to its report while this lasts.
const SCRIPT: &str = "\
script: 1
roles:
  dev-tester:
    - {write: {src/greeting.txt: hello}, delay_ms: 600000, text: too late}
";

/// A command that prints events, and the lines it has printed so far.
struct Talking {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    said: Vec<String>,
}

impl Talking {
    fn start(command: &mut Command) -> Outcome<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let out = child.stdout.take().ok_or("its output cannot be read")?;
        Ok(Self { child, lines: BufReader::new(out).lines(), said: Vec::new() })
    }

    /// Reads on to the first event that begins a step; the run it belongs to.
    fn step(&mut self) -> Outcome<String> {
        for line in self.lines.by_ref() {
            let line = line?;
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            self.said.push(line);
            if event["type"] == STEP {
                return event["run"].as_str().map(str::to_owned).ok_or_else(|| "an event names no run".into());
            }
        }
        let mut talk = String::new();
        if let Some(mut err) = self.child.stderr.take() {
            std::io::Read::read_to_string(&mut err, &mut talk)?;
        }
        let first = talk.lines().chain(self.said.iter().map(String::as_str)).next().unwrap_or("it said nothing");
        Err(format!("it began no step: {first}").into())
    }

    fn kill(mut self) -> Outcome {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Talking {
    fn drop(&mut self) {
        // One that was killed is gone already; any other must not outlive the measurement.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures `resume`.
pub fn measure(dir: &Path, figures: &mut Figures) -> Outcome {
    match tollgate().map_err(Into::into).and_then(|program| resumes(dir, &program)) {
        Ok(took) => figures.set("resume_ms", median(&took)),
        Err(error) => figures.missing("resume_ms", &error.to_string()),
    }
    Ok(())
}

fn resumes(dir: &Path, program: &Path) -> Outcome<Vec<f64>> {
    let repository = make_repository(dir)?;
    let (task, script) = (dir.join("task.md"), dir.join("script.yaml"));
    std::fs::write(&task, TASK)?;
    std::fs::write(&script, SCRIPT)?;
    let tollgate = |args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).current_dir(&repository).env("TOLLGATE_STATE", dir.join("state"));
        command
    };
    let mut run = Talking::start(
        tollgate(&["run", "build-plan", "--input", "complexity=simple", "--answer", "sign-off=approve", "--json"])
            .arg("--task")
            .arg(&task)
            .arg("--script")
            .arg(&script),
    )?;
    let id = run.step()?;
    settle(&tollgate, &id)?;
    run.kill()?;
    let mut took = Vec::new();
    for _ in 0..RESUMES {
        let mut command = tollgate(&["resume", &id, "--json"]);
        let start = Instant::now();
        let mut resumed = Talking::start(&mut command)?;
        resumed.step()?;
        took.push(start.elapsed().as_secs_f64() * 1e3);
        settle(&tollgate, &id)?;
        resumed.kill()?;
    }
    // The worker of the last one is still there; cancelling ends it.
    time_ms(&mut tollgate(&["cancel", &id]))?;
    Ok(took)
}

/// Waits until the worker is under way: its process is in the log's reach, so that the next driver has one to end.
fn settle(tollgate: &impl Fn(&[&str]) -> Command, id: &str) -> Outcome {
    std::thread::sleep(std::time::Duration::from_millis(500));
    time_ms(&mut tollgate(&["show", id, "--json"])).map(drop)
}

fn make_repository(dir: &Path) -> Outcome<PathBuf> {
    let repository = dir.join("repository");
    for file in 0..FILES {
        let folder = repository.join(format!("src/part{:02}", file % 20));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("file{file:04}.txt")), format!("file {file}\n").repeat(40))?;
    }
    let git = |args: &[&str]| {
        let author = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid", "-c", "commit.gpgsign=false"];
        time_ms(Command::new("git").arg("-C").arg(&repository).args(author).args(args)).map(drop)
    };
    git(&["init", "--quiet", "--initial-branch=main"])?;
    git(&["add", "--all"])?;
    git(&["commit", "--quiet", "--message=Everything"])?;
    Ok(repository)
}
