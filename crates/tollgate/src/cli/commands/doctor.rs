//! `tollgate doctor`.

mod worktree;

use tollgate_api::{AreaFiles, Doctor, DoctorCheck, DoctorStatus};
use tollgate_app::config::paths::Paths;
use tollgate_app::config::{self, Adapter, CONFIG_BYTES_MAX, Config, Worker};
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::files;
use tollgate_app::format::{count, list};
use tollgate_app::protocols;
use tollgate_app::repository::{CONFIG_PATH, GIT_MIN, Repository, git_version, install_git};
use tollgate_app::runs::need_a_place_apart;
use tollgate_app::sandbox_summary;
use tollgate_app::trust::{self, Standing};
use tollgate_core::code::Code;
use tollgate_core::protocol::Protocol;
use tollgate_core::run::sandbox_record::{Network, Sandbox, SandboxRecord, Tracing};
use tollgate_core::scope;
use tollgate_engine::sandbox::{ReservedPaths, probe, search_path_into};
use tollgate_engine::workspace::{Repository as Checkout, WorkspaceError};

use crate::cli::{Exit, Invocation};
use crate::view::status;
use crate::view::table::table;
use crate::view::text::{Line, Style};

const EXAMPLES_MAX: usize = 3;

/// Check that this machine and repository are ready
///
/// Checks git, the state directory, the configuration, the trust and the workers. With a protocol it shows into which of its
/// areas the repository's files fall, and which areas match no file.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// The protocol whose areas to look at
    protocol: Option<String>,
}

pub fn run(args: &DoctorArgs, call: &Invocation) -> Result<Exit, Failure> {
    let protocol = args.protocol.as_deref().map(|name| read_protocol(name, call)).transpose()?;
    let mut report = Report(Vec::new());
    report.git(call);
    report.state(call);
    let standing = report.repository(call);
    let known = report.protocols(call);
    let config = report.config(call, standing.as_ref(), &known);
    report.sandbox(call, config.as_ref());
    if let Some(config) = &config {
        report.budget(config);
        if let Some(standing) = &standing {
            report.worktree(call, standing, config);
        }
        report.workers(call, standing.as_ref(), config, protocol.as_ref());
    }
    let repository = standing.as_ref().and_then(Standing::repository);
    let areas = match (&protocol, repository, &config) {
        (Some(protocol), Some(repository), Some(config)) => report.areas(protocol, repository, config),
        _ => Vec::new(),
    };
    if let (None, Some(known)) = (&protocol, known.first()) {
        let next = format!("tollgate doctor {}", known.name);
        report.say("protocol", DoctorStatus::Ok, "name one to see its roles and where its areas lie", Some(&next));
    }
    let ready = report.0.iter().all(|check| check.status != DoctorStatus::Problem);
    Ok(told(&Doctor { ready, checks: report.0, areas }, call))
}

/// Prints what was found, and says how to end.
pub(super) fn told(doctor: &Doctor, call: &Invocation) -> Exit {
    if call.json() {
        call.output.json(doctor);
    } else {
        print(doctor, call);
    }
    if doctor.ready { Exit::Done } else { Exit::With(Kind::Environment) }
}

fn read_protocol(name: &str, call: &Invocation) -> Result<Protocol, Failure> {
    super::protocol::need(&protocols::find(name, &call.environment)?)
}

/// What was found so far.
pub(super) struct Report(pub Vec<DoctorCheck>);

impl Report {
    pub fn say(&mut self, name: &str, status: DoctorStatus, message: impl Into<String>, next: Option<&str>) {
        let next = next.map(str::to_owned);
        self.0.push(DoctorCheck { name: name.to_owned(), status, message: message.into(), next });
    }

    pub fn ok(&mut self, name: &str, message: impl Into<String>) {
        self.say(name, DoctorStatus::Ok, message, None);
    }

