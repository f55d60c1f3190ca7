//! Damage to rows: every byte, every column; missing, doubled, swapped and foreign ones; lost ends; objects.

use std::fs;
use std::path::Path;

use rusqlite::params;
use tollgate_store::Row;

use super::{Damage, Specimen, Whole, database};

/// Every damage of this kind.
pub fn damages(specimen: &Specimen, stride: usize) -> Vec<Damage> {
    let whole: Vec<usize> = specimen.runs.iter().map(|run| run.rows.len()).collect();
    let mut all = Vec::new();
    for (r, run) in specimen.runs.iter().enumerate() {
        for k in 0..run.rows.len() {
            let at = At { specimen, whole: &whole, r, k };
            all.extend(bytes(&at, stride));
            all.extend(columns(&at));
            all.extend(around(&at));
        }
        all.extend(objects(specimen, r, &whole));
    }
    all
}

/// A row of a run of a specimen.
struct At<'a> {
    specimen: &'a Specimen,
    whole: &'a [usize],
    r: usize,
    k: usize,
}

impl At<'_> {
    fn run(&self) -> &Whole {
        &self.specimen.runs[self.r]
    }

    fn row(&self) -> &Row {
        &self.run().rows[self.k]
    }

    /// What lies before this row is not touched, nor is any other run.
    fn intact(&self, rows: usize) -> Option<Vec<usize>> {
        let mut intact = self.whole.to_vec();
        intact[self.r] = rows;
        Some(intact)
    }

    fn sql(&self, class: &'static str, what: &str, intact: Option<Vec<usize>>, text: String) -> Damage {
        let what = format!("{what} at place {}", self.row().place);
        let apply = Box::new(move |dir: &Path| database(dir).execute_batch(&text).unwrap());
        Damage { class, what, intact, apply }
    }
}

/// Every byte of the events and of the head, one at a time.
fn bytes(at: &At<'_>, stride: usize) -> Vec<Damage> {
    let row = at.row();
    let damage = |class: &'static str, column: &'static str, byte: usize, value: &[u8]| {
        let (mut changed, place) = (value.to_vec(), row.place);
        changed[byte] ^= 1;
        let apply = move |dir: &Path| {
            let sql = format!("UPDATE rows SET {column} = ?1 WHERE place = ?2");
            assert_eq!(database(dir).execute(&sql, params![changed, place]).unwrap(), 1);
        };
        let what = format!("byte {byte} of the {column} of events {} to {} of {}", row.first, row.last, row.run);
        Damage { class, what, intact: at.intact(at.k), apply: Box::new(apply) }
    };
    let events = (0..row.bytes.len()).step_by(stride).map(|byte| damage("byte", "bytes", byte, &row.bytes));
    events.chain((0..row.head.0.len()).map(|byte| damage("head", "head", byte, &row.head.0))).collect()
}

/// Every column, set to what it cannot be.
fn columns(at: &At<'_>) -> Vec<Damage> {
    let set = |class, set: &str, intact| {
        at.sql(class, set, intact, format!("UPDATE OR REPLACE rows SET {set} WHERE place = {}", at.row().place))
    };
    let columns = [
        "head = x'00'",
        "head = x''",
        "bytes = x''",
        "bytes = x'ff'",
        "first_seq = first_seq - 1",
        "first_seq = first_seq + 1",
        "first_seq = -1",
        "last_seq = last_seq + 1000",
        "last_seq = 0",
        "last_seq = -1",
        "last_seq = 9223372036854775807",
        "run = 999",
        "run = -1",
    ];
    let places = ["place = place + 100000", "place = -place", "place = 9223372036854775807"];
    let columns = columns.into_iter().map(|text| set("column", text, at.intact(at.k)));
    columns.chain(places.into_iter().map(|text| set("place", text, None))).collect()
}

