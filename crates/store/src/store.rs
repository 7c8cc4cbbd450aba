//! The open store, which hands out its parts.
//!
//! Invariant: a store opens, hands out and closes. The operations are in the handles, which share
//! one database and do not name the store.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use toolcell_tool::SpaceName;

use crate::apply::apply_change;
use crate::approvals::Approvals;
use crate::audit::{Audit, AuditEvent, AuditReport, Head};
use crate::audit_heads::{self, PublishedHeads};
use crate::audited_change::AuditedChange;
use crate::bundle::Bundles;
use crate::catalog::Catalog;
use crate::changes::Changes;
use crate::credentials::ServerCredentials;
use crate::db::replica::{OldView, ReplicationStatus};
use crate::db::{Db, Settings};
use crate::directory::{Directory, OnMissing, OpenError, StoreAccess};
use crate::error::Fault;
use crate::kv::{self, Kv, KvSpace};
use crate::labels::Labels;
use crate::maintenance::Maintenance;
use crate::nonces::Nonces;
use crate::replication::HistoryKey;
use crate::runs::{RunState, Runs};
use crate::store_key::LazyStoreKey;
use crate::suspended::Suspended;
use crate::trusted_definitions::TrustedDefinitions;

/// How long [`Store::follow`] waits for another process that changes the store.
const FOLLOW_PATIENCE: Duration = Duration::from_secs(1);

/// A store of tools. Threads share one value; several processes may open the same directory.
///
/// # Examples
/// ```
/// use toolcell_store::{NewTool, OnConflict, Scores, Settings, Store, ToolRef};
/// use toolcell_tool::{Draft, ToolMetadata, ToolName, ToolSpec};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path(), &Settings::default())?;
/// let draft = Draft::from_bytes("twice.ts", b"const execute = ({ n }) => 2 * n")?;
/// let spec = ToolSpec::new(ToolName::parse("twice")?, &draft, serde_json::Value::Null, serde_json::Value::Null)?;
/// let metadata = ToolMetadata::new("Doubles a number")?;
/// let scores = Scores { safety: 1.0, quality: 0.9 };
/// store.catalog().insert(&NewTool { spec: &spec, metadata: &metadata, scores, at: jiff::Timestamp::UNIX_EPOCH }, OnConflict::Refuse)?;
///
/// let entry = store.catalog().find(&ToolRef::parse("twice")?)?;
/// assert_eq!(entry.id, spec.id());
/// assert_eq!(store.catalog().spec(&entry)?, spec);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Store {
    pub(crate) db: Db,
    pub(crate) runs: RunState,
    key: LazyStoreKey,
}

impl Store {
    /// Opens a store and creates it if the directory holds none.
    ///
    /// # Errors
    /// `store-owner`, `store-newer`, `store-invalid`, `store-busy`, `integrity` if the index is
    /// damaged, or another [`Fault`].
    pub fn open(path: &Path, settings: &Settings) -> Result<Self, OpenError> {
        Self::open_directory(Directory::open(path, OnMissing::Create)?, settings)
    }

    /// Opens an existing store.
    ///
    /// # Errors
    /// Same as [`Store::open`], and `store-invalid` if there is no store.
    pub fn open_existing(path: &Path, settings: &Settings) -> Result<Self, OpenError> {
        Self::open_directory(Directory::open(path, OnMissing::Refuse)?, settings)
    }

    fn open_directory(directory: Directory, settings: &Settings) -> Result<Self, OpenError> {
        let db = Db::open(directory, settings, apply_change)?;
        Ok(Self { db, runs: RunState::default(), key: LazyStoreKey::default() })
    }

