//! What the host asks: `load` a script, `call` the tool in it, `resume` it with the results of operations.
//! (`describe` takes an empty frame.)

use serde::{Deserialize, Serialize};

/// A capability that exists in the guest because the host handed it in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Grant {
    /// `setTimeout`, `setInterval` and their `clear` functions, `sleep`.
    Timers,
    /// `fetch` and its classes, `AbortSignal.timeout`.
    Net,
    /// `kv`: a space of keys and values.
    Kv,
    /// `files`: folders.
    Files,
    /// `secret`: names of secrets, which the host puts into requests.
    Secrets {
        /// The names that there are.
        names: Vec<String>,
    },
    /// `tools`: calls of other tools.
    Tools,
}

impl Grant {
    /// The name of the grant, as policies and messages write it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Timers => "timers",
            Self::Net => "net",
            Self::Kv => "kv",
            Self::Files => "files",
            Self::Secrets { .. } => "secrets",
            Self::Tools => "tools",
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
    /// What the tool's promise is fulfilled with, or why it is rejected.
    #[serde(borrow)]
    pub result: Result<Answer<'a>, Failure<'a>>,
}

/// What an operation came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer<'a> {
    /// JSON text.
    pub json: &'a str,
    /// What comes along, such as a piece of a body.
    #[serde(borrow, with = "serde_bytes")]
    pub bytes: Option<&'a [u8]>,
}

/// Whether what an operation was to do happened, although it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effects {
    /// Nothing happened.
    None,
    /// It was begun, and may have happened.
    Started,
    /// It happened.
    Committed,
}

impl Effects {
    /// Its name, as errors say it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Started => "started",
            Self::Committed => "committed",
        }
    }
}

/// Why an operation failed, as the tool sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure<'a> {
    /// The error's `name`, such as `TypeError` or `AbortError`.
    pub name: &'a str,
    /// The error's `message`.
    pub message: &'a str,
    /// The error's `code`.
    pub code: &'a str,
    /// The error's `effects`.
    pub effects: Effects,
}
