//! `tollgate export`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tollgate_api::ExportResult;
use tollgate_app::failure::Failure;
use tollgate_app::files;
use tollgate_app::format::count;
use tollgate_app::runs::Runs;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_engine::session::events;
use tollgate_store::bundle::{self, BundleError, Limits, Manifest};

use super::verify::{of_bundle, read_bundle};
use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style};

/// Write one run into a file that verifies on another machine
///
/// The file holds the journal, the objects that its events name and the protocol. It is read back and proved before the
/// command ends. `tollgate verify FILE.tar` proves it anywhere.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// The run; any unique beginning of its id will do
    run: String,
    /// The file; one that is there is left alone
    #[arg(short, long, value_name = "FILE.tar")]
    output: PathBuf,
}

pub fn run(args: &ExportArgs, call: &Invocation) -> Result<Exit, Failure> {
    if args.output.as_os_str() == "-" {
        let message = "a bundle is read back and proved before the command ends: it goes to a file, not to a pipe";
        return Err(Failure::usage(Code::USAGE, message).hint("`tollgate export RUN -o FILE.tar`"));
    }
    let runs = Runs::open_to_read(&call.environment)?;
    let id = runs.find(&args.run)?;
    let path = call.environment.directory().join(&args.output);
    let objects = objects(&runs, id)?;
    let manifest = write(&runs, id, &objects, &path)?;
    let (bytes, digest) = match prove(&path, &manifest) {
        Ok(proved) => proved,
        Err(failure) => {
            files::remove(&path)?;
            return Err(failure);
        }
    };
    let result = ExportResult {
        run: id.to_string(),
        file: args.output.display().to_string(),
        bytes,
        digest: digest.to_string(),
        events: manifest.seq,
        objects: objects.len() as u64,
        head: manifest.head.to_string(),
    };
    if call.json() {
        call.output.json(&result);
        return Ok(Exit::Done);
    }
    let events = count(usize::try_from(result.events).unwrap_or(usize::MAX), "event");
    let objects = count(objects.len(), "object");
    call.output.data(format!("{}  {events}, {objects}, {bytes} bytes, proved", result.file));
    call.output.data(format!("head    {}", result.head));
    call.output.talk("on another machine:");
    let verify = format!("tollgate verify {} --head {}={}", result.file, result.run, result.head);
    call.output.talk(Line::from("  ").add(Style::Accent, verify));
    Ok(Exit::Done)
}

/// Every object that the run's events name; the protocol is one of them.
fn objects(runs: &Runs, id: RunId) -> Result<BTreeSet<Digest>, Failure> {
    let events = events(&*runs.journal, id, 0, u64::MAX)?;
    Ok(events.iter().flat_map(|recorded| recorded.event.objects()).collect())
}

fn write(runs: &Runs, id: RunId, objects: &BTreeSet<Digest>, path: &Path) -> Result<Manifest, Failure> {
    let file = files::create_new(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::refused(Code::EXISTS, format!("{} is already there", path.display()))
                .hint("name another file, or take that one away yourself")
        }
        _ => files::cannot_write(path, error),
    })?;
    let written = bundle::write(&*runs.journal, id, objects, std::io::BufWriter::new(&file));
    let written = written.and_then(|manifest| file.sync_all().map(|()| manifest).map_err(BundleError::Io));
    written.map_err(|error| {
        // Half a file is worth nothing, and would be in the way of the next try.
        let _ = files::remove(path);
        match error {
            BundleError::Io(error) => files::cannot_write(path, error),
            error => Failure::refused(error.code(), format!("{id} cannot be exported"))
                .cause(error)
                .hint(format!("`tollgate verify {id}` names the first event that does not hold")),
        }
    })
}

/// Reads the file back and proves it; its size and digest.
fn prove(path: &Path, manifest: &Manifest) -> Result<(u64, Digest), Failure> {
    let (there, journal) = read_bundle(path)?;
    let proved = of_bundle(&there, &journal);
    if there != *manifest {
        return Err(Failure::internal(format!("{} is not what was written", path.display())));
    }
    if let Some(broken) = proved.broken {
        return Err(Failure::refused(Code::find(&broken.code).unwrap_or(Code::INTERNAL), broken.message)
            .hint(format!("`tollgate verify {}` proves the run here", manifest.run)));
    }
    let bytes = files::read(path, Limits::default().bytes)?;
    Ok((bytes.len() as u64, Digest::of(&bytes)))
}
