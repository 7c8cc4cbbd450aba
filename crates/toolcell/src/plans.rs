//! Plans that were shown to a person: the digests of their lines, kept under a hash over all of them.
//!
//! Invariant: whoever approves a plan by its hash approves the lines that were shown under it, and no others.

use serde::{Deserialize, Serialize};
use toolcell_store::{Access, Fault, PLAN, Record};
use toolcell_tool::ToolId;

use crate::operations::Held;
use crate::toolbox::Toolbox;

/// The format of what is kept.
const FORMAT: &str = "toolcell.plan.1";

/// What is kept of a plan.
#[derive(Serialize, Deserialize)]
struct Kept {
    format: String,
    lines: Vec<String>,
}

/// Why the lines of a plan are not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No plan of this hash was shown, or it was collected.
    #[error("no plan `{digest}` was shown")]
    Unknown {
        /// The hash.
        digest: String,
    },
    /// The store fails, or what it holds is damaged.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl PlanError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "plan-unknown",
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "run it with --plan, and approve the digests that this lists",
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Toolbox {
    /// Keeps lines of a plan that are shown to a person, and gives the hash under which all of them can be approved; none where
    /// there are no lines, or where nothing can be kept.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn keep_plan(&self, tool: ToolId, lines: &[Held]) -> Result<Option<blake3::Hash>, Fault> {
        let Some(store) = self.store.as_ref().filter(|store| store.access() == Access::Full && !lines.is_empty())
        else {
            return Ok(None);
        };
        let lines = lines.iter().map(|held| held.digest.clone()).collect();
        let kept = serde_json::to_vec(&Kept { format: FORMAT.to_owned(), lines });
        let body = kept.map_err(|error| Fault::Disk { path: "a plan".to_owned(), source: error.into() })?;
        store.keep_record(&Record { kind: PLAN.to_owned(), tool: Some(tool), at: self.now(), body }).map(Some)
    }

    /// The digests of the lines of a plan that was shown under this hash, 64 hexadecimal digits.
    ///
    /// # Errors
    /// `plan-unknown`, `integrity`, and those of the disk.
    pub fn shown_plan(&self, digest: &str) -> Result<Vec<String>, PlanError> {
        let unknown = || PlanError::Unknown { digest: digest.chars().take(64).collect() };
        let hash = blake3::Hash::from_hex(digest).map_err(|_| unknown())?;
        let record = self.shelf()?.record(hash)?.filter(|record| record.kind == PLAN).ok_or_else(unknown)?;
        let kept: Kept = serde_json::from_slice(&record.body).map_err(|_| unknown())?;
        if kept.format == FORMAT { Ok(kept.lines) } else { Err(unknown()) }
    }
}
