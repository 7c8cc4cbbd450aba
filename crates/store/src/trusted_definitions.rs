//! Definitions of tools of MCP servers that a person trusted.
//!
//! Invariant: a definition is kept under the names of server and tool; another definition of that name is not trusted.

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_tool::ServerName;

use crate::audit::AuditEvent;
use crate::db::Db;
use crate::error::Fault;
use crate::replication::change::{Change, SharedDefinition, SharedHash};

/// A definition that a person trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedDefinition {
    /// The name of the tool, as the server says it.
    pub tool: String,
    /// The digest of the definition.
    pub digest: Hash,
    /// The definition as JSON, to compare another one with.
    pub form: String,
}

/// The trusted definitions of a store.
pub struct TrustedDefinitions<'a> {
    db: &'a Db,
}

impl<'a> TrustedDefinitions<'a> {
    pub(crate) fn new(db: &'a Db) -> Self {
        Self { db }
    }

    /// Returns the digest of the definition of a tool that is trusted; `None` if none is.
    ///
    /// # Errors
    /// Any [`Fault`].
    ///
    /// # Examples
    /// ```
    /// use jiff::Timestamp;
    /// use toolcell_store::audit::{Action, AuditEvent};
    /// use toolcell_store::{Settings, Store, TrustedDefinition};
    /// use toolcell_tool::ServerName;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let server = ServerName::parse("github")?;
    /// let tool = TrustedDefinition { tool: "fork".to_owned(), digest: blake3::hash(b"{}"), form: "{}".to_owned() };
    /// let trust = AuditEvent::new(Action::TrustServer, Timestamp::UNIX_EPOCH);
    /// store.with_audit(trust).trust_server_tools(&server, std::slice::from_ref(&tool), "a person", Timestamp::UNIX_EPOCH)?;
    /// assert_eq!(store.trusted_definitions().digest(&server, "fork")?, Some(tool.digest));
    /// assert_eq!(store.trusted_definitions().digest(&server, "star")?, None);
    /// assert_eq!(store.trusted_definitions().trusted(&server)?, [tool]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn digest(&self, server: &ServerName, tool: &str) -> Result<Option<Hash>, Fault> {
        self.db.index.read(|transaction| {
            let sql = "SELECT digest FROM server_tool WHERE server = ? AND tool = ?";
            let mut statement = transaction.prepare_cached(sql)?;
            let digest: Option<[u8; 32]> = statement.query_row((server.as_str(), tool), |row| row.get(0)).optional()?;
            Ok::<_, Fault>(digest.map(Hash::from_bytes))
        })
    }

    /// Returns the trusted definitions of a server, sorted by name.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn trusted(&self, server: &ServerName) -> Result<Vec<TrustedDefinition>, Fault> {
        self.db.index.read(|transaction| {
            let sql = "SELECT tool, digest, form FROM server_tool WHERE server = ? ORDER BY tool";
            let mut statement = transaction.prepare_cached(sql)?;
            let rows = statement.query_map([server.as_str()], |row| {
                Ok(TrustedDefinition { tool: row.get(0)?, digest: Hash::from_bytes(row.get(1)?), form: row.get(2)? })
            })?;
            Ok::<_, Fault>(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Replaces the trusted definitions of a server by these.
    pub(crate) fn replace_audited(
        &self,
        server: &ServerName,
        tools: &[TrustedDefinition],
        by: &str,
        at: Timestamp,
        attempt: AuditEvent<'_>,
    ) -> Result<(), Fault> {
        self.db.commit_change(
            Some(attempt),
            |transaction, _| Ok::<_, Fault>(Some(replace_definitions(transaction, server.as_str(), tools, by, at)?)),
            |()| {
                let shared = |known: &TrustedDefinition| {
                    let (tool, form) = (known.tool.clone(), known.form.clone());
                    SharedDefinition { tool, digest: SharedHash(known.digest), form }
                };
                let (server, tools) = (server.to_string(), tools.iter().map(shared).collect());
                Change::Trust { server, tools, by: by.to_owned(), at }
            },
            |_, _| (),
        )?;
        Ok(())
    }
}

/// Replaces the trusted definitions of a server.
pub(crate) fn replace_definitions(
    transaction: &Connection,
    server: &str,
    tools: &[TrustedDefinition],
    by: &str,
    at: Timestamp,
) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM server_tool WHERE server = ?")?.execute([server])?;
    let sql = "INSERT INTO server_tool (server, tool, digest, form, by, at) VALUES (?, ?, ?, ?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    for TrustedDefinition { tool, digest, form } in tools {
        statement.execute((server, tool, digest.as_bytes(), form, by, at.as_millisecond()))?;
    }
    Ok(())
}
