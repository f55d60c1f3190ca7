//! Errors of the engine as failures: which kind each is, and what to do next.

use tollgate_core::code::Code;
use tollgate_core::id::RunId;
use tollgate_core::run::Rejection;
use tollgate_engine::driver::DriveError;
use tollgate_engine::service::ServiceError;
use tollgate_engine::session::{CommandError, LoadError};
use tollgate_engine::workspace::WorkspaceError;
use tollgate_store::{AppendError, LeaseError, OpenError, ReadError};

use crate::failure::{Failure, Kind, Source};

/// The document that has a flag of its own.
pub const TASK: &str = "task";

/// How a document is given.
pub fn given_by(name: &str) -> String {
    if name == TASK { format!("--{TASK} FILE") } else { format!("--give {name}=FILE") }
}

/// An error as a failure whose hints name the run.
pub fn about<E: Into<Failure>>(run: RunId) -> impl FnOnce(E) -> Failure {
    move |error| error.into().about(run)
}

impl From<WorkspaceError> for Failure {
    fn from(error: WorkspaceError) -> Self {
        let failure = Self::environment(error.code(), error.to_string());
        let hint = error.hint();
        if hint.is_empty() { failure } else { failure.hint(hint) }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        LoadError::from(error).into()
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        let mut failure = Failure::environment(code, message);
        if let Some(source) = std::error::Error::source(&error) {
            failure = failure.cause(source);
        }
        failure.hint("`tollgate doctor` looks at the state directory")
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
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
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        let code = error.code();
        match error {
            CommandError::Rejected(rejection) => (&rejection).into(),
            CommandError::Load(error) => error.into(),
            CommandError::Append(AppendError::Store(error)) => {
                Failure::environment(code, "the journal cannot be written").cause(error)
            }
            CommandError::Append(error) => Failure::internal(error.to_string()),
            CommandError::Fenced { .. } | CommandError::Busy => {
                Failure::refused(code, error.to_string()).hint("`tollgate show RUN` shows its state now")
            }
            CommandError::Unwritable(error) => Failure::internal(error.to_string()),
        }
    }
}

impl From<&Rejection> for Failure {
    fn from(rejection: &Rejection) -> Self {
        let kind = match rejection {
            Rejection::Input { .. }
            | Rejection::Artifact { .. }
            | Rejection::Advance { .. }
            | Rejection::NotOffered { .. }
            | Rejection::TextNeeded(_)
            | Rejection::OneByOne { .. } => Kind::Usage,
            Rejection::Broken(_) => Kind::Internal,
            _ => Kind::Refused,
        };
        let failure = Failure::new(kind, rejection.code(), rejection.to_string()).hint(next_step(rejection));
        match rejection {
            Rejection::Broken(violations) => violations.iter().fold(failure, |failure, violation| {
                failure.because(format!(
                    "invariant {} after event {}: {}",
                    violation.invariant, violation.seq, violation.what
                ))
            }),
            _ => failure,
        }
    }
}

