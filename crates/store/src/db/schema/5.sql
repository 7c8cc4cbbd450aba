-- The tables that format 5 adds to those before; see there.

-- Lines of the audit log: each is written here in the transaction of the change that it tells of, and stays until the log, with
-- the line in it, outlasts a loss of power.
CREATE TABLE IF NOT EXISTS outbox (
    num    INTEGER PRIMARY KEY,
    change TEXT    NOT NULL UNIQUE,               -- which change it tells of; it stands in the line
    after  INTEGER NOT NULL CHECK (after >= 0),   -- the number of a line that is before it in the log
    line   TEXT    NOT NULL                       -- rendered for the start of the chain
) STRICT;

-- The last line of the audit log that was known when something was written here.
CREATE TABLE IF NOT EXISTS log_head (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    seq  INTEGER NOT NULL CHECK (seq BETWEEN 1 AND 9007199254740991),
    hash BLOB    NOT NULL CHECK (octet_length(hash) = 32)
) STRICT;

-- Tools whose objects were found not to be what they should be, until they are made again or found to be whole.
CREATE TABLE IF NOT EXISTS damaged (
    tool INTEGER PRIMARY KEY REFERENCES tool (num)
) STRICT;
