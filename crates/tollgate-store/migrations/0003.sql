-- The secret of a run, written once: from it follows what a worker must not be able to work out. No row of the journal has it.
CREATE TABLE secrets (
    run    TEXT PRIMARY KEY,
    secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;
