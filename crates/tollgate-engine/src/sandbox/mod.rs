//! The sandbox: a program runs in a pid namespace, and inside of it Landlock keeps it to its own files.
//!
//! ```text
//! driver ── tollgate leash …      takes the namespaces, waits, ends as the program ended
//!             └─ first process    mounts, Landlock, reaps; when it ends, everything in the namespace does
//!                  └─ program     the worker, or the command that checks
//! ```
//!
//! Nothing happens between a fork of the driver and an exec: the program [`helper`] is this one, started again. What it is to do is said
//! in a [`Policy`], and it does all of it or does not start the program; so what the journal says was on, was on.

#![expect(clippy::disallowed_methods, reason = "this module owns the sandbox: paths, processes, namespaces")]

mod covered_programs;
pub(crate) mod denials;
mod file_rules;
mod first_process;
pub mod helper;
mod hidden_paths;
pub(crate) mod layers;
mod listening_sockets;
mod namespaces;
mod path_text;
mod probe;
mod program_folders;
mod protected_mounts;
mod read_only_mounts;
mod reserved_paths;
mod service_sockets;
mod terminal;
mod tracing;
mod visible_paths;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tollgate_core::run::sandbox_record::{Network, Sandbox, SandboxRecord, Tracing};

pub(crate) use covered_programs::is_covered;
pub use layers::{AgentHome, AgentLayer};
pub use probe::{SandboxSupport, probe};
pub use reserved_paths::{PathConflict, ProgramFolders, ReservedPaths};

pub(crate) use visible_paths::search_path;
pub use visible_paths::search_path_into;

use crate::clock;
use crate::process::{self, Control, Program};

/// The word by which this program is started as the helper.
pub const WORD: &str = "leash";
/// The oldest Landlock that knows every way to change a file: before it, `truncate` went past it.
const LANDLOCK_MIN: u32 = 3;

/// What the helper does before it starts a program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Policy {
    /// Whether it takes a pid namespace.
    pub processes: bool,
    /// Whether Landlock holds.
    pub files: bool,
    pub network: Network,
    pub tracing: Tracing,
    /// What may be read, written and run.
    #[serde(with = "path_text")]
    pub writes: Vec<PathBuf>,
    /// What may be read and run, also where it is hidden.
    #[serde(with = "path_text")]
    pub reads: Vec<PathBuf>,
    /// What may not be seen; the rest of the system may be.
    #[serde(with = "path_text")]
    pub hidden: Vec<PathBuf>,
    /// What stays as it is, also inside of what may be written: held by mounts, where it takes a namespace.
    #[serde(default, with = "path_text")]
    pub kept: Vec<PathBuf>,
    /// Whether it has mounts of its own: what is hidden is covered, and the rest cannot be written.
    #[serde(default)]
    pub mounts: bool,
    /// What covers the places of an agent.
    #[serde(default)]
    pub layers: Vec<layers::Layer>,
    /// Where services listen that would do for it what it may not: covered by mounts, where it takes a namespace.
    #[serde(default, with = "path_text")]
    pub covered: Vec<PathBuf>,
    /// Whether it ends with whoever started it.
    #[serde(default)]
    pub bound: bool,
    /// Whether the program is started without the variable that names its attempt, where it carries the mark of a driver.
    #[serde(default)]
    pub unnamed: bool,
    /// What the helper says once it holds: nobody but the driver and the helper knows it.
    pub answer: String,
    /// A folder for temporary files, in the place of `/tmp` where it has mounts.
    #[serde(with = "path_text::one")]
    pub temporary: PathBuf,
}

