//! `tollgate trust`.

use std::path::PathBuf;

use tollgate_api::{TrustEntry, TrustResult};
use tollgate_app::failure::Failure;
use tollgate_app::format::{count, list};
use tollgate_app::repository::Repository;
use tollgate_app::trust::Trust;
use tollgate_core::code::Code;

use crate::cli::{Exit, Invocation};
use crate::view::table::table;

/// Let a repository's `.tollgate/` folder act
///
/// Its files can start programs. They act only as they are in the last commit, and only after you trusted exactly that
/// content; any change of it needs your word again.
#[derive(Debug, clap::Args)]
pub struct TrustArgs {
    /// The repository; the one you are in when absent
    path: Option<PathBuf>,
    /// List what is trusted, in all repositories
    #[arg(long, conflicts_with_all = ["remove", "path"])]
    list: bool,
    /// Take the trust back
    #[arg(long)]
    remove: bool,
}

pub fn run(args: &TrustArgs, call: &Invocation) -> Result<Exit, Failure> {
    let state = call.environment.state_dir()?;
    let trust = Trust::in_state_dir(&state);
    if args.list {
        let entries = trust.list()?;
        if entries.is_empty() {
            call.output.talk("nothing is trusted");
        }
        return print(entries, call);
    }
    call.need_a_person()?;
    let environment = match &args.path {
        Some(path) => &call.environment.at(path)?,
        None => &call.environment,
    };
    let repository = Repository::need(environment)?;
    if args.remove {
        let entries = trust.remove(&repository)?;
        if entries.is_empty() {
            let message = format!("nothing of {} is trusted", repository.root().display());
            return Err(Failure::refused(Code::NOTHING_TO_TRUST, message).hint("`tollgate trust --list` shows what is"));
        }
        call.output.talk(format!("took back {}", count(entries.len(), "trusted state")));
        return print(entries, call);
    }
    add(&trust, &repository, call)
}

fn add(trust: &Trust, repository: &Repository, call: &Invocation) -> Result<Exit, Failure> {
    let uncommitted = repository.uncommitted()?;
    let Some(folder) = repository.folder()? else {
        let message = format!("the last commit of {} holds no .tollgate/ folder", repository.root().display());
        let hint = if uncommitted.is_empty() {
            "`tollgate init` writes one"
        } else {
            "`git add .tollgate && git commit`, then `tollgate trust`"
        };
        return Err(Failure::refused(Code::NOTHING_TO_TRUST, message).hint(hint));
    };
    let entry = trust.add(repository, &folder, call.now_ms())?;
    call.output.talk(format!("trusted, as they are in the last commit: {}", list(&entry.files)));
    if !uncommitted.is_empty() {
        let files = list(&uncommitted);
        call.output.talk(format!("note: the working copy differs ({files}); only what is committed acts"));
    }
    print(vec![entry], call)
}

fn print(entries: Vec<TrustEntry>, call: &Invocation) -> Result<Exit, Failure> {
    if call.json() {
        call.output.json(&TrustResult { entries });
        return Ok(Exit::Done);
    }
    let row = |entry: TrustEntry| {
        let digest = entry.digest.get(..12).unwrap_or(&entry.digest).to_owned();
        let files = count(entry.files.len(), "file");
        vec![digest.into(), files.into(), entry.repository.into()]
    };
    let lines = table(&[], entries.into_iter().map(row).collect(), call.output.width());
    lines.into_iter().for_each(|line| call.output.data(line));
    Ok(Exit::Done)
}
