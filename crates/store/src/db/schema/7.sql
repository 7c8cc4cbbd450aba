-- The tables that format 7 adds to those before; see there.

-- Where the data came from that a key-value space, a folder or a tool's source may hold, or that a caller was told.
CREATE TABLE IF NOT EXISTS label (
    kind   TEXT NOT NULL CHECK (kind IN ('caller', 'files', 'kv', 'tool')),
    name   TEXT NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (kind, name, source)
) STRICT, WITHOUT ROWID;