/// What a program is held by: made for one attempt.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// This program.
    pub helper: PathBuf,
    /// What holds it.
    pub leash: SandboxRecord,
    /// Whether it has mounts of its own.
    pub mounts: bool,
    /// Whether the places of an agent can be covered by layers.
    pub layers: bool,
    /// The state directory, which nobody sees.
    pub state: PathBuf,
    /// The folder in which it finds this program by its name.
    pub programs: PathBuf,
    /// What may be read besides the system: the repository and what is borrowed from it, the pinned files.
    pub reads: Vec<PathBuf>,
    /// What may be written besides the work tree and the scratch folder.
    pub writes: Vec<PathBuf>,
    /// What is not seen besides what nobody sees: of a run, the person's checkout.
    pub unseen: Vec<PathBuf>,
    /// What a configuration names of these: sockets in it are not covered.
    pub named: Vec<PathBuf>,
    /// What git is told in place of the person's own configuration.
    pub git_config: String,
    /// The variables that it may see besides those that everybody may; a `*` at the end is any end.
    pub variables: Vec<String>,
    /// What it may write of the folder it works in; none: all of it.
    pub write_subset: Option<WriteSubset>,
    /// Whether it ends with this process, however that ends: nobody comes back to it.
    pub bound: bool,
    /// Whether it runs what a worker wrote, and is not to tell by a variable that it is being checked.
    pub unnamed: bool,
}

/// The part of a folder that may be written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteSubset {
    /// Files and folders that may be.
    pub writes: Vec<PathBuf>,
    /// What lies in them and may not be, as far as a mount can hold it.
    pub kept: Vec<PathBuf>,
}

/// What a configuration asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SandboxRequest {
    pub sandbox: Option<Sandbox>,
    pub tracing: Option<Tracing>,
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    pub env: Vec<String>,
}

impl SandboxRequest {
    /// With what is asked for everybody. A worker may ask for less than is preferred, not for less than is required.
    #[must_use]
    pub fn under(
        mut self,
        all: Option<Sandbox>,
        tracing: Option<Tracing>,
        env: impl IntoIterator<Item = String>,
    ) -> Self {
        self.env.extend(env);
        self.tracing = tracing;
        self.sandbox = all.filter(|all| *all == Sandbox::Require).or(self.sandbox).or(all);
        self
    }

    /// What holds a program that is asked this of; the refusal says what is missing of what is required. In the folder `programs`, which is
    /// the engine's own, it finds this program.
    pub fn confinement<'a>(
        self,
        helper: &Path,
        state: &Path,
        programs: PathBuf,
        support: impl Fn() -> &'a SandboxSupport,
        deny_network: bool,
    ) -> Result<Confinement, String> {
        let sandbox = self.sandbox.unwrap_or_default();
        let (mut leash, mounts, layers) = match sandbox {
            Sandbox::Off => (sandbox_record(sandbox, &SandboxSupport::default(), false)?, false, false),
            Sandbox::Require | Sandbox::Prefer => {
                (sandbox_record(sandbox, support(), deny_network)?, support().mounts(), support().layers())
            }
        };
        leash.tracing = leash.tracing.map(|able| able.as_asked(self.tracing.unwrap_or_default()));
        let places = |paths: &[String]| paths.iter().filter_map(|path| place(path)).collect::<Vec<_>>();
        let (reads, writes) = (places(&self.reads), places(&self.writes));
        Ok(Confinement {
            helper: helper.to_owned(),
            leash,
            mounts,
            layers,
            state: state.to_owned(),
            programs,
            named: [&reads[..], &writes].concat(),
            reads,
            writes,
            unseen: Vec::new(),
            git_config: String::new(),
            variables: self.env,
            write_subset: None,
            bound: false,
            unnamed: false,
        })
    }
}

/// The folders that one attempt has to itself.
#[derive(Debug, Clone, Copy)]
pub struct OwnFolders<'a> {
    /// Where it works.
    pub tree: &'a Path,
    /// Where it leaves what is no part of the work.
    pub scratch: &'a Path,
    /// Where a run's programs share what they can make again.
    pub caches: &'a Path,
    /// What it is shown.
    pub bundle: Option<&'a Path>,
    /// What it has in the home folder.
    pub home: AgentHome<'a>,
}

