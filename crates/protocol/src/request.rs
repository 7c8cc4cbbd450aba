//! Requests of the host: `load` a script, `call` its tool, `resume` it with results of host calls.
//! (`describe` takes an empty frame.)

use serde::{Deserialize, Serialize};

/// A capability that exists in the guest because the host granted it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Grant {
    /// `setTimeout`, `setInterval` and their `clear` functions, `sleep`.
    Timers,
    /// `fetch` and its classes, `AbortSignal.timeout`.
    Net,
    /// `kv`: a key-value store.
    Kv,
    /// `files`: folders.
    Files,
    /// `secret`: names of secrets; the host inserts the values into requests.
    Secrets {
        /// The available names.
        names: Vec<String>,
    },
    /// `tools`: calls of other tools.
    Tools,
    /// `servers`: calls of tools of MCP servers.
    Servers {
        /// The names of the servers, each an identifier of JavaScript.
        names: Vec<String>,
    },
}

impl Grant {
    /// Returns the name of the grant in policies and messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Timers => "timers",
            Self::Net => "net",
            Self::Kv => "kv",
            Self::Files => "files",
            Self::Secrets { .. } => "secrets",
            Self::Tools => "tools",
            Self::Servers { .. } => "servers",
        }
    }
}

/// Evaluates a script once and finds the tool in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load<'a> {
    /// The name in stack traces, usually a file name.
    pub name: &'a str,
    /// JavaScript: a script or a module.
    pub source: &'a str,
    /// The capabilities that exist while this script lives.
    pub grants: Vec<Grant>,
}

/// Calls the tool that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call<'a> {
    /// The name of the tool, if a factory made several; `None` selects the only one.
    pub tool: Option<&'a str>,
    /// The `toolCallId` that a factory's tool receives.
    pub call_id: &'a str,
    /// The parameters: the text of a JSON object.
    pub params: &'a str,
    /// The maximum size of the result, in bytes of JSON text.
    pub result_bytes: u32,
    /// The maximum number of pending host calls.
    pub operations: u32,
}

/// Resumes a call that replied with [`Reply::Pending`](crate::Reply::Pending).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume<'a> {
    /// The completed host calls, in the order in which the tool sees them.
    #[serde(borrow)]
    pub settled: Vec<CompletionRef<'a>>,
}

/// A completed host call, borrowed for encoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionRef<'a> {
    /// The identifier of the host call.
    pub id: u32,
    /// The value that resolves the tool's promise, or the error that rejects it.
    #[serde(borrow)]
    pub result: Result<OperationOutputRef<'a>, OperationErrorRef<'a>>,
}

/// The output of a successful host call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationOutputRef<'a> {
    /// JSON text.
    pub json: &'a str,
    /// Binary data of the result, such as a chunk of a body.
    #[serde(borrow, with = "serde_bytes")]
    pub bytes: Option<&'a [u8]>,
}

/// The extent to which a failed host call took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effects {
    /// The call had no effect.
    None,
    /// The call started, and may have taken effect.
    Started,
    /// The call took effect.
    Committed,
}

impl Effects {
    /// Returns the name used in errors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Started => "started",
            Self::Committed => "committed",
        }
    }
}

/// The error of a failed host call, as the tool sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationErrorRef<'a> {
    /// The error's `name`, such as `TypeError` or `AbortError`.
    pub name: &'a str,
    /// The error's `message`.
    pub message: &'a str,
    /// The error's `code`.
    pub code: &'a str,
    /// The error's `effects`.
    pub effects: Effects,
}
