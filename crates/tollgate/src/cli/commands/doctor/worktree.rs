//! Whether what a fresh work tree needs is there.

use tollgate_api::DoctorStatus;
use tollgate_app::config::paths::Paths;
use tollgate_app::config::{Adapter, Config, Setting, Worker};
use tollgate_app::format::list;
use tollgate_app::trust::Standing;
use tollgate_engine::workers::shell_words as argv;
use tollgate_engine::workspace;
use tollgate_engine::workspace::setup::Settings;
use tollgate_engine::workspace::setup::copy::may_be_copied;

use super::Report;
use crate::cli::Invocation;

/// How many files of each kind are named.
const NAMED_MAX: usize = 5;

impl Report {
    /// What `[worktree]` says, and what of it would fail a run.
    pub(super) fn worktree(&mut self, call: &Invocation, standing: &Standing, config: &Config) {
        let force = config.worktree();
        let Some(repository) = standing.repository().filter(|_| !force.is_empty()) else { return };
        let stated = serde_json::json!({ "worktree": force });
        let settings = match Settings::of(&stated) {
            Ok(settings) => settings,
            Err(why) => return self.say("worktree", DoctorStatus::Problem, why, None),
        };
        let files = repository.files().unwrap_or_default();
        let (mut told, mut problems) = (Vec::new(), Vec::new());
        let named = |paths: Vec<String>| list(&paths.into_iter().take(NAMED_MAX).collect::<Vec<_>>());
        if let Some(copy) = &force.copy {
            let found = workspace::Repository::find(repository.root()).and_then(|known| known.untracked(&copy.value));
            match found {
                Ok((found, missing)) => {
                    problems.extend(may_be_copied(repository.root(), &found).err());
                    problems.extend(
                        missing.iter().map(|path| format!("{path} is not in the checkout, and `copy` names it")),
                    );
                    let found = found.iter().map(|path| path.display().to_string()).collect();
                    told.push(format!("copies {} ({})", named(found), copy.from.word()));
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        if let Some(setup) = &force.setup {
            problems.extend(missing_program(call, standing, setup));
            let locks = files.iter().filter(|path| tollgate_core::scope::in_scope(path, &settings.locks));
            let locks = named(locks.cloned().collect());
            let once = if locks.is_empty() { "once a tree".to_owned() } else { format!("once a tree and {locks}") };
            told.push(format!("runs `{}`, {once} ({})", argv::join(&setup.value), setup.from.word()));
        }
        if let Some(caches) = &force.caches {
            let below =
                |path: &&String| settings.caches.iter().any(|cache| std::path::Path::new(path).starts_with(cache));
            let tracked = files.iter().find(below).map(|path| format!("{path} is tracked, and lies in a cache"));
            problems.extend(tracked);
            told.push(format!("caches {} ({})", list(&caches.value), caches.from.word()));
        }
        if problems.is_empty() {
            return self.ok("worktree", told.join("; "));
        }
        let next = "fix that, or change `[worktree]` in config.toml";
        let message = format!("{}; but {}", told.join("; "), problems.join("; "));
        self.say("worktree", DoctorStatus::Problem, message, Some(next));
    }
}

/// Why the program of a setup could not be started.
fn missing_program(call: &Invocation, standing: &Standing, setup: &Setting<Vec<String>>) -> Option<String> {
    let paths = Paths { standing, directory: call.environment.directory() };
    let program = setup.value.first()?;
    match paths.locate(&Worker::plain(Adapter::Command, setup.value.clone()), false, &call.environment) {
        Ok(Some(_)) => None,
        Ok(None) if program.contains('/') => Some(format!("`{program}` is no program of the repository")),
        Ok(None) => Some(format!("`{program}` was not found on PATH")),
        Err(failure) => Some(failure.wire().message),
    }
}
