//! Bundles: tools exported into one file.
//!
//! ```text
//! {"tools":1,"type":"toolcell.bundle.v1"}
//! {"capabilities":null,"code":"…","description":"…",…,"id":"dt_…","name":"average","parameters":{…},"tags":["math"]}
//! ```
//!
//! One line of canonical JSON (RFC 8785) per tool, sorted by name. A bundle can be read, compared
//! and version-controlled, and the same tools give the same bytes. It is not compressed, so it
//! cannot expand when it is read.
//!
//! Invariant: a bundle contains tools but no trust: no status, usage or approvals. Nor does it
//! contain key-value spaces, which are local to the store.

mod export;
mod format;
mod import;
mod signature;

pub use export::{ExportError, HistoryScope};
pub use format::BUNDLE_LIMIT;
pub use import::{Import, ImportError, ImportReport, ImportedTool};
pub use signature::{PublicKey, SecretKey, Signature, SignatureError, Signer};

use crate::catalog::Catalog;
use crate::db::Db;

/// Export and import of the tools of a store.
pub struct Bundles<'a> {
    db: &'a Db,
    catalog: Catalog<'a>,
}

impl<'a> Bundles<'a> {
    pub(crate) fn new(db: &'a Db, catalog: Catalog<'a>) -> Self {
        Self { db, catalog }
    }
}