    /// The path of the store's directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.db.path()
    }

    /// Whether the store can be written or only read.
    #[must_use]
    pub fn access(&self) -> StoreAccess {
        self.db.access()
    }

    /// Checks that the store can be written now. A disk that fails may be read-only since the store was opened.
    ///
    /// # Errors
    /// `store-read-only`, and `disk-failed` with the error of the system.
    pub fn check_writable(&self) -> Result<(), Fault> {
        self.db.directory.probe_write()
    }

    /// Applies what other nodes changed in the shared library, and returns the number of their changes. A store of its own has
    /// none. While another process changes the store, it waits for a second.
    ///
    /// # Errors
    /// `store-busy`, `shared-unreachable`, `shared-invalid`, or another [`Fault`]. The changes before the failure are applied.
    pub fn follow(&self) -> Result<u64, Fault> {
        self.db.follow_within(FOLLOW_PATIENCE)
    }

    /// Checks that what this store knows of its shared library is not older than [`Replication::offline_limit`](crate::Replication). A
    /// store of its own is always right.
    ///
    /// # Errors
    /// `shared-unreachable`, `shared-invalid`, or another [`Fault`].
    pub fn check_view(&self) -> Result<(), Fault> {
        self.db.check_view()
    }

    /// How old the view of the shared library is, if it is older than `limit`; `None` if it is not, or the store is one of its own.
    #[must_use]
    pub fn old_view(&self, limit: Duration) -> Option<OldView> {
        self.db.old_view(limit)
    }

    /// The library that the store is a copy of; `None` for a store of its own.
    #[must_use]
    pub fn library(&self) -> Option<HistoryKey> {
        self.db.library()
    }

    /// Notes that the history of the shared library had this many entries at a time, as [`Histories::lengths`](crate::Histories::lengths)
    /// told, and returns whether they are all applied; if not, [`follow`](Self::follow) applies them. With many stores, this is cheaper than
    /// to follow with each.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn confirm_length(&self, length: u64, at: Instant) -> Result<bool, Fault> {
        self.db.confirm_length(length, at)
    }

    /// How far the store has followed the shared library that it is a copy of; `None` for a store of its own.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn replication_status(&self) -> Result<Option<ReplicationStatus>, Fault> {
        self.db.replication_status()
    }

    /// Appends the head of this node's audit log to the history of its library, unless it was published before, and returns whether it
    /// was appended. If the log was cut off or rewritten since, the entry says so, and all nodes note it with `host`, the name of the machine. A store of its own has no one
    /// to publish it to.
    ///
    /// # Errors
    /// `shared-unreachable`, `shared-invalid`, or another [`Fault`].
    pub fn publish_audit_head(&self, host: &str, now: Timestamp) -> Result<bool, Fault> {
        audit_heads::publish(&self.db, host, now)
    }

    /// The heads of audit logs that the nodes of the shared library published, as far as this store has followed.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn published_heads(&self, now: Timestamp) -> Result<PublishedHeads, Fault> {
        audit_heads::read(&self.db, now)
    }

    /// Verifies the audit log as [`Audit::verify`] does. If the store is the copy of a shared library, the head that this node published
    /// last has to be in the chain, too.
    ///
    /// # Errors
    /// Those of [`Audit::verify`].
    pub fn verify_audit(&self, earlier: Option<&Head>, now: Timestamp) -> Result<AuditReport, Fault> {
        self.db.audit.verify_published(earlier, self.published_heads(now)?.own)
    }

    /// The tools, by name and by identifier.
    #[must_use]
    pub fn catalog(&self) -> Catalog<'_> {
        Catalog::new(&self.db, self.runs())
    }

    /// The runs: their journal, their records, their usage and their costs.
    #[must_use]
    pub fn runs(&self) -> Runs<'_> {
        Runs::new(&self.db, &self.runs)
    }

    /// A key-value space.
    #[must_use]
    pub fn kv<'a>(&'a self, space: &'a SpaceName) -> Kv<'a> {
        Kv::new(&self.db, space)
    }

    /// The non-empty key-value spaces, sorted by name.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn kv_spaces(&self, now: Timestamp) -> Result<Vec<KvSpace>, Fault> {
        kv::spaces(&self.db, now)
    }

    /// The decisions of people about tools.
    #[must_use]
    pub fn approvals(&self) -> Approvals<'_> {
        Approvals::new(&self.db)
    }

    /// The definitions of tools of MCP servers that a person trusted.
    #[must_use]
    pub fn trusted_definitions(&self) -> TrustedDefinitions<'_> {
        TrustedDefinitions::new(&self.db)
    }

    /// The credentials of MCP servers that a person signed in to.
    #[must_use]
    pub fn server_credentials(&self) -> ServerCredentials<'_> {
        ServerCredentials::new(&self.db)
    }

    /// Where the data came from that spaces, folders, tools and callers may hold.
    #[must_use]
    pub fn labels(&self) -> Labels<'_> {
        Labels::new(&self.db)
    }

    /// Detects changes.
    #[must_use]
    pub fn changes(&self) -> Changes<'_> {
        Changes::new(&self.db)
    }

    /// The suspended runs.
    #[must_use]
    pub fn suspended(&self) -> Suspended<'_> {
        Suspended::new(&self.db)
    }

    /// The one-time tokens.
    #[must_use]
    pub fn nonces(&self) -> Nonces<'_> {
        Nonces::new(&self.db)
    }

    /// Export and import of tools.
    #[must_use]
    pub fn bundles(&self) -> Bundles<'_> {
        Bundles::new(&self.db, self.catalog())
    }

    /// Garbage collection.
    #[must_use]
    pub fn maintenance(&self) -> Maintenance<'_> {
        Maintenance::new(&self.db)
    }

    /// The audit log.
    #[must_use]
    pub fn audit(&self) -> &Audit {
        &self.db.audit
    }

    /// Appends the audit line of an event that changed nothing. If the log cannot be written, the
    /// line is stored in the index and appended later. If the index cannot be written either, the
    /// line is lost, which is reported as a [`Notice`](crate::Notice).
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`]. The line is lost then.
    pub fn log(&self, event: &AuditEvent<'_>) -> Result<(), Fault> {
        self.db.log(event)
    }

    /// The number of lines that still have to be appended to the log.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn delayed_lines(&self) -> Result<u64, Fault> {
        self.db.delayed_lines()
    }

    /// Attaches an audit event to the change that follows: both are committed, or neither is.
    ///
    /// # Examples
    /// ```
    /// use jiff::Timestamp;
    /// use toolcell_store::audit::{Action, AuditEvent, AuditFilter, AuditOrder};
    /// use toolcell_store::{Settings, Store, ToolRef};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let (at, unknown) = (Timestamp::UNIX_EPOCH, ToolRef::parse("unknown")?);
    /// assert!(store.with_audit(AuditEvent::new(Action::DeleteDynamicTool, at)).delete(&unknown, at).is_err());
    /// assert_eq!(store.audit().query(AuditFilter::default(), AuditOrder::OldestFirst)?.count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_audit<'a>(&'a self, event: AuditEvent<'a>) -> AuditedChange<'a> {
        AuditedChange {
            catalog: self.catalog(),
            approvals: self.approvals(),
            bundles: self.bundles(),
            maintenance: self.maintenance(),
            trusted_definitions: self.trusted_definitions(),
            labels: self.labels(),
            event,
        }
    }

    /// Derives a key for a purpose. It is the same in all processes and after every restart.
    ///
    /// The store key is generated on first use. A rebuild of a damaged index by `fsck` replaces it. The copy of a shared library
    /// derives from the library's secret instead, so the key is the same on all nodes.
    ///
    /// # Errors
    /// `store-read-only` if there is no key yet and none can be written, or another [`Fault`].
    ///
    /// # Examples
    /// ```
    /// use toolcell_store::{Settings, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let key = store.derive_key("approvals")?;
    /// assert_ne!(key, store.derive_key("cursors")?);
    /// assert_eq!(key, Store::open(folder.path(), &Settings::default())?.derive_key("approvals")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn derive_key(&self, purpose: &str) -> Result<[u8; 32], Fault> {
        if let Some(replication) = &self.db.settings.replication {
            return Ok(replication.store_key(purpose));
        }
        self.local_key(purpose)
    }

    /// Derives a key from the key of this directory, also in the copy of a shared library.
    pub(crate) fn local_key(&self, purpose: &str) -> Result<[u8; 32], Fault> {
        self.key.derive(&self.db.directory, purpose)
    }
}

impl Drop for Store {
    /// Flushes finished runs into the index. Runs that cannot be flushed stay in the journal.
    fn drop(&mut self) {
        self.runs().flush_on_close();
    }
}
