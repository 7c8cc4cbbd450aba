//! The open store: the handles to its parts.
//!
//! Invariant: a store has no state of its own. The handles share one database, and none of them
//! names the store.

use std::io::Write;
use std::path::Path;

use blake3::Hash;
use jiff::Timestamp;
use serde_json::Value;
use toolcell_tool::{IdPrefix, SpaceName, Status, ToolId, ToolMetadata, ToolName, ToolSpec};

use crate::approvals::{Approval, Approvals, Decision, DecisionOutcome, PendingApproval};
use crate::audit::{Audit, AuditEvent};
use crate::audited_change::AuditedChange;
use crate::bundle::{Bundles, ExportError, HistoryScope, Import, ImportError, ImportReport, PublicKey, SignatureError};
use crate::catalog::{
    Catalog, DeprecateError, Filter, FindError, HistoryEntry, HistoryError, ListError, NewTool, OnConflict, Page,
    SearchHit, SearchTerms, StatusError, ToolRef, VersionCommit,
};
use crate::db::generation::Generation;
use crate::db::{Db, Settings};
use crate::directory::{Directory, OnMissing, OpenError, StoreAccess};
use crate::entry::Entry;
use crate::error::Fault;
use crate::kv::{self, Kv, KvCheck, KvEntry, KvError, KvLimits, KvSpace, KvWrite};
use crate::maintenance::{GcMode, GcReport, Maintenance};
use crate::nonces::{NonceUse, Nonces};
use crate::runs::{
    ActiveRun, FinishedRun, InterruptedRun, Record, RecordError, RunId, RunState, Runs, ToolCosts, Usage, UsageEvent,
};
use crate::store_key::LazyStoreKey;
use crate::suspended::{SuspendError, Suspended, SuspendedRow};
use crate::version::Scores;

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
/// store.insert(&NewTool { spec: &spec, metadata: &metadata, scores, at: jiff::Timestamp::UNIX_EPOCH }, OnConflict::Refuse)?;
///
/// let entry = store.find(&ToolRef::parse("twice")?)?;
/// assert_eq!(entry.id, spec.id());
/// assert_eq!(store.spec(&entry)?, spec);
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
        let db = Db::open(directory, settings)?;
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
    pub fn approvals_handle(&self) -> Approvals<'_> {
        Approvals::new(&self.db)
    }

    /// The suspended runs.
    #[must_use]
    pub fn suspended_handle(&self) -> Suspended<'_> {
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
            approvals: self.approvals_handle(),
            bundles: self.bundles(),
            maintenance: self.maintenance(),
            event,
        }
    }

    /// Derives a key for a purpose. It is the same in all processes and after every restart.
    ///
    /// The store key is generated on first use. A rebuild of a damaged index by `fsck` replaces it.
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
        self.key.derive(&self.db.directory, purpose)
    }
}

impl Drop for Store {
    /// Flushes finished runs into the index. Runs that cannot be flushed stay in the journal.
    fn drop(&mut self) {
        self.runs().flush_on_close();
    }
}

/// The operations of the handles, under their former names.
impl Store {
    /// Same as [`Catalog::set_status`].
    ///
    /// # Errors
    /// Same as [`Catalog::set_status`].
    pub fn set_status(&self, id: ToolId, to: Status) -> Result<Status, StatusError> {
        self.catalog().set_status(id, to)
    }

    /// Same as [`Approvals::set_decision`].
    ///
    /// # Errors
    /// Same as [`Approvals::set_decision`].
    pub fn set_decision(&self, approval: &Approval) -> Result<DecisionOutcome, Fault> {
        self.approvals_handle().set_decision(approval)
    }

    /// Same as [`Approvals::request`].
    ///
    /// # Errors
    /// Same as [`Approvals::request`].
    pub fn request_approval(&self, tool: ToolId, grants: &Value, by: &str, at: Timestamp) -> Result<(), Fault> {
        self.approvals_handle().request(tool, grants, by, at)
    }

    /// Same as [`Approvals::pending`].
    ///
    /// # Errors
    /// Same as [`Approvals::pending`].
    pub fn pending_approvals(&self, limit: usize) -> Result<Vec<PendingApproval>, Fault> {
        self.approvals_handle().pending(limit)
    }

    /// Same as [`Approvals::decision`].
    ///
    /// # Errors
    /// Same as [`Approvals::decision`].
    pub fn decision(&self, tool: ToolId, grants: &Value) -> Result<Option<Decision>, Fault> {
        self.approvals_handle().decision(tool, grants)
    }

    /// Same as [`Approvals::for_tool`].
    ///
    /// # Errors
    /// Same as [`Approvals::for_tool`].
    pub fn approvals(&self, tool: ToolId) -> Result<Vec<Approval>, Fault> {
        self.approvals_handle().for_tool(tool)
    }

