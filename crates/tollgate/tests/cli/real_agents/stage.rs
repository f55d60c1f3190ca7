//! One agent, one model, one run of the smallest protocol there is.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollgate_core::run::event::AttemptReported;
use tollgate_core::run::{AgentStats, Event};
use tollgate_engine::workers::agent::{self, Ask};
use tollgate_testkit::model::{Asked, Model, Step};

use super::agents::{Agent, Mcp, settings};
use crate::play::{Play, Said, TASK, script};

const PROTOCOL: &str = "\
protocol: alone
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full, budget: {time: LIMIT}}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: done, malformed: {to: again, limit: 1, then: hold}}}
";

/// How long an attempt may take where that is not what is measured.
const LONG: Duration = Duration::from_secs(120);

/// How much its own guard lets an agent do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// What its adapter says.
    Own,
    /// Everything.
    All,
    /// Nothing but to look.
    Look,
}

/// A world in which an agent is the only worker.
pub struct Stage {
    pub agent: &'static Agent,
    pub play: Play,
    pub model: Arc<Model>,
    args: Vec<String>,
    model_name: Option<&'static str>,
}

/// A report of so many new files.
pub fn report(files: &[&str]) -> Step {
    let list =
        if files.is_empty() { "None\n".to_owned() } else { files.iter().map(|file| format!("- {file}\n")).collect() };
    Step::Say(format!(
        "## Status\ncomplete\n\n## Abstract\noutcome: made\nverdict: n/a\nfiles: {} created, 0 modified, 0 deleted\nnext_phase: n/a\nopen_questions: 0\n\n## Files Created\n{list}",
        files.len()
    ))
}

/// The folders where agents may be.
pub fn search_path() -> String {
    let own = std::env::var("TOLLGATE_AGENTS").unwrap_or_default();
    format!("{own}:{}", std::env::var("PATH").unwrap_or_default())
}

