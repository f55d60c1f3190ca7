//! `tollgate evidence`.

use std::collections::BTreeSet;
use std::time::Duration;

use tollgate_api::StoredObject;
use tollgate_app::failure::Failure;
use tollgate_app::format::count;
use tollgate_app::runs::Runs;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::run::Recorded;
use tollgate_store::Journal;

use crate::cli::{Exit, Invocation};

/// Shorter beginnings name too much.
const DIGITS_MIN: usize = 6;
/// Rows of the journal that are read at once.
const ROWS: usize = 1_024;

/// Print the bytes of an object: a report, the output of a command, a task file
///
/// `tollgate show RUN --evidence` and `--json` name objects. Into a pipe the bytes go as they are; in a terminal what could
/// steer it is made harmless.
#[derive(Debug, clap::Args)]
pub struct EvidenceArgs {
    /// The object; any unique beginning of six digits or more will do
    object: String,
}

pub fn run(args: &EvidenceArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = Runs::open_to_read(&call.environment)?;
    let digest = find(&runs, &args.object)?;
    let Some(bytes) = runs.journal.object(digest)? else {
        return Err(unknown(&args.object));
    };
    if call.json() {
        let text = String::from_utf8_lossy(&bytes);
        call.output.json(&StoredObject {
            object: digest.to_string(),
            bytes: bytes.len() as u64,
            exact: text.as_bytes() == &*bytes,
            text: text.into_owned(),
        });
    } else {
        call.output.bytes(&bytes);
    }
    Ok(Exit::Done)
}

fn unknown(typed: &str) -> Failure {
    Failure::refused(Code::NO_OBJECT, format!("there is no object `{typed}`"))
        .hint("`tollgate show RUN --evidence` names the objects of a run")
}

/// The object of that name, or the only one that any run names with that beginning.
fn find(runs: &Runs, typed: &str) -> Result<Digest, Failure> {
    if let Ok(digest) = typed.parse() {
        return Ok(digest);
    }
    let is_digits = typed.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_digits || typed.len() < DIGITS_MIN {
        let message = format!("`{typed}` names no object: it takes {DIGITS_MIN} or more digits of 0-9 and a-f");
        return Err(
            Failure::usage(Code::USAGE, message).hint("`tollgate show RUN --evidence` names the objects of a run")
        );
    }
    let mut found: BTreeSet<Digest> = BTreeSet::new();
    let mut place = 0;
    loop {
        let rows = runs.journal.since(place, ROWS, Duration::ZERO)?;
        let Some(last) = rows.last() else { break };
        place = last.place;
        let events =
            rows.iter().flat_map(tollgate_store::Row::events).filter_map(|text| Recorded::from_bytes(text).ok());
        found.extend(
            events.flat_map(|event| event.event.objects()).filter(|known| known.to_string().starts_with(typed)),
        );
    }
    match (found.pop_first(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(unknown(typed)),
        (Some(_), others) => {
            Err(Failure::refused(Code::NO_OBJECT, format!("{} begin with `{typed}`", count(others + 1, "object")))
                .hint("type more of its digits"))
        }
    }
}