    /// Same as [`Approvals::decisions`].
    ///
    /// # Errors
    /// Same as [`Approvals::decisions`].
    pub fn decisions(&self, limit: usize) -> Result<Vec<Approval>, Fault> {
        self.approvals_handle().decisions(limit)
    }

    /// Same as [`Approvals::revoke`].
    ///
    /// # Errors
    /// Same as [`Approvals::revoke`].
    pub fn revoke(&self, tool: ToolId) -> Result<usize, Fault> {
        self.approvals_handle().revoke(tool)
    }

    /// Same as [`Bundles::export`].
    ///
    /// # Errors
    /// Same as [`Bundles::export`].
    pub fn export(
        &self,
        references: &[ToolRef],
        history: HistoryScope,
        out: &mut dyn Write,
    ) -> Result<u64, ExportError> {
        self.bundles().export(references, history, out)
    }

    /// Same as [`Bundles::export_all`].
    ///
    /// # Errors
    /// Same as [`Bundles::export_all`].
    pub fn export_all(&self, history: HistoryScope, out: &mut dyn Write) -> Result<u64, ExportError> {
        self.bundles().export_all(history, out)
    }

    /// Same as [`Runs::tool_costs`].
    ///
    /// # Errors
    /// Same as [`Runs::tool_costs`].
    pub fn tool_costs(&self) -> Result<Vec<ToolCosts>, Fault> {
        self.runs().tool_costs()
    }

    /// Same as [`Catalog::deprecate`].
    ///
    /// # Errors
    /// Same as [`Catalog::deprecate`].
    pub fn deprecate(&self, id: ToolId, successor: Option<ToolId>) -> Result<Status, DeprecateError> {
        self.catalog().deprecate(id, successor)
    }

    /// Same as [`Catalog::replacement_for`].
    ///
    /// # Errors
    /// Same as [`Catalog::replacement_for`].
    pub fn replacement_for(&self, tool: &Entry) -> Result<Option<Entry>, Fault> {
        self.catalog().replacement_for(tool)
    }

    /// Same as [`Runs::unflushed`].
    ///
    /// # Errors
    /// Same as [`Runs::unflushed`].
    #[must_use]
    pub fn unflushed(&self) -> usize {
        self.runs().unflushed()
    }

    /// Same as [`Runs::flush`].
    ///
    /// # Errors
    /// Same as [`Runs::flush`].
    pub fn flush_runs(&self) -> Result<(), Fault> {
        self.runs().flush()
    }

    /// Same as [`Runs::flush_soon`].
    ///
    /// # Errors
    /// Same as [`Runs::flush_soon`].
    pub fn flush_runs_soon(&self) -> Result<(), Fault> {
        self.runs().flush_soon()
    }

    /// Same as [`Maintenance::collect`].
    ///
    /// # Errors
    /// Same as [`Maintenance::collect`].
    pub fn collect(&self, deleted_before: Timestamp, now: Timestamp, mode: GcMode) -> Result<GcReport, Fault> {
        self.maintenance().collect(deleted_before, now, mode)
    }

    /// Same as [`Catalog::generation`].
    ///
    /// # Errors
    /// Same as [`Catalog::generation`].
    pub fn generation(&self) -> Result<Generation, Fault> {
        self.catalog().generation()
    }

    /// Same as [`Catalog::insert`].
    ///
    /// # Errors
    /// Same as [`Catalog::insert`].
    pub fn insert(&self, registration: &NewTool<'_>, when_taken: OnConflict) -> Result<VersionCommit, HistoryError> {
        self.catalog().insert(registration, when_taken)
    }

    /// Same as [`Catalog::delete`].
    ///
    /// # Errors
    /// Same as [`Catalog::delete`].
    pub fn delete(&self, reference: &ToolRef, at: Timestamp) -> Result<VersionCommit, HistoryError> {
        self.catalog().delete(reference, at)
    }

    /// Same as [`Catalog::undelete`].
    ///
    /// # Errors
    /// Same as [`Catalog::undelete`].
    pub fn undelete(&self, reference: &ToolRef, at: Timestamp) -> Result<VersionCommit, HistoryError> {
        self.catalog().undelete(reference, at)
    }

    /// Same as [`Catalog::roll_back`].
    ///
    /// # Errors
    /// Same as [`Catalog::roll_back`].
    pub fn roll_back(&self, name: &ToolName, number: u64, at: Timestamp) -> Result<VersionCommit, HistoryError> {
        self.catalog().roll_back(name, number, at)
    }

    /// Same as [`Catalog::history`].
    ///
    /// # Errors
    /// Same as [`Catalog::history`].
    pub fn history(&self, name: &ToolName) -> Result<Vec<HistoryEntry>, Fault> {
        self.catalog().history(name)
    }

