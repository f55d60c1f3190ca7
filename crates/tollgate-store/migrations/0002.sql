-- What runs say to each other: one row per key (`pool/NAME`, `budget/DAY`) and run, as of the run's last append.
CREATE TABLE shared (
    run     TEXT NOT NULL,
    key     TEXT NOT NULL,
    amounts TEXT NOT NULL,
    note    BLOB NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX shared_under ON shared (key);

-- The amounts of all runs under a key, added up, and the last append that changed anything there.
CREATE TABLE shared_keys (
    key   TEXT    PRIMARY KEY,
    place INTEGER NOT NULL,
    total TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
