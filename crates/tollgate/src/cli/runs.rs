//! The runs of the state directory: opening its journal, finding a run, and saying what went wrong.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_api::NotAsCheckedOut;
use tollgate_app::environment::Environment;
use tollgate_app::failure::Source;
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::files;
use tollgate_app::repository::{self, Repository};
use tollgate_core::code::Code;
use tollgate_core::id::{DecisionId, RunId};
use tollgate_core::run::{Rejection, Run};
use tollgate_engine::driver::DriveError;
use tollgate_engine::process::below_a_worker;
use tollgate_engine::service::{Service, ServiceError};
use tollgate_engine::session::{CommandError, LoadError};
use tollgate_engine::workspace::{ObjectId, Workspace};
use tollgate_store::{
    AppendError, Filter, HeadDamage, Journal, LeaseError, OpenError, Options, SqliteJournal, Summary,
};

use super::Session;
use super::commands::run::given_by;
use crate::view::detail;
use crate::view::text::{Line, Style};

/// The runs of a state directory.
#[derive(Debug)]
pub struct Runs {
    pub service: Service,
    pub journal: Arc<SqliteJournal>,
    pub state: PathBuf,
}

impl Runs {
    /// The files of a run's tree that are not as a checkout has them.
    pub fn not_as_checked_out(&self, run: &Run) -> Option<NotAsCheckedOut> {
        let look = || Workspace::of(&self.state, run).ok()?.not_as_checked_out(&ObjectId::parse(&run.tree)?).ok();
        detail::not_as_checked_out(run, look())
    }

    /// The work trees that open questions of a run may be answered in by hand; says why one is not shown.
    pub fn trees_of(&self, run: &Run, session: &Session) -> BTreeMap<DecisionId, PathBuf> {
        let (trees, withheld) = self.service.trees_of(run);
        if let Some(error) = withheld {
            let label = Line::new().add(Style::Warn, format!("warning[{}]: ", error.code()));
            session.output.say(label, Style::Plain, &format!("{error}; the work tree to change by hand is not shown"));
        }
        trees
    }

    /// Opens the journal of the state directory, and makes both when they are not there yet.
    pub fn open(session: &Session) -> Result<Self, Failure> {
        let state = session.environment.state_dir()?;
        need_a_place_apart(&state, &session.environment)?;
        let journal = SqliteJournal::open(&state, Options::default()).map_err(open_failure)?;
        Ok(Self::of(session, state, journal))
    }

    /// The same for a command that only reads: a journal that cannot be written will do.
    pub fn open_to_read(session: &Session) -> Result<Self, Failure> {
        let state = session.environment.state_dir()?;
        need_a_place_apart(&state, &session.environment)?;
        let journal = SqliteJournal::open_to_read(&state, Options::default()).map_err(open_failure)?;
        Ok(Self::of(session, state, journal))
    }

    fn of(session: &Session, state: PathBuf, journal: SqliteJournal) -> Self {
        let journal = Arc::new(journal);
        let named = ["USER", "LOGNAME"].iter().find_map(|name| session.environment.get(name)).map(str::to_owned);
        // An answer is a named person's: without a name, the number that the system knows the person by.
        let person = named.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
        let service = Service { state: state.clone(), journal: journal.clone(), person };
        Self { service, journal, state }
    }

    /// Lists runs; those whose row cannot be read are named, and hide no other. Says how many they are.
    pub fn list(&self, filter: &Filter, session: &Session) -> Result<(Vec<Summary>, usize), Failure> {
        let listed = self.journal.list(filter).map_err(|error| load_failure(error.into()))?;
        for damaged in &listed.damaged {
            let code = Code::RUN_ROW_DAMAGED;
            session.output.talk(format!("{} cannot be listed [{code}]: {}", damaged.named, damaged.why));
            session.output.talk(format!("    next: tollgate verify {}", damaged.named));
        }
        Ok((listed.runs, listed.damaged.len()))
    }

    /// The same for a command that only a person may give: refused below a worker.
    pub fn open_as_person(session: &Session) -> Result<Self, Failure> {
        need_a_person(&session.environment.state_dir()?)?;
        Self::open(session)
    }

    /// Finds a run by what was typed; one of which nothing is left but its record in the file of heads is no run to work with.
    pub fn find(&self, typed: &str) -> Result<RunId, Failure> {
        let missing = match self.service.find(typed) {
            Ok(run) => return Ok(run),
            Err(error) => service_failure(error),
        };
        let Some(run) = self.recorded(typed)? else { return Err(missing) };
        Err(self.lost(run)?.map_or(missing, |damage| lost_failure(run, &damage)))
    }

