//! The index: what changes, and what finds things fast. SQLite in WAL mode, so that many processes share it.
//!
//! Invariant: every change is one transaction. What is acknowledged outlasts the process, and, where it was to be
//! synced, the power. Readers never wait for a writer.
//!
//! Writers wait at a file lock before they come to SQLite, whose own waiting is a poll with pauses of up to a tenth of a
//! second: a dozen processes that create tools at once would starve one another.

mod transaction;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cap_std::fs::PermissionsExt as _;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::directory::{Access, Directory, FORMAT, OpenError, PRIVATE_FILE, private};
use crate::error::{Fault, OfFault};
use crate::upgrade::{format, make_tables, upgrade};
use crate::wait::{self, BRIEF, PATIENCE, lock_within};

pub(crate) use transaction::{Reached, Unwritten};
use transaction::{only_reads, say, transact};

/// The file.
pub(crate) const FILE: &str = "index.sqlite";
/// What was written last, until it goes into the index.
const LOG: &str = "index.sqlite-wal";
/// Memory that processes share.
const SHARED: &str = "index.sqlite-shm";
/// What the lock is of at which writers queue.
const LOCKED: &str = "the index";
/// Connections that are kept for readers.
const KEPT: usize = 8;
/// Statements that a connection keeps compiled.
const STATEMENTS: usize = 64;

/// Pages of the index that a connection keeps, in KiB.
const CACHE_KIB: i64 = 2 << 10;

/// How many pages of the log go into the index at once. Each time takes two syncs, which some hundred runs share; what
/// is in the log is read again by whoever opens the index after a kill.
const CHECKPOINT_PAGES: i64 = 4096;

/// Whether what is acknowledged outlasts a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Also a loss of power: one sync of the disk for each transaction.
    #[default]
    Synced,
    /// The end of the process in any way, but not that of the machine.
    Unsynced,
}

/// The index of a store.
pub(crate) struct Index {
    path: PathBuf,
    source: Source,
    readers: Mutex<Vec<Connection>>,
    /// The connection that writes, and the lock at which processes queue; none where nothing is written.
    writer: Option<Mutex<Writer>>,
}

struct Writer {
    path: PathBuf,
    /// None where it must be opened again: where SQLite could not open one of its files to write it, it opened it to
    /// read it, and stays at that as long as this process has the index open.
    connection: Option<Connection>,
    /// What the connection was told last that its changes outlast. None where that is not known.
    told: Option<Durability>,
    queue: std::fs::File,
}

/// How the file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Read and written.
    Shared,
    /// Read, while others may write.
    ReadOnly,
    /// Read, and nobody can write: the only way where SQLite cannot make its own files.
    Frozen,
}

impl Index {
    /// Opens the index, makes it where there is none, and upgrades it where it is of an older format.
    pub(crate) fn open(directory: &Directory) -> Result<Self, OpenError> {
        Self::open_as_it_is(directory).map_err(|error| match error {
            OpenError::Fault(fault) => fault.judged(&directory.path().join(FILE)).into(),
            other => other,
        })
    }

    fn open_as_it_is(directory: &Directory) -> Result<Self, OpenError> {
        let path = directory.path().join(FILE);
        if directory.access() == Access::ReadOnly {
            return Self::read_only(directory, path);
        }
        let queue = directory.lock_file("writer")?;
        keep_private(directory)?;
        let whole = directory.root().symlink_metadata(FILE).is_ok_and(|metadata| metadata.len() > 0);
        let known = if whole { connected(&path)? } else { None };
        let is_older = |connection: &Connection| Ok::<bool, Fault>(format(connection)? < FORMAT);
        let connection = match known {
            Some(connection) if !is_older(&connection)? && !directory.is_older() => connection,
            known => {
                lock_within(&queue, LOCKED, PATIENCE, std::fs::File::try_lock).map_err(Fault::disk("writer"))?;
                let made = known.map_or_else(|| make_first(directory, &path), upgraded);
                let made = made.and_then(|connection| directory.say_format().map(|()| connection));
                queue.unlock().map_err(Fault::disk("writer"))?;
                made?
            }
        };
        let format = format(&connection).map_err(Fault::from)?;
        let writer = Writer { path: path.clone(), connection: Some(connection), told: None, queue };
        if format != FORMAT {
            return Err(OpenError::Newer { path: path.display().to_string(), format });
        }
        let writer = Some(Mutex::new(writer));
        Ok(Self { path, source: Source::Shared, readers: Mutex::default(), writer })
    }

