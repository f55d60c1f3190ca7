//! `tollgate demo`.
#![expect(
    clippy::disallowed_methods,
    reason = "the demonstration makes a repository and starts Tollgate as a person would"
)]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tollgate_core::code::Code;
use tollgate_core::id::RunId;
use tollgate_core::run::event::{Event, Work};
use tollgate_engine::verify;

use crate::cli::environment::Environment;
use crate::cli::failure::{Failure, Kind};
use crate::cli::runs::{Runs, load_failure};
use crate::cli::{Exit, Session};
use crate::files;
use crate::view::text::{Line, Style, wrap};

const TASK: &str = include_str!("../../demo/task.md");
const SCRIPT: &str = include_str!("../../demo/script.yaml");

/// Watch a run on a small repository, with scripted agents
///
/// One agent asks, one claims a row that is not done, one review asks for changes, and Tollgate itself is killed in the
/// middle. No network, no keys. The repository and the run stay, to look around in.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {}

pub fn run(_args: &DemoArgs, session: &Session) -> Result<Exit, Failure> {
    let runs = Runs::open_as_person(session)?;
    let folder = new_folder(&runs.state)?;
    let repository = folder.join("greet");
    make_repository(&repository)?;
    let demo = Demo { session, runs, folder, repository };
    demo.play()
}

struct Demo<'a> {
    session: &'a Session,
    runs: Runs,
    folder: PathBuf,
    repository: PathBuf,
}

impl Demo<'_> {
    fn play(&self) -> Result<Exit, Failure> {
        self.scene("1", "A plan is signed off, and four agents start. The developer does not guess: it asks.");
        let start = ["run", "build-plan", "--task", "../task.md", "--script", "../agents.yaml"];
        let start = [&start[..], &["--input", "complexity=standard"]].concat();
        let started = self.tollgate(&[&start[..], &["--answer", "sign-off=approve", "--no-wait"]].concat(), 4)?;
        let id = started.ok_or_else(|| broken("the run did not say its name"))?;
        let run = id.to_string();

        self.scene("2", "The answer resumes the run. What the developer claims is measured and checked; what is not there comes back.");
        self.scene("", "When the tester is at work, Tollgate is killed with SIGKILL.");
        let mut child = self.start(&["decide", &run, "dec_2", "--text", "Hello", "--no-wait"])?;
        self.kill_at_tester(&mut child)?;

        self.scene("3", "Nothing was remembered but the journal. The run goes on where it was.");
        self.tollgate(&["resume", &run, "--no-wait"], 0)?;

        self.scene("4", "The journal proves it: every event, every object, every invariant.");
        let proof = verify::verify(&*self.runs.service.journal, id).map_err(load_failure)?;
        if let Some(breach) = proof.breaches.first() {
            return Err(Failure::internal(breach.what.clone()));
        }
        let head = proof.head.short();
        self.say(&format!(
            "{} events and {} objects hold; the head of the chain is {head}",
            proof.events, proof.objects
        ));
        self.summary(&run)
    }

    /// Says a text below a number, or below nothing.
    fn scene(&self, number: &str, text: &str) {
        if !number.is_empty() {
            self.talk(Line::new(), "", Style::Plain, "");
        }
        let number = if number.is_empty() { String::new() } else { format!("{number}.") };
        self.talk(Line::new().add(Style::Accent, format!("{number:<3}")), "   ", Style::Strong, text);
    }

    fn say(&self, text: &str) {
        self.talk(Line::from("   "), "     ", Style::Plain, text);
    }

    /// Prints a text behind a first piece, broken to the width of the terminal; the other lines begin with `indent`.
    fn talk(&self, first: Line, indent: &str, style: Style, text: &str) {
        if self.session.json() {
            return;
        }
        let room = self.session.output.width().saturating_sub(indent.len()).max(20);
        let begins = std::iter::once(first).chain(std::iter::repeat_with(|| Line::from(indent)));
        begins.zip(wrap(text, room)).for_each(|(begin, line)| self.session.output.talk(begin.add(style, line)));
    }

    fn summary(&self, run: &str) -> Result<Exit, Failure> {
        let session = self.runs.load(run)?;
        let events =
            verify::events(&*self.runs.service.journal, session.run().id, 0, u64::MAX).map_err(load_failure)?;
        let count = |wanted: fn(&Event) -> bool| events.iter().filter(|event| wanted(&event.event)).count();
        let attempts =
            count(|event| matches!(event, Event::AttemptStarted(s) if matches!(s.work, Work::Dispatch { .. })));
        let findings = count(|event| matches!(event, Event::FindingOpened(_)));
        let lost = count(|event| matches!(event, Event::AttemptLost(_)));
        if self.session.json() {
            self.session.output.json(&super::show::of(&self.runs, run, false, self.session)?.0);
            return Ok(Exit::Done);
        }
        let output = &self.session.output;
        output.talk("");
        let done = format!(
            "{run}: {attempts} attempts of 4 agents, {findings} findings opened and closed, 1 question answered, {lost} attempt lost to the kill and repeated."
        );
        self.talk(Line::new().add(Style::Good, "✓ "), "  ", Style::Strong, &done);
        let meaning = "A row that was claimed and not done was caught; a review was answered by a repair; every gate held for exactly the tree that is now on a branch of its own. No model took part in routing.";
        self.talk(Line::from("  "), "  ", Style::Plain, meaning);
        output.talk("");
        output.talk("Look around:");
        for command in [
            format!("tollgate show {run}"),
            format!("tollgate show {run} --reads"),
            format!("tollgate logs {run}"),
            "tollgate verify --all".to_owned(),
            format!("git -C {} show --stat tollgate/{run}", self.repository.display()),
            "tollgate protocol show build-plan --format table".to_owned(),
        ] {
            output.talk(Line::from("  ").add(Style::Accent, command));
        }
        Ok(Exit::Done)
    }

    /// Runs a command of Tollgate to its end; the run's name, when it says one.
    fn tollgate(&self, arguments: &[&str], exit: i32) -> Result<Option<RunId>, Failure> {
        let mut child = self.start(arguments)?;
        let id = self.relay(&mut child, |_| false);
        let status = child.wait().map_err(|error| broken("Tollgate could not be waited for").cause(error))?;
        if status.code() == Some(exit) {
            return Ok(id);
        }
        Err(broken(&format!("`tollgate {}` ended with {status}", arguments.join(" "))))
    }

    fn start(&self, arguments: &[&str]) -> Result<Child, Failure> {
        let shown: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let line = format!("$ tollgate {}", tollgate_engine::workers::words::join(&shown));
        self.talk(Line::from("   "), "       ", Style::Accent, &line);
        Command::new(Environment::program()?)
            .args(arguments)
            .current_dir(&self.repository)
            .env("TOLLGATE_STATE", &self.runs.state)
            .stdin(Stdio::null())
            .stdout(Stdio::inherit())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| broken("Tollgate could not be started").cause(error))
    }

    /// Passes on what the child says, until it ends or enough was said.
    fn relay(&self, child: &mut Child, enough: impl Fn(&str) -> bool) -> Option<RunId> {
        let said = BufReader::new(child.stderr.take()?.take(1 << 20));
        let mut id = None;
        for line in said.lines().map_while(Result::ok) {
            let first = line.split(' ').next().and_then(|word| word.parse::<RunId>().ok());
            id = id.or(first);
            // What goes on below a long line stands where the line began.
            let text = line.trim_start_matches(' ');
            let deep = line.len() - text.len() + 3;
            let unit = text.find("  ").filter(|_| deep > 3).map_or(0, |at| at + 2);
            let (label, text) = text.split_at(unit);
            self.talk(Line::from(" ".repeat(deep) + label), &" ".repeat(deep + unit), Style::Plain, text);
            if enough(&line) {
                break;
            }
        }
        id
    }

    /// Kills the process while the tester works.
    fn kill_at_tester(&self, child: &mut Child) -> Result<(), Failure> {
        self.relay(child, |line| line.contains("tester works"));
        // A moment, so that the tester is really under way.
        std::thread::sleep(Duration::from_millis(150));
        child.kill().map_err(|error| broken("the process could not be killed").cause(error))?;
        child.wait().map_err(|error| broken("the process could not be waited for").cause(error))?;
        self.say("killed");
        Ok(())
    }
}

