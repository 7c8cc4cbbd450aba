//! Receipts: signed runs that can be replayed anywhere with the same result.
//!
//! ```text
//! run: host calls → trace → signed receipt → file
//! replay: file → parse, verify → trace → compare the host calls
//! ```
//!
//! A receipt contains everything that a run depended on: the tool's source, the parameters, the
//! grants, and the host's answers. So it contains what the tool saw: store it as carefully as that
//! data. It contains no values of secrets, which a tool does not see.
//!
//! Reading order: `format` is the content of a receipt; `trace` records the host calls; `signature`
//! signs a receipt and finds modified parts; `replay` runs it again.
//!
//! Invariant: a [`Receipt`] is intact. It was signed here, or its text was, byte for byte, the one
//! that its signature covers.

mod error;
mod format;
mod recording;
mod replay;
mod signature;
mod trace;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcell_i18n::Message;
use toolcell_tool::ToolId;

pub use error::{ReceiptError, ReplayError};
pub use replay::{ReplayDifference, ReplayOptions, ReplayResult, VersionPolicy};
pub use signature::ReceiptKey;

pub(crate) use recording::{ReceiptRecording, signer_of};
pub(crate) use replay::{replay, replay_profiled};
pub(crate) use signature::ReceiptSigner;

use format::{HostCallTrace, ReceiptContents, RecordedOutcome};
use signature::ReceiptSignature;

/// The version of the receipt format.
const FORMAT_VERSION: u32 = 1;

/// A signed run that can be replayed.
///
/// # Examples
/// ```no_run
/// use toolcell::{Receipt, ReplayOptions, RunOptions, RunTool, SandboxConfig, Toolbox, ToolboxConfig, Params};
///
/// let toolbox = Toolbox::open("store".as_ref(), ToolboxConfig::default())?;
/// let options = RunOptions { receipt: true, ..RunOptions::default() };
/// let ran = toolbox.run(&RunTool::new("average", Params::parse(r#"{"numbers": [1, 2]}"#)?), &options)?;
/// let text = ran.receipt.map(|receipt| receipt.to_text()).unwrap_or_default();
///
/// let elsewhere = Toolbox::new(&SandboxConfig::default())?;
/// let replayed = elsewhere.replay(&Receipt::parse(&text)?, &ReplayOptions::default())?;
/// assert!(replayed.is_reproduced());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    document: ReceiptDocument,
    signer: ReceiptKey,
}

/// The JSON of a receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiptDocument {
    version: u32,
    run: ReceiptContents,
    /// The blake3 hash of each part in hexadecimal, by part name.
    digests: Map<String, Value>,
    signature: ReceiptSignature,
}

impl Receipt {
    /// Parses the text of a receipt and verifies it: each part against its digest, the digests
    /// against the signature, and the text against the canonical form.
    ///
    /// The caller has to check whose signature it is: [`Self::signer`].
    ///
    /// # Errors
    /// `receipt-invalid` (the text is not a receipt), `receipt-version` (the version is unknown),
    /// `receipt-changed` (it was modified after signing; the error names the modified parts).
    pub fn parse(text: &str) -> Result<Self, ReceiptError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let invalid = |error: serde_json::Error| ReceiptError::Invalid(Message::verbatim(error.to_string()));
        let Versioned { version } = serde_json::from_str(text).map_err(invalid)?;
        if version != FORMAT_VERSION {
            return Err(ReceiptError::Version { version });
        }
        let form: ReceiptDocument = serde_json::from_str(text).map_err(invalid)?;
        let written = form.to_text();
        if written != text {
            return Err(ReceiptError::rewritten(text, &written));
        }
        let signer = signature::verify(&form)?;
        Ok(Self { document: form, signer })
    }

    /// Returns the canonical JSON text.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.document.to_text()
    }

    /// Returns the key of the signature.
    #[must_use]
    pub fn signer(&self) -> &ReceiptKey {
        &self.signer
    }

    /// Returns the tool that ran.
    #[must_use]
    pub fn tool(&self) -> ToolId {
        self.document.run.tool.id
    }

    /// Returns the source of the tool.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.document.run.tool.source
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.document.run.tool.name
    }

    /// Returns the parameters that the tool got, as JSON text.
    #[must_use]
    pub fn parameters(&self) -> &str {
        &self.document.run.parameters
    }

    /// Returns the result as JSON text, if the tool returned a value.
    #[must_use]
    pub fn result(&self) -> Option<&str> {
        match &self.document.run.result.outcome {
            RecordedOutcome::Returned(value) => value.as_deref(),
            RecordedOutcome::Threw { .. } | RecordedOutcome::Stopped { .. } => None,
        }
    }

    /// Returns why the tool did not return, as text.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        match &self.document.run.result.outcome {
            RecordedOutcome::Returned(_) => None,
            RecordedOutcome::Threw { name, message, stack, .. } => Some(format!("{name}: {message}\n{stack}")),
            RecordedOutcome::Stopped { code, message } => Some(format!("{code}: {message}")),
        }
    }

    /// Returns the lines of the console.
    pub fn console(&self) -> impl Iterator<Item = &str> {
        self.document.run.result.logs.iter().map(|log| &*log.text)
    }

    /// Returns whether the receipt contains the host's answers. If they were too large, the run
    /// cannot be replayed.
    #[must_use]
    pub fn has_trace(&self) -> bool {
        matches!(self.document.run.journal, HostCallTrace::Waits(_))
    }

    /// Signs a receipt.
    fn sign(run: ReceiptContents, key: &ReceiptSigner) -> Self {
        let (digests, signature) = key.sign(&run);
        Self {
            document: ReceiptDocument { version: FORMAT_VERSION, run, digests, signature },
            signer: key.public_key(),
        }
    }
}

impl ReceiptDocument {
    #[expect(clippy::expect_used, reason = "an empty receipt would lose the run")]
    fn to_text(&self) -> String {
        // Strings, numbers and JSON values always serialize.
        let mut text = serde_json::to_string_pretty(self).expect("a receipt has a JSON form");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests;
