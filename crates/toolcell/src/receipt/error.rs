//! The errors of receipts and replays.

use toolcell_analysis::AnalysisError;
use toolcell_host::CallError;
use toolcell_tool::ToolId;

/// The number of digits of a digest that are shown.
const SHOWN_DIGITS: usize = 16;

/// The error of an invalid receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiptError {
    /// The text is not a receipt.
    #[error("not a receipt: {0}")]
    Invalid(String),
    /// The version is unknown.
    #[error("the receipt has version {version}, this toolcell reads version {}", super::FORMAT_VERSION)]
    Version {
        /// The version of the receipt.
        version: u32,
    },
    /// Parts of the receipt were modified after signing.
    #[error("the receipt was changed after it was signed: {}", places.join(", "))]
    Changed {
        /// The modified parts: `the parameters`, `entry 4 of the journal`.
        places: Vec<String>,
    },
    /// The content is what was signed, but the text is not canonical.
    #[error("the receipt is not in canonical form: byte {byte} (line {line}, column {column}) differs")]
    Rewritten {
        /// The first byte that differs, counted from 1.
        byte: usize,
        /// The line, counted from 1.
        line: usize,
        /// The column in bytes, counted from 1.
        column: usize,
    },
    /// The source does not match the tool identifier.
    #[error("the source in the receipt is not that of {tool}")]
    OtherTool {
        /// The tool that the receipt names.
        tool: ToolId,
    },
}

impl ReceiptError {
    /// Creates the error for a non-canonical text, with the first byte that differs.
    pub(super) fn rewritten(text: &str, written: &str) -> Self {
        let same = text.bytes().zip(written.bytes()).take_while(|(one, other)| one == other).count();
        let before = &text.as_bytes()[..same];
        let line = before.split(|byte| *byte == b'\n').count();
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        Self::Rewritten { byte: same + 1, line, column }
    }

    /// Returns the stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "receipt-invalid",
            Self::Version { .. } => "receipt-version",
            Self::Changed { .. } | Self::Rewritten { .. } | Self::OtherTool { .. } => "receipt-changed",
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "`toolcell run TOOL --receipt FILE` writes one",
            Self::Version { .. } => "replay it with the toolcell that wrote it",
            Self::Changed { .. } | Self::Rewritten { .. } | Self::OtherTool { .. } => {
                "do not trust it, and request it again from the party that ran the tool"
            }
        }
    }
}

/// The error of a run that cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The receipt is not intact.
    #[error(transparent)]
    Receipt(#[from] ReceiptError),
    /// The run used another guest.
    #[error("the run used the guest {}, this toolcell has {}", short_digest(receipt), short_digest(here))]
    OtherGuest {
        /// The digest of the run's guest.
        receipt: String,
        /// The digest of this guest.
        here: String,
    },
    /// The run's fuel was metered by another engine.
    #[error("the run used the engine {receipt}, this toolcell has {here}")]
    OtherEngine {
        /// The version of the run's engine.
        receipt: String,
        /// The version of this engine.
        here: String,
    },
    /// The run reached its deadline or was cancelled.
    #[error("the run ended with `{stop}`, which depends on timing")]
    NotRepeatable {
        /// The code of the stop.
        stop: String,
    },
    /// The receipt does not contain the host's answers.
    #[error("the host's answers were too large for a receipt, so this one does not contain them")]
    TooLarge,
    /// The source does not run here.
    #[error(transparent)]
    Source(#[from] AnalysisError),
    /// The sandbox refused the call.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Returns the first digits of a digest.
fn short_digest(digest: &str) -> &str {
    digest.get(..SHOWN_DIGITS).unwrap_or(digest)
}

impl ReplayError {
    /// Returns the stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Receipt(error) => error.code(),
            Self::OtherGuest { .. } => "receipt-guest",
            Self::OtherEngine { .. } => "receipt-engine",
            Self::NotRepeatable { .. } => "receipt-not-repeatable",
            Self::TooLarge => "receipt-too-large",
            Self::Source(error) => error.code(),
            Self::Call(error) => error.code(),
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Receipt(error) => error.hint(),
            Self::OtherGuest { .. } | Self::OtherEngine { .. } => {
                "replay it with the version that ran it, or with --anyway to see what differs"
            }
            Self::NotRepeatable { .. } => "only a run that returns or throws can be replayed",
            Self::TooLarge => "let the tool read less in one run",
            Self::Source(error) => error.hint(),
            Self::Call(error) => error.hint(),
        }
    }
}
