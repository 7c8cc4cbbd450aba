//! Why something is no receipt, or is not done again.

use toolcell_analysis::Rejection;
use toolcell_host::CallError;
use toolcell_tool::ToolId;

/// How much of a digest is shown, in digits.
const SHOWN: usize = 16;

/// Why a text is not taken for a receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiptError {
    /// It is none.
    #[error("this is no receipt: {0}")]
    Invalid(String),
    /// It is of a version that is not known here.
    #[error("the receipt has version {version}, this toolcell reads version {}", super::VERSION)]
    Version {
        /// Its version.
        version: u32,
    },
    /// Parts of it are not what was signed.
    #[error("the receipt was changed after it was signed: {}", places.join(", "))]
    Changed {
        /// Which: `the parameters`, `entry 4 of the journal`.
        places: Vec<String>,
    },
    /// It means what was signed, and is written in another way.
    #[error("the receipt is not written as it was signed: byte {byte} (line {line}, column {column}) is another")]
    Rewritten {
        /// The first byte that differs, counted from 1.
        byte: usize,
        /// Its line, counted from 1.
        line: usize,
        /// Its column in bytes, counted from 1.
        column: usize,
    },
    /// The source in it is not that of the tool that it names.
    #[error("the source in the receipt is not that of {tool}")]
    OtherTool {
        /// The tool.
        tool: ToolId,
    },
}

impl ReceiptError {
    /// The first byte at which two texts differ.
    pub(super) fn rewritten(text: &str, written: &str) -> Self {
        let same = text.bytes().zip(written.bytes()).take_while(|(one, other)| one == other).count();
        let before = &text.as_bytes()[..same];
        let line = before.split(|byte| *byte == b'\n').count();
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        Self::Rewritten { byte: same + 1, line, column }
    }

    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "receipt-invalid",
            Self::Version { .. } => "receipt-version",
            Self::Changed { .. } | Self::Rewritten { .. } | Self::OtherTool { .. } => "receipt-changed",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "`toolcell run TOOL --receipt FILE` writes one",
            Self::Version { .. } => "replay it with the toolcell that wrote it",
            Self::Changed { .. } | Self::Rewritten { .. } | Self::OtherTool { .. } => {
                "believe nothing of it, and get it again from who ran the tool"
            }
        }
    }
}

/// Why a run is not done again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The receipt is not what it says.
    #[error(transparent)]
    Receipt(#[from] ReceiptError),
    /// It ran in another guest.
    #[error("the run was in the guest {}, here is the guest {}", start(receipt), start(here))]
    OtherGuest {
        /// The digest of its guest.
        receipt: String,
        /// That of the guest here.
        here: String,
    },
    /// Another engine counted the fuel.
    #[error("the run was in the engine {receipt}, here is the engine {here}")]
    OtherEngine {
        /// The version of its engine.
        receipt: String,
        /// That of the engine here.
        here: String,
    },
    /// It was ended by the time that it took, or by somebody.
    #[error("the run ended with `{stop}`, which comes at another moment each time")]
    NotRepeatable {
        /// The code of the stop.
        stop: String,
    },
    /// What the host answered is not in it.
    #[error("the host answered the run more than a receipt holds, and this one does not have it")]
    TooLarge,
    /// What it ran does not run here.
    #[error(transparent)]
    Source(#[from] Rejection),
    /// The sandbox did not take the call.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// So much of a digest that it is told from others.
fn start(digest: &str) -> &str {
    digest.get(..SHOWN).unwrap_or(digest)
}

impl ReplayError {
    /// The stable code of this error.
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

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Receipt(error) => error.hint(),
            Self::OtherGuest { .. } | Self::OtherEngine { .. } => {
                "replay it with the version that ran it, or with --anyway to see what differs"
            }
            Self::NotRepeatable { .. } => "read what it says; a run that returns or throws can be replayed",
            Self::TooLarge => "let the tool read less in one run",
            Self::Source(error) => error.hint(),
            Self::Call(error) => error.hint(),
        }
    }
}
