//! The index: mutable state and fast lookups, in an SQLite database in WAL mode that many processes
//! share.
//!
//! Invariant: every change is one transaction. An acknowledged change survives a crash of the
//! process and, with [`Durability::Synced`], a power failure. Readers never wait for writers.
//!
//! Writers queue at a file lock before they enter SQLite, whose busy handler polls with pauses of
//! up to a tenth of a second: a dozen processes that create tools at once would starve each other.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cap_std::fs::PermissionsExt as _;
use toolcell_i18n::{Message, message, msgid};

use rusqlite::{Connection, OpenFlags};

use crate::directory::{Directory, FORMAT, OpenError, PRIVATE_FILE_MODE, StoreAccess, private_options};
use crate::durability::Durability;
use crate::error::{Fault, MaybeFault};
use crate::file_lock::{self, BRIEF_TIMEOUT, LOCK_TIMEOUT, lock_timeout};

use super::connection::{OpenMode, connect};
use super::migrations::{create_tables, migrate, read_format};
use super::read_error::{probe_files, reclassify};
use super::transaction::{CommitState, WriteError, execute_cached, is_read_only, run_transaction};

/// The database file.
pub(crate) const INDEX_FILE: &str = "index.sqlite";
/// The write-ahead log.
const WAL_FILE: &str = "index.sqlite-wal";
/// The shared memory of the write-ahead log.
const SHM_FILE: &str = "index.sqlite-shm";
/// The name of the writer lock in messages.
const LOCK_NAME: &str = msgid!("the index");
/// The maximum number of idle reader connections.
const MAX_IDLE_READERS: usize = 8;

/// The index of a store.
pub(crate) struct Index {
    path: PathBuf,
    mode: OpenMode,
    readers: Mutex<Vec<Connection>>,
    /// The writer connection with its lock file; `None` if the index is read-only.
    writer: Option<Mutex<Writer>>,
}

struct Writer {
    path: PathBuf,
    /// `None` if it must be reopened: when SQLite cannot open one of its files for writing, it
    /// opens the file read-only and stays in that mode as long as this process has the index open.
    connection: Option<Connection>,
    /// The durability that the connection is set to; `None` if unknown.
    last_durability: Option<Durability>,
    lock_file: std::fs::File,
}

impl Index {
    /// Opens the index, creates it if it does not exist, and migrates an older format.
    pub(crate) fn open(directory: &Directory) -> Result<Self, OpenError> {
        Self::open_unclassified(directory).map_err(|error| match error {
            OpenError::Fault(fault) => reclassify(fault, &directory.path().join(INDEX_FILE)).into(),
            other => other,
        })
    }

    fn open_unclassified(directory: &Directory) -> Result<Self, OpenError> {
        let path = directory.path().join(INDEX_FILE);
        if directory.access() == StoreAccess::ReadOnly {
            return Self::read_only(directory, path);
        }
        let queue = directory.open_lock_file("writer")?;
        restrict_permissions(directory)?;
        let whole = directory.root().symlink_metadata(INDEX_FILE).is_ok_and(|metadata| metadata.len() > 0);
        let known = if whole { connect_if_initialized(&path)? } else { None };
        let is_older = |connection: &Connection| Ok::<bool, Fault>(read_format(connection)? < FORMAT);
        let connection = match known {
            Some(connection) if !is_older(&connection)? && !directory.is_older() => connection,
            known => {
                lock_timeout(&queue, LOCK_NAME, LOCK_TIMEOUT, std::fs::File::try_lock)
                    .map_err(Fault::disk("writer"))?;
                let made = known.map_or_else(|| create_first(directory, &path), migrate_connection);
                let made = made.and_then(|connection| directory.update_format().map(|()| connection));
                queue.unlock().map_err(Fault::disk("writer"))?;
                made?
            }
        };
        let format = read_format(&connection).map_err(Fault::from)?;
        let writer =
            Writer { path: path.clone(), connection: Some(connection), last_durability: None, lock_file: queue };
        if format != FORMAT {
            return Err(OpenError::Newer { path: path.display().to_string(), format });
        }
        let writer = Some(Mutex::new(writer));
        Ok(Self { path, mode: OpenMode::ReadWrite, readers: Mutex::default(), writer })
    }

