//! Damage on purpose: a whole state directory is damaged in every way there is, one at a time, and each must be named or
//! healed; nothing may be silently wrong, and what verified before must be there after a repair.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a campaign of tests makes files of its own and fails by panicking"
)]

mod disk;
mod files;
mod rows;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::run::Recorded;
use tollgate_engine::verify::repair::{RepairContext, repair};
use tollgate_engine::verify::state_directory::{RunProof, Selection, prove};
use tollgate_store::chain::rows as read_rows;
use tollgate_store::{Filter, Journal, Options, Row, SqliteJournal, SummaryText};

use crate::temp::TempDir;

pub use disk::{Disk, full_disk, inside};

/// What a run is, apart from places in the order over all runs.
#[derive(Debug, Clone)]
pub struct Whole {
    run: RunId,
    rows: Vec<Row>,
    summary: SummaryText,
    objects: BTreeMap<Digest, Arc<[u8]>>,
    /// The row whose event first names each object.
    named_in: BTreeMap<Digest, usize>,
}

/// A state directory that holds, as it was.
#[derive(Debug)]
pub struct Specimen {
    dir: PathBuf,
    /// Its runs.
    pub runs: Vec<Whole>,
}

/// One damage.
pub struct Damage {
    /// What kind of damage it is.
    pub class: &'static str,
    /// What exactly.
    pub what: String,
    /// How many rows of each run lie before the damage and must be there after a repair; none: not known beforehand.
    intact: Option<Vec<usize>>,
    apply: Box<dyn Fn(&Path) + Send + Sync>,
}

impl std::fmt::Debug for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.class, self.what)
    }
}

/// What came of a damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// It was named, with this code.
    Named(&'static str),
    /// Everything is as it was.
    Healed,
    /// Nothing was named, and something is not as it was; or a repair lost what had verified.
    Silent(String),
    /// Something panicked.
    Panicked(String),
}

/// What came of a campaign.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    /// How many damages of each class were named, healed, silent and ended in a panic.
    pub classes: BTreeMap<&'static str, [u64; 4]>,
    /// How often each code was answered.
    pub codes: BTreeMap<&'static str, u64>,
    /// How many were repaired as well, and how many of these repairs were refused.
    pub repairs: (u64, u64),
    /// What must not be.
    pub failures: Vec<String>,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, class: &'static str, what: &str, came: &Came) {
        let counts = self.classes.entry(class).or_default();
        match came {
            Came::Named(code) => {
                counts[0] += 1;
                *self.codes.entry(code).or_default() += 1;
            }
            Came::Healed => counts[1] += 1,
            Came::Silent(why) => {
                counts[2] += 1;
                self.failures.push(format!("{class}: {what}: {why}"));
            }
            Came::Panicked(why) => {
                counts[3] += 1;
                self.failures.push(format!("{class}: {what}: panicked: {why}"));
            }
        }
    }

    /// Takes in what came of another part of the campaign.
    pub fn join(&mut self, other: Self) {
        for (class, counts) in other.classes {
            let known = self.classes.entry(class).or_default();
            known.iter_mut().zip(counts).for_each(|(known, more)| *known += more);
        }
        other.codes.into_iter().for_each(|(code, count)| *self.codes.entry(code).or_default() += count);
        self.repairs = (self.repairs.0 + other.repairs.0, self.repairs.1 + other.repairs.1);
        self.failures.extend(other.failures);
    }

    /// All classes together: named, healed, silent, panics.
    pub fn sums(&self) -> [u64; 4] {
        self.classes.values().fold([0; 4], |mut sums, counts| {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            sums
        })
    }

    /// The last line of a campaign.
    pub fn line(&self) -> String {
        let [named, healed, silent, panics] = self.sums();
        let all = named + healed + silent + panics;
        format!("damage: {all} damages, {named} named, {healed} healed, {silent} silent, {panics} panics")
    }
}

