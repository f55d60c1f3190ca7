//! What the store reads of an event: which run it belongs to and which event of it it is.

use std::collections::BTreeMap;

use serde::Deserialize;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;

use crate::error::{AppendError, StoreError};
use crate::journal::{
    APPEND_BYTES_MAX, APPEND_EVENTS_MAX, Append, OBJECT_BYTES_MAX, Object, SNAPSHOT_BYTES_MAX, SUMMARY_BYTES_MAX,
    SummaryText,
};
use crate::shared::{AMOUNTS_MAX, KEY_BYTES_MAX, KEYS_MAX, NOTE_BYTES_MAX, Says};

/// Numbers beyond this do not survive every reader of JSON, and no counter or clock gets there.
const NUMBER_MAX: u64 = 1 << 53;

#[derive(Deserialize)]
struct Envelope {
    run: RunId,
    seq: u64,
}

/// Which event of which run an event says it is.
pub(crate) fn said(text: &[u8]) -> Result<(RunId, u64), String> {
    let event: Envelope =
        serde_json::from_slice(text).map_err(|e| format!("it is no JSON that names `run` and `seq`: {e}"))?;
    Ok((event.run, event.seq))
}

/// Checks that an event says it is this event of this run; the answer is what it says instead.
pub(crate) fn check_event(said: Result<(RunId, u64), String>, run: RunId, seq: u64) -> Result<(), String> {
    match said {
        Ok(said) if said == (run, seq) => Ok(()),
        Ok((other, _)) if other != run => Err(format!("event {seq} names {other}, not {run}")),
        Ok((_, other)) => Err(format!("event {seq} says it is event {other}")),
        Err(why) => Err(format!("event {seq}: {why}")),
    }
}

/// An append whose form is good; what is left to check needs the store.
#[derive(Debug)]
pub(crate) struct Checked {
    pub run: RunId,
    pub expected: u64,
    pub head: Option<Digest>,
    /// The head after it, where the writer named the one before: hashed by its own thread, not by the only one that commits.
    next: Option<Digest>,
    pub fence: Option<u64>,
    pub seen: BTreeMap<String, u64>,
    pub last: u64,
    pub bytes: Vec<u8>,
    pub objects: Vec<Object>,
    pub summary: SummaryText,
    pub says: Says,
    pub snapshot: Option<Vec<u8>>,
}

impl Checked {
    /// Checks the form of an append and joins its events.
    pub(crate) fn new(append: Append) -> Result<Self, AppendError> {
        let Append { run, expected, head, fence, seen, events, objects, summary, says, snapshot } = append;
        let refused = |reason: String| AppendError::Refused { run, reason };
        if events.is_empty() || events.len() > APPEND_EVENTS_MAX {
            return Err(refused(format!("it has {} events; 1 to {APPEND_EVENTS_MAX} are allowed", events.len())));
        }
        let limit = |what: &str, size: usize, most: usize| match size > most {
            true => Err(refused(format!("{what} has {size} bytes; at most {most} are allowed"))),
            false => Ok(()),
        };
        let size = events.iter().map(|event| event.len() + 1).sum::<usize>() - 1;
        limit("it", size, APPEND_BYTES_MAX)?;
        if expected > NUMBER_MAX || summary.at_ms > NUMBER_MAX {
            return Err(refused(format!("it carries a number above {NUMBER_MAX}")));
        }
        limit("its summary", summary.body.len(), SUMMARY_BYTES_MAX)?;
        limit("its snapshot", snapshot.as_ref().map_or(0, Vec::len), SNAPSHOT_BYTES_MAX)?;
        if says.len() > KEYS_MAX {
            return Err(refused(format!(
                "it says something under {} keys; at most {KEYS_MAX} are allowed",
                says.len()
            )));
        }
        for (key, said) in &says {
            limit("a shared key", key.len(), KEY_BYTES_MAX)?;
            limit("a note", said.note.len(), NOTE_BYTES_MAX)?;
            if said.amounts.len() > AMOUNTS_MAX || said.amounts.iter().any(|amount| *amount > NUMBER_MAX) {
                let most = format!("at most {AMOUNTS_MAX} of at most {NUMBER_MAX} are allowed");
                return Err(refused(format!("the amounts under `{key}` are too many or too large; {most}")));
            }
        }
        let mut bytes = Vec::with_capacity(size);
        let mut last = expected;
        for event in &events {
            last += 1;
            if event.contains(&b'\n') {
                return Err(refused(format!("event {last} contains a newline")));
            }
            check_event(said(event), run, last).map_err(refused)?;
            if !bytes.is_empty() {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(event);
        }
        for object in &objects {
            limit("an object", object.bytes().len(), OBJECT_BYTES_MAX)?;
        }
        let next = head.map(|head| head.chain(&bytes));
        Ok(Self { run, expected, head, next, fence, seen, last, bytes, objects, summary, says, snapshot })
    }

    /// The head after it, once it is admitted behind this one.
    pub(crate) fn chained(&self, stored: Digest) -> Digest {
        self.next.unwrap_or_else(|| stored.chain(&self.bytes))
    }

    /// Compares the shared keys that the writer has seen with what they are now.
    pub(crate) fn admit_among(&self, place: impl Fn(&str) -> Result<u64, StoreError>) -> Result<(), AppendError> {
        for (key, seen) in &self.seen {
            if place(key)? != *seen {
                return Err(AppendError::Overtaken { run: self.run, key: key.clone() });
            }
        }
        Ok(())
    }

    /// Compares what the writer has seen with where the run stands.
    pub(crate) fn admit(&self, actual: u64, stored: Digest, epoch: u64) -> Result<(), AppendError> {
        let run = self.run;
        // A stale driver learns that it is stale, not that it was slow.
        if let Some(fence) = self.fence.filter(|fence| *fence != epoch) {
            return Err(AppendError::Fenced { run, fence, epoch });
        }
        if self.expected != actual {
            return Err(AppendError::Conflict { run, expected: self.expected, actual });
        }
        if self.head.is_some_and(|seen| seen != stored) {
            let reason = "the head of its chain is not the one that was read: the journal was changed by another hand"
                .to_owned();
            return Err(AppendError::Refused { run, reason });
        }
        Ok(())
    }
}

/// Seals a snapshot, so that a damaged one is seen.
pub(crate) fn seal(seq: u64, head: Digest, bytes: &[u8]) -> Digest {
    let mut label = [0u8; 40];
    label[..32].copy_from_slice(&head.0);
    label[32..].copy_from_slice(&seq.to_le_bytes());
    Digest::of(&label).chain(bytes)
}