fn broken(message: &str) -> Failure {
    Failure::new(Kind::Internal, Code::INTERNAL, message).hint("please report this with the output above")
}

/// A folder of its own below the state directory: nothing of the user's is touched.
fn new_folder(state: &Path) -> Result<PathBuf, Failure> {
    for number in 1..10_000 {
        let folder = state.join("demo").join(number.to_string());
        if !files::exists(&folder)? {
            files::make_folder(&folder).map_err(|error| files::cannot_write(&folder, error))?;
            let write = |name: &str, text: &str| {
                let path = folder.join(name);
                files::write(&path, text.as_bytes()).map_err(|error| files::cannot_write(&path, error))
            };
            write("task.md", TASK)?;
            write("agents.yaml", SCRIPT)?;
            return Ok(folder);
        }
    }
    Err(Failure::environment(Code::FILE, "there are too many demonstrations; remove some below the state directory"))
}

fn make_repository(path: &Path) -> Result<(), Failure> {
    files::make_folder(path).map_err(|error| files::cannot_write(path, error))?;
    let readme = path.join("README.md");
    files::write(&readme, b"# greet\n\nGreets people.\n").map_err(|error| files::cannot_write(&readme, error))?;
    let git = |arguments: &[&str]| {
        let quiet = ["-c", "init.defaultBranch=main", "-c", "user.name=Demo", "-c", "user.email=demo@localhost"];
        let output = Command::new("git").args(quiet).args(arguments).current_dir(path).output();
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                Err(Failure::environment(Code::NO_REPOSITORY, "git could not make the demonstration's repository")
                    .because(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
            }
            Err(error) => Err(Failure::environment(Code::NO_REPOSITORY, "git could not be started")
                .cause(error)
                .hint("install git 2.40 or newer")),
        }
    };
    git(&["init", "--quiet", "."])?;
    git(&["add", "."])?;
    git(&["-c", "commit.gpgsign=false", "commit", "--quiet", "--no-verify", "-m", "A place to greet from"])
}