impl Specimen {
    /// Takes a copy of a state directory that holds, and remembers what it is.
    pub fn of(state: &Path, dir: &Path) -> Self {
        // Opened and closed, so that the log is taken in.
        drop(SqliteJournal::open(state, Options::default()).unwrap());
        copy(state, dir);
        let journal = SqliteJournal::open(dir, Options::default()).unwrap();
        let proved = prove(&journal, &Selection::All).unwrap();
        assert!(proved.iter().all(|one| one.proof.breaches.is_empty()), "the specimen does not hold: {proved:?}");
        let mut runs: Vec<Whole> = journal
            .list(&Filter::default())
            .unwrap()
            .runs
            .iter()
            .map(|listed| {
                let rows: Vec<Row> = read_rows(&journal, listed.run, 0).map(Result::unwrap).collect();
                let mut named_in = BTreeMap::new();
                for (at, row) in rows.iter().enumerate() {
                    let events = row.events().map(|text| Recorded::from_bytes(text).unwrap());
                    for digest in events.flat_map(|recorded| recorded.event.objects()) {
                        named_in.entry(digest).or_insert(at);
                    }
                }
                let bytes = |digest: &Digest| (*digest, journal.object(*digest).unwrap().unwrap());
                let objects = named_in.keys().map(bytes).collect();
                Whole { run: listed.run, rows, summary: listed.text.clone(), objects, named_in }
            })
            .collect();
        runs.sort_by_key(|run| run.rows[0].place);
        Self { dir: dir.to_owned(), runs }
    }

    /// What there is to damage, in words.
    pub fn describe(&self) -> String {
        let events: u64 = self.runs.iter().map(|run| run.rows.last().map_or(0, |row| row.last)).sum();
        let rows: usize = self.runs.iter().map(|run| run.rows.len()).sum();
        let bytes: usize = self.runs.iter().flat_map(|run| &run.rows).map(|row| row.bytes.len()).sum();
        let objects: usize = self.runs.iter().map(|run| run.objects.len()).sum();
        format!("{} runs, {events} events in {rows} rows of {bytes} bytes, {objects} objects", self.runs.len())
    }

    /// Every damage; of the bytes of events and of the file, one in so many.
    pub fn damages(&self, stride: usize) -> Vec<Damage> {
        let mut all = rows::damages(self, stride);
        all.extend(files::damages(self, stride));
        all
    }

    /// Applies one damage to a copy and says what came of it.
    fn judge(&self, work: &Path, damage: &Damage, mend: bool, tally: &mut Tally) {
        copy(&self.dir, work);
        let came = guarded(|| {
            (damage.apply)(work);
            self.look(work)
        });
        tally.add(damage.class, &damage.what, &came);
        if mend && matches!(came, Came::Named(_)) {
            let mended = guarded(|| {
                let (tried, refused, came) = self.mend(work, damage);
                tally.repairs = (tally.repairs.0 + tried, tally.repairs.1 + refused);
                came
            });
            if mended != Came::Healed {
                tally.add("repair", &format!("after {damage:?}"), &mended);
            }
        }
    }

    /// What a person learns who proves everything.
    fn look(&self, work: &Path) -> Came {
        let journal = match SqliteJournal::open_to_read(work, Options::default()) {
            Ok(journal) => journal,
            Err(error) => return Came::Named(error.code().as_str()),
        };
        let proved = match prove(&journal, &Selection::All) {
            Ok(proved) => proved,
            Err(error) => return Came::Named(error.code().as_str()),
        };
        if let Some(breach) = proved.iter().find_map(RunProof::first) {
            return Came::Named(breach.code.as_str());
        }
        match self.differs(&journal) {
            Some(why) => Came::Silent(why),
            None => Came::Healed,
        }
    }

    /// How what nothing is said of differs from what it was.
    fn differs(&self, journal: &SqliteJournal) -> Option<String> {
        let listed = journal.list(&Filter::default()).unwrap().runs;
        if listed.len() != self.runs.len() {
            return Some(format!("{} runs instead of {}", listed.len(), self.runs.len()));
        }
        for whole in &self.runs {
            let rows: Vec<Row> = read_rows(journal, whole.run, 0).map(Result::unwrap).collect();
            if rows.len() != whole.rows.len() || common(&rows, &whole.rows) != rows.len() {
                return Some(format!("{} has other rows", whole.run));
            }
            if !listed.iter().any(|one| one.run == whole.run && one.text == whole.summary) {
                return Some(format!("{} is listed otherwise", whole.run));
            }
            for (digest, bytes) in &whole.objects {
                if journal.object(*digest).unwrap().as_ref() != Some(bytes) {
                    return Some(format!("object {digest} is not what it was"));
                }
            }
        }
        None
    }