    fn read_only(directory: &Directory, path: PathBuf) -> Result<Self, OpenError> {
        let logged = directory.root().symlink_metadata(LOG).is_ok_and(|metadata| metadata.len() > 0);
        // Who takes the index as frozen does not see what is in its log.
        let sources = if logged { &[Source::ReadOnly][..] } else { &[Source::ReadOnly, Source::Frozen] };
        let mut last = None;
        for source in sources {
            match connect(&path, *source).and_then(|connection| Ok((format(&connection)?, connection))) {
                Ok((FORMAT, connection)) => {
                    return Ok(Self { path, source: *source, readers: Mutex::new(vec![connection]), writer: None });
                }
                Ok((0, _)) => return Err(Fault::Index { source: "there is nothing in it".into() }.into()),
                Ok((format, _)) if format < FORMAT => {
                    return Err(OpenError::Older { path: path.display().to_string(), format });
                }
                Ok((format, _)) => return Err(OpenError::Newer { path: path.display().to_string(), format }),
                Err(error) => last = Some(error),
            }
        }
        Err(last.map_or_else(|| Fault::ReadOnly { path: path.display().to_string() }, Fault::from).into())
    }

    /// Reads: everything in `work` sees the same state.
    pub(crate) fn read<T, E: OfFault>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        self.read_as_it_is(work).map_err(|error| error.judged(&self.path))
    }

    fn read_as_it_is<T, E: From<Fault>>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        let kept = lock(&self.readers).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => connect(&self.path, self.source).map_err(Fault::from)?,
        };
        say(&connection, "BEGIN DEFERRED").map_err(Fault::from)?;
        let done = work(&connection);
        // A read that failed has ended the transaction already, and what failed is what is told.
        let ended = if connection.is_autocommit() { Ok(()) } else { say(&connection, "ROLLBACK").map_err(Fault::from) };
        let done = done?;
        ended?;
        let mut readers = lock(&self.readers);
        if readers.len() < KEPT {
            readers.push(connection);
        }
        Ok(done)
    }

    /// Writes: everything in `work` happens, or nothing does.
    pub(crate) fn write<T, E: OfFault>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.write_or_say(durability, work).map_err(|unwritten| unwritten.error)
    }

    /// The same, for what can be written later: it gives up soon where others are at it.
    pub(crate) fn write_soon<T, E: OfFault>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut writer = self.writer()?;
        let written = writer.write(durability, BRIEF, work);
        written.map_err(|unwritten| unwritten.judged(&self.path).error)
    }

    /// The same, which says how far it got where it failed.
    pub(crate) fn write_or_say<T, E: OfFault>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, Unwritten<E>> {
        let written = self.writer().map_err(Unwritten::nothing)?.write(durability, PATIENCE, work);
        written.map_err(|unwritten| unwritten.judged(&self.path))
    }

    /// Keeps every other writer out while `work` writes, in as many transactions as it likes.
    pub(crate) fn turn<T>(&self, patience: Duration, work: impl FnOnce(&mut Turn<'_>) -> T) -> Result<T, Fault> {
        let mut writer = self.writer()?;
        writer.queue(patience)?;
        let done = work(&mut Turn { writer: &mut writer, path: &self.path });
        if let Err(error) = writer.queue.unlock() {
            // It goes with the process at the latest. What was done is done.
            tracing::warn!(%error, "the lock at which writers queue cannot be given up");
        }
        Ok(done)
    }

    /// Writes all that `take` gives once this thread may write, in one transaction, and hands it to `done` with what
    /// came of it before anybody else may write. Where there is nothing, nothing is written.
    pub(crate) fn write_all_of<T, R>(
        &self,
        durability: Durability,
        take: impl FnOnce() -> Vec<T>,
        work: impl FnOnce(&Connection, &[T]) -> Result<R, Fault>,
        done: impl FnOnce(Vec<T>, Result<R, Fault>),
    ) {
        let mut writer = match self.writer() {
            Ok(writer) => writer,
            Err(fault) => return done(take(), Err(fault)),
        };
        let batch = take();
        if !batch.is_empty() {
            let written = writer.write(durability, PATIENCE, |connection| work(connection, &batch));
            let written = written.map_err(|unwritten| unwritten.judged(&self.path).error);
            done(batch, written);
        }
    }
}

impl Index {
    /// Why it could not be read, where what was read is not damaged.
    pub(crate) fn read_fault(&self) -> Option<Fault> {
        unreadable(&self.path).map(|source| Fault::Disk { path: "the index".to_owned(), source })
    }

    fn writer(&self) -> Result<MutexGuard<'_, Writer>, Fault> {
        let Some(writer) = &self.writer else {
            return Err(Fault::ReadOnly { path: self.path.display().to_string() });
        };
        let writer = lock(writer);
        if writer.connection.is_none() {
            lock(&self.readers).clear();
        }
        Ok(writer)
    }
}

