//! What the host asks: `load` a script, `call` the tool in it, `resume` it with the results of operations.
//! (`describe` takes an empty frame.)

use serde::{Deserialize, Serialize};

/// A capability that exists in the guest because the host handed it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Grant {
    /// `setTimeout`, `setInterval` and their `clear` functions.
    Timers,
}

impl Grant {
    /// The name of the grant, as policies and messages write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timers => "timers",
        }
    }
}

/// Evaluates a script once and finds the tool in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load<'a> {
    /// The name that stack traces show, usually a file's.
    pub name: &'a str,
    /// JavaScript: a script or a module.
    pub source: &'a str,
    /// The capabilities that exist while this script lives.
    pub grants: Vec<Grant>,
}

/// Calls the tool that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call<'a> {
    /// Which tool, where a factory made several; `None` takes the only one.
    pub tool: Option<&'a str>,
    /// What a factory's tool gets as its `toolCallId`.
    pub call_id: &'a str,
    /// The parameters: the text of a JSON object.
    pub params: &'a str,
    /// The longest result, in bytes of JSON text.
    pub result_bytes: u32,
    /// The most operations that may be pending at once.
    pub operations: u32,
}

/// Goes on with a call that answered [`Reply::Pending`](crate::Reply::Pending).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume<'a> {
    /// The operations that ended, in the order in which the tool is to see them.
    #[serde(borrow)]
    pub settled: Vec<Settled<'a>>,
}

/// The end of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled<'a> {
    /// The operation's number.
    pub id: u32,
    /// JSON text that the tool's promise is fulfilled with, or why it is rejected.
    #[serde(borrow)]
    pub result: Result<&'a str, Failure<'a>>,
}

/// Why an operation failed, as the tool sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure<'a> {
    /// The error's `name`, such as `TypeError` or `AbortError`.
    pub name: &'a str,
    /// The error's `message`.
    pub message: &'a str,
}
