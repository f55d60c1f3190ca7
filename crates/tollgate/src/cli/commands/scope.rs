//! `tollgate scope`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Subcommand;
use tollgate_api::{ScopeCheck, ScopeRole};
use tollgate_app::failure::Source;
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::files;
use tollgate_app::format::count;
use tollgate_contract::scope::blocker::{Draft, called_for};
use tollgate_contract::scope::correction::corrections;
use tollgate_contract::scope::rules::{Class, Rules, Sorted};
use tollgate_contract::scope::task::{TASK_CONTRACT, TaskScope};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::scope::{pattern_problem, protects};
use tollgate_engine::workspace::{Comparison, Patch, Repository, Side, WorkspaceError};

use crate::cli::{Exit, Invocation};
use crate::view::diagnostic;
use crate::view::scope as view;

const DOCUMENT_BYTES_MAX: u64 = 1024 * 1024;

/// Check whether a change stays within the scope of its task
#[derive(Debug, clap::Args)]
pub struct ScopeArgs {
    #[command(subcommand)]
    command: ScopeCommand,
}

#[derive(Debug, Subcommand)]
enum ScopeCommand {
    Check(CheckArgs),
}

/// Classify every changed path: primary, co-located test, incidental, out of scope or protected
///
/// The change is measured from the commit that base and head have in common. Exits with 0 when everything is in scope, 4 when a person
/// has to judge a change that may be incidental, 1 when a path is out of scope or protected. A reviewer gets warnings and 0.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The task issue, as its contract decree.task-issue describes it
    #[arg(long, value_name = "ISSUE.md")]
    task: PathBuf,
    /// Where the change begins: a branch, a tag or a commit
    #[arg(long, value_name = "REV")]
    base: String,
    /// Where it ends
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,
    /// It ends at the checkout: with what is staged, unstaged and untracked, without what is ignored
    #[arg(long, conflicts_with = "head")]
    worktree: bool,
    /// The body of the pull request, with its scope corrections
    #[arg(long, value_name = "FILE")]
    pr_body: Option<PathBuf>,
    /// Paths that may not be changed, whatever lists them; may be given several times
    #[arg(long, value_name = "GLOB")]
    protected: Vec<String>,
    /// Who asks
    #[arg(long = "as", value_enum, default_value_t = Role::Implementor)]
    role: Role,
    /// Print only what to post on the task when a path is out of scope
    #[arg(long, value_enum)]
    draft: Option<Wanted>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Role {
    /// Whoever made the change
    Implementor,
    /// Whoever looks at it: what is out of scope is a warning
    Reviewer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Wanted {
    /// The work cannot go on without it
    Blocker,
    /// The work can go on
    Escalation,
}

pub fn run(args: &ScopeArgs, call: &Invocation) -> Result<Exit, Failure> {
    match &args.command {
        ScopeCommand::Check(args) => check(args, call),
    }
}

/// A document that was read, and what is wrong with it that refuses nothing.
struct Noted {
    source: Source,
    diagnostics: Vec<Diagnostic>,
}

fn check(args: &CheckArgs, call: &Invocation) -> Result<Exit, Failure> {
    if args.role == Role::Reviewer && args.draft.is_some() {
        let failure = Failure::usage(Code::USAGE, "a reviewer posts neither a blocker nor an escalation");
        return Err(failure.hint("leave out `--draft`: `--as reviewer` prints the lines for the review"));
    }
    let (mut rules, mut notes) = rules(args, call)?;
    let side = if args.worktree { Side::Checkout } else { Side::Commit(&args.head) };
    let state = call.environment.state_dir()?;
    let repository = Repository::find(call.environment.directory()).map_err(|error| refused(&error))?;
    if args.worktree {
        tollgate_app::runs::need_a_place_apart(&state, &call.environment)?;
    }
    let given = [Some(&args.task), args.pr_body.as_ref()].into_iter().flatten();
    let given: Vec<PathBuf> = given.map(|file| call.environment.directory().join(file)).collect();
    let comparison = repository.compare(&args.base, side, &given, &state).map_err(|error| refused(&error))?;
    let missing = excludes_nothing(&rules, &comparison)?;
    // The task was read first.
    notes.iter_mut().take(1).for_each(|note| note.diagnostics.extend_from_slice(&missing));
    notes.extend(protects_nothing(&rules, &comparison)?);
    find_corrected(&mut rules, &comparison)?;
    // Where every path is settled by its name, nothing more is read.
    let patch = match rules.need_content(comparison.between.paths()) {
        true => comparison.between.read().map_err(|error| refused(&error))?,
        false => Patch::default(),
    };
    let texts = patch.texts();
    let changes = comparison.between.changes(&texts);
    let sorted = rules.sort(&changes);
    let drafts = called_for(&sorted, &rules.corrected());
    if let Some(wanted) = args.draft {
        return print_draft(wanted, &drafts, &rules, &sorted, call);
    }
    let exit = exit(args.role, &sorted);
    let wire = wire(args, &rules, &comparison, &sorted, &drafts, &notes);
    if call.json() {
        call.output.json(&wire);
        return Ok(exit);
    }
    for note in &notes {
        diagnostic::lines(&note.diagnostics, &note.source, call.output.width())
            .into_iter()
            .for_each(|line| call.output.talk(line));
    }
    if patch.too_much {
        call.output
            .talk("warning: the change is too large to read its lines; a person has to judge what depends on them");
    }
    for path in &wire.left_out {
        call.output.talk(format!("note: {path} is ignored: it is an input of this check and not tracked by git"));
    }
    view::lines(&wire, call.output.width()).into_iter().for_each(|line| call.output.data(line));
    if changes.is_empty() && !args.worktree {
        call.output.talk("hint: `--worktree` includes what is not committed");
    }
    Ok(exit)
}

fn rules(args: &CheckArgs, call: &Invocation) -> Result<(Rules, Vec<Noted>), Failure> {
    for pattern in &args.protected {
        if let Some(problem) = pattern_problem(pattern) {
            let failure = Failure::usage(Code::USAGE, format!("the pattern `{pattern}` {problem}"));
            return Err(failure.hint("patterns are relative to the repository: `--protected 'tests/**'`"));
        }
    }
    let read = |path: &PathBuf| {
        let text = files::read_text(&call.environment.directory().join(path), DOCUMENT_BYTES_MAX)?;
        Ok::<_, Failure>(Source { file: path.display().to_string(), text })
    };
    let source = read(&args.task)?;
    let (task, diagnostics) = TaskScope::read(&source.text).map_err(|diagnostics| {
        let code = diagnostics.first().map_or(Code::FIELD_KIND, |diagnostic| diagnostic.code);
        let failure = Failure::refused(code, format!("{} is not a valid task issue", source.file));
        let hint = format!("`tollgate contract show {TASK_CONTRACT} --template` shows one to fill in");
        failure.at(source.clone(), diagnostics).hint(hint)
    })?;
    let mut notes = vec![Noted { source, diagnostics }];
    let mut rules = Rules { task, ..Rules::default() };
    rules.protected = args.protected.iter().map(|pattern| pattern.as_str().into()).collect();
    if let Some(body) = &args.pr_body {
        let source = read(body)?;
        let (found, diagnostics) = corrections(&source.text);
        rules.corrections = found;
        notes.push(Noted { source, diagnostics });
    }
    Ok((rules, notes))
}

/// Warnings of `--protected` patterns that hold no file, neither before nor in the change.
fn protects_nothing(rules: &Rules, comparison: &Comparison) -> Result<Option<Noted>, Failure> {
    let changed: Vec<&Name> = comparison.between.paths().collect();
    let is_idle = |pattern: &&Name, paths: &[&Name]| !paths.iter().any(|path| protects(pattern, path));
    let idle: Vec<&Name> = rules.protected.iter().filter(|pattern| is_idle(pattern, &changed)).collect();
    if idle.is_empty() {
        return Ok(None);
    }
    let before = comparison.between.files_before().map_err(|error| refused(&error))?;
    let before: Vec<&Name> = before.iter().map(|entry| &entry.path).collect();
    let idle = idle.into_iter().filter(|pattern| is_idle(pattern, &before));
    let warning = |pattern: &Name| {
        let message = format!("`{pattern}` protects nothing: no file has this path");
        Diagnostic::warning(Code::USAGE, Place::default(), message)
            .hint("names are compared byte for byte; `git ls-files` lists them")
    };
    let source = Source { file: "--protected".to_owned(), text: String::new() };
    Ok(Some(Noted { source, diagnostics: idle.map(warning).collect() }))
}

/// Warnings of items of Out of Scope that hold no file, neither before nor in the change.
fn excludes_nothing(rules: &Rules, comparison: &Comparison) -> Result<Vec<Diagnostic>, Failure> {
    let mut files: BTreeSet<&str> = comparison.between.paths().map(|path| &**path).collect();
    if rules.task.excludes_nothing(&files).is_empty() {
        return Ok(Vec::new());
    }
    let before = comparison.between.files_before().map_err(|error| refused(&error))?;
    files.extend(before.iter().map(|entry| &*entry.path));
    Ok(rules.task.excludes_nothing(&files))
}

/// Where the files are that corrections name.
fn find_corrected(rules: &mut Rules, comparison: &Comparison) -> Result<(), Failure> {
    if rules.corrections.is_empty() {
        return Ok(());
    }
    let before = comparison.between.files_before().map_err(|error| refused(&error))?;
    let before = before.iter().map(|entry| &*entry.path).collect();
    rules.settle(&before, &comparison.between.paths().map(|path| &**path).collect());
    Ok(())
}

fn refused(error: &WorkspaceError) -> Failure {
    use WorkspaceError::{TooLarge, TooMany, TooMuch, Unmeasurable};
    // A check has no run to answer or to start again.
    let hint = match matches!(error, Unmeasurable(_) | TooLarge { .. } | TooMuch { .. } | TooMany { .. }) {
        true => "fix it, move it out of the checkout, or ignore it in `.gitignore`; then check again",
        false => error.hint(),
    };
    Failure::environment(error.code(), error.to_string()).hint(hint)
}

fn exit(role: Role, sorted: &[Sorted<'_>]) -> Exit {
    let worst = sorted.iter().map(|sorted| sorted.class).max();
    match (role, worst) {
        (Role::Reviewer, _) | (Role::Implementor, None | Some(Class::Primary | Class::Test | Class::Incidental)) => {
            Exit::Done
        }
        (Role::Implementor, Some(Class::Judge)) => Exit::With(Kind::Waiting),
        (Role::Implementor, Some(Class::OutOfScope | Class::Protected)) => Exit::With(Kind::Refused),
    }
}

fn wire(
    args: &CheckArgs,
    rules: &Rules,
    comparison: &Comparison,
    sorted: &[Sorted<'_>],
    drafts: &[Draft],
    notes: &[Noted],
) -> ScopeCheck {
    let role = match args.role {
        Role::Implementor => ScopeRole::Implementor,
        Role::Reviewer => ScopeRole::Reviewer,
    };
    let diagnostics = notes.iter().flat_map(|note| {
        note.diagnostics.iter().map(|one| tollgate_app::failure::wire_diagnostic(one, Some(&note.source.file)))
    });
    ScopeCheck {
        task: args.task.display().to_string(),
        base: comparison.base.to_string(),
        head: comparison.head.as_ref().map(ToString::to_string),
        role,
        result: view::result(sorted),
        paths: sorted.iter().map(view::path).collect(),
        left_out: comparison.left_out.iter().map(ToString::to_string).collect(),
        corrections: rules.corrected().iter().map(view::correction).collect(),
        drafts: if role == ScopeRole::Reviewer { Vec::new() } else { view::drafts(drafts, rules, sorted) },
        warnings: if role == ScopeRole::Reviewer { view::warnings(sorted) } else { Vec::new() },
        diagnostics: diagnostics.collect(),
    }
}

fn print_draft(
    wanted: Wanted,
    drafts: &[Draft],
    rules: &Rules,
    sorted: &[Sorted<'_>],
    call: &Invocation,
) -> Result<Exit, Failure> {
    let fits = |draft: &&Draft| match wanted {
        Wanted::Blocker => matches!(draft, Draft::Blocker | Draft::SpecGap),
        Wanted::Escalation => matches!(draft, Draft::Escalation),
    };
    let text =
        drafts.iter().find(fits).and_then(|draft| tollgate_contract::scope::blocker::write(*draft, rules, sorted));
    let Some(text) = text else {
        let open = sorted.iter().filter(|sorted| sorted.class == Class::Judge).count();
        let failure = Failure::refused(Code::NOTHING_OUT_OF_SCOPE, "nothing is out of scope: there is nothing to post");
        return Err(match open {
            0 => failure.hint("leave out `--draft` to see the classes"),
            _ => failure
                .hint(format!("{} to be judged; leave out `--draft` to see what was measured", count(open, "path"))),
        });
    };
    call.output.text(text.trim_end());
    Ok(exit(Role::Implementor, sorted))
}
