-- The tables that format 4 adds to those before; see there.

-- What tools keep: pairs of a key and a value, in named spaces. A name of a space is an ASCII letter, and then letters,
-- digits, `_` and `-`.
CREATE TABLE pair (
    space   TEXT    NOT NULL
        CHECK (space GLOB '[A-Za-z]*' AND space NOT GLOB '*[^A-Za-z0-9_-]*' AND octet_length(space) <= 64),
    key     TEXT    NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 512),
    value   TEXT    NOT NULL,                     -- JSON
    version INTEGER NOT NULL CHECK (version BETWEEN 1 AND 9007199254740991),
    until   INTEGER,                              -- from when on nobody sees it; none where it stays
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX pair_until ON pair (space, until) WHERE until IS NOT NULL;

-- How much is in each space, expired pairs that are still there included. The last version that a pair got is the mark
-- 'version': versions only grow, also where a pair is deleted and put again.
CREATE TABLE space (
    name  TEXT    PRIMARY KEY,
    keys  INTEGER NOT NULL CHECK (keys > 0),
    bytes INTEGER NOT NULL CHECK (bytes > 0)      -- of keys and values
) STRICT, WITHOUT ROWID;

-- Runs that are asleep; see sleeping.rs. Who takes one to wake it removes it.
CREATE TABLE sleeping (
    run    BLOB    PRIMARY KEY CHECK (octet_length(run) = 16),
    tool   BLOB    NOT NULL CHECK (octet_length(tool) = 32),
    caller TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    bound  TEXT    NOT NULL,                      -- what else it is bound to: JSON
    blob   BLOB    NOT NULL CHECK (octet_length(blob) <= 1048576)
) STRICT;
CREATE INDEX sleeping_at ON sleeping (at);
