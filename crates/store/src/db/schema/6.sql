-- The tables that format 6 adds to those before; see there.

-- Definitions of tools of MCP servers that a person trusted: only they are called.
CREATE TABLE IF NOT EXISTS server_tool (
    server TEXT    NOT NULL,
    tool   TEXT    NOT NULL,                                     -- as the server names it
    digest BLOB    NOT NULL CHECK (octet_length(digest) = 32),   -- of all that the server says about the tool
    form   TEXT    NOT NULL,                                     -- what it said, as JSON, to compare with
    by     TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (server, tool)
) STRICT, WITHOUT ROWID;
