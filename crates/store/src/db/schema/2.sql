-- The tables that format 2 adds to those of format 1; see there.

-- What the runs of a tool took and gave, besides what is in its row and in the sketches.
CREATE TABLE ledger (
    tool   INTEGER PRIMARY KEY REFERENCES tool (num),
    micros INTEGER NOT NULL CHECK (micros >= 0),  -- all runs together
    saved  INTEGER CHECK (saved >= 0),            -- tokens, as hosts say; none where no host said anything
    in_row INTEGER NOT NULL CHECK (in_row >= 0)   -- failures of its own since the last run that went well
) STRICT;

-- What is to be used in place of a tool that is deprecated.
CREATE TABLE successor (
    tool      INTEGER PRIMARY KEY REFERENCES tool (num),
    successor BLOB    NOT NULL                    -- the identifier of another tool
) STRICT;

-- (d) What each tool that a name leads to is found by, and in which way that was made of what is said about it: none
-- where it is still to be made.
CREATE TABLE terms (
    tool  INTEGER PRIMARY KEY REFERENCES tool (num),
    way   TEXT    NOT NULL,
    words TEXT    NOT NULL                        -- each with a line feed before and after it
) STRICT;
CREATE INDEX terms_by_way ON terms (way);

-- (d) Which tools have which terms. Terms come taken apart, so all that is not a blank is part of one.
CREATE VIRTUAL TABLE found_by USING fts5 (
    name, tags, about, parameters,
    content = '', contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 0 categories ''L* M* N* P* S* Co'''
);
