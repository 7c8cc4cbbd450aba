//! The errors of receipts and replays.

use toolcell_analysis::AnalysisError;
use toolcell_host::CallError;
use toolcell_i18n::Message;
use toolcell_tool::ToolId;

/// The number of digits of a digest that are shown.
const SHOWN_DIGITS: usize = 16;

/// The error of an invalid receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum ReceiptError {
    /// The text is not a receipt.
    #[error("not a receipt: {0}")]
    #[code(ReceiptInvalid)]
    #[hint("`toolcell run TOOL --receipt FILE` writes one")]
    Invalid(Message),
    /// The version is unknown.
    #[error("the receipt has version {version}, this toolcell reads version {}", super::FORMAT_VERSION)]
    #[code(ReceiptVersion)]
    #[hint("replay it with the toolcell that wrote it")]
    Version {
        /// The version of the receipt.
        version: u32,
    },
    /// Parts of the receipt were modified after signing.
    #[error("the receipt was changed after it was signed: {}", Message::list(places))]
    #[code(ReceiptChanged)]
    #[hint("do not trust it, and request it again from the party that ran the tool")]
    Changed {
        /// The modified parts: `the parameters`, `entry 4 of the journal`.
        places: Vec<Message>,
    },
    /// The content is what was signed, but the text is not canonical.
    #[error("the receipt is not in canonical form: byte {byte} (line {line}, column {column}) differs")]
    #[code(ReceiptChanged)]
    #[hint("do not trust it, and request it again from the party that ran the tool")]
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
    #[code(ReceiptChanged)]
    #[hint("do not trust it, and request it again from the party that ran the tool")]
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
}

/// The error of a run that cannot be replayed.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum ReplayError {
    /// The receipt is not intact.
    #[error(transparent)]
    #[coded(transparent)]
    Receipt(#[from] ReceiptError),
    /// The run used another guest.
    #[error("the run used the guest {}, this toolcell has {}", short_digest(receipt), short_digest(here))]
    #[code(ReceiptGuest)]
    #[hint("replay it with the version that ran it, or with --anyway to see what differs")]
    OtherGuest {
        /// The digest of the run's guest.
        receipt: String,
        /// The digest of this guest.
        here: String,
    },
    /// The run's fuel was metered by another engine.
    #[error("the run used the engine {receipt}, this toolcell has {here}")]
    #[code(ReceiptEngine)]
    #[hint("replay it with the version that ran it, or with --anyway to see what differs")]
    OtherEngine {
        /// The version of the run's engine.
        receipt: String,
        /// The version of this engine.
        here: String,
    },
    /// The run reached its deadline or was cancelled.
    #[error("the run ended with `{stop}`, which depends on timing")]
    #[code(ReceiptNotRepeatable)]
    #[hint("only a run that returns or throws can be replayed")]
    NotRepeatable {
        /// The code of the stop.
        stop: String,
    },
    /// The receipt does not contain the host's answers.
    #[error("the host's answers were too large for a receipt, so this one does not contain them")]
    #[code(ReceiptTooLarge)]
    #[hint("let the tool read less in one run")]
    TooLarge,
    /// The source does not run here.
    #[error(transparent)]
    #[coded(transparent)]
    Source(#[from] AnalysisError),
    /// The sandbox refused the call.
    #[error(transparent)]
    #[coded(transparent)]
    Call(#[from] CallError),
}

/// Returns the first digits of a digest.
fn short_digest(digest: &str) -> &str {
    digest.get(..SHOWN_DIGITS).unwrap_or(digest)
}