impl Drop for Index {
    /// What is in the log goes into the index, unless somebody is at it. The log stays where it is, empty, and so does
    /// the memory that processes share: on a full disk neither could be made again, and nothing could be read.
    fn drop(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(connection) = writer.connection else { return };
        // Where it fails, whoever opens the index next reads the log.
        let _ = connection.busy_timeout(Duration::ZERO);
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

/// While every other writer is kept out.
pub(crate) struct Turn<'a> {
    writer: &'a mut Writer,
    path: &'a std::path::Path,
}

impl Turn<'_> {
    /// One transaction.
    pub(crate) fn write<T, E: OfFault>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, Unwritten<E>> {
        let written = self.writer.transact(durability, PATIENCE, work);
        written.map_err(|unwritten| unwritten.judged(self.path))
    }
}

impl Writer {
    fn queue(&self, patience: Duration) -> Result<(), Fault> {
        lock_within(&self.queue, LOCKED, patience, std::fs::File::try_lock).map_err(Fault::disk("writer"))
    }

    fn write<T, E: From<Fault>>(
        &mut self,
        durability: Durability,
        patience: Duration,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, Unwritten<E>> {
        self.queue(patience).map_err(Unwritten::nothing)?;
        let done = self.transact(durability, patience, work);
        // A lock that cannot be given up would hold up everybody; it goes with the process at the latest.
        let given_up = self.queue.unlock().map_err(Fault::disk("writer"));
        let value = done?;
        given_up.map(|()| value).map_err(|fault| Unwritten { error: fault.into(), reached: Reached::All })
    }

    fn transact<T, E: From<Fault>>(
        &mut self,
        durability: Durability,
        patience: Duration,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, Unwritten<E>> {
        let connection = if let Some(connection) = self.connection.take() {
            connection
        } else {
            self.told = None;
            connect(&self.path, Source::Shared).map_err(Fault::from).map_err(Unwritten::nothing)?
        };
        // This wait is for a process that did not queue.
        if patience < wait::LOG {
            connection.busy_timeout(patience).map_err(Fault::from).map_err(Unwritten::nothing)?;
        }
        let done = transact(&connection, &mut self.told, durability, work);
        if patience < wait::LOG {
            // Where it fails, this connection waits too short a time, and says so.
            let _ = connection.busy_timeout(wait::LOG);
        }
        if done.is_ok() || connection.is_autocommit() && !only_reads(&connection) {
            self.connection = Some(connection);
        }
        done
    }
}

/// Sees to it that nobody else reads what is in the index. SQLite gives its other files the mode of this one.
fn keep_private(directory: &Directory) -> Result<(), Fault> {
    let root = directory.root();
    for name in [FILE, LOG, SHARED] {
        let known = root.symlink_metadata(name);
        if known.is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o077 != 0) {
            let only_ours = cap_std::fs::Permissions::from_mode(PRIVATE_FILE);
            root.set_permissions(name, only_ours).map_err(Fault::disk(name))?;
        }
    }
    Ok(())
}

/// Makes an empty file that nobody else reads, for SQLite to fill, where there is none.
fn make_private(root: &cap_std::fs::Dir, name: &str) -> Result<(), Fault> {
    let mut options = private();
    match root.open_with(name, options.create_new(true).write(true)) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(Fault::disk(name)(error)),
        _ => Ok(()),
    }
}

/// Whether one of the files of the index is a pipe or a device, at which SQLite would wait. It sees to links itself.
fn is_odd(path: &std::path::Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    ["", "-wal", "-shm"].into_iter().any(|ending| {
        name.clear();
        name.push(path);
        name.push(ending);
        let known = std::path::Path::new(&name).symlink_metadata();
        known.is_ok_and(|known| !known.is_file() && !known.is_symlink())
    })
}

/// A connection to an index that has tables.
fn connected(path: &std::path::Path) -> Result<Option<Connection>, Fault> {
    let connection = connect(path, Source::Shared)?;
    Ok((format(&connection)? > 0).then_some(connection))
}

fn upgraded(mut connection: Connection) -> Result<Connection, Fault> {
    upgrade(&mut connection)?;
    Ok(connection)
}

/// Makes the index of a new store, unless somebody else was faster. One that was lost or cut off is not a new one.
fn make_first(directory: &Directory, path: &std::path::Path) -> Result<Connection, Fault> {
    let whole = directory.root().symlink_metadata(FILE).is_ok_and(|metadata| metadata.len() > 0);
    if !whole {
        must_be_empty(directory)?;
        make_private(directory.root(), FILE)?;
    }
    if let Some(connection) = connected(path)? {
        return upgraded(connection);
    }
    must_be_empty(directory)?;
    make_private(directory.root(), FILE)?;
    upgraded(connect(path, Source::Shared)?)
}