    pub fn failed(&mut self, name: &str, failure: &Failure) {
        let wire = failure.wire();
        let first = wire.diagnostics.first();
        let place = first.map(|d| format!(": line {}, column {}: {}", d.line, d.column, d.message)).unwrap_or_default();
        let causes = wire.causes.iter().map(|cause| format!(": {cause}")).collect::<String>();
        let next = wire.hints.first().cloned().or_else(|| first.and_then(|diagnostic| diagnostic.hint.clone()));
        self.say(
            name,
            DoctorStatus::Problem,
            format!("{} [{}]{place}{causes}", wire.message, wire.code),
            next.as_deref(),
        );
    }

    pub fn git(&mut self, call: &Invocation) {
        match git_version(&call.environment) {
            Ok(version) if version >= GIT_MIN => self.ok("git", format!("git {}.{}", version.0, version.1)),
            Ok(version) => {
                let message = format!("git {}.{} is too old", version.0, version.1);
                self.say("git", DoctorStatus::Problem, message, Some(&install_git()));
            }
            Err(failure) => self.failed("git", &failure),
        }
    }

    pub fn state(&mut self, call: &Invocation) {
        let path = match call.environment.state_dir() {
            Ok(path) => path,
            Err(failure) => return self.failed("state", &failure),
        };
        if let Err(failure) = need_a_place_apart(&path, &call.environment) {
            return self.failed("state", &failure);
        }
        match files::make_folder(&path) {
            Ok(()) => self.ok("state", format!("{} can be written", path.display())),
            Err(error) => {
                let message = format!("{} cannot be written: {error}", path.display());
                self.say("state", DoctorStatus::Problem, message, Some("make it writable, or set TOLLGATE_STATE"));
            }
        }
    }

    fn repository(&mut self, call: &Invocation) -> Option<Standing> {
        let standing = match Standing::look(&call.environment) {
            Ok(standing) => standing,
            Err(failure) => {
                self.failed("repository", &failure);
                return None;
            }
        };
        let Some(repository) = standing.repository() else {
            self.say(
                "repository",
                DoctorStatus::Problem,
                "the working directory is in no git repository",
                Some("git init"),
            );
            return Some(standing);
        };
        match repository.head() {
            Ok(Some(head)) => {
                let commit = head.get(..12).unwrap_or(&head);
                match Checkout::is_whole(repository.root()) {
                    Err(error @ WorkspaceError::Absent { .. }) => {
                        self.failed("repository", &Failure::from(error));
                    }
                    _ => self.ok("repository", format!("{} at {commit}", repository.root().display())),
                }
                let unseen = Checkout::find(repository.root()).map(|found| found.unseen()).unwrap_or_default();
                if let Some(said) = sandbox_summary::hidden_path(&search_path_into(&unseen)) {
                    self.say("path", DoctorStatus::Note, said, None);
                }
            }
            Ok(None) => {
                let message = format!("{} has no commit to start from", repository.root().display());
                self.say("repository", DoctorStatus::Problem, message, Some("git add -A && git commit"));
            }
            Err(failure) => self.failed("repository", &failure),
        }
        self.trust(&standing);
        Some(standing)
    }

    fn trust(&mut self, standing: &Standing) {
        match standing {
            Standing::NoRepository => {}
            Standing::NoFolder(_) => self.ok("trust", "the last commit has no .tollgate/ folder that could act"),
            Standing::Untrusted(..) => {
                self.say(
                    "trust",
                    DoctorStatus::Note,
                    ".tollgate/ is not trusted as it is committed: it does not act",
                    Some("tollgate trust"),
                );
            }
            Standing::Trusted(_, folder) => {
                self.ok("trust", format!(".tollgate/ is trusted: {}", list(&folder.paths().collect::<Vec<_>>())));
                protocols::shadowed(standing).iter().for_each(|path| self.failed("protocol", &protocols::taken(path)));
            }
        }
        let uncommitted = standing.repository().map(Repository::uncommitted);
        match uncommitted {
            Some(Ok(files)) if !files.is_empty() => {
                let message = trust::ignored(&files);
                self.say(
                    "changes",
                    DoctorStatus::Note,
                    message,
                    Some("git add .tollgate && git commit, then tollgate trust"),
                );
            }
            Some(Err(failure)) => self.failed("trust", &failure),
            Some(Ok(_)) | None => {}
        }
    }

