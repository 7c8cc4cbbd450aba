//! The tool store: durable, content-addressed and verified on every read.
//!
//! A tool is stored under a [`ToolId`](toolcell_tool::ToolId), a hash of everything that decides
//! its behaviour, as immutable objects in plain files. Mutable state (names, status, usage,
//! approvals) lives in a SQLite index that many processes share. If the index is lost, the part of
//! it that derives from the objects is rebuilt from them.
//!
//! Invariant: only this crate touches the store, and it touches nothing on disk outside of one
//! directory. Time and caller are parameters.
#![expect(
    clippy::disallowed_types,
    reason = "the store is where files are read and written; paths go through cap-std but for the store's own"
)]

mod approvals;
pub mod audit;
mod bundle;
mod commit;
mod costs;
mod damage;
mod deprecate;
mod directory;
mod error;
mod file_lock;
mod find;
mod flush;
mod fsck;
mod gc;
mod generation;
mod group_commit;
mod history;
mod import;
mod index;
mod index_check;
mod journal;
mod kv;
mod list;
mod migrations;
mod nonces;
mod notice;
mod objects;
mod outbox;
mod rebuild;
mod records;
mod refusals;
mod reserve;
mod run_id;
mod runs;
mod search;
mod signature;
mod store;
mod store_key;
mod suspended;
mod usage;
mod version;

pub use approvals::{Approval, Decision, DecisionOutcome, PendingApproval, StatusError};
pub use bundle::{BUNDLE_LIMIT, ExportError, HistoryScope};
pub use costs::ToolCosts;
pub use deprecate::DeprecateError;
pub use directory::{OpenError, StoreAccess};
pub use error::{Cause, Fault};
pub use find::{FindError, ToolRef};
pub use fsck::{FsckProblem, FsckReport, RepairMode, UnknownStep, fsck, repair_adopting};
pub use gc::{GcMode, GcReport};
pub use generation::Generation;
pub use group_commit::RecordError;
pub use history::{HistoryEntry, HistoryError, NewTool, OnConflict, VersionCommit};
pub use import::{Import, ImportError, ImportReport, ImportedTool};
pub use index::Durability;
pub use kv::{
    COMMIT_LIMIT, KEY_LIMIT, KvCheck, KvEntry, KvError, KvLimits, KvSpace, KvWrite, MAX_KEYS_PER_PAGE, VALUE_LIMIT,
};
pub use list::{Cursor, CursorError, Filter, ListError, Order, PAGE_LIMIT, Page};
pub use nonces::NonceUse;
pub use notice::{Notice, emit_notice, set_notice_handler};
pub use outbox::AuditedChange;
pub use records::{PLAN_KIND, RUN_KIND, Record};
pub use run_id::{RunId, RunIdError};
pub use runs::{ActiveRun, FinishedRun, InterruptedRun, PAYLOAD_LIMIT};
pub use search::{SearchHit, SearchTerms};
pub use signature::{PublicKey, SecretKey, Signature, SignatureError, Signer};
pub use store::{Entry, Settings, Store};
pub use suspended::{SUSPENDED_LIMIT, SuspendError, SuspendedRow};
pub use usage::{Percentiles, Usage, UsageEvent};
pub use version::{Scores, VersionEvent};
