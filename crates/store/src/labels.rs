//! Where the data came from that something may hold: a key-value space, a folder, the source of a tool, or a caller
//! that was told.
//!
//! Invariant: a label only grows, until a person clears it. It belongs to a whole space or folder, not to
//! a key or a file: that something was not written may tell as much as what was.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use toolcell_tool::{SpaceName, ToolId};

use crate::audit::AuditEvent;
use crate::db::Db;
use crate::db::transaction::WriteError;
use crate::durability::Durability;
use crate::error::Fault;
use crate::replication::change::Change;

/// The maximum number of sources of one holder. With more, the only one is `*`: all.
const MAX_SOURCES: usize = 64;
/// What stands for all sources.
const ANY: &str = "*";

/// What has a label.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelHolder {
    /// A caller, by its name in records.
    Caller(String),
    /// A folder, by its canonical path.
    Folder(PathBuf),
    /// A key-value space.
    Space(SpaceName),
    /// The source of a tool.
    Tool(ToolId),
}

impl LabelHolder {
    /// Parses what [`Display`](fmt::Display) writes; `None` if it is nothing of that.
    ///
    /// # Examples
    /// ```
    /// use toolcell_store::LabelHolder;
    ///
    /// assert_eq!(LabelHolder::parse("kv:notes").unwrap().to_string(), "kv:notes");
    /// assert_eq!(LabelHolder::parse("notes"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        match kind {
            "caller" => Some(Self::Caller(name.to_owned())),
            "files" => Some(Self::Folder(PathBuf::from(name))),
            "kv" => SpaceName::parse(name).ok().map(Self::Space),
            "tool" => name.parse().ok().map(Self::Tool),
            _ => None,
        }
    }

    fn to_key(&self) -> (&'static str, String) {
        match self {
            Self::Caller(name) => ("caller", name.clone()),
            Self::Folder(path) => ("files", path_key(path)),
            Self::Space(name) => ("kv", name.to_string()),
            Self::Tool(id) => ("tool", id.to_string()),
        }
    }
}

impl fmt::Display for LabelHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = self.to_key();
        write!(f, "{kind}:{name}")
    }
}

/// Returns a path as text. Paths that are no Unicode may have the same one, and then a label in common.
fn path_key(path: &Path) -> String {
    path.display().to_string()
}

/// The labels of a store.
pub struct Labels<'a> {
    db: &'a Db,
}

impl<'a> Labels<'a> {
    pub(crate) fn new(db: &'a Db) -> Self {
        Self { db }
    }

    /// Returns the sources that these hold together, sorted. A folder has those of the folders in it and around it, too.
    ///
    /// # Errors
    /// Any [`Fault`].
    ///
    /// # Examples
    /// ```
    /// use toolcell_store::{LabelHolder, Settings, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let inner = LabelHolder::Folder("/data/mail".into());
    /// store.labels().join(std::slice::from_ref(&inner), &["server:mail.read".to_owned()])?;
    /// assert_eq!(store.labels().sources(&[LabelHolder::Folder("/data".into())])?, ["server:mail.read"]);
    /// assert!(store.labels().sources(&[LabelHolder::Folder("/data/mails".into())])?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sources(&self, holders: &[LabelHolder]) -> Result<Vec<String>, Fault> {
        if holders.is_empty() {
            return Ok(Vec::new());
        }
        self.db.index.read(|connection| {
            let mut sources = Vec::new();
            for holder in holders {
                match holder {
                    LabelHolder::Folder(path) => read_folder(connection, path, &mut sources)?,
                    _ => sources.extend(read_sources(connection, &holder.to_key())?),
                }
            }
            sources.sort_unstable();
            sources.dedup();
            Ok::<_, Fault>(sources)
        })
    }

    /// Returns all that hold anything, with the sources, sorted.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn all(&self) -> Result<BTreeMap<LabelHolder, Vec<String>>, Fault> {
        self.db.index.read(|connection| {
            let sql = "SELECT kind || ':' || name, source FROM label ORDER BY kind, name, source";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let mut holders: BTreeMap<LabelHolder, Vec<String>> = BTreeMap::new();
            while let Some(row) = rows.next()? {
                let holder: String = row.get(0)?;
                if let Some(holder) = LabelHolder::parse(&holder) {
                    holders.entry(holder).or_default().push(row.get(1)?);
                }
            }
            Ok::<_, Fault>(holders)
        })
    }

    /// Adds sources to those that each of these holds.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn join(&self, holders: &[LabelHolder], sources: &[String]) -> Result<(), Fault> {
        if holders.is_empty() || sources.is_empty() {
            return Ok(());
        }
        let written = self.db.replicate(
            Durability::Unsynced,
            |connection| Ok(join(connection, holders, sources)?),
            |is_new| {
                let (holders, sources) = (holders.iter().map(LabelHolder::to_string).collect(), sources.to_vec());
                is_new.then_some(Change::Label { holders, sources })
            },
        );
        written.map(drop).map_err(|unwritten: WriteError<Fault>| unwritten.error)
    }

    /// Forgets what something holds.
    pub(crate) fn clear_audited(&self, holder: &LabelHolder, event: AuditEvent<'_>) -> Result<(), Fault> {
        self.db.commit_change(
            Some(event),
            |connection, _| Ok::<_, Fault>(Some(clear(connection, holder)?)),
            |()| Change::ClearLabel { holder: holder.to_string() },
            |_, _| (),
        )?;
        Ok(())
    }
}