    /// The protocols that a configuration can speak of.
    fn protocols(&mut self, call: &Invocation) -> Vec<Protocol> {
        match protocols::list(&call.environment) {
            Ok(all) => all.iter().filter_map(|definition| super::protocol::need(definition).ok()).collect(),
            Err(_) => Vec::new(), // Said of the repository already.
        }
    }

    fn config(&mut self, call: &Invocation, standing: Option<&Standing>, known: &[Protocol]) -> Option<Config> {
        if let Some(repository) = standing.and_then(Standing::repository) {
            // The working copy is what a person edits: its errors are said before they are committed.
            let path = repository.root().join(CONFIG_PATH);
            match files::read_text_if_any(&path, CONFIG_BYTES_MAX)
                .and_then(|text| text.map(|text| config::parse(CONFIG_PATH.into(), text)).transpose())
            {
                Ok(Some(layer)) => self.layer(CONFIG_PATH, &layer, known),
                Ok(None) => {
                    self.say("config", DoctorStatus::Note, format!("there is no {CONFIG_PATH}"), Some("tollgate init"))
                }
                Err(failure) => self.failed("config", &failure),
            }
        }
        let loaded = Config::load(&call.environment, standing.and_then(Standing::trusted));
        match (&loaded, call.environment.user_config()) {
            (Ok(config), Some(path)) => {
                if let Some(layer) = config.layer(config::Origin::User) {
                    self.layer(&path.display().to_string(), layer, known);
                }
            }
            (Ok(_), None) => {}
            (Err(failure), _) => self.failed("config", failure),
        }
        loaded.ok()
    }

    /// Whether the names in a file are those of a protocol; of protocols that are not here nothing is known.
    fn layer(&mut self, file: &str, layer: &config::Layer, known: &[Protocol]) {
        let mut all_known = true;
        for protocol in known {
            if let Err(failure) = layer.areas_of(protocol) {
                self.failed("config", &failure.because(format!("{file}, [areas.{}]", protocol.name)));
                return;
            }
        }
        let strange = |name: &&String| !known.iter().any(|protocol| *protocol.name == **name);
        if let Some(name) = layer.areas.keys().find(strange) {
            let message = format!(
                "{file}: [areas.{name}] is for no protocol that is here; one that is given as a file may be meant"
            );
            self.say("config", DoctorStatus::Note, message, Some("tollgate protocol list"));
            all_known = false;
        }
        let strange = |name: &&String| !known.iter().any(|protocol| protocol.roles.contains_key(name.as_str()));
        if let Some(role) = layer.roles.keys().filter(|role| *role != config::ALL_OTHERS).find(strange) {
            let message = format!(
                "{file}: no protocol that is here has the role `{role}`; one that is given as a file may have it"
            );
            self.say("config", DoctorStatus::Note, message, Some("tollgate protocol list"));
            all_known = false;
        }
        if all_known {
            self.ok("config", format!("{file} is valid"));
        }
    }

    /// What holds workers here, found by doing it.
    pub fn sandbox(&mut self, call: &Invocation, config: Option<&Config>) {
        let asked = config.and_then(Config::sandbox).map(|setting| setting.value).unwrap_or_default();
        let places = call.environment.program().and_then(|program| Ok((program, call.environment.state_dir()?)));
        let able = match places {
            Ok((program, state)) => probe(program, &state),
            Err(failure) => return self.failed("sandbox", &failure),
        };
        let parts = [
            able.processes.is_none().then(|| "pid namespace".to_owned()),
            able.landlock.map(|version| format!("Landlock version {version}")),
            (able.processes.is_none() && able.mounts.is_none()).then(|| "private mounts".to_owned()),
            match able.network() {
                Network::Denied => Some("commands without network (namespace)".to_owned()),
                Network::NoTcp => Some("commands without TCP (Landlock)".to_owned()),
                Network::Open => None,
            },
        ];
        let refused = able.answers.as_ref().filter(|_| able.tracing() == Tracing::Refused);
        let refused = refused.map(|why| format!("debuggers and leak checkers are refused ({why})"));
        let worker = SandboxRecord { landlock: able.landlock, ..SandboxRecord::default() };
        let open = worker.reaches_abstract_sockets().then(|| "sockets without a path are open to workers".to_owned());
        let written = able.layers.as_ref().filter(|_| able.mounts());
        let written = written.map(|why| format!("an agent's own folder is not held ({why})"));
        let notes = open.into_iter().chain(refused).chain(written);
        let parts: Vec<String> = parts.into_iter().flatten().chain(notes).chain(able.missing(true)).collect();
        let message = format!("{}: {}", asked.word(), parts.join("; "));
        let status = match (able.missing(true).is_empty(), asked) {
            (true, _) => DoctorStatus::Ok,
            (false, Sandbox::Require) => DoctorStatus::Problem,
            (false, Sandbox::Prefer | Sandbox::Off) => DoctorStatus::Note,
        };
        let next = (status != DoctorStatus::Ok).then(|| format!("tollgate explain {}", Code::SANDBOX_MISSING));
        self.say("sandbox", status, message, next.as_deref());
        if !able.mounts() {
            self.open_programs(config);
        }
    }

