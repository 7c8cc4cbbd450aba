-- The tables that format 9 adds to those before; see there.

-- Approvals for one run, which takes its row.
CREATE TABLE IF NOT EXISTS single_approval (
    tool   BLOB    NOT NULL,
    grants BLOB    NOT NULL,            -- the hash of their canonical form
    form   TEXT    NOT NULL,            -- that form
    by     TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (tool, grants)
) STRICT, WITHOUT ROWID;

-- The time that the runs of each tool saved on each day, as hosts report it. Sums stop at the greatest number that fits.
CREATE TABLE IF NOT EXISTS daily_time_saved (
    day    INTEGER NOT NULL,            -- as in daily_usage
    tool   INTEGER NOT NULL REFERENCES tool (num),
    micros INTEGER NOT NULL CHECK (micros >= 0),
    PRIMARY KEY (day, tool)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS daily_time_saved_by_tool ON daily_time_saved (tool, day);