impl Stage {
    /// A stage on which the model answers so; it knows the folder that the agent works in, once it was asked.
    pub fn new(
        agent: &'static Agent,
        guard: Guard,
        limit: Option<Duration>,
        answers: impl Fn(Asked<'_>, &dyn Fn(&str) -> String) -> Step + Send + Sync + 'static,
    ) -> Self {
        let mut play = Play::new(TASK, &script(&[]));
        let trees = play.world.path("state/trees").display().to_string();
        let model = Model::answering(move |asked| {
            let folder = folder_in(asked.body, &trees);
            answers(asked, &|file| folder.as_ref().map_or_else(|| file.to_owned(), |folder| format!("{folder}/{file}")))
        });
        let model = Arc::new(model.unwrap());
        let tmp = play.world.path("tmp");
        std::fs::create_dir_all(&tmp).unwrap();
        let path = format!("{}:{}", play.world.path("bin").display(), search_path());
        // Codex does without its sandbox where its own folder lies below the one for temporary files, and then does nothing.
        play.world.set("PATH", &path).set("TMPDIR", &tmp.display().to_string());
        let setup = (agent.finds)(&model.address(), &mut play.world);
        let guard = match guard {
            Guard::Own => &[][..],
            Guard::All => agent.all,
            Guard::Look => agent.look,
        };
        let args: Vec<String> = guard.iter().map(|word| (*word).to_owned()).chain(setup.args).collect();
        let mut config = format!("[worker.real]\nadapter = \"{}\"\ncommand = [\"{}\"]\n", agent.adapter, agent.program);
        config += &setup.model.map(|model| format!("model = \"{model}\"\n")).unwrap_or_default();
        for (key, list) in [("env", json!(setup.env)), ("args", json!(args))] {
            if list != json!([]) {
                config += &format!("{key} = {list}\n");
            }
        }
        config += "[roles]\nmaker = \"real\"\n";
        std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
        std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
        let limit = format!("{}s", limit.unwrap_or(LONG).as_secs());
        std::fs::write(play.world.path("alone.yaml"), PROTOCOL.replace("LIMIT", &limit)).unwrap();
        Self { agent, play, model, args, model_name: setup.model }
    }

    /// A stage on which the model goes through steps, one for each result of a tool.
    pub fn steps(agent: &'static Agent, guard: Guard, limit: Option<Duration>, steps: Vec<Step>) -> Self {
        let last = steps.last().cloned().unwrap();
        Self::new(agent, guard, limit, move |asked, _| {
            steps.get(asked.results).cloned().unwrap_or_else(|| last.clone())
        })
    }

    /// The same, where an attempt may use no more than this, too.
    pub fn allowing(self, budget: &str) -> Self {
        let path = self.play.world.path("alone.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text.replace("budget: {", &format!("budget: {{{budget}, "))).unwrap();
        self
    }

    /// The same, where the agent may write nothing, and gives a document.
    pub fn giving(self, name: &str, artifact: &str, sandbox: &str) -> Self {
        let path = self.play.world.path("alone.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text
            .replace("writes: [code]", "writes: none")
            .replace("roles:", &format!("artifacts: {{{name}: {artifact}}}\nroles:"));
        std::fs::write(path, text.replace("dispatch: maker,", &format!("dispatch: maker, gives: [{name}],"))).unwrap();
        let path = self.play.world.path("home/.config/tollgate/config.toml");
        let config = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, format!("sandbox = \"{sandbox}\"\n{config}")).unwrap();
        self
    }

    /// Puts into the agent's own folders what it wrote there during the run, as if they were not held.
    pub fn bring_home(&self) {
        let home = tollgate_engine::workers::agent::adapter(self.agent.adapter).map_or(&[][..], |adapter| adapter.home);
        let layers = self.play.world.path(&format!("state/runs/{}/agents", self.play.run));
        let words = "for upper in \"$1\"/*/*/\"$2\"/upper; do test ! -d \"$upper\" || cp -a \"$upper/.\" \"$3\"; done";
        for (number, place) in home.iter().enumerate() {
            let (number, place) = (number.to_string(), self.play.world.path("home").join(place));
            let mut copy = std::process::Command::new("sh");
            copy.args(["-c", words, "sh"]).arg(&layers).arg(number).arg(place);
            assert!(copy.status().unwrap().success());
        }
    }

    /// Runs the protocol until it rests.
    pub fn run(&mut self) -> Said {
        let said = self.play.tollgate(&["run", "../alone.yaml"]);
        self.play.named_by(&said);
        said
    }

    pub fn reports(&self) -> Vec<AttemptReported> {
        let reported = |event: tollgate_core::run::Recorded| match event.event {
            Event::AttemptReported(reported) => Some(reported),
            _ => None,
        };
        self.play.events().into_iter().filter_map(reported).collect()
    }

    /// The first report, and what its agent told.
    #[track_caller]
    pub fn reported(&self) -> (AttemptReported, AgentStats) {
        let report = self.reports().into_iter().next().unwrap_or_else(|| panic!("nothing was reported"));
        let told = report.told.clone().unwrap_or_else(|| panic!("nothing was told: {report:?}"));
        (report, *told)
    }

    /// What there is to see when something is not as it should be.
    pub fn seen(&self, said: &Said) -> String {
        let log = if self.play.run.is_empty() { String::new() } else { self.play.log("maker", 1) };
        let log: String = log.chars().take(6000).collect();
        format!(
            "{} {}:\n{}{}\n{log}\n{} calls",
            self.agent.adapter,
            self.agent.program,
            said.out,
            said.err,
            self.model.calls()
        )
    }

    /// Asks the agent by hand, as its adapter would, in a folder that it has not seen; whether it ended well in time.
    pub fn ask(&self, prompt: &str, session: Option<&str>, more: &[String]) -> bool {
        let folder = self.play.world.path("elsewhere");
        std::fs::create_dir_all(&folder).unwrap();
        let adapter = agent::adapter(self.agent.adapter).unwrap();
        let program = program(self.agent.program).unwrap();
        let args: Vec<_> = self.args.iter().chain(more).map(Into::into).collect();
        let call = (adapter.call)(&Ask {
            program: &program,
            prompt,
            model: self.model_name,
            session,
            schema: None,
            args: &args,
            held: false,
            out: None,
        });
        let path = if adapter.bridged { PathBuf::from(env!("CARGO_BIN_EXE_tollgate")) } else { program };
        let typed = self.play.world.program(&[]);
        let mut command = Command::new(path);
        command.args(call.args).current_dir(folder).env_clear();
        command.envs(typed.get_envs().filter_map(|(name, value)| Some((name, value?)))).env_remove("TOLLGATE_STATE");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), call.stdin.as_bytes()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            match child.try_wait().unwrap() {
                Some(status) => return status.success(),
                None if Instant::now() > deadline => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    return false;
                }
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// The words of a list, with what stands for a text or a file.
    pub fn words(&self, words: &[&str], stand_for: &[(&str, &str)]) -> Vec<String> {
        let word =
            |word: &&str| stand_for.iter().fold((*word).to_owned(), |word, (name, value)| word.replace(name, value));
        words.iter().map(word).collect()
    }

    /// Tells the agent of a server of tools; the arguments that it takes for that.
    pub fn serve_tools(&self) -> Vec<String> {
        let script = self.play.world.path("server.js");
        std::fs::write(&script, include_str!("server.js")).unwrap();
        let (node, script) = (program("node").unwrap().display().to_string(), script.display().to_string());
        let server = json!({"command": node, "args": [script]});
        let file = self.play.world.path("mcp.json").display().to_string();
        let named = if self.agent.program == "copilot" {
            json!({"type": "local", "command": node, "args": [script], "tools": ["*"]})
        } else {
            server.clone()
        };
        std::fs::write(&file, json!({"mcpServers": {"probe": named}}).to_string()).unwrap();
        match self.agent.mcp {
            Mcp::Args(words) => self.words(words, &[("FILE", &file), ("SERVER", &node), ("SCRIPT", &script)]),
            Mcp::Settings(path, key) => {
                let text = std::fs::read_to_string(self.play.world.path("home").join(path)).unwrap();
                let mut value: Value = serde_json::from_str(&text).unwrap();
                value[key] = match key {
                    "mcp" => json!({"probe": {"type": "local", "command": [node, script], "enabled": true}}),
                    _ => json!({"probe": server}),
                };
                settings(&self.play.world, path, &value);
                Vec::new()
            }
        }
    }
}

/// Where a program is.
pub fn program(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&search_path())
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// The work tree that a request speaks of.
fn folder_in(body: &str, trees: &str) -> Option<String> {
    let start = body.find(trees)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.@".contains(c);
    let end = body[start..].find(|c: char| !plain(c)).unwrap_or(body.len() - start);
    // Whatever the request says of it, the tree is `trees/RUN/NAME`.
    let whole = body[start..start + end].trim_end_matches('.');
    let inner: Vec<&str> = whole[trees.len()..].split('/').filter(|part| !part.is_empty()).take(2).collect();
    (inner.len() == 2).then(|| format!("{trees}/{}", inner.join("/")))
}
