//! `tollgate demo`.
#![expect(
    clippy::disallowed_methods,
    reason = "the demonstration makes a repository and starts Tollgate as a person would"
)]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tollgate_app::detail::With;
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::files;
use tollgate_app::format;
use tollgate_app::repository::install_git;
use tollgate_app::runs::Runs;
use tollgate_core::code::Code;
use tollgate_core::id::RunId;
use tollgate_core::run::event::{Event, Work};
use tollgate_engine::verify;

use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style, wrap};

/// One demonstration: what lies in its repository, what its agents do, and what is typed.
struct Story {
    /// The folder of the repository, and its files.
    repository: &'static str,
    files: &'static [(&'static str, &'static str)],
    task: &'static str,
    script: &'static str,
    steps: &'static [Step],
    /// What it showed.
    meaning: &'static str,
}

/// A step of a story; `RUN` stands for the run.
enum Step {
    /// What comes next, below a number or below nothing.
    Scene(&'static str, &'static str),
    /// Starts the run with these words, and ends with this code.
    Start(&'static [&'static str], i32),
    /// Types a command that ends with this code.
    Type(&'static [&'static str], i32),
    /// Types a command, and kills it while the tester works.
    Killed(&'static [&'static str]),
}

/// Which story is told
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum StoryName {
    /// A question, a claim that is caught, a review and its repair, a kill
    #[default]
    Standard,
    /// Two sides at once, a collision, a shared row that fails on the joined tree, a kill
    Complex,
}

const STANDARD: Story = Story {
    repository: "greet",
    files: &[("README.md", "# greet\n\nGreets people.\n")],
    task: include_str!("../../demo/standard/task.md"),
    script: include_str!("../../demo/standard/script.yaml"),
    steps: &[
        Step::Scene("1", "A plan is signed off, and four agents start. The developer does not guess: it asks."),
        Step::Start(&["--input", "complexity=standard"], 4),
        Step::Scene(
            "2",
            "The answer resumes the run. What the developer claims is measured and checked; what is not there comes back.",
        ),
        Step::Scene("", "When the tester is at work, Tollgate is killed with SIGKILL."),
        Step::Killed(&["decide", "RUN", "dec_2", "--text", "Hello", "--no-wait"]),
        Step::Scene("3", "Nothing was remembered but the journal. The run goes on where it was."),
        Step::Type(&["resume", "RUN", "--no-wait"], 0),
    ],
    meaning: "A row that was claimed and not done was caught; a review was answered by a repair; every gate held for \
              exactly the tree that is now on a branch of its own. No model took part in routing.",
};

const COMPLEX: Story = Story {
    repository: "greet",
    files: &[("README.md", "# greet\n\nGreets people on two sides.\n"), ("config/languages.txt", "none yet\n")],
    task: include_str!("../../demo/complex/task.md"),
    script: include_str!("../../demo/complex/script.yaml"),
    steps: &[
        Step::Scene(
            "1",
            "Backend and frontend work at the same time, each in a work tree of its own, each with its own checker and reviewer.",
        ),
        Step::Scene(
            "",
            "The frontend changes a file that is the backend's. That does not land without a person's word.",
        ),
        Step::Start(&["--input", "complexity=complex", "--input", "sides=backend,frontend"], 4),
        Step::Scene(
            "2",
            "A person allows it, but the backend landed first and changed the same line. The frontend's developer gets \
             both sides in the file and makes one of them; the backend, whose file that is, is judged again.",
        ),
        Step::Scene(
            "",
            "Then the joined tree is checked: the two sides do not greet alike, which neither could see alone. It goes \
             back and is fixed. When the tester is at work, Tollgate is killed with SIGKILL.",
        ),
        Step::Killed(&["decide", "RUN", "dec_2", "extend", "--no-wait"]),
        Step::Scene("3", "Nothing was remembered but the journal. The run goes on where it was."),
        Step::Type(&["resume", "RUN", "--no-wait"], 0),
    ],
    meaning: "Two sides worked at once and landed one after the other; their collision was fixed by the side that \
              came later; what only the joined tree could show was found there and fixed before the tester came. \
              No model took part in routing.",
};

/// Watch a run on a small repository, with scripted agents
///
/// `demo` tells of one side: an agent asks, one claims a row that is not done, a review asks for changes, and Tollgate
/// itself is killed in the middle. `demo complex` tells of two sides that work at once, collide, and are joined. No
/// network, no keys. The repository and the run stay, to look around in.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Which story
    #[arg(value_enum, default_value_t, hide_default_value = true)]
    story: StoryName,
}

pub fn run(args: &DemoArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = call.runs_as_person()?;
    let story = match args.story {
        StoryName::Standard => STANDARD,
        StoryName::Complex => COMPLEX,
    };
    let repository = new_folder(&runs.state, &story)?.join(story.repository);
    make_repository(&repository, &story)?;
    let demo = Demo { call, runs, story, repository };
    demo.play()
}

struct Demo<'a> {
    call: &'a Invocation,
    runs: Runs,
    story: Story,
    repository: PathBuf,
}

