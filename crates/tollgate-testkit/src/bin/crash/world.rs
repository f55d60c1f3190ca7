//! Where a history happens: a repository, a state directory, an agent, and the real program.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tollgate_core::id::RunId;
use tollgate_core::run::{Recorded, Run};
use tollgate_store::{Filter, Journal, Options, SqliteJournal};

use crate::Outcome;
use crate::scenario::Scenario;

/// How long a lease lasts here.
pub const LEASE_MS: u64 = 800;
/// How many events lie between two snapshots here.
const SNAPSHOT_EVERY: u64 = 16;
/// The variable by which every process of a history is found again.
const MARK: &str = "CRASH_HISTORY";

/// A worker as they are in life: it writes before it is done, uses git, starts a tool in a session of its own, may not end
/// when it is asked to, takes its time, and notes when it began and when it had nothing unfinished any more.
const AGENT: &str = "\
#!/bin/sh
echo \"begin $TOLLGATE_ATTEMPT\" >> \"$CRASH_LOG\"
setsid sleep 600 &
token=${TOLLGATE_ATTEMPT##*/}
[ $((token % 2)) = 0 ] && trap '' TERM
wip=wip-$token
echo 'half done' > \"$wip\"
git add -A 2> /dev/null
sleep 0.04
\"$1\" worker-script --script \"$2\"
code=$?
echo \"end $TOLLGATE_ATTEMPT\" >> \"$CRASH_LOG\"
rm -f \"$wip\"
exit $code
";

/// The folder of one history.
pub struct World {
    /// It goes with the world, unless something is wrong with the history.
    pub root: PathBuf,
    mark: String,
    program: PathBuf,
    /// What git says of the user's checkout.
    pub status: String,
}

impl World {
    /// Makes the folder, the repository and the files of a scenario.
    pub fn new(root: PathBuf, program: &Path, scenario: &Scenario) -> Outcome<Self> {
        for folder in ["home", "work/src", "state"] {
            std::fs::create_dir_all(root.join(folder))?;
        }
        // What its workers are told goes past the usual list of variables.
        let config = root.join("home/.config/tollgate");
        std::fs::create_dir_all(&config)?;
        std::fs::write(config.join("config.toml"), "env = [\"CRASH_*\"]\n")?;
        let root = root.canonicalize()?;
        let files = [
            ("work/README.md", "# A project\n"),
            ("work/src/main.rs", "fn main() {}\n"),
            ("script.yaml", scenario.script),
            ("agent", AGENT),
        ];
        for (path, text) in files.iter().chain(scenario.documents) {
            std::fs::write(root.join(path), text)?;
        }
        std::fs::set_permissions(root.join("agent"), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let mark = root.display().to_string();
        let mut world = Self { root, mark, program: program.to_owned(), status: String::new() };
        world.git(&["init", "-q", "-b", "main"])?;
        world.git(&["add", "-A"])?;
        world.git(&["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "Start"])?;
        for (path, text) in scenario.dirty {
            let path = world.path("work").join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
            std::fs::write(path, text)?;
        }
        world.status = world.git(&["status", "--porcelain", "--ignored"])?;
        Ok(world)
    }

    /// A path in the folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn pinned(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("USER", "ada")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
            // Its workers count their starts in a file beside everything.
            .env("TOLLGATE_SANDBOX", "off")
            .env("TOLLGATE_STATE", self.path("state"))
            .env("TOLLGATE_LEASE_MS", LEASE_MS.to_string())
            .env("TOLLGATE_SNAPSHOT_EVERY", SNAPSHOT_EVERY.to_string())
            .env("CRASH_LOG", self.path("log"))
            .env(MARK, &self.mark);
        command
    }

    /// What git says in the user's repository.
    pub fn git(&self, words: &[&str]) -> Outcome<String> {
        let output = self.pinned(Path::new("git")).env_remove(MARK).args(words).output()?;
        if !output.status.success() {
            return Err(format!("git {words:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Starts the program; what it says goes into the file `said`. `fail_at` names the point at which it dies or stops.
    pub fn start(&self, words: &[String], fail_at: Option<&str>) -> Outcome<Child> {
        let mut said = File::options().create(true).append(true).open(self.path("said"))?;
        std::io::Write::write_all(&mut said, format!("$ {}{words:?}\n", fail_at.unwrap_or_default()).as_bytes())?;
        let mut command = self.pinned(&self.program);
        command.args(words).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
        command.envs(fail_at.map(|point| ("TOLLGATE_FAIL_AT", point)));
        Ok(command.spawn()?)
    }

    /// The command that starts the run of a scenario.
    pub fn run_words(&self, scenario: &Scenario) -> Vec<String> {
        let (agent, script) = (self.path("agent"), self.path("script.yaml"));
        let worker = format!("command:{} {} {}", agent.display(), self.program.display(), script.display());
        let words = ["run", "--no-wait", "--worker", &worker].into_iter().chain(scenario.starts.split_whitespace());
        words.map(str::to_owned).collect()
    }

    /// The journal, as somebody beside the driver sees it.
    pub fn journal(&self) -> Outcome<Arc<SqliteJournal>> {
        Ok(Arc::new(SqliteJournal::open(&self.path("state"), Options::default())?))
    }

    /// The run, if there is one, with its events.
    pub fn run(&self) -> Outcome<Option<(Run, Vec<Recorded>)>> {
        let journal = self.journal()?;
        let Some(summary) = journal.list(&Filter::default())?.runs.into_iter().next() else { return Ok(None) };
        let id: RunId = summary.run;
        let session = tollgate_engine::session::Session::load(
            journal.clone(),
            Arc::new(tollgate_engine::clock::SystemClock),
            id,
        )?;
        let events = tollgate_engine::session::events(&*journal, id, 0, u64::MAX)?;
        Ok(Some((session.run().clone(), events)))
    }

    /// The workers of this history that live, by number.
    pub fn agents(&self) -> Vec<u32> {
        let agent = self.path("agent").display().to_string();
        self.processes().into_iter().filter(|(_, line)| line.contains(&agent)).map(|(pid, _)| pid).collect()
    }

    /// The processes of this history that live, by number.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let mark = format!("{MARK}={}", self.mark);
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ours = all.filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let environ = std::fs::read(entry.path().join("environ")).ok()?;
            environ.split(|byte| *byte == 0).any(|word| word == mark.as_bytes()).then_some(())?;
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (!line.trim().is_empty()).then_some((pid, line))
        });
        ours.collect()
    }
}
