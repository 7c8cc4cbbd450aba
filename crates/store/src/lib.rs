//! The store: tools that are still there, still the same, and provably so.
//!
//! A tool is stored under a [`ToolId`](toolcell_tool::ToolId), a hash over what decides its behaviour, as immutable
//! objects in plain files. What changes (names, status, usage, approvals) is in an index with transactions that many
//! processes share. Whatever follows from the objects is made anew from them where the index is lost.
//!
//! Invariant: this crate alone touches the store, and nothing on the disk but what is below one directory. Time and caller are parameters.
#![expect(
    clippy::disallowed_types,
    reason = "the store is where files are read and written; paths go through cap-std but for the store's own"
)]

mod agreement;
pub mod audit;
mod bundle;
mod damaged;
mod deprecate;
mod directory;
mod error;
mod find;
mod fsck;
mod gc;
mod generation;
mod import;
mod index;
mod journal;
mod ledger;
mod list;
mod names;
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
mod secret;
mod settle;
mod signature;
mod sleeping;
mod spaces;
mod spend;
mod step;
mod store;
mod together;
mod trust;
mod upgrade;
mod usage;
mod version;
mod wait;

pub use bundle::{BUNDLE_LIMIT, ExportError, History};
pub use deprecate::DeprecateError;
pub use directory::{Access, OpenError};
pub use error::{Cause, Fault};
pub use find::{FindError, ToolRef};
pub use fsck::{Health, Mending, Problem, UnknownStep, fsck, repair_adopting};
pub use gc::{Collected, Mode};
pub use generation::Generation;
pub use import::{Import, ImportError, Imported, Newcomer};
pub use index::Durability;
pub use ledger::Account;
pub use list::{Cursor, CursorError, Filter, ListError, Order, PAGE_LIMIT, Page};
pub use names::{NameStepError, Past, Registration, Step, WhenTaken};
pub use notice::{Notice, hear_notices, tell};
pub use outbox::Change;
pub use records::{PLAN, RUN, Record};
pub use run_id::{RunId, RunIdError};
pub use runs::{Begun, Interrupted, PAYLOAD_LIMIT, RunEnd};
pub use search::{Found, Terms};
pub use signature::{PublicKey, SecretKey, Signature, SignatureError, Signer};
pub use sleeping::{SLEEPING_LIMIT, SleepError, Sleeping};
pub use spaces::{COMMIT_LIMIT, Check, KEY_LIMIT, KEYS_PAGE, Pair, Space, SpaceError, SpaceLimits, VALUE_LIMIT, Write};
pub use spend::Spending;
pub use store::{Entry, Settings, Store};
pub use together::RecordError;
pub use trust::{Approval, Decision, Question, Settled, StatusError};
pub use usage::{Percentiles, Usage, UsageEvent};
pub use version::{Event, Scores};
