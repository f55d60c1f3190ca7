//! `tollgate verify`.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use tollgate_api::{Broken, VerifiedRun, VerifyResult};
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::files;
use tollgate_app::format::count;
use tollgate_app::runs::Runs;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_engine::session::LoadError;
use tollgate_engine::verify::commits::{self, Missing};
use tollgate_engine::verify::state_directory::{RunProof, Selection, prove};
use tollgate_engine::verify::{Breach, verify_rows};
use tollgate_store::bundle::{self, BundleError, Limits, Manifest};
use tollgate_store::{Journal, MemoryJournal};

use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style};

/// Prove that nothing in a run's journal was changed, lost or skipped
///
/// Chain, replay, snapshot, summary, lease, invariants and objects, from the first event on, and whether the commit of a run that
/// succeeded is still there. Names the first event that does not hold. Exit 0 only when everything holds.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// The run, or the file of an export; any unique beginning of a run's id will do
    #[arg(value_name = "RUN|FILE.tar", conflicts_with = "all")]
    what: Option<String>,
    /// Every run of the state directory, and what it should hold
    #[arg(long)]
    all: bool,
    /// The head that a run is known to have had; it must lie on the run's chain
    #[arg(long, value_name = "RUN=HASH", value_parser = known_head)]
    head: Vec<(String, Digest)>,
}

fn known_head(text: &str) -> Result<(String, Digest), String> {
    let (run, hash) = text.split_once('=').ok_or("write it as RUN=HASH")?;
    let hash = hash.parse().map_err(|_| format!("`{hash}` is no head: it has 64 digits of 0-9 and a-f"))?;
    Ok((run.to_owned(), hash))
}

pub fn run(args: &VerifyArgs, call: &Invocation) -> Result<Exit, Failure> {
    let result = match &args.what {
        Some(what) if is_file(what, call) => of_file(what, args, call)?,
        _ => of_state(args, call)?,
    };
    let exit = if result.valid { Exit::Done } else { Exit::With(Kind::Refused) };
    if call.json() {
        call.output.json(&result);
    } else {
        print(&result, call);
    }
    Ok(exit)
}

/// A run's id has neither a dot nor a slash.
fn is_file(what: &str, call: &Invocation) -> bool {
    what.contains(['.', '/']) || files::is_file(&call.environment.directory().join(what))
}

fn of_file(what: &str, args: &VerifyArgs, call: &Invocation) -> Result<VerifyResult, Failure> {
    let (manifest, journal) = read_bundle(&call.environment.directory().join(what))?;
    let mut run = of_bundle(&manifest, &journal);
    for (typed, head) in &args.head {
        let digits = typed.strip_prefix("run_").unwrap_or(typed).to_ascii_lowercase();
        if !manifest.run.digits().starts_with(&digits) {
            return Err(Failure::refused(Code::NO_RUN, format!("{what} holds {}, not `{typed}`", manifest.run)));
        }
        compare(&journal, manifest.run, *head, &mut run);
    }
    if let Some(broken) = &mut run.broken {
        // A file is not mended: what it was made from may be whole.
        broken.next.retain(|next| next.starts_with("tollgate explain"));
        broken
            .next
            .insert(0, "get the file again, or export the run again where it is: a file cannot be repaired".to_owned());
    }
    Ok(VerifyResult { valid: run.valid, source: what.to_owned(), runs: vec![run] })
}