    /// Finds a run to prove or to repair: also one that only the file of heads still names.
    pub fn find_recorded(&self, typed: &str) -> Result<RunId, Failure> {
        match self.service.find(typed) {
            Ok(run) => Ok(run),
            Err(error) => self.recorded(typed)?.ok_or_else(|| service_failure(error)),
        }
    }

    /// The one run in the file of heads whose id begins like this.
    fn recorded(&self, typed: &str) -> Result<Option<RunId>, Failure> {
        let digits = typed.strip_prefix("run_").unwrap_or(typed).to_ascii_lowercase();
        let recorded = self.journal.recorded().map_err(|error| load_failure(error.into()))?;
        let mut named = recorded.into_iter().filter(|run| run.digits().starts_with(&digits));
        let first = named.next();
        Ok(first.filter(|_| named.next().is_none()))
    }

    /// Loads a run that is about to be changed: one that has lost its end is not driven over, or the loss would be
    /// forgotten.
    pub fn load_to_change(&self, typed: &str) -> Result<tollgate_engine::session::Session, Failure> {
        let id = self.find(typed)?;
        match self.lost(id)? {
            None => self.service.load(id).map_err(|error| load_failure(error).about(id)),
            Some(damage) => Err(lost_failure(id, &damage)),
        }
    }

    /// What a run has lost of its end, if it has.
    pub fn lost(&self, id: RunId) -> Result<Option<HeadDamage>, Failure> {
        let damages = self.journal.check_heads().map_err(|error| load_failure(error.into()))?;
        let of_run = |damage: &HeadDamage| {
            let (HeadDamage::LostTail { had, .. } | HeadDamage::Differs { had, .. }) = damage;
            had.run == id
        };
        Ok(damages.into_iter().find(of_run))
    }

    /// Loads a run by what was typed.
    pub fn load(&self, typed: &str) -> Result<tollgate_engine::session::Session, Failure> {
        let id = self.find(typed)?;
        self.service.load(id).map_err(|error| load_failure(error).about(id))
    }
}

/// Refuses below a worker: what follows is for a person to say.
pub fn need_a_person(state: &Path) -> Result<(), Failure> {
    if !below_a_worker(state) {
        return Ok(());
    }
    Err(Failure::refused(Code::NOT_A_PERSON, "this command is for a person, and it was given below a worker")
        .hint("a worker reports `blocked` with its question; a person gives the command in a terminal of their own"))
}

/// Refuses a state directory in the checkout that the command is given in: its own files would make it dirty.
pub fn need_a_place_apart(state: &Path, environment: &Environment) -> Result<(), Failure> {
    // Asked of the file system first: git is started only where the answer is in doubt.
    let here = environment.directory().ancestors().find(|folder| repository::is_root(folder));
    let state = files::canonical_as_far_as_it_is_there(state);
    let Some(root) = here.filter(|root| state.starts_with(root)) else { return Ok(()) };
    let Some(repository) = Repository::holding(root)? else { return Ok(()) };
    if !repository.would_see(&state.join("journal.db"))? {
        return Ok(());
    }
    let message = format!("the state directory {} lies in the checkout {}", state.display(), root.display());
    Err(Failure::environment(Code::STATE, message)
        .because("its files would count as changes that are not committed")
        .hint("set TOLLGATE_STATE to a folder outside of it, or add it to .gitignore"))
}

fn open_failure(error: OpenError) -> Failure {
    let (code, message) = (error.code(), error.to_string());
    let mut failure = Failure::environment(code, message);
    if let Some(source) = std::error::Error::source(&error) {
        failure = failure.cause(source);
    }
    failure.hint("`tollgate doctor` looks at the state directory")
}

/// Why a run could not be loaded.
pub fn load_failure(error: LoadError) -> Failure {
    let code = error.code();
    match &error {
        LoadError::NoRun(_) => Failure::refused(code, error.to_string()).hint("`tollgate ls` lists the runs"),
        LoadError::Read(_) => Failure::environment(code, "the journal cannot be read").cause(error),
        LoadError::Chain(_)
        | LoadError::Newer { .. }
        | LoadError::Damaged { .. }
        | LoadError::Protocol { .. }
        | LoadError::Broken(_) => Failure::refused(code, error.to_string())
            .hint("`tollgate verify RUN` names the first event that does not hold"),
    }
}

