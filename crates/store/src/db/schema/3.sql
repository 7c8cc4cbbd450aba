-- The tables that format 3 adds to those of formats 1 and 2; see there.

-- Tokens that are good for one time and were used, until they would not be good any more.
CREATE TABLE spent (
    token BLOB    PRIMARY KEY CHECK (length(token) = 32),  -- its hash
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_until ON spent (until);

-- Numbers that only grow: 'generation', one more with each change to what tools there are and may run, and 'forgotten', the
-- latest time that a forgotten token would have been good until.
CREATE TABLE mark (
    what TEXT    PRIMARY KEY,
    at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