fn of_state(args: &VerifyArgs, call: &Invocation) -> Result<VerifyResult, Failure> {
    let runs = Runs::open_to_read(&call.environment)?;
    let mut heads: BTreeMap<RunId, Vec<Digest>> = BTreeMap::new();
    for (typed, head) in &args.head {
        heads.entry(runs.find(typed)?).or_default().push(*head);
    }
    let named = args.what.as_deref().map(|typed| runs.find_recorded(typed)).transpose()?;
    let wanted = match (named, args.all) {
        (Some(run), _) => Selection::Runs(vec![run]),
        (None, false) if !heads.is_empty() => Selection::Runs(heads.keys().copied().collect()),
        (None, true) => Selection::All,
        (None, false) => {
            return Err(Failure::usage(Code::USAGE, "say what to prove")
                .hint("`tollgate verify RUN`, `tollgate verify --all` or `tollgate verify FILE.tar`"));
        }
    };
    if let (Selection::Runs(wanted), Some((run, _))) = (&wanted, heads.iter().next_back())
        && !wanted.contains(run)
    {
        return Err(Failure::usage(Code::USAGE, format!("--head names {run}, which is not what is proved")));
    }
    let mut proved: Vec<VerifiedRun> = Vec::new();
    for one in prove(&runs.journal, &wanted)? {
        let run = one.proof.run;
        let mut one = wire(one);
        if one.valid && is_run(&one.run) {
            let loaded = runs.load(&one.run)?;
            match commits::missing(&runs.state, loaded.run()) {
                Some(Missing::Work(breach)) => add(&mut one, breach),
                Some(Missing::PatchIsLeft(what)) => one.note = Some(what),
                None => {}
            }
        }
        for head in heads.remove(&run).unwrap_or_default() {
            compare(&*runs.journal, run, head, &mut one);
        }
        proved.push(one);
    }
    let valid = proved.iter().all(|run| run.valid);
    Ok(VerifyResult { valid, source: runs.state.display().to_string(), runs: proved })
}

/// Reads the file of an export into memory.
pub fn read_bundle(path: &Path) -> Result<(Manifest, MemoryJournal), Failure> {
    let file = files::open_to_read(path)?;
    bundle::read(std::io::BufReader::new(file), Limits::default()).map_err(|error| match error {
        // What is no archive, or ends too early, is read without trouble: it is not what it should be.
        BundleError::Io(error) if !matches!(error.kind(), ErrorKind::Other | ErrorKind::UnexpectedEof) => {
            files::cannot_read(&path.display().to_string(), error)
        }
        BundleError::Io(error) => not_an_export(path, Code::BUNDLE_INVALID).cause(error),
        error => not_an_export(path, error.code()).cause(error),
    })
}

fn not_an_export(path: &Path, code: Code) -> Failure {
    Failure::refused(code, format!("{} is not a whole export", path.display()))
        .hint("`tollgate export RUN -o FILE.tar` writes one")
}

/// Proves what an export holds.
pub fn of_bundle(manifest: &Manifest, journal: &MemoryJournal) -> VerifiedRun {
    let rows = tollgate_store::chain::rows(journal, manifest.run, 0).map(|row| row.map_err(LoadError::from));
    let (mut proof, _) = verify_rows(manifest.run, rows, &|digest| Ok(journal.object(digest)?));
    if proof.breaches.is_empty() && (proof.events, proof.head) != (manifest.seq, manifest.head) {
        let what = format!(
            "the file says that it ends at event {} with head {}; its rows end at event {} with head {}",
            manifest.seq, manifest.head, proof.events, proof.head
        );
        proof.breaches.push(Breach { code: Code::CHAIN_HEAD, seq: Some(proof.events.min(manifest.seq) + 1), what });
    }
    wire(RunProof { name: manifest.run.to_string(), proof })
}

/// A head that was known must lie on the chain that was proved.
fn compare(journal: &dyn Journal, run: RunId, known: Digest, proved: &mut VerifiedRun) {
    let on_chain = tollgate_store::chain::rows(journal, run, 0)
        .filter_map(Result::ok)
        .any(|row| row.head == known && row.last <= proved.events);
    if !on_chain {
        let what = format!("the head {known} does not lie on its chain, which ends with {}", proved.head);
        add(proved, Breach { code: Code::HEAD_DIFFERS, seq: None, what });
    }
}

fn wire(proved: RunProof) -> VerifiedRun {
    let mut run = VerifiedRun {
        run: proved.name.clone(),
        valid: true,
        events: proved.proof.events,
        head: proved.proof.head.to_string(),
        objects: proved.proof.objects,
        broken: None,
        note: None,
    };
    if let Some(breach) = proved.first() {
        add(&mut run, breach.clone());
    }
    run
}

