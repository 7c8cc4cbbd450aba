//! Read errors that SQLite reports as damage.
//!
//! Invariant: an index is reported as damaged only if its files can be read.

use std::path::Path;

use toolcell_i18n::message;

use crate::error::{Fault, MaybeFault, Reason};

use super::connection::{OpenMode, connect};

/// Turns "the index is damaged" into a read error if in fact the files of the index cannot be read.
pub(crate) fn reclassify<E: MaybeFault>(error: E, path: &Path) -> E {
    let fault = match error.into_fault() {
        Ok(fault) => fault,
        Err(other) => return other,
    };
    let source = if fault.is_index_damage() { find_read_error(path) } else { None };
    source.map_or(fault, |source| Fault::Disk { path: message!("the index"), source }).into()
}

/// The read error behind a report of damage; `None` if the content is damaged. SQLite reports
/// failed reads as damage, so the files are read directly, and then SQLite checks the index once
/// more.
fn find_read_error(path: &Path) -> Option<std::io::Error> {
    if let Some(error) = probe_files(path) {
        return Some(error);
    }
    is_intact(path).ok()?.then(retried_read)
}

/// The error of a read that failed once.
pub(crate) fn retried_read() -> std::io::Error {
    Reason::io(std::io::ErrorKind::Other, message!("a read failed, but succeeded when it was retried"))
}

/// The error of reading the files of the index completely, if there is one.
pub(super) fn probe_files(path: &Path) -> Option<std::io::Error> {
    ["", "-wal"].into_iter().find_map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        read_whole_file(Path::new(&name)).err().filter(|error| error.kind() != std::io::ErrorKind::NotFound)
    })
}

/// Reads a file from start to end.
fn read_whole_file(path: &Path) -> std::io::Result<()> {
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

/// Whether SQLite finds no damage on a connection of its own, neither in the pages nor in any row:
/// the integrity check does not decode the values of rows.
fn is_intact(path: &Path) -> rusqlite::Result<bool> {
    let connection = connect(path, OpenMode::ReadOnly)?;
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
