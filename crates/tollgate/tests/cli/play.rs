//! A run, played through the real binary: a repository, a task, a script, and what came of it.

use std::process::{Child, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tollgate_core::run::{Event, Recorded};
use tollgate_engine::verify;
use tollgate_store::{Journal, Options, SqliteJournal};

use crate::world::World;

/// One row for the developer, one for the tester.
pub const TASK: &str = "\
# Greet people

## Definition of Done

### Backend
- greet.sh greets

### Tester scope
- the greeting is tested
";

pub const BUILT: &str = r#"write: {greet.sh: "echo Hello\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [greet.sh], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
pub const IDLE: &str = r#"report: {status: complete, abstract: {outcome: nothing to do, next_phase: dod-checker}, dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
pub const COVERED: &str = r#"report: {status: complete, abstract: {outcome: every row holds, verdict: APPROVED, next_phase: reviewer}, verdict: APPROVED, verified_rows: ["DoD-1: greet.sh is there"]}"#;
pub const GAP: &str = r#"report: {status: complete, abstract: {outcome: a row is open, verdict: BLOCKED, next_phase: developer}, verdict: BLOCKED, gaps: ["DoD-1: greet.sh does not greet"]}"#;
pub const APPROVED: &str =
    r#"report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: tester}}"#;
pub const CHANGES: &str = r#"report: {status: complete, abstract: {outcome: mend this, verdict: REQUEST_CHANGES, next_phase: developer}, findings: [{severity: major, path: greet.sh, line: 1, text: the name is not quoted}]}"#;
pub const TESTED: &str = r#"write: {tests/greet.test.sh: "sh greet.sh\n"}, report: {status: complete, abstract: {outcome: tested, next_phase: n/a}, files_created: [tests/greet.test.sh], dod_coverage: [{mark: "✓", row: "DoD-2: a test"}]}"#;
pub const FAILING: &str = r#"report: {status: complete, abstract: {outcome: the test fails, next_phase: developer}, dod_coverage: [{mark: "✗", row: "DoD-2: it greets nobody"}]}"#;
pub const BLOCKED: &str = r#"report: {status: blocked, status_reason: the greeting is not in the task, abstract: {outcome: stopped, next_phase: "stop, surface to human"}, open_questions: ["Which greeting: \"Hello\" or \"Good day\"?", "Also in French?"]}"#;

/// What a role does in its nth attempt.
pub fn at(iteration: u32, body: &str) -> String {
    format!("{{iteration: {iteration}, {body}}}")
}

/// What a role does in every other attempt.
pub fn else_(body: &str) -> String {
    format!("{{{body}}}")
}

/// A script; a role that is not named does what it does when all is well.
pub fn script(roles: &[(&str, &[String])]) -> String {
    let well: [(&str, &[String]); 4] = [
        ("developer", &[at(1, BUILT), else_(IDLE)]),
        ("dod-checker", &[else_(COVERED)]),
        ("reviewer", &[else_(APPROVED)]),
        ("tester", &[else_(TESTED)]),
    ];
    let mut text = "script: 1\nroles:\n".to_owned();
    let missing = well.iter().filter(|(role, _)| roles.iter().all(|(named, _)| named != role));
    for (role, entries) in roles.iter().chain(missing) {
        text.push_str(&format!("  {role}:\n"));
        entries.iter().for_each(|entry| text.push_str(&format!("    - {entry}\n")));
    }
    text
}

/// What a command said and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// It ended with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self
    }

    /// It said this.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "`{text}` is not in:\n{}", self.err);
        self
    }

    /// It did not say this.
    #[track_caller]
    pub fn silent_on(self, text: &str) -> Self {
        assert!(!self.err.contains(text), "`{text}` is in:\n{}", self.err);
        self
    }
}

/// A run in a world of its own.
pub struct Play {
    pub world: World,
    pub run: String,
    head: String,
}

impl Play {
    /// A repository, a task and a script beside it; nothing is started.
    pub fn new(task: &str, script: &str) -> Self {
        let mut world = World::with_repository();
        world.set("USER", "ada");
        std::fs::write(world.path("task.md"), task).unwrap();
        std::fs::write(world.path("script.yaml"), script).unwrap();
        let mut play = Self { world, run: String::new(), head: String::new() };
        play.head = play.main();
        play
    }