/// Adds what does not hold; the first counts.
fn add(run: &mut VerifiedRun, breach: Breach) {
    run.valid = false;
    if run.broken.is_some() {
        return;
    }
    let copy = "keep a copy of the state directory before anything else: what is lost cannot be made again".to_owned();
    let next = match kind(breach.code) {
        "snapshot" | "summary" => {
            vec!["the events are whole; the run is loaded from them".to_owned(), copy]
        }
        "commit" => vec![
            "the events are whole; put the repository back where it was, or fetch the commit from a clone that has it"
                .to_owned(),
            format!("tollgate explain {}", breach.code),
        ],
        // Nothing is damaged that a repair could cut.
        _ if [Code::NEWER_EVENT, Code::HEAD_DIFFERS].contains(&breach.code) => {
            vec![copy, format!("tollgate explain {}", breach.code)]
        }
        "heads" => vec![
            "the events are whole; compare their head with one you know: `--head RUN=HASH`".to_owned(),
            format!("tollgate explain {}", breach.code),
            format!("tollgate repair {}", run.run),
        ],
        _ => vec![copy, format!("tollgate explain {}", breach.code), format!("tollgate repair {}", run.run)],
    };
    // Rows of no run, and rows that name none, are nothing that could be repaired.
    let next = next.into_iter().filter(|next| !next.starts_with("tollgate repair") || is_run(&run.run)).collect();
    run.broken = Some(Broken {
        what: kind(breach.code).to_owned(),
        seq: breach.seq,
        code: breach.code.to_string(),
        message: breach.what,
        next,
    });
}

/// Whether something that was proved is a run; rows that belong to none are filed as one.
fn is_run(name: &str) -> bool {
    name.parse::<RunId>().is_ok()
}

/// What does not hold, in one word.
pub fn kind(code: Code) -> &'static str {
    match code {
        Code::TAIL_LOST | Code::HEAD_DIFFERS | Code::CHAIN_HEAD => "tail",
        Code::NEWER_EVENT | Code::DAMAGED_EVENT => "event",
        Code::SNAPSHOT_DIFFERS => "snapshot",
        Code::SUMMARY_DIFFERS => "summary",
        Code::RUN_ROW_DAMAGED => "row",
        Code::HEAD_UNRECORDED => "heads",
        Code::EPOCH_BEHIND => "lease",
        Code::RUN_COMMIT_MISSING => "commit",
        Code::BROKEN_HISTORY => "invariant",
        Code::OBJECT_DAMAGED | Code::OBJECT_MISSING | Code::OBJECT_CHANGED | Code::NO_PROTOCOL_OBJECT => "object",
        _ => "chain",
    }
}

fn print(result: &VerifyResult, call: &Invocation) {
    let output = &call.output;
    for run in &result.runs {
        let Some(broken) = &run.broken else {
            let events = count(usize::try_from(run.events).unwrap_or(usize::MAX), "event");
            let objects = count(usize::try_from(run.objects).unwrap_or(usize::MAX), "object");
            let line = Line::new().add(Style::Good, "✓ ").add(Style::Strong, &run.run);
            output.data(line.text(format!("  holds: {events}, {objects}")));
            output.data(Line::from("  head ").add(Style::Faint, &run.head));
            run.note.iter().for_each(|note| output.paragraph("  ", note));
            continue;
        };
        let at = broken.seq.map(|seq| format!(" at event {seq}")).unwrap_or_default();
        let line = Line::new().add(Style::Bad, "✗ ").add(Style::Strong, &run.run);
        let fails = if broken.code == Code::RUN_COMMIT_MISSING.to_string() { "is missing" } else { "does not hold" };
        output.data(line.text(format!("  {} {fails}{at} [{}]", broken.what, broken.code)));
        output.paragraph("    ", &broken.message);
        for next in &broken.next {
            output.paragraph("    next: ", next);
        }
    }
    let (runs, others): (Vec<_>, Vec<_>) = result.runs.iter().partition(|run| is_run(&run.run));
    let bad = runs.iter().filter(|run| !run.valid).count();
    let mut words = match (runs.len(), bad) {
        (0, _) if others.is_empty() => "there is nothing to prove".to_owned(),
        (0, _) => "there is no run".to_owned(),
        (all, 0) => format!("{}, everything holds", count(all, "run")),
        (all, bad) => format!("{bad} of {} {} not hold", count(all, "run"), if bad == 1 { "does" } else { "do" }),
    };
    if !others.is_empty() {
        words = format!(
            "{words}; beside the runs: {}",
            others.iter().map(|other| other.run.as_str()).collect::<Vec<_>>().join(", ")
        );
    }
    output.talk(words);
}
