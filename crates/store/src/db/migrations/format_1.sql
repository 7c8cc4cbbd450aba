-- What made the index of a store of format 1, as it was then. This file never changes.

-- (d) A row for each tool that a name ever led to; runs and people change what stands below the line. The rows are
-- narrow, because lists are read off them: what is wide is in the next table.
CREATE TABLE tool (
    num          INTEGER PRIMARY KEY,
    id           BLOB    NOT NULL UNIQUE,
    name         TEXT    NOT NULL,
    folded       TEXT    NOT NULL,
    current      INTEGER NOT NULL,  -- 1 where the name leads here
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    safety       INTEGER NOT NULL,
    quality      INTEGER NOT NULL,
    tags         TEXT    NOT NULL,  -- each with a line feed before and after it
    -- ----
    confidence   INTEGER NOT NULL CHECK (confidence BETWEEN 1000 AND 10000),
    status       TEXT    NOT NULL
        CHECK (status IN ('unverified', 'pending', 'passed', 'failed', 'deprecated', 'quarantined')),
    runs         INTEGER NOT NULL DEFAULT 0 CHECK (runs >= 0),
    successes    INTEGER NOT NULL DEFAULT 0 CHECK (successes BETWEEN 0 AND runs),
    last_used_at INTEGER NOT NULL DEFAULT 0 CHECK (last_used_at BETWEEN 0 AND 253402207200999)
) STRICT;

-- A name leads to one tool, whatever its case.
CREATE UNIQUE INDEX tool_by_name ON tool (folded) WHERE current = 1;

-- (d) What is said about each tool.
CREATE TABLE about (
    tool        INTEGER PRIMARY KEY REFERENCES tool (num),
    version     BLOB    NOT NULL,   -- the newest version that is about it
    source      BLOB    NOT NULL,
    description TEXT    NOT NULL
) STRICT;
CREATE INDEX about_by_source ON about (source);

-- (d) The history of each name.
CREATE TABLE version (
    folded  TEXT    NOT NULL,
    number  INTEGER NOT NULL,       -- from 1
    hash    BLOB    NOT NULL,
    tool    INTEGER NOT NULL REFERENCES tool (num),
    event   TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (folded, number)
) STRICT, WITHOUT ROWID;

-- Objects whose files may not outlast a loss of power yet.
CREATE TABLE unsynced (
    hash  BLOB PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- How often runs failed, by the code of the failure.
CREATE TABLE failure (
    tool  INTEGER NOT NULL REFERENCES tool (num),
    code  TEXT    NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (tool, code)
) STRICT, WITHOUT ROWID;

-- Sketches of how much runs cost: how many of them fell into each bucket.
CREATE TABLE cost (
    tool   INTEGER NOT NULL REFERENCES tool (num),
    what   TEXT    NOT NULL,        -- 'fuel' or 'micros'
    bucket INTEGER NOT NULL CHECK (bucket >= 0),
    count  INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (tool, what, bucket)
) STRICT, WITHOUT ROWID;

-- What people said to a tool with a set of grants, and what they were asked.
CREATE TABLE approval (
    tool    BLOB    NOT NULL,
    grants  BLOB    NOT NULL,       -- the hash of their canonical form
    form    TEXT    NOT NULL,       -- that form
    granted INTEGER CHECK (granted IN (0, 1)), -- 1 approved, 0 refused, none where nobody decided yet
    by      TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (tool, grants)
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_asked ON approval (at) WHERE granted IS NULL;

-- Run records and receipts.
CREATE TABLE record (
    num  INTEGER PRIMARY KEY,
    hash BLOB    NOT NULL UNIQUE,
    kind TEXT    NOT NULL,
    tool BLOB,                      -- none where no tool was found
    at   INTEGER NOT NULL,
    body BLOB    NOT NULL,
    run  BLOB                       -- the run that it is the one record of
) STRICT;
CREATE INDEX record_by_tool ON record (tool, num);
CREATE UNIQUE INDEX record_by_run ON record (run) WHERE run IS NOT NULL;
