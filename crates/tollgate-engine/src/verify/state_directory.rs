//! Proving a state directory: its runs, what the file of heads says of them, and rows that belong to none.

use std::collections::BTreeSet;

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_store::{Filter, HeadDamage, Journal, SqliteJournal, There, Unrecorded};

use super::{Breach, Proof, verify};
use crate::session::LoadError;

/// What is proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Everything that the state directory holds, or should hold.
    All,
    /// These runs.
    Runs(Vec<RunId>),
}

/// The proof of one run, or of what is filed as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunProof {
    /// How it is named.
    pub name: String,
    /// What holds, and what does not; the first breach is the first to be mended.
    pub proof: Proof,
}

impl RunProof {
    fn nothing(name: String, run: RunId, breach: Breach) -> Self {
        let proof = Proof { run, events: 0, head: Digest::default(), objects: 0, breaches: vec![breach] };
        Self { name, proof }
    }

    /// What does not hold first. Nothing beside the events hides that the events do not hold.
    pub fn first(&self) -> Option<&Breach> {
        let place = |breach: &&Breach| (is_beside(breach.code), breach.seq.unwrap_or(u64::MAX));
        self.proof.breaches.iter().min_by_key(place)
    }
}

/// Whether a breach is one of what stands beside the events: they hold, and can be read.
pub fn is_beside(code: Code) -> bool {
    [Code::SNAPSHOT_DIFFERS, Code::SUMMARY_DIFFERS, Code::RUN_ROW_DAMAGED, Code::EPOCH_BEHIND, Code::HEAD_UNRECORDED]
        .contains(&code)
}

/// Proves runs and what stands beside them; changes nothing.
pub fn prove(journal: &SqliteJournal, wanted: &Selection) -> Result<Vec<RunProof>, LoadError> {
    let mut proved = Vec::new();
    let runs = match wanted {
        Selection::Runs(runs) => runs.clone(),
        Selection::All => {
            let listed = journal.list(&Filter::default())?;
            for damaged in listed.damaged.iter().filter(|damaged| damaged.run.is_none()) {
                let what = format!("the row of the run cannot be read: {}", damaged.why);
                let breach = Breach { code: Code::RUN_ROW_DAMAGED, seq: None, what };
                proved.push(RunProof::nothing(damaged.named.clone(), RunId::from_bits(0), breach));
            }
            let damaged = listed.damaged.iter().filter_map(|damaged| damaged.run);
            let mut all: Vec<RunId> = listed.runs.iter().map(|summary| summary.run).chain(damaged).collect();
            all.sort();
            all
        }
    };
    for run in runs {
        proved.push(match verify(journal, run) {
            Ok(proof) => RunProof { name: run.to_string(), proof },
            Err(error) => {
                let breach = Breach { code: error.code(), seq: error.seq(), what: error.to_string() };
                RunProof::nothing(run.to_string(), run, breach)
            }
        });
    }
    committed(journal, wanted, &mut proved)?;
    unrecorded(journal, &mut proved)?;
    if *wanted == Selection::All {
        let known: BTreeSet<RunId> = proved.iter().map(|one| one.proof.run).collect();
        proved.extend(rows_of_none(&journal.strays()?, &known));
    }
    Ok(proved)
}

/// Rows that belong to no run, as one: what is wrong with them is one thing. The repair of a run takes those that name it.
fn rows_of_none(rows: &[(u64, Option<RunId>)], known: &BTreeSet<RunId>) -> Option<RunProof> {
    let ((first, _), (last, _)) = (rows.first()?, rows.last()?);
    let (name, what) = match rows.len() {
        1 => (format!("row {first}"), format!("the row at place {first} belongs to no run")),
        many => (
            format!("{many} rows"),
            format!("the rows from place {first} to place {last} ({many} of them) belong to no run"),
        ),
    };
    let named: BTreeSet<RunId> =
        rows.iter().filter_map(|(_, named)| *named).filter(|run| known.contains(run)).collect();
    let repairs: Vec<String> = named.iter().map(|run| format!("`tollgate repair {run}`")).collect();
    let what = match repairs.is_empty() {
        true => format!("{what}: a run that is lost may have had them"),
        false => format!("{what}; what names a run in its events goes with its repair: {}", repairs.join(", ")),
    };
    let breach = Breach { code: Code::CHAIN_BROKEN, seq: None, what };
    Some(RunProof::nothing(name, RunId::from_bits(0), breach))
}

/// What was committed must be there.
fn committed(journal: &SqliteJournal, wanted: &Selection, proved: &mut Vec<RunProof>) -> Result<(), LoadError> {
    for damage in journal.check_heads()? {
        let (HeadDamage::LostTail { had, .. } | HeadDamage::Differs { had, .. }) = &damage;
        let breach = Breach { code: damage.code(), seq: Some(had.seq), what: damage.to_string() };
        match proved.iter_mut().find(|one| one.name == had.run.to_string()) {
            Some(one) => one.proof.breaches.push(breach),
            None if *wanted == Selection::All => proved.push(RunProof::nothing(had.run.to_string(), had.run, breach)),
            None => {}
        }
    }
    Ok(())
}

/// Proved runs of which the file of heads has no record.
fn unrecorded(journal: &SqliteJournal, proved: &mut [RunProof]) -> Result<(), LoadError> {
    for missing in journal.unrecorded()? {
        let whole = |one: &&mut RunProof| one.proof.run == missing.run && one.proof.breaches.is_empty();
        if let Some(one) = proved.iter_mut().find(whole) {
            one.proof.breaches.extend(unknown_end(journal, &missing)?);
        }
    }
    Ok(())
}

/// What it means that the file of heads has no record of a run; nothing after its first append, which a crash leaves
/// like that: from the second on the record has been written.
pub fn unknown_end(journal: &SqliteJournal, missing: &Unrecorded) -> Result<Option<Breach>, LoadError> {
    if missing.there == There::Nothing && journal.load(missing.run, 0, 2)?.len() < 2 {
        return Ok(None);
    }
    let there = match missing.there {
        There::Nothing => "`heads` has no record of it",
        There::Junk => "the record of it in `heads` is damaged",
        There::Whole(_) => "its place in `heads` holds the record of another run",
    };
    let what = format!("{there}: whether its end was lost is unknown");
    Ok(Some(Breach { code: Code::HEAD_UNRECORDED, seq: None, what }))
}
