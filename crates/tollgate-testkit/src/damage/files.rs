//! Damage to files: the log, the file of heads, the database as a file, and what rows of runs and leases say; other versions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::params;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::run::Recorded;
use tollgate_engine::session::{Replay, other_runs, summary};
use tollgate_store::{Append, AppendError, Journal, LeaseRequest, Object, Options, Row, SqliteJournal};

use super::{Damage, Specimen, copy_folder, database};
use crate::temp::TempDir;

/// What a disk writes at once.
const SECTOR_BYTES: usize = 512;

/// Every damage of this kind.
pub fn damages(specimen: &Specimen, stride: usize) -> Vec<Damage> {
    let rebuilt = Arc::new(Rebuilt::of(specimen));
    let mut all = log(&rebuilt, if stride == 1 { 1 } else { stride.div_ceil(8) });
    all.extend(heads(specimen, &rebuilt));
    all.extend(tables());
    all.extend(versions(specimen));
    all.extend(file(specimen, stride));
    all
}

/// Appends the rows of a specimen again, one by one; stops at the first that is refused.
pub(super) fn append_again(
    specimen: &Specimen,
    journal: &SqliteJournal,
    skip: usize,
    mut appended: impl FnMut(&Row),
) -> Result<(), AppendError> {
    let mut rows: Vec<&Row> = specimen.runs.iter().flat_map(|run| &run.rows).collect();
    rows.sort_by_key(|row| row.place);
    let mut replays: BTreeMap<RunId, Replay> = BTreeMap::new();
    for (at, row) in rows.into_iter().enumerate() {
        let whole = specimen.runs.iter().find(|run| run.run == row.run).unwrap();
        let replay = replays.entry(row.run).or_insert_with(|| Replay::new(row.run));
        let before = replay.head();
        replay.row(row, &mut |digest| Ok(whole.objects.get(&digest).cloned())).unwrap();
        if at < skip {
            continue;
        }
        let last = Recorded::from_bytes(row.events().last().unwrap()).unwrap();
        let k = whole.rows.iter().position(|one| one.place == row.place).unwrap();
        let named = whole.named_in.iter().filter(|(_, at)| **at == k).map(|(digest, _)| &whole.objects[digest]);
        journal.append(Append {
            run: row.run,
            expected: row.first - 1,
            head: Some(before),
            fence: None,
            seen: BTreeMap::new(),
            events: row.events().map(<[u8]>::to_vec).collect(),
            objects: named.map(|bytes| Object::new(bytes.to_vec())).collect(),
            summary: summary::text(replay.run().unwrap(), last.at_ms),
            says: other_runs::said(replay.run().unwrap()),
            snapshot: None,
        })?;
        appended(row);
    }
    Ok(())
}

/// Gives every run of a specimen a lease above every epoch that its events name.
pub(super) fn lease_all(specimen: &Specimen, journal: &SqliteJournal) -> Result<(), tollgate_store::LeaseError> {
    for run in &specimen.runs {
        for now_ms in 0..16 {
            journal.lease(run.run, LeaseRequest::Acquire { holder: "h".into(), now_ms, ttl_ms: 0, over: None })?;
        }
    }
    Ok(())
}

/// The same journal with everything still in the log, as a crash leaves it.
struct Rebuilt {
    _temp: TempDir,
    database: Vec<u8>,
    log: Vec<u8>,
    objects: std::path::PathBuf,
    /// The file of heads after each append.
    heads: Vec<Vec<u8>>,
}

impl Rebuilt {
    fn of(specimen: &Specimen) -> Self {
        let temp = TempDir::new();
        let journal = SqliteJournal::open(temp.path(), Options::default()).unwrap();
        lease_all(specimen, &journal).unwrap();
        let mut heads = Vec::new();
        append_again(specimen, &journal, 0, |_| heads.push(fs::read(temp.path().join("heads")).unwrap())).unwrap();
        let read = |name: &str| fs::read(temp.path().join(name)).unwrap();
        let (database, log) = (read("journal.db"), read("journal.db-wal"));
        let kept = TempDir::new();
        copy_folder(&temp.path().join("objects"), &kept.path().join("objects"));
        drop(journal);
        let objects = kept.path().join("objects");
        Self { _temp: kept, database, log, objects, heads }
    }