/// What to type after the kernel said no.
fn next_step(rejection: &Rejection) -> String {
    let fixed = match rejection {
        Rejection::Closed => "`tollgate show RUN` shows how it ended; `tollgate run` starts a new one",
        Rejection::TextNeeded(decision) => {
            return format!("`tollgate decide RUN {decision} --text 'YOUR ANSWER'` answers it");
        }
        Rejection::OneByOne { decision, open } => {
            let answers: String = open.iter().map(|number| format!(" --answer {number}='ANSWER'")).collect();
            return format!("`tollgate decide RUN {decision}{answers}` answers what is open");
        }
        Rejection::NoDecision(_) | Rejection::NotOffered { .. } => {
            "`tollgate inbox` lists the open questions and how to answer them"
        }
        Rejection::AlreadyAnswered { .. } | Rejection::AlreadyEnded(_) => {
            "`tollgate show RUN` shows the answer that counts"
        }
        Rejection::NotAllowed { .. } | Rejection::Incomplete { .. } => "`tollgate inbox` says what each option means",
        Rejection::ReasonNeeded => "say why: `--why 'TEXT'`",
        Rejection::NotNow { .. } => "answer again when it is so; `tollgate show RUN` says who works on it",
        Rejection::AskedAnew { anew, .. } => {
            return format!(
                "`tollgate inbox` shows the question as it is now; then `tollgate decide RUN {anew} OPTION`"
            );
        }
        Rejection::NotEstablished { .. } => "choose another option, or fix what is named first: `tollgate show RUN`",
        Rejection::NothingToRetry | Rejection::NoUnit(_) | Rejection::NotHeld(_) | Rejection::GoneOn(_) => {
            "`tollgate show RUN` says what the run waits for"
        }
        Rejection::NotAPerson => "give the command in your own terminal",
        Rejection::NotTheDriver | Rejection::StaleToken { .. } | Rejection::OtherWork { .. } => {
            "`tollgate show RUN` shows who works on it"
        }
        Rejection::NotInProtocol { .. } => "`tollgate verify RUN` compares its protocol with the one it is pinned to",
        Rejection::Input { name, .. } => {
            let answer = format!("`tollgate decide RUN DECISION --answer {name}=VALUE` where it is asked");
            return format!(
                "give it with `--input {name}=VALUE`, or {answer}; `tollgate protocol show ID` lists the inputs"
            );
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
        Rejection::EmptyChange => "`tollgate decisions RUN` shows who accepted that nothing is changed",
        Rejection::Landing { .. } | Rejection::NoLanding { .. } | Rejection::LandingExpects { .. } => {
            "`tollgate resume RUN` brings it to its end; `tollgate show RUN` shows its state"
        }
        Rejection::Broken(_) => "`tollgate verify RUN` shows that the journal is sound; please report this",
    };
    fixed.to_owned()
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
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
                let failure = Failure::refused(code, message).hint("fix the file and start again");
                let places =
                    wrong.diagnostics.iter().map(|found| format!("line {}: {}", found.place.line, found.message));
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
            ServiceError::Covered { path, .. } => {
                let folder = path.parent().unwrap_or(&path).display();
                Failure::environment(code, message).hint(format!(
                    "name what it needs in `reads` of the configuration (`reads = [\"{folder}\"]`), or move it"
                ))
            }
            ServiceError::NoWorker(roles) => {
                let role = roles.first().map_or("ROLE", |role| role);
                let one = format!("for one: `--worker {role}=codex`, `--worker {role}=command:'PROGRAM ARGS'`");
                Failure::refused(code, message)
                    .hint(format!(
                        "name a worker for all of them: `--worker claude`; {one}; or `[roles]` in the configuration"
                    ))
                    .hint("`tollgate worker list` shows which agents are installed")
            }
            ServiceError::Brief { .. } => Failure::refused(code, message)
                .hint(format!("`tollgate explain {code}` lists the names a brief may use")),
            ServiceError::NoArea(_) => {
                Failure::usage(code, message).hint("`tollgate protocol show ID` lists the areas")
            }
            ServiceError::Ambiguous { runs, .. } => {
                let failure = Failure::refused(code, message).hint("type more of the id");
                runs.into_iter().fold(failure, |failure, run| failure.because(run.to_string()))
            }
            ServiceError::NoRun(_) => Failure::refused(code, message).hint("`tollgate ls` lists the runs"),
            ServiceError::Workspace(error) => error.into(),
            ServiceError::Load(error) => error.into(),
            ServiceError::Command(error) => error.into(),
            ServiceError::Io { what, source } => Failure::environment(code, what).cause(source),
        }
    }
}

impl From<DriveError> for Failure {
    fn from(error: DriveError) -> Self {
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
                .hint("fix that, then `tollgate resume RUN`: nothing of it is lost"),
            DriveError::Lease(error) => std::error::Error::source(&error)
                .into_iter()
                .fold(Failure::refused(code, message), Failure::cause)
                .hint("`tollgate show RUN` shows who holds it"),
            DriveError::Command(error) => error.into(),
            DriveError::Load(error) => error.into(),
            DriveError::Executor(error) if error.code == Code::FENCED_DRIVER => {
                Failure::refused(code, message).hint("`tollgate show RUN` shows its state now")
            }
            DriveError::Executor(error) => {
                let hint = if error.hint.is_empty() { "`tollgate resume RUN` tries again" } else { &error.hint };
                Failure::environment(code, message).hint(hint)
            }
        }
    }
}