    fn read_only(directory: &Directory, path: PathBuf) -> Result<Self, OpenError> {
        let logged = directory.root().symlink_metadata(WAL_FILE).is_ok_and(|metadata| metadata.len() > 0);
        // In immutable mode SQLite ignores the write-ahead log.
        let sources = if logged { &[OpenMode::ReadOnly][..] } else { &[OpenMode::ReadOnly, OpenMode::Immutable] };
        let mut last = None;
        for source in sources {
            match connect(&path, *source).and_then(|connection| Ok((read_format(&connection)?, connection))) {
                Ok((FORMAT, connection)) => {
                    return Ok(Self { path, mode: *source, readers: Mutex::new(vec![connection]), writer: None });
                }
                Ok((0, _)) => return Err(Fault::index(message!("it is empty")).into()),
                Ok((format, _)) if format < FORMAT => {
                    return Err(OpenError::Older { path: path.display().to_string(), format });
                }
                Ok((format, _)) => return Err(OpenError::Newer { path: path.display().to_string(), format }),
                Err(error) => last = Some(error),
            }
        }
        Err(last
            .map_or_else(|| Fault::ReadOnly { path: Message::verbatim(path.display().to_string()) }, Fault::from)
            .into())
    }

    /// Reads from one snapshot: `work` sees a single state.
    pub(crate) fn read<T, E: MaybeFault>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        self.read_unclassified(work).map_err(|error| reclassify(error, &self.path))
    }

    fn read_unclassified<T, E: From<Fault>>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        let kept = lock_mutex(&self.readers).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => connect(&self.path, self.mode).map_err(Fault::from)?,
        };
        execute_cached(&connection, "BEGIN DEFERRED").map_err(Fault::from)?;
        let done = work(&connection);
        // A failed read has already ended the transaction; its error is the one to report.
        let ended = if connection.is_autocommit() {
            Ok(())
        } else {
            execute_cached(&connection, "ROLLBACK").map_err(Fault::from)
        };
        let done = done?;
        ended?;
        let mut readers = lock_mutex(&self.readers);
        if readers.len() < MAX_IDLE_READERS {
            readers.push(connection);
        }
        Ok(done)
    }

    /// Runs `work` in a write transaction: all of its changes are made, or none.
    pub(crate) fn write<T, E: MaybeFault>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.write_reporting(durability, work).map_err(|unwritten| unwritten.error)
    }

    /// Same as [`Index::write`], for changes that can be made later: it times out soon.
    pub(crate) fn write_soon<T, E: MaybeFault>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut writer = self.lock_writer()?;
        let written = writer.write(durability, BRIEF_TIMEOUT, work);
        written.map_err(|unwritten| unwritten.reclassified(&self.path).error)
    }

    /// Same as [`Index::write`], but an error states how far the commit got.
    pub(crate) fn write_reporting<T, E: MaybeFault>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, WriteError<E>> {
        let written = self.lock_writer().map_err(WriteError::not_written)?.write(durability, LOCK_TIMEOUT, work);
        written.map_err(|unwritten| unwritten.reclassified(&self.path))
    }

    /// Holds the writer lock while `work` runs any number of transactions.
    pub(crate) fn with_exclusive_writer<T>(
        &self,
        patience: Duration,
        work: impl FnOnce(&mut ExclusiveWriter<'_>) -> T,
    ) -> Result<T, Fault> {
        let mut writer = self.lock_writer()?;
        writer.acquire_lock(patience)?;
        let done = work(&mut ExclusiveWriter { writer: &mut writer, path: &self.path });
        if let Err(error) = writer.lock_file.unlock() {
            // The lock is released at the latest when the process ends, and the changes are made.
            tracing::warn!(%error, "the writer lock could not be released");
        }
        Ok(done)
    }

    /// Takes a batch with `take` once this thread may write, writes it in one transaction, and
    /// passes it to `done` with the result before another thread may write. An empty batch writes
    /// nothing.
    pub(crate) fn write_batch<T, R>(
        &self,
        durability: Durability,
        take: impl FnOnce() -> Vec<T>,
        work: impl FnOnce(&Connection, &[T]) -> Result<R, Fault>,
        done: impl FnOnce(Vec<T>, Result<R, Fault>),
    ) {
        let mut writer = match self.lock_writer() {
            Ok(writer) => writer,
            Err(fault) => return done(take(), Err(fault)),
        };
        let batch = take();
        if !batch.is_empty() {
            let written = writer.write(durability, LOCK_TIMEOUT, |connection| work(connection, &batch));
            let written = written.map_err(|unwritten| unwritten.reclassified(&self.path).error);
            done(batch, written);
        }
    }
}