    /// Agents whose own folders hold programs that the person starts: only a mount could keep those as they are.
    fn open_programs(&mut self, config: Option<&Config>) {
        for (name, setting) in config.map(Config::workers).unwrap_or_default() {
            let Adapter::Agent(adapter) = setting.value.adapter else { continue };
            if let Some(folder) = adapter.home.iter().find_map(|place| ReservedPaths::programs_in(place)) {
                let message = format!(
                    "{name} can change `{}`, a folder of PATH that lies in its own: take it out of PATH, or it can replace programs that you start",
                    folder.display()
                );
                self.say("worker", DoctorStatus::Note, message, None);
            }
        }
    }

    /// What may be used, and which worker does not tell what it uses.
    fn budget(&mut self, config: &Config) {
        let limits = config.budget();
        if limits.is_empty() {
            return;
        }
        let shown: Vec<String> = limits.iter().map(|(name, set)| config::budget::shown(name, set.value)).collect();
        let untold = config.workers().into_iter().filter_map(|(name, setting)| {
            let of = |measure: &String| limits.keys().any(|limit| limit.ends_with(&format!(".{measure}")));
            let untold: Vec<String> = setting.value.untold().into_iter().filter(of).collect();
            (!untold.is_empty()).then(|| format!("{name} does not tell its {}", list(&untold)))
        });
        let untold: Vec<String> = untold.collect();
        if untold.is_empty() {
            return self.ok("budget", shown.join(", "));
        }
        let message = format!("{}; not held: {}", shown.join(", "), untold.join("; "));
        self.say("budget", DoctorStatus::Note, message, Some("tollgate worker doctor"));
    }

    fn workers(
        &mut self,
        call: &Invocation,
        standing: Option<&Standing>,
        config: &Config,
        protocol: Option<&Protocol>,
    ) {
        let Some(standing) = standing else { return };
        let paths = Paths { standing, directory: call.environment.directory() };
        for (name, setting) in config.workers() {
            self.worker(call, paths, &format!("worker {name}"), (setting.value, setting.from), false);
        }
        let Some(protocol) = protocol else { return };
        let force = match config.in_force(protocol) {
            Ok(force) => force,
            Err(failure) => return self.failed("roles", &failure),
        };
        for (role, assigned) in force.roles.iter().filter(|(_, assigned)| assigned.name.is_none()) {
            let known = (&assigned.worker, assigned.from);
            self.worker(call, paths, &format!("worker of {role}"), known, assigned.is_typed());
        }
        let idle: Vec<&str> =
            protocol.roles.keys().map(|role| &**role).filter(|role| !force.roles.contains_key(*role)).collect();
        if idle.is_empty() {
            self.ok("roles", format!("every role of {} has a worker", protocol.name));
        } else {
            let message = format!("without a worker: {}", list(&idle));
            self.say("roles", DoctorStatus::Note, message, Some("[roles] in config.toml, or `--worker [ROLE=]NAME`"));
        }
    }

