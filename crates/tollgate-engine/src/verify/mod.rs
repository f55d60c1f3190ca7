//! Proving a run: chain, replay, snapshot, summary, lease, invariants and objects, from the first event on.

pub mod commits;
pub mod repair;
pub mod state_directory;

use std::collections::BTreeSet;
use std::sync::Arc;

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::run::{Recorded, Run};
use tollgate_store::{Filter, Journal, ReadError, Row};

use crate::session::{LoadError, Replay};
use crate::session::{kept_run, other_runs, summary};

/// What a proof found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The run.
    pub run: RunId,
    /// How many events hold.
    pub events: u64,
    /// The head of the chain.
    pub head: Digest,
    /// How many objects the events name.
    pub objects: u64,
    /// What does not hold.
    pub breaches: Vec<Breach>,
}

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Its page.
    pub code: Code,
    /// The first event that does not hold, where it is one.
    pub seq: Option<u64>,
    /// What is wrong.
    pub what: String,
}

/// Reads objects for a proof: from a journal or from a bundle.
pub type Objects<'a> = dyn Fn(Digest) -> Result<Option<Arc<[u8]>>, LoadError> + 'a;

/// Proves a run of a journal.
pub fn verify(journal: &dyn Journal, id: RunId) -> Result<Proof, LoadError> {
    let row = match journal.head(id) {
        Ok(head) => Ok(head.ok_or(LoadError::NoRun(id))?),
        // The events can be proved all the same.
        Err(ReadError::Store(error)) if error.code() == Code::STORE_CORRUPT => Err(row_damaged(&error.to_string())),
        Err(error) => return Err(error.into()),
    };
    let (mut place, mut disorder) = (0, None);
    let rows = tollgate_store::chain::rows(journal, id, 0).map(|row| row.map_err(LoadError::from));
    let rows = rows.inspect(|row| {
        if let Ok(row) = row {
            disorder = disorder.or((row.place <= place).then_some(row.first));
            place = row.place;
        }
    });
    let object = |digest| Ok(journal.object(digest)?);
    let (mut proof, run) = verify_rows(id, rows, &object);
    if let Some(seq) = disorder {
        let what = format!("event {seq} comes before the event that it follows in the order over all runs");
        proof.breaches.push(Breach { code: Code::CHAIN_BROKEN, seq: Some(seq), what });
    }
    let head = match row {
        Ok(head) => head,
        Err(damaged) => {
            proof.breaches.push(damaged);
            return Ok(proof);
        }
    };
    if proof.breaches.is_empty() && proof.events < head.seq {
        proof.breaches.push(Breach {
            code: Code::BROKEN_HISTORY,
            seq: Some(proof.events + 1),
            what: format!("the journal says {} events, but only {} are there", head.seq, proof.events),
        });
    }
    // What was appended while this was read has moved the journal's head on.
    let end = journal.head(id)?.ok_or(LoadError::NoRun(id))?;
    if proof.breaches.is_empty() && (proof.events > end.seq || proof.events == end.seq && proof.head != end.head) {
        proof.breaches.push(Breach {
            code: Code::CHAIN_HEAD,
            seq: Some(proof.events.min(end.seq + 1)),
            what: format!(
                "the journal says that it ends at event {} with head {}; its rows end at event {} with head {}",
                end.seq, end.head, proof.events, proof.head
            ),
        });
    }
    if let Some(run) = run.filter(|_| proof.breaches.is_empty()) {
        check_snapshot(journal, &run, &mut proof)?;
        check_row(journal, &run, &mut proof)?;
    }
    Ok(proof)
}

fn row_damaged(why: &str) -> Breach {
    Breach { code: Code::RUN_ROW_DAMAGED, seq: None, what: format!("the row of the run cannot be read: {why}") }
}