    /// Same as [`Bundles::import`].
    ///
    /// # Errors
    /// Same as [`Bundles::import`].
    pub fn import(
        &self,
        import: &Import,
        judge: &dyn Fn(&ToolSpec) -> Result<Scores, String>,
        when_taken: OnConflict,
        at: Timestamp,
    ) -> Result<ImportReport, ImportError> {
        self.bundles().import(import, judge, when_taken, at)
    }

    /// Same as [`Kv::get`].
    ///
    /// # Errors
    /// Same as [`Kv::get`].
    pub fn kv_get(&self, space: &SpaceName, key: &str, now: Timestamp) -> Result<Option<KvEntry>, Fault> {
        self.kv(space).get(key, now)
    }

    /// Same as [`Kv::keys`].
    ///
    /// # Errors
    /// Same as [`Kv::keys`].
    pub fn kv_keys(
        &self,
        space: &SpaceName,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        now: Timestamp,
    ) -> Result<(Vec<String>, bool), Fault> {
        self.kv(space).keys(prefix, after, limit, now)
    }

    /// Same as [`Kv::commit`].
    ///
    /// # Errors
    /// Same as [`Kv::commit`].
    pub fn kv_commit(
        &self,
        space: &SpaceName,
        checks: &[KvCheck],
        writes: &[KvWrite],
        limits: &KvLimits,
        now: Timestamp,
    ) -> Result<bool, KvError> {
        self.kv(space).commit(checks, writes, limits, now)
    }

    /// Same as [`Kv::clear`].
    ///
    /// # Errors
    /// Same as [`Kv::clear`].
    pub fn kv_clear(&self, space: &SpaceName) -> Result<u64, Fault> {
        self.kv(space).clear()
    }

    /// Same as [`Catalog::list`].
    ///
    /// # Errors
    /// Same as [`Catalog::list`].
    pub fn list(&self, filter: &Filter) -> Result<Page, ListError> {
        self.catalog().list(filter)
    }

    /// Same as [`Nonces::consume`].
    ///
    /// # Errors
    /// Same as [`Nonces::consume`].
    pub fn consume_nonce(&self, token: Hash, until: Timestamp, now: Timestamp) -> Result<NonceUse, Fault> {
        self.nonces().consume(token, until, now)
    }

    /// Same as [`Runs::insert_record`].
    ///
    /// # Errors
    /// Same as [`Runs::insert_record`].
    pub fn insert_record(&self, record: &Record) -> Result<Hash, Fault> {
        self.runs().insert_record(record)
    }

    /// Same as [`Runs::record`].
    ///
    /// # Errors
    /// Same as [`Runs::record`].
    pub fn record(&self, hash: Hash) -> Result<Option<Record>, Fault> {
        self.runs().record(hash)
    }

    /// Same as [`Runs::record_of_run`].
    ///
    /// # Errors
    /// Same as [`Runs::record_of_run`].
    pub fn record_of_run(&self, run: RunId) -> Result<Option<Record>, Fault> {
        self.runs().record_of_run(run)
    }

    /// Same as [`Runs::records`].
    ///
    /// # Errors
    /// Same as [`Runs::records`].
    pub fn records(&self, tool: ToolId, limit: usize) -> Result<Vec<Hash>, Fault> {
        self.runs().records(tool, limit)
    }

    /// Same as [`Runs::records_of_kind`].
    ///
    /// # Errors
    /// Same as [`Runs::records_of_kind`].
    pub fn records_of_kind(&self, tool: ToolId, kind: &str, limit: usize) -> Result<Vec<(Hash, Record)>, Fault> {
        self.runs().records_of_kind(tool, kind, limit)
    }

    /// Same as [`Runs::start`].
    ///
    /// # Errors
    /// Same as [`Runs::start`].
    pub fn start_run(&self, payload: impl FnOnce(&RunId) -> Vec<u8>) -> Result<ActiveRun, Fault> {
        self.runs().start(payload)
    }

    /// Same as [`Runs::finish`].
    ///
    /// # Errors
    /// Same as [`Runs::finish`].
    pub fn finish_run(&self, begun: ActiveRun, end: FinishedRun<'_>) -> Result<Hash, RecordError> {
        self.runs().finish(begun, end)
    }

    /// Same as [`Runs::is_log_behind`].
    ///
    /// # Errors
    /// Same as [`Runs::is_log_behind`].
    #[must_use]
    pub fn is_log_behind(&self) -> bool {
        self.runs().is_log_behind()
    }

    /// Same as [`Runs::interrupted`].
    ///
    /// # Errors
    /// Same as [`Runs::interrupted`].
    pub fn interrupted_runs(&self) -> Result<Vec<InterruptedRun>, Fault> {
        self.runs().interrupted()
    }