    fn put(&self, dir: &Path, log: &[u8], heads: &[u8]) {
        let _ = fs::remove_file(dir.join("journal.db-shm"));
        fs::write(dir.join("journal.db"), &self.database).unwrap();
        fs::write(dir.join("journal.db-wal"), log).unwrap();
        fs::write(dir.join("heads"), heads).unwrap();
        copy_folder(&self.objects, &dir.join("objects"));
    }
}

/// The log, torn at every sector: cut off, or with zeros or junk behind.
fn log(rebuilt: &Arc<Rebuilt>, every: usize) -> Vec<Damage> {
    let mut all = Vec::new();
    for at in (0..=rebuilt.log.len()).step_by(SECTOR_BYTES * every) {
        for (what, fill) in [("nothing", None), ("zeros", Some(0u8)), ("junk", Some(0xa5))] {
            let rebuilt = Arc::clone(rebuilt);
            let apply = move |dir: &Path| {
                let mut log = rebuilt.log[..at].to_vec();
                if let Some(fill) = fill {
                    log.resize(rebuilt.log.len(), fill);
                }
                rebuilt.put(dir, &log, rebuilt.heads.last().unwrap());
            };
            let what = format!("log torn at byte {at}, {what} after it");
            all.push(Damage { class: "log", what, intact: None, apply: Box::new(apply) });
        }
    }
    all
}

/// The file of heads: gone, empty, older, cut off, and with every byte changed.
fn heads(specimen: &Specimen, rebuilt: &Arc<Rebuilt>) -> Vec<Damage> {
    let intact: Vec<usize> = specimen.runs.iter().map(|run| run.rows.len()).collect();
    let damage = |what: String, apply: Box<dyn Fn(&Path) + Send + Sync>| Damage {
        class: "heads",
        what,
        intact: Some(intact.clone()),
        apply,
    };
    let mut all = vec![damage("gone".to_owned(), Box::new(|dir| fs::remove_file(dir.join("heads")).unwrap()))];
    let good = fs::read(specimen.dir.join("heads")).unwrap();
    for at in 0..good.len() {
        let mut changed = good.clone();
        changed[at] ^= 1;
        let put = move |dir: &Path| fs::write(dir.join("heads"), &changed).unwrap();
        all.push(damage(format!("byte {at} changed"), Box::new(put)));
        let cut = good[..at].to_vec();
        let put = move |dir: &Path| fs::write(dir.join("heads"), &cut).unwrap();
        all.push(damage(format!("cut off at byte {at}"), Box::new(put)));
    }
    for at in 0..rebuilt.heads.len() {
        let rebuilt = Arc::clone(rebuilt);
        let put = move |dir: &Path| rebuilt.put(dir, &rebuilt.log, &rebuilt.heads[at]);
        all.push(damage(format!("as old as append {}", at + 1), Box::new(put)));
    }
    all
}