    /// Repairs every run that does not hold: how many, how many were refused, and whether anything that verified is gone.
    fn mend(&self, work: &Path, damage: &Damage) -> (u64, u64, Came) {
        let Ok(journal) = SqliteJournal::open(work, Options::default()) else { return (0, 0, Came::Healed) };
        let Ok(before) = prove(&journal, &Selection::All) else { return (0, 0, Came::Healed) };
        let there = |whole: &Whole| {
            common(&read_rows(&journal, whole.run, 0).map_while(Result::ok).collect::<Vec<_>>(), &whole.rows)
        };
        // Where nobody knows beforehand, what is there and chains now is what must be there then.
        let known = damage.intact.clone().unwrap_or_else(|| match damage.class {
            "log" => self.runs.iter().map(there).collect(),
            _ => vec![0; self.runs.len()],
        });
        let (mut tried, mut refused) = (0, 0);
        let mut mended = Vec::new();
        for whole in &self.runs {
            let name = whole.run.to_string();
            if before.iter().any(|one| one.name == name && !one.proof.breaches.is_empty()) {
                tried += 1;
                let place = RepairContext { state: work, person: "somebody", now_ms: u64::MAX >> 12 };
                match repair(&journal, whole.run, place) {
                    Ok(_) => mended.push(name),
                    Err(_) => refused += 1,
                }
            }
        }
        let after = prove(&journal, &Selection::All).unwrap();
        for (at, whole) in self.runs.iter().enumerate() {
            let rows: Vec<Row> = read_rows(&journal, whole.run, 0).map_while(Result::ok).collect();
            let same = common(&rows, &whole.rows);
            let broken = after.iter().find(|one| one.name == whole.run.to_string()).and_then(RunProof::first);
            if let (true, Some(breach)) = (mended.contains(&whole.run.to_string()), broken) {
                return (
                    tried,
                    refused,
                    Came::Silent(format!("{} is repaired and does not hold: {}", whole.run, breach.what)),
                );
            }
            let intact = known[at];
            if same < intact {
                let why = format!("{} had {intact} rows that verified, and has {same} of them", whole.run);
                return (tried, refused, Came::Silent(why));
            }
        }
        (tried, refused, Came::Healed)
    }
}

/// How many rows from the first on are the same, wherever they stand in the order over all runs.
fn common(rows: &[Row], whole: &[Row]) -> usize {
    let same = |(a, b): &(&Row, &Row)| {
        (a.run, a.first, a.last, a.head, &a.bytes) == (b.run, b.first, b.last, b.head, &b.bytes)
    };
    rows.iter().zip(whole).take_while(same).count()
}

fn guarded(work: impl FnOnce() -> Came) -> Came {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        Came::Panicked(text.unwrap_or_else(|| "without words".to_owned()))
    })
}

/// Copies the files of a journal over those of another folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in ["journal.db-wal", "journal.db-shm", "journal.db", "heads"] {
        let _ = fs::remove_file(to.join(name));
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
    let _ = fs::remove_dir_all(to.join("cuts"));
    copy_folder(&from.join("objects"), &to.join("objects"));
}

fn copy_folder(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).into_iter().flatten().map(Result::unwrap) {
        let there = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &there);
        } else {
            fs::copy(entry.path(), there).unwrap();
        }
    }
}

/// The database of a state directory, for another hand than ours.
fn database(dir: &Path) -> Connection {
    let connection = Connection::open(dir.join("journal.db")).unwrap();
    connection.pragma_update(None, "synchronous", "OFF").unwrap();
    connection
}

/// Applies damages, on several threads, and repairs after one in so many; damages that are not of single bytes are all repaired.
pub fn campaign(specimen: &Specimen, damages: &[Damage], repair_every: usize, threads: usize) -> Tally {
    let next = AtomicUsize::new(0);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let work = |_| {
            scope.spawn(|| {
                let (temp, mut tally) = (TempDir::new(), Tally::default());
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(damage) = damages.get(at) else { return tally };
                    let single = matches!(damage.class, "byte" | "head" | "file");
                    let mend = damage.class != "place" && (!single || at.is_multiple_of(repair_every));
                    specimen.judge(&temp.path().join("state"), damage, mend, &mut tally);
                }
            })
        };
        let workers: Vec<_> = (0..threads).map(work).collect();
        workers.into_iter().for_each(|worker| tally.join(worker.join().unwrap()));
    });
    tally
}