/// The row of a run says what lists believe and which epoch is the next; it must be what the events give.
fn check_row(journal: &dyn Journal, run: &Run, proof: &mut Proof) -> Result<(), LoadError> {
    let filter = Filter { prefix: Some(run.id.digits().to_owned()), limit: Some(1), ..Filter::default() };
    let listed = journal.list(&filter)?;
    proof.breaches.extend(listed.damaged.iter().map(|damaged| row_damaged(&damaged.why)));
    // One that is of a later event was written meanwhile and is proved the next time.
    let Some(kept) = listed.runs.into_iter().find(|kept| kept.head.seq == run.seq) else { return Ok(()) };
    let last = journal.load(run.id, run.seq.saturating_sub(1), 1)?.pop();
    let last_ms =
        last.as_ref().and_then(|row| Recorded::from_bytes(row.events().last()?).ok()).map_or(0, |at| at.at_ms);
    let given = summary::text(run, last_ms);
    let says = journal.says(run.id)?;
    // Read after the row: what was said by a later append is proved the next time too.
    let is_last = journal.head(run.id)?.is_some_and(|head| head.seq == run.seq);
    let differs = [
        ("the status", kept.text.status != given.status),
        ("the repository", kept.text.repository != given.repository),
        ("the time", kept.text.at_ms != given.at_ms),
        ("the place in the order", Some(kept.head.place) != last.map(|row| row.place)),
        ("what it says of the run", kept.text.body != given.body),
        ("what it says to other runs", is_last && says != other_runs::said(run)),
    ];
    if differs.iter().any(|(_, differs)| *differs) {
        let parts: Vec<&str> = differs.iter().filter(|(_, differs)| *differs).map(|(part, _)| *part).collect();
        let words = match kept.text.status == given.status {
            true => String::new(),
            false => format!(": it says `{}`, the events give `{}`", kept.text.status, given.status),
        };
        let what = format!("{} in the list is not what the events give{words}", parts.join(", "));
        proof.breaches.push(Breach { code: Code::SUMMARY_DIFFERS, seq: Some(run.seq), what });
    }
    if kept.head.epoch < run.epoch {
        let what =
            format!("the events were written under epoch {}, and the lease is at epoch {}", run.epoch, kept.head.epoch);
        proof.breaches.push(Breach { code: Code::EPOCH_BEHIND, seq: Some(run.seq), what });
    }
    Ok(())
}

/// Proves rows from the first event on; also gives the run, as far as they hold.
pub fn verify_rows(
    id: RunId,
    rows: impl Iterator<Item = Result<Row, LoadError>>,
    object: &Objects<'_>,
) -> (Proof, Option<Run>) {
    let mut replay = Replay::auditing(id);
    let mut proof = Proof { run: id, events: 0, head: Digest::default(), objects: 0, breaches: Vec::new() };
    let mut named = BTreeSet::new();
    for row in rows {
        let result = row.and_then(|row| {
            replay.row(&row, &mut |digest| object(digest))?;
            for (seq, text) in (row.first..).zip(row.events()) {
                if let Ok(recorded) = Recorded::from_bytes(text) {
                    named.extend(recorded.event.objects().into_iter().map(|digest| (digest, seq)));
                }
            }
            Ok(())
        });
        if let Err(error) = result {
            // What was proved before stays proved, whatever number a damaged row gives itself.
            let seq = error.seq().unwrap_or(0).max(proof.events + 1);
            proof.breaches.push(Breach { code: error.code(), seq: Some(seq), what: error.to_string() });
            break;
        }
        proof.events = replay.run().map_or(0, |run| run.seq);
        proof.head = replay.head();
    }
    let mut seen = BTreeSet::new();
    for (digest, seq) in named {
        if !seen.insert(digest) {
            continue;
        }
        proof.objects += 1;
        let (code, what) = match object(digest) {
            Ok(Some(bytes)) if Digest::of(&bytes) == digest => continue,
            Ok(Some(_)) => (Code::OBJECT_DAMAGED, format!("object {digest} was changed")),
            Ok(None) => (Code::OBJECT_DAMAGED, format!("object {digest} is missing")),
            Err(error) if error.code() == Code::OBJECT_CHANGED => (Code::OBJECT_DAMAGED, error.to_string()),
            // Nothing is known of what cannot be read.
            Err(error) => (error.code(), format!("object {digest}: {error}")),
        };
        proof.breaches.push(Breach { code, seq: Some(seq), what });
    }
    (proof, replay.into_run())
}

/// A snapshot that differs from the replay is a lie; one that is missing or unreadable only costs time.
fn check_snapshot(journal: &dyn Journal, run: &Run, proof: &mut Proof) -> Result<(), LoadError> {
    let Some(snapshot) = journal.snapshot(run.id)? else { return Ok(()) };
    let mut replay = Replay::new(run.id);
    for row in tollgate_store::chain::rows(journal, run.id, 0) {
        let row = row?;
        if row.last > snapshot.seq {
            break;
        }
        replay.row(&row, &mut |digest| Ok(journal.object(digest)?))?;
    }
    let same = replay.run().is_some_and(|then| {
        let replayed = serde_json::to_value(then).ok();
        let kept = kept_run::from_bytes(&snapshot.bytes).and_then(|run| serde_json::to_value(run).ok());
        // One of another version is read as none, and is no lie.
        kept.is_none() || kept == replayed
    });
    if !same {
        proof.breaches.push(Breach {
            code: Code::SNAPSHOT_DIFFERS,
            seq: Some(snapshot.seq),
            what: format!("the snapshot at event {} is not what the events give", snapshot.seq),
        });
    }
    Ok(())
}
