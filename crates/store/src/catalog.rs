//! The catalog: tools by name and identifier, their history, their status and their search terms.
//!
//! Reading order: [`lookup`] resolves a reference, [`read`] reads the tool back from its objects,
//! [`list`] and [`search`] find many; [`history`] changes what a name resolves to, by [`commit`];
//! [`status`] and [`deprecate`] change how far a tool is trusted.
//!
//! Invariant: every object read from disk is checked against its hash, and every tool against its
//! identifier.

pub(crate) mod commit;
pub(crate) mod deprecate;
pub(crate) mod error;
pub(crate) mod history;
mod list;
mod lookup;
mod read;
mod search;
pub(crate) mod status;

pub use commit::VersionCommit;
pub use deprecate::DeprecationError;
pub use error::{FindError, HistoryError};
pub use history::{HistoryEntry, NewTool, OnConflict};
pub use list::{Cursor, CursorError, Filter, ListError, Order, PAGE_LIMIT, Page};
pub use lookup::ToolRef;
pub use search::{SearchHit, SearchTerms};
pub use status::StatusError;

use crate::db::Db;
use crate::db::generation::{self, Generation};
use crate::error::Fault;
use crate::runs::Runs;

/// The tools of a store, by name and by identifier.
///
/// # Examples
/// ```
/// use toolcell_store::{NewTool, OnConflict, Scores, Settings, Store};
/// use toolcell_tool::{Draft, ToolMetadata, ToolName, ToolSpec};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path(), &Settings::default())?;
/// let draft = Draft::from_bytes("twice.ts", b"const execute = ({ n }) => 2 * n")?;
/// let spec = ToolSpec::new(ToolName::parse("twice")?, &draft, serde_json::Value::Null, serde_json::Value::Null)?;
/// let metadata = ToolMetadata::new("Doubles a number")?;
/// let scores = Scores { safety: 1.0, quality: 0.9 };
/// let tool = NewTool { spec: &spec, metadata: &metadata, scores, at: jiff::Timestamp::UNIX_EPOCH };
///
/// let catalog = store.catalog();
/// catalog.insert(&tool, OnConflict::Refuse)?;
/// assert_eq!(catalog.history(spec.name())?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Catalog<'a> {
    db: &'a Db,
    /// Runs that are not in the index yet, which a read of usage or status has to see.
    runs: Runs<'a>,
}

impl<'a> Catalog<'a> {
    pub(crate) fn new(db: &'a Db, runs: Runs<'a>) -> Self {
        Self { db, runs }
    }

    /// The current generation, to be compared with an earlier one. A call takes a few microseconds.
    ///
    /// A demotion by runs shows once these runs are flushed into the index.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn generation(&self) -> Result<Generation, Fault> {
        self.db.index.read(|transaction| Ok::<_, Fault>(generation::current(transaction)?))
    }
}