/// The row missing, doubled, swapped with the next, replaced by a foreign one, and the last that is left.
fn around(at: &At<'_>) -> Vec<Damage> {
    let (run, row, k) = (at.run(), at.row(), at.k);
    let (place, before) = (row.place, at.intact(k));
    let again = "INSERT INTO rows (run, first_seq, last_seq, head, bytes) SELECT run, first_seq, last_seq";
    let mut all = vec![
        at.sql("missing", "row", before.clone(), format!("DELETE FROM rows WHERE place = {place}")),
        at.sql(
            "doubled",
            "row",
            before.clone(),
            format!("DROP INDEX rows_of_run; {again}, head, bytes FROM rows WHERE place = {place}"),
        ),
        at.sql(
            "doubled",
            "row after the end",
            at.intact(run.rows.len()),
            format!("{again} + 100000, head, bytes FROM rows WHERE place = {place}"),
        ),
    ];
    if let Some(next) = run.rows.get(k + 1) {
        for (what, columns) in [("contents", "bytes, head"), ("events", "bytes"), ("numbers", "first_seq, last_seq")] {
            let text = format!("DROP INDEX rows_of_run; {}", swap(columns, place, next.place));
            all.push(at.sql("swapped", &format!("{what} with the next"), before.clone(), text));
        }
    }
    let o = (at.r + 1) % at.specimen.runs.len();
    let other = &at.specimen.runs[o];
    if o != at.r {
        let theirs = &other.rows[k % other.rows.len()];
        let text = format!(
            "UPDATE rows SET (bytes, head) = (SELECT bytes, head FROM rows WHERE place = {}) WHERE place = {place}",
            theirs.place
        );
        all.push(at.sql("foreign", "contents of another run", before.clone(), text));
        let text = format!(
            "DELETE FROM rows WHERE place = {place};
             UPDATE OR REPLACE rows SET run = (SELECT id FROM runs WHERE run = '{}') WHERE place = {}",
            run.run.digits(),
            theirs.place
        );
        // The foreign row takes the place that its number gives it, which may lie before the one that is gone.
        let taken = run.rows.iter().position(|row| row.last >= theirs.last).unwrap_or(run.rows.len());
        let mut intact = at.intact(k.min(taken)).unwrap();
        intact[o] = k % other.rows.len();
        all.push(at.sql("foreign", "row of another run", Some(intact), text));
    }
    if k > 0 {
        let last = &run.rows[k - 1];
        let text = format!(
            "DELETE FROM rows WHERE place >= {place} AND run = (SELECT id FROM runs WHERE run = '{digits}');
             UPDATE runs SET seq = {}, place = {last}, head = (SELECT head FROM rows WHERE place = {last})
             WHERE run = '{digits}'",
            last.last,
            digits = run.run.digits(),
            last = last.place
        );
        all.push(at.sql("tail", &format!("{} ends at event {}", run.run, last.last), before, text));
    }
    all
}

fn swap(columns: &str, one: u64, two: u64) -> String {
    format!(
        "CREATE TEMP TABLE kept AS SELECT * FROM rows WHERE place IN ({one}, {two});
         UPDATE rows SET ({columns}) = (SELECT {columns} FROM kept WHERE kept.place = {one} + {two} - rows.place)
         WHERE place IN ({one}, {two})"
    )
}

/// Every object that a run names: missing, and changed at its ends and in its middle.
fn objects(specimen: &Specimen, r: usize, whole: &[usize]) -> Vec<Damage> {
    let mut all = Vec::new();
    let run = &specimen.runs[r];
    for (digest, bytes) in &run.objects {
        // An object that several runs name is damaged for each.
        let intact: Vec<usize> = specimen
            .runs
            .iter()
            .zip(whole)
            .map(|(run, all)| run.named_in.get(digest).copied().unwrap_or(*all))
            .collect();
        let mut contents: Vec<(String, Option<Vec<u8>>)> =
            vec![("missing".to_owned(), None), ("empty".to_owned(), Some(Vec::new()))];
        for at in [0, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            let mut changed = bytes.to_vec();
            if let Some(byte) = changed.get_mut(at) {
                *byte ^= 1;
                contents.push((format!("changed at byte {at}"), Some(changed)));
            }
        }
        contents.push(("longer".to_owned(), Some([&bytes[..], b"x"].concat())));
        for (what, content) in contents.into_iter().filter(|(_, content)| content.as_deref() != Some(&bytes[..])) {
            let digest = *digest;
            let apply = move |dir: &Path| {
                let name = digest.to_string();
                let file = dir.join("objects").join(&name[..2]).join(&name);
                match (&content, file.exists()) {
                    (None, true) => fs::remove_file(file).unwrap(),
                    (Some(bytes), true) => fs::write(file, bytes).unwrap(),
                    (None, false) => {
                        database(dir).execute("DELETE FROM objects WHERE digest = ?1", [digest.0]).unwrap();
                    }
                    (Some(bytes), false) => {
                        let sql = "UPDATE objects SET bytes = ?1 WHERE digest = ?2";
                        assert_eq!(database(dir).execute(sql, params![bytes, digest.0]).unwrap(), 1);
                    }
                }
            };
            let what = format!("{what}: object {digest} of {} bytes", bytes.len());
            all.push(Damage { class: "object", what, intact: Some(intact.clone()), apply: Box::new(apply) });
        }
    }
    all
}
