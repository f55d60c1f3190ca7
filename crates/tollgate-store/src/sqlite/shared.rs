//! The tables of what runs say to each other.

use rusqlite::{Connection, OptionalExtension, params};
use tollgate_core::id::RunId;

use super::reader::{lease, run_id};
use crate::error::{ReadError, StoreError};
use crate::shared::{Note, Notes, Said, Says, Total, changed, replace};

/// Amounts that cannot be read count as none: the run's next append writes them again.
fn amounts(text: &str) -> Vec<u64> {
    serde_json::from_str(text).unwrap_or_default()
}

fn text(amounts: &[u64]) -> String {
    serde_json::Value::from(amounts).to_string()
}

/// The last change and the sum of a key.
pub(super) fn key(connection: &Connection, key: &str) -> Result<Total, StoreError> {
    let mut statement = connection.prepare_cached("SELECT place, total FROM shared_keys WHERE key = ?1")?;
    let found = statement.query_row([key], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).optional()?;
    let Some((place, total)) = found else { return Ok(Total::default()) };
    Ok(Total { place, amounts: serde_json::from_str(&total).or_else(|_| sum(connection, key))? })
}

/// The sum of a key from its parts, for one that cannot be read.
fn sum(connection: &Connection, key: &str) -> rusqlite::Result<Vec<u64>> {
    let mut statement = connection.prepare_cached("SELECT amounts FROM shared WHERE key = ?1")?;
    let parts = statement.query_map([key], |row| row.get::<_, String>(0))?;
    parts.into_iter().try_fold(Vec::new(), |sum, part| Ok(replace(&sum, &[], &amounts(&part?))))
}

/// What a run says.
pub(super) fn says(connection: &Connection, run: RunId) -> Result<Says, StoreError> {
    let mut statement = connection.prepare_cached("SELECT key, amounts, note FROM shared WHERE run = ?1")?;
    let mut found = statement.query([run.digits()])?;
    let mut says = Says::new();
    while let Some(row) = found.next()? {
        says.insert(row.get(0)?, Said { amounts: amounts(&row.get::<_, String>(1)?), note: row.get(2)? });
    }
    Ok(says)
}

/// Takes over what a run says from the append at a place on.
pub(super) fn write(connection: &Connection, run: RunId, now: &Says, place: u64) -> Result<(), StoreError> {
    let before = says(connection, run)?;
    let sql = |text| connection.prepare_cached(text);
    for (key, before, now) in changed(&before, now) {
        let amounts = |said: Option<&Said>| said.map_or_else(Vec::new, |said| said.amounts.clone());
        let total = replace(&self::key(connection, key)?.amounts, &amounts(before), &amounts(now));
        match now {
            Some(said) => sql("INSERT OR REPLACE INTO shared (run, key, amounts, note) VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![run.digits(), key, text(&said.amounts), said.note])?,
            None => sql("DELETE FROM shared WHERE run = ?1 AND key = ?2")?.execute(params![run.digits(), key])?,
        };
        sql("INSERT OR REPLACE INTO shared_keys (key, place, total) VALUES (?1, ?2, ?3)")?.execute(params![
            key,
            place,
            text(&total)
        ])?;
    }
    Ok(())
}

/// The amounts under a key, of all runs but one.
pub(super) fn total(connection: &Connection, key: &str, but: RunId) -> Result<Total, ReadError> {
    // Two statements see one state: an append between them would count the run's own part twice, or not at all.
    let all = connection.unchecked_transaction()?;
    let Total { place, amounts: sum } = self::key(&all, key)?;
    let sql = "SELECT amounts FROM shared WHERE run = ?1 AND key = ?2";
    let own = all.prepare_cached(sql)?.query_row(params![but.digits(), key], |row| row.get::<_, String>(0));
    let own = own.optional()?.unwrap_or_default();
    Ok(Total { place, amounts: replace(&sum, &amounts(&own), &[]) })
}

/// The notes under a key, of all runs but one.
pub(super) fn notes(connection: &Connection, key: &str, but: RunId) -> Result<Notes, ReadError> {
    // The place first: what changes after it was read is found when the append is checked.
    let place = self::key(connection, key)?.place;
    let sql = "SELECT run, note, epoch, holder, until_ms FROM shared LEFT JOIN leases USING (run) \
               WHERE key = ?1 AND run <> ?2 AND note <> x'' ORDER BY run";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(params![key, but.digits()])?;
    let mut notes = Vec::new();
    while let Some(row) = found.next()? {
        notes.push(Note { run: run_id(&row.get::<_, String>(0)?)?, note: row.get(1)?, lease: lease(row, 2)? });
    }
    Ok(Notes { place, notes })
}
