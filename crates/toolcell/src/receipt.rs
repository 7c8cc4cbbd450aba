//! Receipts: runs that can be done again, anywhere, and have to come out the same.
//!
//! ```text
//! run: operations → journal → receipt, signed → a file → read, verified → replay: journal → the same operations, checked
//! ```
//!
//! A receipt has all that a run depended on: the source of the tool, what it was given, what it was granted, and what the host
//! answered it. So it has what the tool saw, and is to be kept as that is. Values of secrets are not in it: a tool does not see
//! them.
//!
//! Reading order: `form` is what is in one; `journal` notes what the host did; `seal` signs it and says what was changed;
//! `replay` does it again.
//!
//! Invariant: a [`Receipt`] is intact. It was signed here, or its text was, byte for byte, what its signature is over.

mod error;
mod form;
mod journal;
mod recording;
mod replay;
mod seal;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcell_tool::ToolId;

pub use error::{ReceiptError, ReplayError};
pub use replay::{Difference, OtherVersion, ReplayOptions, Replayed};
pub use seal::ReceiptKey;

pub(crate) use recording::Recording;
pub(crate) use seal::Signer;

use form::{Contents, Journal};
use seal::Seal;

/// The version of the form of receipts.
const VERSION: u32 = 1;

/// A run that can be done again, signed.
///
/// # Examples
/// ```no_run
/// use toolcell::{Receipt, ReplayOptions, RunOptions, RunTool, SandboxConfig, Toolbox, ToolboxConfig, Params};
///
/// let toolbox = Toolbox::open("store".as_ref(), ToolboxConfig::default())?;
/// let options = RunOptions { receipt: true, ..RunOptions::default() };
/// let ran = toolbox.run(&RunTool::of("average", Params::parse(r#"{"numbers": [1, 2]}"#)?), &options)?;
/// let text = ran.receipt.map(|receipt| receipt.to_text()).unwrap_or_default();
///
/// let elsewhere = Toolbox::new(&SandboxConfig::default())?;
/// let replayed = elsewhere.replay(&Receipt::parse(&text)?, &ReplayOptions::default())?;
/// assert!(replayed.is_reproduced());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    form: Form,
    signer: ReceiptKey,
}

/// The JSON of a receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    version: u32,
    run: Contents,
    /// The blake3 of each part, in hex, by the names of the parts.
    digests: Map<String, Value>,
    signature: Seal,
}

impl Receipt {
    /// Takes the text of a receipt, and verifies it: each part against its digest, the digests against the signature, and the
    /// text against how a receipt is written.
    ///
    /// Whose signature it is, is for the caller to look at: [`Self::signer`].
    ///
    /// # Errors
    /// `receipt-invalid` (it is none), `receipt-version` (of a version that is not known here), `receipt-changed` (it is not what
    /// was signed; the error names what was changed).
    pub fn parse(text: &str) -> Result<Self, ReceiptError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let invalid = |error: serde_json::Error| ReceiptError::Invalid(error.to_string());
        let Versioned { version } = serde_json::from_str(text).map_err(invalid)?;
        if version != VERSION {
            return Err(ReceiptError::Version { version });
        }
        let form: Form = serde_json::from_str(text).map_err(invalid)?;
        let written = form.to_text();
        if written != text {
            return Err(ReceiptError::rewritten(text, &written));
        }
        let signer = seal::verify(&form)?;
        Ok(Self { form, signer })
    }

    /// The text that is kept: JSON, always written the same.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.form.to_text()
    }

    /// Whose signature it has.
    #[must_use]
    pub fn signer(&self) -> &ReceiptKey {
        &self.signer
    }

    /// The tool that ran.
    #[must_use]
    pub fn tool(&self) -> ToolId {
        self.form.run.tool.id
    }

    /// The source of that tool.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.form.run.tool.source
    }

    /// Whether it has what the host answered the tool. Where that was too much, the run cannot be done again.
    #[must_use]
    pub fn has_journal(&self) -> bool {
        matches!(self.form.run.journal, Journal::Waits(_))
    }

    /// A receipt of a run.
    fn signed(run: Contents, key: &Signer) -> Self {
        let (digests, signature) = key.sign(&run);
        Self { form: Form { version: VERSION, run, digests, signature }, signer: key.public() }
    }
}

impl Form {
    fn to_text(&self) -> String {
        // Strings, numbers and values that were JSON: there is nothing in it that cannot be written.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests;
