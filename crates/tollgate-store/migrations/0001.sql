-- One row per run: its version, the head of its chain, and the summary that lists are made of.
-- `id` is also the run's slot in the file `heads`, counted from 1.
CREATE TABLE runs (
    id         INTEGER PRIMARY KEY,
    run        TEXT    NOT NULL UNIQUE,
    seq        INTEGER NOT NULL,
    place      INTEGER NOT NULL,
    head       BLOB    NOT NULL,
    status     TEXT    NOT NULL,
    repository TEXT    NOT NULL,
    at_ms      INTEGER NOT NULL,
    body       BLOB    NOT NULL
) STRICT;

-- One row per append, with all its events; `place` is the order over all runs.
CREATE TABLE rows (
    place     INTEGER PRIMARY KEY,
    run       INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    head      BLOB    NOT NULL,
    bytes     BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX rows_of_run ON rows (run, last_seq);

-- Small objects; larger ones are files.
CREATE TABLE objects (
    id     INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    bytes  BLOB NOT NULL
) STRICT;

-- The last snapshot of a run: a cache that can always be thrown away.
CREATE TABLE snapshots (
    run   INTEGER PRIMARY KEY,
    seq   INTEGER NOT NULL,
    head  BLOB    NOT NULL,
    seal  BLOB    NOT NULL,
    bytes BLOB    NOT NULL
) STRICT;

-- Who drives a run. A run can be leased before its first event.
CREATE TABLE leases (
    run      TEXT    PRIMARY KEY,
    epoch    INTEGER NOT NULL,
    holder   TEXT    NOT NULL,
    until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