/// Why a command did not change a run.
pub fn command_failure(error: CommandError) -> Failure {
    let code = error.code();
    match error {
        CommandError::Rejected(rejection) => rejected(&rejection),
        CommandError::Load(error) => load_failure(error),
        CommandError::Append(AppendError::Store(error)) => {
            Failure::environment(code, "the journal cannot be written").cause(error)
        }
        CommandError::Append(error) => Failure::internal(error.to_string()),
        CommandError::Fenced { .. } | CommandError::Busy => {
            Failure::refused(code, error.to_string()).hint("`tollgate show RUN` shows how it stands now")
        }
        CommandError::Unwritable(error) => Failure::internal(error.to_string()),
    }
}

/// Why the kernel says no, with the next command to type.
pub fn rejected(rejection: &Rejection) -> Failure {
    let kind = match rejection {
        Rejection::Input { .. }
        | Rejection::Artifact { .. }
        | Rejection::Advance { .. }
        | Rejection::NotOffered { .. }
        | Rejection::TextNeeded(_) => Kind::Usage,
        Rejection::Broken(_) => Kind::Internal,
        _ => Kind::Refused,
    };
    let failure = Failure::new(kind, rejection.code(), rejection.to_string()).hint(next_step(rejection));
    match rejection {
        Rejection::Broken(violations) => violations.iter().fold(failure, |failure, violation| {
            failure
                .because(format!("invariant {} after event {}: {}", violation.invariant, violation.seq, violation.what))
        }),
        _ => failure,
    }
}

fn lost_failure(run: RunId, damage: &HeadDamage) -> Failure {
    Failure::refused(damage.code(), damage.to_string())
        .hint(format!("`tollgate verify {run}` shows what holds"))
        .hint(format!("restore the journal from a copy, or go on without what is lost: `tollgate repair {run}`"))
}

/// What to type after the kernel said no.
fn next_step(rejection: &Rejection) -> String {
    let fixed = match rejection {
        Rejection::Closed => "`tollgate show RUN` shows how it ended; `tollgate run` starts a new one",
        Rejection::TextNeeded(decision) => {
            return format!("`tollgate decide RUN {decision} --text 'YOUR ANSWER'` answers it");
        }
        Rejection::NoDecision(_) | Rejection::NotOffered { .. } => {
            "`tollgate inbox` lists the open questions and how to answer them"
        }
        Rejection::AlreadyAnswered { .. } | Rejection::AlreadyEnded(_) => {
            "`tollgate show RUN` shows the answer that counts"
        }
        Rejection::NotAllowed { .. } | Rejection::Incomplete { .. } => {
            "`tollgate inbox` says what each option stands for"
        }
        Rejection::AskedAnew { anew, .. } => {
            return format!(
                "`tollgate inbox` shows the question as it stands now; then `tollgate decide RUN {anew} OPTION`"
            );
        }
        Rejection::NotEstablished { .. } => "choose another option, or mend what is named first: `tollgate show RUN`",
        Rejection::NothingToRetry | Rejection::NoUnit(_) | Rejection::NotHeld(_) | Rejection::GoneOn(_) => {
            "`tollgate show RUN` says what the run waits for"
        }
        Rejection::NotAPerson => "give the command in your own terminal",
        Rejection::NotTheDriver | Rejection::StaleToken { .. } => "`tollgate show RUN` shows who works on it",
        Rejection::Input { name, .. } => {
            return format!("give it with `--input {name}=VALUE`; `tollgate protocol show ID` lists the inputs");
        }
        Rejection::Artifact { name, .. } if &**name == "task" => "give it with `--task FILE`",
        Rejection::Artifact { name, .. } => return format!("give it with `{}`", given_by(name)),
        Rejection::Unsupported(_) => "`tollgate protocol list` shows what runs today",
        Rejection::Overlap { .. } => "narrow one, so that no path is in both: in the task, or with `--scope SIDE=GLOB`",
        Rejection::Scope { .. } => {
            "say what each side may change: `Scope:` under its sub-heading in the task, or `--scope SIDE=GLOB`"
        }
        Rejection::Advance { .. } => "`tollgate protocol show ID --format table` lists the asks and their options",
        Rejection::NotSucceeded(_) => {
            "`tollgate show RUN` shows what is open and how it ended; `tollgate diff RUN` what it changed"
        }
        Rejection::Landing { .. } | Rejection::NoLanding { .. } => {
            "`tollgate resume RUN` brings it to its end; `tollgate show RUN` shows how it stands"
        }
        Rejection::Broken(_) => "`tollgate verify RUN` shows that the journal is sound; please report this",
    };
    fixed.to_owned()
}