/// What is on, by what was asked for and what this machine can do; the refusal says what is missing.
pub fn sandbox_record(sandbox: Sandbox, support: &SandboxSupport, is_command: bool) -> Result<SandboxRecord, String> {
    if sandbox == Sandbox::Off {
        return Ok(SandboxRecord { sandbox, ..SandboxRecord::default() });
    }
    let network = match (is_command, support.network()) {
        (false, _) => Network::Open,
        (true, network) => network,
    };
    let missing = support.missing(is_command).join("; ");
    if sandbox == Sandbox::Require && !missing.is_empty() {
        return Err(missing);
    }
    let (processes, landlock) = (support.processes.is_none(), support.landlock);
    // A program that nothing else holds is started as it is.
    let is_held = processes || landlock.is_some() || network != Network::Open;
    let tracing = is_held.then(|| support.tracing());
    let shows_attempt = is_command && !(processes && support.mark.is_none());
    let record = SandboxRecord { sandbox, processes, landlock, network, tracing, missing, ..SandboxRecord::default() };
    Ok(SandboxRecord { shows_attempt, ..record })
}

impl Confinement {
    /// The folders in which it finds programs: that of this program, and those of `PATH` that it sees.
    pub(crate) fn search_path(&self) -> io::Result<Vec<PathBuf>> {
        process::put_into(&self.programs)?;
        // `PATH` has no way to name a folder with a colon.
        let named = Some(self.programs.clone()).filter(|folder| !folder.as_os_str().as_encoded_bytes().contains(&b':'));
        Ok(named.into_iter().chain(search_path(&self.unseen)).collect())
    }

    /// What a program may read and write besides what its attempt has to itself.
    fn grants(&self, program: &Path, home: &[&str]) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let reads = self.reads.iter().cloned().chain([self.programs.clone()]);
        let own = home.iter().filter_map(|place| visible_paths::own(place));
        (
            reads.chain(visible_paths::tools(program, &self.unseen)).collect(),
            own.chain(self.writes.iter().cloned()).collect(),
        )
    }

    /// The program, held.
    pub fn hold(&self, mut program: Program, own: OwnFolders<'_>) -> io::Result<Program> {
        let SandboxRecord { processes, landlock, network, tracing, .. } = self.leash;
        let path = std::env::join_paths(self.search_path()?).map_err(io::Error::other)?;
        program.env.set.push(("PATH".into(), path));
        if !processes && landlock.is_none() && network == Network::Open {
            return Ok(program);
        }
        let temporary = own.scratch.join("tmp");
        // What the last program left there could stand where something is to be bound.
        std::fs::remove_dir_all(&temporary).or_else(absent)?;
        std::fs::create_dir_all(&temporary)?;
        let git_config = own.scratch.join("gitconfig");
        // Nor is a link followed that it laid, or a pipe waited at.
        std::fs::remove_dir_all(&git_config).or_else(absent).or_else(|_| std::fs::remove_file(&git_config))?;
        std::fs::File::create_new(&git_config)?.write_all(self.git_config.as_bytes())?;
        std::fs::create_dir_all(own.caches)?;
        let (mut reads, granted) = self.grants(&program.path, own.home.places);
        reads.extend(own.bundle.map(Path::to_owned));
        let mut writes = vec![own.scratch.to_owned(), own.caches.to_owned()];
        let kept = match self.write_subset.clone() {
            None => {
                writes.push(own.tree.to_owned());
                Vec::new()
            }
            Some(write_subset) => {
                reads.push(own.tree.to_owned());
                writes.extend(write_subset.writes);
                write_subset.kept
            }
        };
        writes.extend(granted.into_iter().chain(own.home.writes.iter().cloned()));
        for folder in writes.iter().filter(|path| path.as_os_str().as_encoded_bytes().ends_with(b"/")) {
            // What is not there when it begins can be granted to nobody.
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let layers = own.home.layer.filter(|_| self.layers).map(|layer| layers::prepare(own.home.places, layer));
        let layers = layers.transpose()?.unwrap_or_default();
        let mut kept = kept;
        if self.mounts {
            kept.extend(program_folders::within(&writes)?);
        }
        let hidden = visible_paths::hidden(&self.state, &self.unseen);
        let (files, bound, mounts) = (landlock.is_some(), self.bound, self.mounts);
        let covered = service_sockets::to_cover(reads.iter().chain(&writes), &self.named);
        let answer = clock::nonce()?;
        let policy = Policy {
            processes,
            files,
            network,
            tracing: tracing.unwrap_or(Tracing::Open),
            writes,
            reads,
            hidden,
            kept,
            mounts,
            layers,
            covered,
            bound,
            unnamed: self.unnamed && processes && !self.leash.shows_attempt,
            answer: answer.clone(),
            temporary,
        };
        let order = serde_json::to_vec(&policy).map_err(io::Error::other)?;
        let mut args: Vec<OsString> = vec![WORD.into(), program.path.into()];
        args.extend(program.args);
        let mut env = program.env;
        // What can be made again is kept for the run, not in the person's own folders.
        env.set.push(("XDG_CACHE_HOME".into(), own.caches.into()));
        env.set.push(("npm_config_cache".into(), own.caches.join("npm").into()));
        env.set.push(("GIT_CONFIG_GLOBAL".into(), git_config.into()));
        let control = Some(Control { order, answer });
        Ok(Program { path: self.helper.clone(), args, env, control, ..program })
    }
}

