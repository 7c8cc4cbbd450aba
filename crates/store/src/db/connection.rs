//! Connections to the database file.
//!
//! Invariant: a connection opens regular files only, follows no symlink, and treats the schema in
//! the file as data.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::file_lock::LOG_TIMEOUT;

use super::migrations::read_format;

/// The number of prepared statements cached per connection.
const CACHED_STATEMENTS: usize = 64;
/// The page cache of a connection, in KiB.
const CACHE_KIB: i64 = 2 << 10;
/// The number of pages after which the write-ahead log is checkpointed. A checkpoint costs two
/// syncs, which some hundred runs share; after a kill, the next process that opens the index reads
/// the log again.
const CHECKPOINT_PAGES: i64 = 4096;

/// How the database file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenMode {
    /// For reading and writing.
    ReadWrite,
    /// For reading, while other processes may write.
    ReadOnly,
    /// For reading, while no process can write: the only way if SQLite cannot create its own files.
    Immutable,
}

/// Connects to a database file. A FIFO or a device in its place is refused.
pub(super) fn connect(path: &Path, source: OpenMode) -> rusqlite::Result<Connection> {
    if has_special_file(path) {
        let no_database = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
        return Err(rusqlite::Error::SqliteFailure(no_database, Some("not a regular file".to_owned())));
    }
    let common = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_URI;
    let (flags, immutable) = match source {
        OpenMode::ReadWrite => (OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, ""),
        OpenMode::ReadOnly => (OpenFlags::SQLITE_OPEN_READ_ONLY, ""),
        OpenMode::Immutable => (OpenFlags::SQLITE_OPEN_READ_ONLY, "?immutable=1"),
    };
    let connection = Connection::open_with_flags(format!("file:{}{immutable}", escape_uri_path(path)), flags | common)?;
    // If SQLite cannot open the file for writing, for whatever reason, it opens it read-only.
    if source == OpenMode::ReadWrite && connection.is_readonly("main")? {
        let cannot_open = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
        return Err(rusqlite::Error::SqliteFailure(cannot_open, None));
    }
    connection.busy_timeout(LOG_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Query plans do not depend on parameter values (QPSG), so prepared statements are not
    // recompiled.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // The schema in the file is data, not code: a planted trigger or view can call nothing.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    if source == OpenMode::ReadWrite {
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    Ok(connection)
}

/// Escapes a path for a URI (RFC 3986): all bytes except letters, digits and `/._-`.
fn escape_uri_path(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut escaped = String::new();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            escaped.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "%{byte:02x}");
        }
    }
    escaped
}

/// Connects to an index that may be damaged, for reading only.
pub(crate) fn connect_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenMode::ReadOnly)?;
    read_format(&connection).map(|_| connection)
}

/// Whether a file of the index is a FIFO or a device, on which SQLite would block. SQLite itself
/// refuses symlinks.
fn has_special_file(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    ["", "-wal", "-shm"].into_iter().any(|ending| {
        name.clear();
        name.push(path);
        name.push(ending);
        let known = Path::new(&name).symlink_metadata();
        known.is_ok_and(|known| !known.is_file() && !known.is_symlink())
    })
}