impl Index {
    /// The read error if the files of the index cannot be read, as opposed to damaged.
    pub(crate) fn read_fault(&self) -> Option<Fault> {
        probe_files(&self.path).map(|source| Fault::Disk { path: message!("the index"), source })
    }

    fn lock_writer(&self) -> Result<MutexGuard<'_, Writer>, Fault> {
        let Some(writer) = &self.writer else {
            return Err(Fault::ReadOnly { path: Message::verbatim(self.path.display().to_string()) });
        };
        let writer = lock_mutex(writer);
        if writer.connection.is_none() {
            lock_mutex(&self.readers).clear();
        }
        Ok(writer)
    }
}

impl Drop for Index {
    /// Checkpoints the write-ahead log, unless another process uses the index. The log stays,
    /// empty, and so does the shared memory: on a full disk neither could be created again, and
    /// nothing could be read.
    fn drop(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(connection) = writer.connection else { return };
        // If this fails, the next process that opens the index reads the log.
        let _ = connection.busy_timeout(Duration::ZERO);
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

/// The writer lock, while it is held.
pub(crate) struct ExclusiveWriter<'a> {
    writer: &'a mut Writer,
    path: &'a Path,
}

impl ExclusiveWriter<'_> {
    /// Runs `work` in one transaction.
    pub(crate) fn write<T, E: MaybeFault>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, WriteError<E>> {
        let written = self.writer.transact(durability, LOCK_TIMEOUT, work);
        written.map_err(|unwritten| unwritten.reclassified(self.path))
    }
}

impl Writer {
    fn acquire_lock(&self, patience: Duration) -> Result<(), Fault> {
        lock_timeout(&self.lock_file, LOCK_NAME, patience, std::fs::File::try_lock).map_err(Fault::disk("writer"))
    }