/// Adds sources to those that each of these holds, and returns whether one of them is new.
pub(crate) fn join(connection: &Connection, holders: &[LabelHolder], sources: &[String]) -> rusqlite::Result<bool> {
    let mut is_new = false;
    for holder in holders {
        let key = holder.to_key();
        let known = read_sources(connection, &key)?;
        let (kind, name) = &key;
        let sql = "INSERT OR IGNORE INTO label (kind, name, source) VALUES (?, ?, ?)";
        let mut statement = connection.prepare_cached(sql)?;
        for source in sources {
            statement.execute((kind, name, source))?;
        }
        let all = read_sources(connection, &key)?;
        if all.len() > MAX_SOURCES || all.iter().any(|source| source == ANY) && all.len() > 1 {
            delete(connection, kind, name)?;
            statement.execute((kind, name, ANY))?;
        }
        is_new |= read_sources(connection, &key)? != known;
    }
    Ok(is_new)
}

/// Forgets what something holds.
pub(crate) fn clear(connection: &Connection, holder: &LabelHolder) -> rusqlite::Result<()> {
    let (kind, name) = holder.to_key();
    delete(connection, kind, &name).map(drop)
}

fn delete(connection: &Connection, kind: &str, name: &str) -> rusqlite::Result<usize> {
    connection.prepare_cached("DELETE FROM label WHERE kind = ? AND name = ?")?.execute((kind, name))
}

fn read_sources(connection: &Connection, (kind, name): &(&str, String)) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT source FROM label WHERE kind = ? AND name = ? ORDER BY source";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((kind, name), |row| row.get(0))?;
    rows.collect()
}

/// Reads the sources of a folder, of those in it, and of those that it is in.
fn read_folder(connection: &Connection, path: &Path, sources: &mut Vec<String>) -> rusqlite::Result<()> {
    let key = path_key(path);
    let mut statement = connection.prepare_cached("SELECT name, source FROM label WHERE kind = 'files'")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        if is_within(&name, &key) || is_within(&key, &name) {
            sources.push(row.get(1)?);
        }
    }
    Ok(())
}

/// Whether a path is a folder or in it, both as text.
fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::audit::{Action, AuditEvent};
    use crate::{Settings, Store};

    #[test]
    fn labels_grow_until_they_are_all_sources() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &Settings::default()).unwrap();
        let labels = store.labels();
        let (caller, space) =
            (LabelHolder::Caller("cli".to_owned()), LabelHolder::Space(SpaceName::parse("a").unwrap()));
        let one = std::slice::from_ref;
        labels.join(&[caller.clone(), space.clone()], &["web:b".to_owned(), "web:a".to_owned()]).unwrap();
        labels.join(one(&caller), &["web:a".to_owned(), "web:c".to_owned()]).unwrap();
        assert_eq!(labels.sources(one(&caller)).unwrap(), ["web:a", "web:b", "web:c"]);
        assert_eq!(labels.sources(one(&space)).unwrap(), ["web:a", "web:b"]);
        let many: Vec<String> = (0..62).map(|number| format!("web:{number}")).collect();
        labels.join(one(&caller), &many).unwrap();
        assert_eq!(labels.sources(one(&caller)).unwrap(), ["*"]);
        labels.join(one(&caller), &["web:d".to_owned()]).unwrap();
        assert_eq!(labels.sources(one(&caller)).unwrap(), ["*"]);
        let event = AuditEvent::new(Action::ClearContext, Timestamp::UNIX_EPOCH);
        store.with_audit(event).clear_label(&caller).unwrap();
        assert_eq!(labels.sources(one(&caller)).unwrap(), [""; 0]);
        assert_eq!(labels.sources(one(&space)).unwrap(), ["web:a", "web:b"]);
    }
}
