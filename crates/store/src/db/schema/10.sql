-- The table that format 10 adds to those before; see there.

-- The shared library that this store is a copy of, if it is one, and how far it has followed its history.
CREATE TABLE IF NOT EXISTS replica (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    library TEXT    NOT NULL,           -- the key of the history
    node    TEXT    NOT NULL,           -- the identifier of this node
    secret  BLOB    NOT NULL,           -- a fingerprint of the library's secret
    seen    INTEGER NOT NULL CHECK (seen IN (0, 1)), -- 1 once all entries that there were had been applied
    count   INTEGER NOT NULL CHECK (count >= 0), -- the entries that were applied
    last    BLOB    NOT NULL            -- the hash of the last of them; zeros before the first
) STRICT;