    fn write<T, E: From<Fault>>(
        &mut self,
        durability: Durability,
        patience: Duration,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, WriteError<E>> {
        self.acquire_lock(patience).map_err(WriteError::not_written)?;
        let done = self.transact(durability, patience, work);
        // A lock that cannot be released would block every other process; it is released at the
        // latest when this one ends.
        let given_up = self.lock_file.unlock().map_err(Fault::disk("writer"));
        let value = done?;
        given_up.map(|()| value).map_err(|fault| WriteError { error: fault.into(), state: CommitState::Committed })
    }

    fn transact<T, E: From<Fault>>(
        &mut self,
        durability: Durability,
        patience: Duration,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, WriteError<E>> {
        let connection = if let Some(connection) = self.connection.take() {
            connection
        } else {
            self.last_durability = None;
            connect(&self.path, OpenMode::ReadWrite).map_err(Fault::from).map_err(WriteError::not_written)?
        };
        // This timeout is for a process that did not take the writer lock.
        if patience < file_lock::LOG_TIMEOUT {
            connection.busy_timeout(patience).map_err(Fault::from).map_err(WriteError::not_written)?;
        }
        let done = run_transaction(&connection, &mut self.last_durability, durability, work);
        if patience < file_lock::LOG_TIMEOUT {
            // If this fails, the connection keeps the shorter timeout and reports `store-busy`
            // earlier.
            let _ = connection.busy_timeout(file_lock::LOG_TIMEOUT);
        }
        if done.is_ok() || connection.is_autocommit() && !is_read_only(&connection) {
            self.connection = Some(connection);
        }
        done
    }
}

/// Removes permissions of other users from the files of the index. SQLite gives its other files the
/// mode of this one.
fn restrict_permissions(directory: &Directory) -> Result<(), Fault> {
    let root = directory.root();
    for name in [INDEX_FILE, WAL_FILE, SHM_FILE] {
        let known = root.symlink_metadata(name);
        if known.is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o077 != 0) {
            let only_ours = cap_std::fs::Permissions::from_mode(PRIVATE_FILE_MODE);
            root.set_permissions(name, only_ours).map_err(Fault::disk(name))?;
        }
    }
    Ok(())
}

/// Creates an empty file with private permissions for SQLite to fill, if it does not exist.
fn create_private(root: &cap_std::fs::Dir, name: &str) -> Result<(), Fault> {
    let mut options = private_options();
    match root.open_with(name, options.create_new(true).write(true)) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(Fault::disk(name)(error)),
        _ => Ok(()),
    }
}

/// Connects to the index if it has tables.
fn connect_if_initialized(path: &Path) -> Result<Option<Connection>, Fault> {
    let connection = connect(path, OpenMode::ReadWrite)?;
    Ok((read_format(&connection)? > 0).then_some(connection))
}

fn migrate_connection(mut connection: Connection) -> Result<Connection, Fault> {
    migrate(&mut connection)?;
    Ok(connection)
}

/// Creates the index of a new store, unless another process was faster. A lost or truncated index
/// is not created again.
fn create_first(directory: &Directory, path: &Path) -> Result<Connection, Fault> {
    let whole = directory.root().symlink_metadata(INDEX_FILE).is_ok_and(|metadata| metadata.len() > 0);
    if !whole {
        refuse_if_objects_exist(directory)?;
        create_private(directory.root(), INDEX_FILE)?;
    }
    if let Some(connection) = connect_if_initialized(path)? {
        return migrate_connection(connection);
    }
    refuse_if_objects_exist(directory)?;
    create_private(directory.root(), INDEX_FILE)?;
    migrate_connection(connect(path, OpenMode::ReadWrite)?)
}

/// Fails if there are objects, because then there was an index.
fn refuse_if_objects_exist(directory: &Directory) -> Result<(), Fault> {
    let mut objects = directory.open_folder("objects")?.entries().map_err(Fault::disk("objects"))?;
    match objects.next() {
        None => Ok(()),
        Some(_) => Err(Fault::index(message!("it is missing or empty, but the store has objects"))),
    }
}

/// Whether the schema is exactly ours: no planted tables, triggers or views.
pub(crate) fn has_expected_schema(connection: &Connection) -> rusqlite::Result<bool> {
    let tables = |connection: &Connection| {
        let mut statement = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        rows.collect::<rusqlite::Result<Vec<(String, String, String, Option<String>)>>>()
    };
    let ours = Connection::open_in_memory()?;
    create_tables(&ours)?;
    Ok(tables(connection)? == tables(&ours)?)
}

/// Creates a new index in one file, without a write-ahead log.
pub(crate) fn create_at(directory: &Directory, name: &str) -> Result<Connection, Fault> {
    create_private(directory.root(), name)?;
    let path = directory.path().join(name);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "synchronous", "full")?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// A poisoned lock is fine: a thread that panicked left its connection between two transactions.
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