    /// Same as [`Catalog::unindexed`].
    ///
    /// # Errors
    /// Same as [`Catalog::unindexed`].
    pub fn unindexed(&self, way: &str, limit: usize) -> Result<Vec<Entry>, Fault> {
        self.catalog().unindexed(way, limit)
    }

    /// Same as [`Catalog::index_terms`].
    ///
    /// # Errors
    /// Same as [`Catalog::index_terms`].
    pub fn index_terms(&self, way: &str, tools: &[(Entry, SearchTerms)]) -> Result<(), Fault> {
        self.catalog().index_terms(way, tools)
    }

    /// Same as [`Catalog::search_uncached`].
    ///
    /// # Errors
    /// Same as [`Catalog::search_uncached`].
    pub fn search_uncached(
        &self,
        way: &str,
        tools: &[(Entry, SearchTerms)],
        words: &[Vec<String>],
        limit: usize,
    ) -> Result<Vec<SearchHit>, Fault> {
        self.catalog().search_uncached(way, tools, words, limit)
    }

    /// Same as [`Catalog::search`].
    ///
    /// # Errors
    /// Same as [`Catalog::search`].
    pub fn search(&self, words: &[Vec<String>], limit: usize) -> Result<Vec<SearchHit>, Fault> {
        self.catalog().search(words, limit)
    }

    /// Same as [`Bundles::trusted_keys`].
    ///
    /// # Errors
    /// Same as [`Bundles::trusted_keys`].
    pub fn trusted_keys(&self) -> Result<Vec<PublicKey>, SignatureError> {
        self.bundles().trusted_keys()
    }

    /// Same as [`Catalog::find`].
    ///
    /// # Errors
    /// Same as [`Catalog::find`].
    pub fn find(&self, reference: &ToolRef) -> Result<Entry, FindError> {
        self.catalog().find(reference)
    }

    /// Same as [`Catalog::find_for_run`].
    ///
    /// # Errors
    /// Same as [`Catalog::find_for_run`].
    pub fn find_for_run(&self, reference: &ToolRef) -> Result<Entry, FindError> {
        self.catalog().find_for_run(reference)
    }

    /// Same as [`Catalog::find_any`].
    ///
    /// # Errors
    /// Same as [`Catalog::find_any`].
    pub fn find_any(&self, prefix: &IdPrefix) -> Result<Entry, FindError> {
        self.catalog().find_any(prefix)
    }

    /// Same as [`Catalog::find_same_source`].
    ///
    /// # Errors
    /// Same as [`Catalog::find_same_source`].
    pub fn find_same_source(&self, spec: &ToolSpec) -> Result<Vec<Entry>, Fault> {
        self.catalog().find_same_source(spec)
    }

    /// Same as [`Catalog::spec`].
    ///
    /// # Errors
    /// Same as [`Catalog::spec`].
    pub fn spec(&self, entry: &Entry) -> Result<ToolSpec, Fault> {
        self.catalog().spec(entry)
    }

    /// Same as [`Catalog::metadata`].
    ///
    /// # Errors
    /// Same as [`Catalog::metadata`].
    pub fn metadata(&self, entry: &Entry) -> Result<ToolMetadata, Fault> {
        self.catalog().metadata(entry)
    }

    /// Same as [`Suspended::save`].
    ///
    /// # Errors
    /// Same as [`Suspended::save`].
    pub fn save_suspended(&self, run: &SuspendedRow) -> Result<(), SuspendError> {
        self.suspended_handle().save(run)
    }

    /// Same as [`Suspended::find`].
    ///
    /// # Errors
    /// Same as [`Suspended::find`].
    pub fn suspended(&self, run: RunId) -> Result<Option<SuspendedRow>, Fault> {
        self.suspended_handle().find(run)
    }

    /// Same as [`Suspended::take`].
    ///
    /// # Errors
    /// Same as [`Suspended::take`].
    pub fn take_suspended(&self, run: &SuspendedRow) -> Result<bool, Fault> {
        self.suspended_handle().take(run)
    }

    /// Same as [`Suspended::all`].
    ///
    /// # Errors
    /// Same as [`Suspended::all`].
    pub fn all_suspended(&self) -> Result<Vec<SuspendedRow>, Fault> {
        self.suspended_handle().all()
    }

    /// Same as [`Runs::record_usage`].
    ///
    /// # Errors
    /// Same as [`Runs::record_usage`].
    pub fn record_usage(&self, event: UsageEvent) -> Result<(), RecordError> {
        self.runs().record_usage(event)
    }

    /// Same as [`Runs::usage`].
    ///
    /// # Errors
    /// Same as [`Runs::usage`].
    pub fn usage(&self, entry: &Entry) -> Result<Usage, Fault> {
        self.runs().usage(entry)
    }
}
