//! What this machine can do, found by doing it: a helper takes the namespaces and holds itself, and says how that went.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tollgate_core::run::sandbox_record::{Network, Tracing};

use super::{Policy, WORD as HELPER, file_rules, hidden_paths, layers, namespaces, read_only_mounts, tracing};
use crate::process::{Environment, Program, Tail, driver_mark, run};

/// What the helper is told to do instead of starting a program.
pub(super) const WORD: &str = "probe";
/// Parts that are to be missing, for tests: `processes`, `files`, `mounts`, `network`, `answers`, `tracing`, `layers`, `mark`. Debug builds alone know it.
#[cfg(debug_assertions)]
const WITHOUT: &str = "TOLLGATE_SANDBOX_WITHOUT";
const LIMIT: Duration = Duration::from_secs(10);
const BYTES_MAX: usize = 16 * 1024;

/// What this machine can do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SandboxSupport {
    /// Why there is no pid namespace; none: there is.
    pub processes: Option<String>,
    /// Why the rest of the file system cannot be mounted read-only or covered, where there is a namespace to do it in.
    #[serde(default)]
    pub mounts: Option<String>,
    /// The version of Landlock; none: it does not hold.
    pub landlock: Option<u32>,
    /// Why Landlock does not hold.
    pub files: Option<String>,
    /// Why there is no network namespace.
    pub network: Option<String>,
    /// Why nobody can answer whether a process may get into another one.
    #[serde(default)]
    pub answers: Option<String>,
    /// Why getting into another process cannot be refused.
    #[serde(default)]
    pub tracing: Option<String>,
    /// Why the places of an agent cannot be covered by layers in the state directory.
    #[serde(default)]
    pub layers: Option<String>,
    /// Why what runs below a driver cannot be marked as that.
    #[serde(default)]
    pub mark: Option<String>,
}

impl SandboxSupport {
    /// How the network can be denied.
    pub fn network(&self) -> Network {
        match self.network.as_ref().or(self.processes.as_ref()) {
            None => Network::Denied,
            // The fourth version knows TCP.
            Some(_) if self.landlock >= Some(4) => Network::NoTcp,
            Some(_) => Network::Open,
        }
    }

    /// How well processes are kept from each other: whoever answers is the first process of a namespace.
    pub fn tracing(&self) -> Tracing {
        match (&self.tracing, self.answers.as_ref().or(self.processes.as_ref())) {
            (Some(_), _) => Tracing::Open,
            (None, Some(_)) => Tracing::Refused,
            (None, None) => Tracing::Descendants,
        }
    }

    /// Whether what is hidden can be covered, and the rest be made unwritable.
    pub fn mounts(&self) -> bool {
        self.processes.is_none() && self.mounts.is_none()
    }

    /// Whether what an agent writes into its own folders can be kept from them.
    pub fn layers(&self) -> bool {
        self.mounts() && self.layers.is_none()
    }

    /// What is missing, in words.
    pub fn missing(&self, with_network: bool) -> Vec<String> {
        let part = |name: &str, why: &Option<String>| why.as_ref().map(|why| format!("no {name}: {why}"));
        let network = part("network namespace", &self.network).filter(|_| with_network);
        let held = [
            ("pid namespace", &self.processes),
            ("Landlock", &self.files),
            ("private mounts", &self.mounts),
            ("filter of calls", &self.tracing),
        ];
        held.into_iter().filter_map(|(name, why)| part(name, why)).chain(network).collect()
    }
}

/// Asks a helper what it can do; layers would lie in the state directory.
pub fn probe(helper: &Path, state: &Path) -> SandboxSupport {
    let out = Tail::new(BYTES_MAX);
    let folder = layers::probe_folder(state);
    let program = Program {
        path: helper.to_owned(),
        args: vec![HELPER.into(), WORD.into(), (&folder).into()],
        cwd: "/".into(),
        env: Environment { set: without(), ..Environment::default() },
        stdin: Vec::new(),
        limit: LIMIT,
        control: None,
    };
    let ended = run(program, out.clone(), Tail::new(BYTES_MAX));
    layers::remove_probe(&folder);
    let read = serde_json::from_slice(&out.take().0).map_err(|error| error.to_string());
    let why = match ended {
        Err(error) => error.to_string(),
        Ok(end) => match read {
            Ok(support) => return support,
            Err(error) => format!("the helper {end}: {error}"),
        },
    };
    SandboxSupport {
        processes: Some(why.clone()),
        mounts: None,
        landlock: None,
        files: Some(why.clone()),
        network: Some(why.clone()),
        answers: Some(why.clone()),
        tracing: Some(why.clone()),
        layers: Some(why.clone()),
        mark: Some(why),
    }
}

#[cfg(debug_assertions)]
fn without() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::var_os(WITHOUT).into_iter().map(|parts| (WITHOUT.into(), parts)).collect()
}

#[cfg(not(debug_assertions))]
fn without() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    Vec::new()
}

/// Fails where a test wants this part to be missing.
fn wanted(part: &str) -> io::Result<()> {
    #[cfg(debug_assertions)]
    if std::env::var(WITHOUT).is_ok_and(|parts| parts.split(',').any(|without| without == part)) {
        return Err(io::Error::other("switched off for a test"));
    }
    let _ = part;
    Ok(())
}

/// Does everything once, in the helper, and prints how it went.
pub(super) fn report(folder: &Path) -> Result<u8, String> {
    let take = |parts: &[&str]| {
        let wanted = parts.iter().try_for_each(|part| wanted(part));
        let network = parts.contains(&"network");
        let taken = wanted.and_then(|()| namespaces::take(network));
        // A network that cannot be used is none.
        let used = taken.and_then(|()| if network { namespaces::loopback_up() } else { Ok(()) });
        used.err().map(|error| error.to_string())
    };
    // All of it is taken at once; without a network of its own, the rest of it.
    let network = take(&["processes", "network"]);
    let processes = network.as_ref().and_then(|_| take(&["processes"]));
    let mut layers = None;
    let mut mounted = || {
        wanted("mounts")?;
        namespaces::own_mounts()?;
        layers = wanted("layers").and_then(|()| layers::probe(folder)).err().map(|error| error.to_string());
        hidden_paths::probe()?;
        read_only_mounts::but(&[], &[], &[])
    };
    let mounts = processes.is_none().then(&mut mounted).and_then(Result::err).map(|error| error.to_string());
    let mut support = SandboxSupport { processes, network, mounts, layers, ..SandboxSupport::default() };
    let hold =
        wanted("files").map_err(|error| error.to_string()).and_then(|()| file_rules::hold(&Policy::default(), &[]));
    match hold {
        Ok(version) => support.landlock = Some(version),
        Err(why) => support.files = Some(why),
    }
    let hold =
        |part: &str, tracing| wanted(part).and_then(|()| tracing::hold(tracing)).err().map(|error| error.to_string());
    support.answers = hold("answers", Tracing::Descendants);
    // A filter of which somebody answers is a filter.
    support.tracing = hold("tracing", Tracing::Refused);
    support.mark = wanted("mark").and_then(|()| driver_mark::lower()).err().map(|error| error.to_string());
    let text = serde_json::to_string(&support).map_err(|error| error.to_string())?;
    io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(0)
}