    pub fn worker(
        &mut self,
        call: &Invocation,
        paths: Paths<'_>,
        name: &str,
        (worker, from): (&Worker, config::Origin),
        typed: bool,
    ) {
        let Some(program) = worker.command.first() else { return };
        let from = from.word();
        let via =
            if let Adapter::Agent(adapter) = worker.adapter { format!("{}: ", adapter.name) } else { String::new() };
        let script = worker.adapter == Adapter::Script;
        let found = match paths.locate(worker, typed, &call.environment) {
            Ok(found) => found,
            Err(failure) => return self.failed(name, &failure),
        };
        let (message, next) = match (found, script) {
            (Some(path), true) => return self.ok(name, format!("script {path} ({from})")),
            (Some(path), false) => return self.ok(name, format!("{via}{path} ({from})")),
            (None, true) => (format!("script {program} is no file ({from})"), "correct the path"),
            (None, false) if program.contains('/') => {
                (format!("`{program}` is no program ({from})"), "correct the path, or make it executable")
            }
            (None, false) => (
                format!("`{program}` was not found on PATH ({from})"),
                "install it, or correct `command` in config.toml",
            ),
        };
        self.say(name, DoctorStatus::Problem, message, Some(next));
    }

    fn areas(&mut self, protocol: &Protocol, repository: &Repository, config: &Config) -> Vec<AreaFiles> {
        let (force, paths) = match (config.in_force(protocol), repository.head()) {
            (Ok(force), Ok(Some(_))) => match repository.files() {
                Ok(paths) => (force, paths),
                Err(failure) => {
                    self.failed("areas", &failure);
                    return Vec::new();
                }
            },
            _ => return Vec::new(), // Already said.
        };
        let area = |area: &tollgate_core::scope::Area| {
            let own = || (area.patterns.iter().map(ToString::to_string).collect(), "protocol");
            let (patterns, origin) =
                force.areas.get(&*area.name).map_or_else(own, |set| (set.value.clone(), set.from.word()));
            AreaFiles {
                area: Some(area.name.to_string()),
                patterns,
                origin: origin.into(),
                files: 0,
                examples: Vec::new(),
            }
        };
        let mut areas: Vec<AreaFiles> = protocol.areas.iter().map(area).collect();
        let mut outside =
            AreaFiles { area: None, patterns: Vec::new(), origin: "protocol".into(), files: 0, examples: Vec::new() };
        for path in paths {
            let holds = |area: &&mut AreaFiles| area.patterns.iter().any(|pattern| scope::matches(pattern, &path));
            let area = areas.iter_mut().find(holds).unwrap_or(&mut outside);
            area.files += 1;
            if area.examples.len() < EXAMPLES_MAX {
                area.examples.push(path);
            }
        }
        if outside.files > 0 {
            areas.push(outside);
        }
        let empty: Vec<&str> =
            areas.iter().filter(|area| area.files == 0).filter_map(|area| area.area.as_deref()).collect();
        if !empty.is_empty() {
            let message = format!("no file falls into {}", list(&empty));
            self.say(
                "areas",
                DoctorStatus::Note,
                message,
                Some(&format!("[areas.{}] in config.toml says where they lie", protocol.name)),
            );
        }
        areas
    }
}

fn print(doctor: &Doctor, call: &Invocation) {
    let width = call.output.width();
    let names = doctor.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in &doctor.checks {
        let state = status::doctor(check.status);
        let head = Line::new().add(state.style, format!("{} {:<8}", state.symbol, state.word));
        call.output.paragraph(head.add(Style::Strong, format!("{:<names$} ", check.name)), &check.message);
        if let Some(next) = &check.next {
            let label = Line::from(" ".repeat(names + 11)).add(Style::Accent, "next: ");
            call.output.paragraph(label, next);
        }
    }
    if doctor.areas.is_empty() {
        return;
    }
    call.output.data("");
    let row = |area: &AreaFiles| {
        let name = area.area.as_deref().unwrap_or("(no area)");
        let files = count(usize::try_from(area.files).unwrap_or(usize::MAX), "file");
        vec![
            name.into(),
            files.into(),
            area.patterns.join(" ").into(),
            area.origin.clone().into(),
            area.examples.join(" ").into(),
        ]
    };
    let rows = doctor.areas.iter().map(row).collect();
    table(&["area", "files", "patterns", "from", "for example"], rows, width)
        .into_iter()
        .for_each(|line| call.output.data(line));
}