/// Refuses where there are objects, and so was an index.
fn must_be_empty(directory: &Directory) -> Result<(), Fault> {
    let mut objects = directory.folder("objects")?.entries().map_err(Fault::disk("objects"))?;
    match objects.next() {
        None => Ok(()),
        Some(_) => Err(Fault::Index { source: "it is missing or empty, and there are objects".into() }),
    }
}

/// Whether the tables are those that we made, and nothing was planted between them.
pub(crate) fn has_our_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let tables = |connection: &Connection| {
        let mut statement = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        rows.collect::<rusqlite::Result<Vec<(String, String, String, Option<String>)>>>()
    };
    let ours = Connection::open_in_memory()?;
    make_tables(&ours)?;
    Ok(tables(connection)? == tables(&ours)?)
}

/// A connection to an index that may be damaged.
pub(crate) fn connect_to_read(path: &std::path::Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, Source::ReadOnly)?;
    format(&connection).map(|_| connection)
}

/// Why an index that SQLite calls damaged could not be read; none where what was read is damaged. SQLite itself takes a failing
/// read for damage, so the files are read without it, and then it is asked once more.
pub(crate) fn read_error(path: &std::path::Path) -> Option<std::io::Error> {
    if let Some(error) = unreadable(path) {
        return Some(error);
    }
    is_whole(path).ok()?.then(|| std::io::Error::other("a read failed, and did not when it was repeated"))
}

/// Why the files of the index cannot be read now, if they cannot.
fn unreadable(path: &std::path::Path) -> Option<std::io::Error> {
    ["", "-wal"].into_iter().find_map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        read_through(std::path::Path::new(&name)).err().filter(|error| error.kind() != std::io::ErrorKind::NotFound)
    })
}

/// Reads a file from one end to the other.
fn read_through(path: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
    let flags = (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW).bits().cast_signed();
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    let (mut page, mut at) = (vec![0; 64 << 10], 0);
    loop {
        match file.read_at(&mut page, at) {
            Ok(0) => return Ok(()),
            Ok(read) => at += read as u64,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether SQLite finds nothing wrong, with a connection of its own: neither in its pages nor in any row, whose values its own check
/// does not decode.
fn is_whole(path: &std::path::Path) -> rusqlite::Result<bool> {
    let connection = connect(path, Source::ReadOnly)?;
    let said: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if said != "ok" {
        return Ok(false);
    }
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let tables = tables.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    for table in tables {
        let mut every = connection.prepare(&format!("SELECT * FROM \"{}\"", table.replace('"', "\"\"")))?;
        let columns = every.column_count();
        let mut rows = every.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                row.get_ref(column)?;
            }
        }
    }
    Ok(true)
}

/// A new index in a file of its own, and no file beside it.
pub(crate) fn make_at(directory: &Directory, name: &str) -> Result<Connection, Fault> {
    make_private(directory.root(), name)?;
    let path = directory.path().join(name);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "synchronous", "full")?;
    upgrade(&mut connection)?;
    Ok(connection)
}

/// A thread that panicked left its connection between two transactions, where it is as good as new.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect(path: &std::path::Path, source: Source) -> rusqlite::Result<Connection> {
    if is_odd(path) {
        let no_database = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
        return Err(rusqlite::Error::SqliteFailure(no_database, Some("it is no regular file".to_owned())));
    }
    let common = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_URI;
    let (flags, immutable) = match source {
        Source::Shared => (OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, ""),
        Source::ReadOnly => (OpenFlags::SQLITE_OPEN_READ_ONLY, ""),
        Source::Frozen => (OpenFlags::SQLITE_OPEN_READ_ONLY, "?immutable=1"),
    };
    let connection = Connection::open_with_flags(format!("file:{}{immutable}", escaped(path)), flags | common)?;
    // Where SQLite cannot open the file to write it, for whatever reason, it opens it to read it.
    if source == Source::Shared && connection.is_readonly("main")? {
        let cannot_open = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
        return Err(rusqlite::Error::SqliteFailure(cannot_open, None));
    }
    connection.busy_timeout(wait::LOG)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // A plan does not depend on what is looked for, so a compiled statement stays compiled.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // What the file says is data, not a program: a planted trigger or view calls nothing.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    if source == Source::Shared {
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    Ok(connection)
}

/// A path in a URI: RFC 3986, with all but the plainest characters escaped.
fn escaped(path: &std::path::Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut escaped = String::new();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            escaped.push(char::from(*byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(escaped, "%{byte:02x}");
        }
    }
    escaped
}
