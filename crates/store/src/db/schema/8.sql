-- The table and the indexes that format 8 adds to those before; see there.

-- How much the runs of each tool came to on each day. Sums stop at the greatest number that fits.
CREATE TABLE IF NOT EXISTS daily_usage (
    day      INTEGER NOT NULL CHECK (day BETWEEN -4371587 AND 2932896), -- days since 1970-01-01, in UTC: years of four digits
    tool     INTEGER NOT NULL REFERENCES tool (num),
    runs     INTEGER NOT NULL CHECK (runs > 0),
    failures INTEGER NOT NULL CHECK (failures BETWEEN 0 AND runs),
    fuel     INTEGER NOT NULL CHECK (fuel >= 0),
    max_fuel INTEGER NOT NULL CHECK (max_fuel >= 0),
    micros   INTEGER NOT NULL CHECK (micros >= 0),
    saved    INTEGER CHECK (saved >= 0),            -- tokens, as hosts report them; none if no host reported any
    PRIMARY KEY (day, tool)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS daily_usage_by_tool ON daily_usage (tool, day);

-- The receipts that are kept, of which there are few.
CREATE INDEX IF NOT EXISTS record_receipt ON record (num) WHERE kind = 'run-receipt';