/// Why something a person asked for was not done.
pub fn service_failure(error: ServiceError) -> Failure {
    let code = error.code();
    let message = error.to_string();
    match error {
        ServiceError::Protocol(diagnostics) => Failure::refused(code, message)
            .at(Source { file: "protocol".to_owned(), text: String::new() }, diagnostics)
            .hint("`tollgate protocol check` shows each place"),
        ServiceError::Contract { name, wrong } => Failure::refused(code, message)
            .at(Source { file: format!("{name}.yaml"), text: String::new() }, wrong)
            .hint("docs/contracts/language.md describes the language"),
        ServiceError::Artifact { wrong, .. } => {
            let failure = Failure::refused(code, message).hint("mend the file and start again");
            let places = wrong.diagnostics.iter().map(|found| format!("line {}: {}", found.place.line, found.message));
            places.chain(wrong.why).fold(failure, Failure::because)
        }
        ServiceError::Scopes { rejection, name, .. } => {
            Failure::refused(code, format!("`{name}` does not give each side a scope of its own"))
                .hint(next_step(&rejection))
        }
        ServiceError::NoArtifact(_) => {
            Failure::usage(code, message).hint("`tollgate protocol show ID` lists the artifacts")
        }
        ServiceError::Worker { .. } => Failure::environment(code, message)
            .hint("install the program or name another; `tollgate doctor` looks for all of them"),
        ServiceError::NoWorker(roles) => {
            let role = roles.first().map_or("ROLE", |role| role);
            let one = format!("for one: `--worker {role}=codex`, `--worker {role}=command:'PROGRAM ARGS'`");
            Failure::refused(code, message)
                .hint(format!(
                    "name a worker for all of them: `--worker claude`; {one}; or `[roles]` in the configuration"
                ))
                .hint("`tollgate worker list` shows which agents are installed")
        }
        ServiceError::Brief { .. } => {
            Failure::refused(code, message).hint(format!("`tollgate explain {code}` lists the names a brief may use"))
        }
        ServiceError::NoArea(_) => Failure::usage(code, message).hint("`tollgate protocol show ID` lists the areas"),
        ServiceError::Ambiguous { runs, .. } => {
            let failure = Failure::refused(code, message).hint("type more of the id");
            runs.into_iter().fold(failure, |failure, run| failure.because(run.to_string()))
        }
        ServiceError::NoRun(_) => Failure::refused(code, message).hint("`tollgate ls` lists the runs"),
        ServiceError::Workspace(error) => {
            let hint = error.hint();
            let failure = Failure::environment(code, message);
            if hint.is_empty() { failure } else { failure.hint(hint) }
        }
        ServiceError::Load(error) => load_failure(error),
        ServiceError::Command(error) => command_failure(error),
        ServiceError::Io { what, source } => Failure::environment(code, what).cause(source),
    }
}

/// Why a run could not be driven.
pub fn drive_failure(error: DriveError) -> Failure {
    let code = error.code();
    let message = error.to_string();
    match error {
        DriveError::Held { run, .. } => {
            Failure::refused(code, message).hint(format!("`tollgate logs -f {run}` watches it"))
        }
        DriveError::Behind { run, .. } => {
            Failure::refused(code, message).hint(format!("`tollgate repair {run}` puts the lease above them"))
        }
        DriveError::Lease(LeaseError::Store(error)) => Failure::environment(code, "the journal cannot be written")
            .cause(error)
            .hint("mend that, then `tollgate resume RUN`: nothing of it is lost"),
        DriveError::Lease(error) => std::error::Error::source(&error)
            .into_iter()
            .fold(Failure::refused(code, message), Failure::cause)
            .hint("`tollgate show RUN` shows who holds it"),
        DriveError::Command(error) => command_failure(error),
        DriveError::Load(error) => load_failure(error),
        DriveError::Hands(error) if error.code == Code::FENCED_DRIVER => {
            Failure::refused(code, message).hint("`tollgate show RUN` shows how it stands now")
        }
        DriveError::Hands(error) => {
            let hint = if error.hint.is_empty() { "`tollgate resume RUN` tries again" } else { &error.hint };
            Failure::environment(code, message).hint(hint)
        }
    }
}
