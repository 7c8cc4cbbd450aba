//! The tool store: durable, content-addressed and verified on every read.
//!
//! A tool is stored under a [`ToolId`](toolcell_tool::ToolId), a hash of everything that decides
//! its behaviour, as immutable objects in plain files. Mutable state (names, status, usage,
//! approvals) lives in a SQLite index that many processes share. If the index is lost, the part of
//! it that derives from the objects is rebuilt from them.
//!
//! A [`Store`] opens the directory and hands out its parts: [`Catalog`], [`Runs`], [`Approvals`],
//! [`Kv`], [`Suspended`], [`Nonces`], [`Bundles`], [`Maintenance`] and the audit log. They share one
//! database, which knows none of them.
//!
//! Invariant: only this crate touches the store, and it touches nothing on disk outside of one
//! directory. Time and caller are parameters.
#![expect(
    clippy::disallowed_types,
    reason = "the store is where files are read and written; paths go through cap-std but for the store's own"
)]

mod directory;
mod durability;
mod error;
mod file_lock;
mod notice;
mod objects;
mod replication;
mod store_key;

pub mod audit;
mod db;

mod entry;
mod version;

mod approvals;
mod bundle;
mod catalog;
mod credentials;
mod kv;
mod labels;
mod maintenance;
mod nonces;
mod runs;
mod suspended;
mod trusted_definitions;

mod apply;
mod audit_heads;
mod audited_change;
mod changes;
mod migration;
mod store;

pub use approvals::{Approval, Approvals, Decision, DecisionOutcome, PendingApproval, SINGLE_APPROVAL_LIFETIME};
pub use audit_heads::{CutLog, PublishedHeads};
pub use audited_change::AuditedChange;
pub use bundle::{
    BUNDLE_LIMIT, Bundles, ExportError, HistoryScope, Import, ImportError, ImportReport, ImportedTool, PublicKey,
    SecretKey, Signature, SignatureError, Signer,
};
pub use catalog::{
    Catalog, Cursor, CursorError, DeprecationError, Filter, FindError, HistoryEntry, HistoryError, ListError, NewTool,
    OnConflict, Order, PAGE_LIMIT, Page, SearchHit, SearchTerms, StatusError, ToolRef, VersionCommit,
};
pub use changes::{ChangeMarker, Changes};
pub use credentials::{CredentialsLock, ServerCredentials};
pub use db::Settings;
pub use db::generation::Generation;
pub use db::replica::{OldView, ReplicationStatus};
pub use directory::{OpenError, StoreAccess};
pub use durability::Durability;
pub use entry::Entry;
pub use error::{Cause, Fault};
pub use kv::{
    COMMIT_LIMIT, KEY_LIMIT, Kv, KvCheck, KvEntry, KvError, KvLimits, KvPart, KvQuantity, KvSpace, KvWrite,
    MAX_KEYS_PER_PAGE, VALUE_LIMIT,
};
pub use labels::{LabelHolder, Labels};
pub use maintenance::{
    FsckProblem, FsckReport, GcMode, GcReport, Maintenance, RepairMode, UnknownStep, fsck, repair_adopting,
};
pub use migration::{Migrated, MigrationError, Reencrypt, SuspendedKeys};
pub use nonces::{NonceUse, Nonces};
pub use notice::{Notice, emit_notice, set_notice_handler};
pub use replication::{Appended, Blobs, Histories, HistoryKey, LIBRARY_SECRET_BYTES, Replication, SharedError};
pub use runs::{
    ActiveRun, DailyUsage, FinishedRun, InterruptedRun, ListedRecord, PAYLOAD_LIMIT, PLAN_KIND, Percentiles,
    RECEIPT_KIND, RUN_KIND, ReceiptLimits, Record, RecordError, RecordPosition, RunId, RunIdError, Runs, ToolCosts,
    ToolUsage, UsageEvent, UsageTotals,
};
pub use store::Store;
pub use suspended::{SUSPENDED_LIMIT, SuspendError, Suspended, SuspendedRow};
pub use trusted_definitions::{TrustedDefinition, TrustedDefinitions};
pub use version::{Scores, VersionEvent};