/// What rows of runs, leases, secrets and snapshots say.
fn tables() -> Vec<Damage> {
    let sets = [
        "UPDATE runs SET seq = seq + 1",
        "UPDATE runs SET seq = seq - 1",
        "UPDATE runs SET seq = -1",
        "UPDATE runs SET seq = 9223372036854775807",
        "UPDATE runs SET head = zeroblob(32)",
        "UPDATE runs SET head = x'00'",
        "UPDATE runs SET place = place + 1",
        "UPDATE runs SET place = -1",
        "UPDATE runs SET status = ''",
        "UPDATE runs SET status = 'succeeded' WHERE status <> 'succeeded'",
        "UPDATE runs SET repository = '/elsewhere'",
        "UPDATE runs SET at_ms = at_ms + 1",
        "UPDATE runs SET at_ms = -1",
        "UPDATE runs SET body = x''",
        "UPDATE runs SET body = x'ff'",
        "UPDATE runs SET body = CAST('{}' AS BLOB)",
        "UPDATE runs SET run = '!' WHERE id = 1",
        "UPDATE runs SET run = '00000000' WHERE id = 1",
        "UPDATE runs SET id = id + 100 WHERE id = 1",
        "DELETE FROM runs",
        "DELETE FROM runs WHERE id = 1",
        "DELETE FROM leases",
        "UPDATE leases SET epoch = 0",
        "UPDATE leases SET epoch = -1",
        "UPDATE leases SET until_ms = -1",
        "DELETE FROM secrets",
        "UPDATE secrets SET secret = x'00'",
        "DELETE FROM rows",
        "DELETE FROM objects",
        "INSERT OR REPLACE INTO snapshots SELECT id, seq, head, zeroblob(32), x'00' FROM runs",
        "INSERT OR REPLACE INTO snapshots SELECT id, seq, x'00', x'00', x'00' FROM runs",
    ];
    let damage = |text: &'static str| {
        let apply = Box::new(move |dir: &Path| database(dir).execute_batch(text).unwrap());
        Damage { class: "table", what: text.to_owned(), intact: None, apply }
    };
    sets.into_iter().map(damage).collect()
}

/// What a newer version would have written.
fn versions(specimen: &Specimen) -> Vec<Damage> {
    let pragma = |name: &'static str, value: i64| {
        let apply = Box::new(move |dir: &Path| database(dir).pragma_update(None, name, value).unwrap());
        Damage { class: "version", what: format!("{name} = {value}"), intact: None, apply }
    };
    let next = |dir: &Path| {
        let database = database(dir);
        let version: i64 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        database.pragma_update(None, "user_version", version + 1).unwrap();
    };
    let mut all = vec![
        Damage { class: "version", what: "user_version, the next".to_owned(), intact: None, apply: Box::new(next) },
        pragma("user_version", 99),
        pragma("user_version", -1),
        pragma("application_id", 7),
    ];
    for run in &specimen.runs {
        let (row, before) = (run.rows.last().unwrap().clone(), run.rows[run.rows.len() - 2].head);
        let text = String::from_utf8(row.bytes.clone()).unwrap();
        let kind = Recorded::from_bytes(row.events().next().unwrap()).unwrap().event.kind();
        for newer in [text.replacen("\"v\":1", "\"v\":2", 1), text.replacen(kind, "run.dreamt", 1)] {
            let id = run.run;
            let apply = move |dir: &Path| {
                let head: Digest = before.chain(newer.as_bytes());
                let database = database(dir);
                let sql = "UPDATE rows SET bytes = ?1, head = ?2 WHERE place = ?3";
                database.execute(sql, params![newer.as_bytes(), head.0, row.place]).unwrap();
                database.execute("UPDATE runs SET head = ?1 WHERE run = ?2", params![head.0, id.digits()]).unwrap();
                // As a newer version would have left it.
                fs::remove_file(dir.join("heads")).unwrap();
            };
            let what = format!("the last row of {id} by a newer version");
            all.push(Damage { class: "version", what, intact: None, apply: Box::new(apply) });
        }
    }
    all
}

/// The database as a file: one byte in so many.
fn file(specimen: &Specimen, stride: usize) -> Vec<Damage> {
    let good = Arc::new(fs::read(specimen.dir.join("journal.db")).unwrap());
    // Bytes of events are damaged one by one already; what is left is the file's own structure.
    let step = if stride == 1 { 13 } else { 13 * stride };
    let damage = |at: usize| {
        let good = Arc::clone(&good);
        let apply = move |dir: &Path| {
            let mut bytes = good.to_vec();
            bytes[at] ^= 0x41;
            fs::write(dir.join("journal.db"), bytes).unwrap();
        };
        Damage { class: "file", what: format!("byte {at} of journal.db"), intact: None, apply: Box::new(apply) }
    };
    (0..good.len()).step_by(step).map(damage).collect()
}