    /// The commit that the person's branch points to.
    fn main(&self) -> String {
        let loose = std::fs::read_to_string(self.world.path("work/.git/refs/heads/main"));
        loose.unwrap_or_else(|_| self.world.git(&["rev-parse", "main"]))
    }

    /// `standard`, signed off in advance, driven until it rests.
    pub fn standard(roles: &[(&str, &[String])]) -> (Self, Said) {
        let mut play = Self::new(TASK, &script(roles));
        let said = play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]);
        (play, said)
    }

    /// `simple`, signed off in advance, driven until it rests.
    pub fn simple(roles: &[(&str, &[String])]) -> (Self, Said) {
        let mut play = Self::new(TASK, &script(roles));
        let said = play.start(&["--input", "complexity=simple", "--answer", "sign-off=approve"]);
        (play, said)
    }

    /// Starts the run with the task, the script and these words.
    pub fn start(&mut self, words: &[&str]) -> Said {
        let all = [&["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"], words].concat();
        let said = self.tollgate(&all);
        self.named_by(&said);
        said
    }

    /// Remembers the run that a command opened.
    pub fn named_by(&mut self, said: &Said) {
        let found = said.err.split_whitespace().find(|word| word.starts_with("run_"));
        if let Some(run) = found.filter(|_| self.run.is_empty()) {
            self.run = run.to_owned();
        }
    }

    /// Types a command; `RUN` stands for the run.
    pub fn tollgate(&self, words: &[&str]) -> Said {
        let output = self.program(words).wait_with_output().unwrap();
        Said::of(output)
    }

    /// Starts a command and does not wait for it.
    pub fn program(&self, words: &[&str]) -> Child {
        let words: Vec<&str> = words.iter().map(|word| if *word == "RUN" { self.run.as_str() } else { word }).collect();
        let mut command = self.world.program(&words);
        command.stdin(std::process::Stdio::null());
        command.spawn().unwrap()
    }

    /// Answers a decision.
    pub fn decide(&self, words: &[&str]) -> Said {
        self.tollgate(&[&["decide", "RUN"], words].concat())
    }

    pub fn journal(&self) -> Arc<SqliteJournal> {
        Arc::new(SqliteJournal::open(&self.world.path("state"), Options::default()).unwrap())
    }

    /// What is in the journal.
    pub fn events(&self) -> Vec<Recorded> {
        let Ok(id) = self.run.parse() else { return Vec::new() };
        tollgate_engine::session::events(&*self.journal(), id, 0, u64::MAX).unwrap()
    }

    /// How many events there are of a kind.
    pub fn count(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        self.events().iter().filter(|event| wanted(&event.event)).count()
    }

    /// How often a role was dispatched.
    pub fn dispatched(&self, role: &str) -> usize {
        use tollgate_core::run::event::Work;
        self.count(|event| {
            matches!(event, Event::AttemptStarted(started) if matches!(&started.work, Work::Dispatch { role: at, .. } if &**at == role))
        })
    }

    /// The run that a driver has only just opened.
    pub fn find_run(&mut self, driver: &mut Child) {
        let found = self.until("a run is opened", |play| {
            let ended = driver.try_wait().unwrap();
            let found = play.journal().list(&tollgate_store::Filter::default()).unwrap().runs;
            let run = found.first().map(|summary| summary.run.to_string());
            if let (Some(status), None) = (ended, &run) {
                let mut said = String::new();
                std::io::Read::read_to_string(&mut driver.stderr.take().unwrap(), &mut said).unwrap();
                panic!("{status}: {said}");
            }
            run
        });
        self.run = found;
    }

    /// Waits for something to become true.
    #[track_caller]
    pub fn until<T>(&self, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(Instant::now() < deadline, "never: {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until an event is in the journal.
    #[track_caller]
    pub fn until_event(&self, what: &str, wanted: impl Fn(&Event) -> bool) {
        self.until(what, |play| (play.count(&wanted) > 0).then_some(()));
    }

    /// Waits until a worker's process is there.
    #[track_caller]
    pub fn until_worker(&self) {
        self.until("a worker is at work", |play| (!play.workers().is_empty()).then_some(()));
    }

    /// A file of the run's branch.
    pub fn file(&self, path: &str) -> Option<String> {
        let output = self.world.git_output(&["show", &format!("tollgate/{}:{path}", self.run)]);
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    /// The files of the run's branch that differ from its base.
    pub fn changed(&self) -> String {
        self.world.git(&["diff", "--name-status", self.head.trim(), &format!("tollgate/{}", self.run)])
    }

    /// Whether the run has a branch.
    pub fn changed_branch(&self) -> bool {
        self.world
            .git_output(&["rev-parse", "--verify", "-q", &format!("refs/heads/tollgate/{}", self.run)])
            .status
            .success()
    }

    /// What a command said, without what differs from run to run.
    pub fn told(&self, said: &Said) -> String {
        let run = if self.run.is_empty() { "[NO RUN]" } else { &self.run };
        let text = self.world.filtered(&said.err).replace(run, "[RUN]");
        format!("exit {}\n{text}", said.code.unwrap())
    }

    fn attempt(&self, role: &str, nth: u32) -> tollgate_core::id::AttemptId {
        use tollgate_core::run::event::Work;
        let found = self.events().into_iter().find_map(|event| match event.event {
            Event::AttemptStarted(started) => match &started.work {
                Work::Dispatch { role: at, iteration, .. } if &**at == role && *iteration == nth => {
                    Some(started.attempt)
                }
                _ => None,
            },
            _ => None,
        });
        found.unwrap()
    }

    /// The brief of a role's nth dispatch.
    pub fn brief(&self, role: &str, nth: u32) -> String {
        let path = format!("state/runs/{}/bundles/{}/brief.md", self.run, self.attempt(role, nth));
        std::fs::read_to_string(self.world.path(&path)).unwrap()
    }

    /// The change that a role's nth dispatch was shown, line by line.
    pub fn patch(&self, role: &str, nth: u32) -> String {
        let path = format!("state/runs/{}/bundles/{}/files/change.patch", self.run, self.attempt(role, nth));
        std::fs::read_to_string(self.world.path(&path)).unwrap_or_default()
    }

    /// The log of a role's nth dispatch.
    pub fn log(&self, role: &str, nth: u32) -> String {
        let path = format!("state/runs/{}/logs/{}.log", self.run, self.attempt(role, nth));
        std::fs::read_to_string(self.world.path(&path)).unwrap()
    }

    /// Processes that carry the run's marker.
    pub fn workers(&self) -> Vec<String> {
        let marker = format!("TOLLGATE_ATTEMPT={}/", self.run);
        let marked = |entry: &std::path::Path| {
            let environment = std::fs::read(entry.join("environ")).ok()?;
            let found = environment.split(|byte| *byte == 0).any(|word| word.starts_with(marker.as_bytes()));
            // A process that ended and was not waited for yet has no memory any more.
            found.then(|| std::fs::read_to_string(entry.join("cmdline")).unwrap_or_default())
        };
        let all = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
        all.filter_map(|entry| marked(&entry.path())).collect()
    }

    /// What holds after every command, whatever happened: the journal proves, no worker is left, and the user's
    /// repository is as it was but for refs of ours.
    #[track_caller]
    pub fn holds(&self) -> &Self {
        assert_eq!(self.main(), self.head);
        self.holds_but_for_the_head()
    }

    /// The same, where the test itself committed something.
    #[track_caller]
    pub fn holds_but_for_the_head(&self) -> &Self {
        let proof = verify::verify(&*self.journal(), self.run.parse().unwrap()).unwrap();
        assert_eq!(proof.breaches, []);
        assert_eq!(self.workers(), Vec::<String>::new());
        assert_eq!(self.world.git(&["status", "--porcelain", "--ignored"]), "");
        let head = std::fs::read_to_string(self.world.path("work/.git/HEAD")).unwrap();
        assert_eq!(head, "ref: refs/heads/main\n");
        let branch = format!("refs/heads/tollgate/{}", self.run);
        let ours = |name: &str| name == "refs/heads/main" || name == branch || name.starts_with("refs/tollgate/");
        let refs = self.world.git(&["for-each-ref", "--format=%(refname)"]);
        assert!(refs.lines().all(ours), "{refs}");
        self
    }
}