/// What is not there need not be removed.
fn absent(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// A place that an agent has to itself, as its adapter names it.
pub fn own_place(place: &str) -> Option<PathBuf> {
    visible_paths::own(place)
}

/// A path of a configuration: absolute, or below the home folder with `~/`.
pub fn place(path: &str) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(below) => visible_paths::in_home(below),
        None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Environment;
    use crate::testing::{folder, write};

    /// An agent may be started twice for one attempt, and what it left in its folder may be a link, a pipe or a folder.
    #[test]
    fn what_a_worker_left_in_its_own_folder_leads_nowhere() {
        let root = folder("left").canonicalize().unwrap();
        write(&root, "keys", "kept");
        let scratch = root.join("scratch");
        let confinement = Confinement { git_config: "[user]\n".to_owned(), ..held(&root) };
        let program = || Program {
            path: "/bin/true".into(),
            args: Vec::new(),
            cwd: root.clone(),
            env: Environment::default(),
            stdin: Vec::new(),
            limit: std::time::Duration::from_secs(1),
            control: None,
        };
        let own = OwnFolders {
            tree: &root,
            scratch: &scratch,
            caches: &root.join("caches"),
            bundle: None,
            home: AgentHome::default(),
        };
        for lay in ["", "link", "folder", "pipe"] {
            let file = scratch.join("gitconfig");
            std::fs::remove_dir_all(&scratch).or_else(absent).unwrap();
            std::fs::create_dir_all(&scratch).unwrap();
            match lay {
                "link" => std::os::unix::fs::symlink(root.join("keys"), &file).unwrap(),
                "folder" => std::fs::create_dir_all(file.join("deep")).unwrap(),
                "pipe" => rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap(),
                _ => {}
            }
            std::os::unix::fs::symlink(&root, scratch.join("tmp")).unwrap();
            confinement.hold(program(), own).unwrap();
            assert!(scratch.join("tmp").symlink_metadata().unwrap().is_dir());
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "[user]\n", "{lay}");
            assert_eq!(std::fs::read_to_string(root.join("keys")).unwrap(), "kept", "{lay}");
        }
    }

    fn held(state: &Path) -> Confinement {
        let support = SandboxSupport::default();
        SandboxRequest::default()
            .confinement(Path::new("/bin/true"), state, state.join("programs"), || &support, false)
            .unwrap()
    }
}