impl Demo<'_> {
    fn play(&self) -> Result<Exit, Failure> {
        let mut run: Option<RunId> = None;
        let name = |run: Option<RunId>| run.ok_or_else(|| broken("the run did not say its name"));
        for step in self.story.steps {
            let named = |words: &[&'static str]| -> Result<Vec<String>, Failure> {
                let word = |word: &&'static str| match *word {
                    "RUN" => name(run).map(|run| run.to_string()),
                    word => Ok(word.to_owned()),
                };
                words.iter().map(word).collect()
            };
            match step {
                Step::Scene(number, text) => self.scene(number, text),
                Step::Start(words, exit) => {
                    let start = ["run", "build-plan", "--task", "../task.md", "--script", "../agents.yaml"];
                    let start = [&start[..], words, &["--answer", "sign-off=approve", "--no-wait"]].concat();
                    run = self.tollgate(&named(&start)?, *exit)?;
                }
                Step::Type(words, exit) => drop(self.tollgate(&named(words)?, *exit)?),
                Step::Killed(words) => self.kill_at_tester(&mut self.start(&named(words)?)?)?,
            }
        }
        let id = name(run)?;
        self.scene("4", "The journal proves it: every event, every object, every invariant.");
        let proof = verify::verify(&*self.runs.service.journal, id)?;
        if let Some(breach) = proof.breaches.first() {
            return Err(Failure::internal(breach.what.clone()));
        }
        let head = proof.head.short();
        self.say(&format!(
            "{} events and {} objects hold; the head of the chain is {head}",
            proof.events, proof.objects
        ));
        self.summary(&id.to_string())
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
        if self.call.json() {
            return;
        }
        let room = self.call.output.width().saturating_sub(indent.len()).max(20);
        let begins = std::iter::once(first).chain(std::iter::repeat_with(|| Line::from(indent)));
        begins.zip(wrap(text, room)).for_each(|(begin, line)| self.call.output.talk(begin.add(style, line)));
    }

    fn summary(&self, run: &str) -> Result<Exit, Failure> {
        let loaded = self.runs.load(run)?;
        let events = tollgate_engine::session::events(&*self.runs.service.journal, loaded.run().id, 0, u64::MAX)?;
        let count = |wanted: fn(&Event) -> bool| events.iter().filter(|event| wanted(&event.event)).count();
        let attempts =
            count(|event| matches!(event, Event::AttemptStarted(s) if matches!(s.work, Work::Dispatch { .. })));
        let findings = count(|event| matches!(event, Event::FindingOpened(_)));
        let lost = count(|event| matches!(event, Event::AttemptLost(_)));
        let answered = count(|event| matches!(event, Event::DecisionEnded(ended) if !ended.in_advance));
        if self.call.json() {
            self.call.output.json(&self.runs.detail(run, With::Nothing, self.call.now_ms(), &mut Vec::new())?.run);
            return Ok(Exit::Done);
        }
        let output = &self.call.output;
        output.talk("");
        let told = |number, what| format::count(number, what);
        let done = format!(
            "{run}: {} of 4 agents, {} opened and closed, {} answered, {} lost to the kill and repeated.",
            told(attempts, "attempt"),
            told(findings, "finding"),
            told(answered, "question"),
            told(lost, "attempt")
        );
        self.talk(Line::new().add(Style::Good, "✓ "), "  ", Style::Strong, &done);
        self.talk(Line::from("  "), "  ", Style::Plain, self.story.meaning);
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
    fn tollgate(&self, arguments: &[String], exit: i32) -> Result<Option<RunId>, Failure> {
        let mut child = self.start(arguments)?;
        let id = self.relay(&mut child, |_| false);
        let status = child.wait().map_err(|error| broken("Tollgate could not be waited for").cause(error))?;
        if status.code() == Some(exit) {
            return Ok(id);
        }
        Err(broken(&format!("`tollgate {}` ended with {status}", arguments.join(" "))))
    }

    fn start(&self, arguments: &[String]) -> Result<Child, Failure> {
        let line = format!("$ tollgate {}", tollgate_engine::workers::shell_words::join(arguments));
        self.talk(Line::from("   "), "       ", Style::Accent, &line);
        Command::new(self.call.environment.program()?)
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
fn new_folder(state: &Path, story: &Story) -> Result<PathBuf, Failure> {
    for number in 1..10_000 {
        let folder = state.join("demo").join(number.to_string());
        if !files::exists(&folder)? {
            files::make_folder(&folder).map_err(|error| files::cannot_write(&folder, error))?;
            let write = |name: &str, text: &str| {
                let path = folder.join(name);
                files::write(&path, text.as_bytes()).map_err(|error| files::cannot_write(&path, error))
            };
            write("task.md", story.task)?;
            write("agents.yaml", story.script)?;
            return Ok(folder);
        }
    }
    Err(Failure::environment(Code::FILE, "there are too many demonstrations; remove some below the state directory"))
}

fn make_repository(path: &Path, story: &Story) -> Result<(), Failure> {
    for (name, text) in story.files {
        let file = path.join(name);
        let folder = file.parent().unwrap_or(path);
        files::make_folder(folder).map_err(|error| files::cannot_write(folder, error))?;
        files::write(&file, text.as_bytes()).map_err(|error| files::cannot_write(&file, error))?;
    }
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
                .hint(install_git())),
        }
    };
    git(&["init", "--quiet", "."])?;
    git(&["add", "."])?;
    git(&["-c", "commit.gpgsign=false", "commit", "--quiet", "--no-verify", "-m", "A place to greet from"])
}
