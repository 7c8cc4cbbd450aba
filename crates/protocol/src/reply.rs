//! Replies of the guest. The host treats every byte of it as hostile.

use serde::{Deserialize, Serialize};

/// The reply to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The request succeeded.
    Done {
        /// JSON text, or `None` for `undefined`.
        value: Option<String>,
        /// Values that JSON cannot represent, and what they became.
        warnings: Vec<Warning>,
    },
    /// The tool threw, or its promise was rejected.
    Threw(Thrown),
    /// No job is left and the tool's promise is not settled: the host serves the calls and calls `resume`.
    /// With no host call in flight, the promise can never settle: the tool is stalled.
    Pending {
        /// Host calls that were started since the last reply, in order.
        started: Vec<HostCall>,
        /// Host calls whose result is no longer awaited, and results whose rest is not read.
        cancelled: Vec<u32>,
    },
    /// The call exceeded a limit that the guest enforces.
    Exceeded(LimitExceeded),
}

/// A request of a tool to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCall {
    /// The identifier, counted from 1 in the order of the calls.
    pub id: u32,
    /// The kind of call, such as `timer`.
    pub kind: String,
    /// The arguments as JSON text.
    pub payload: String,
    /// Binary data of the call, such as the body of a request.
    #[serde(with = "serde_bytes")]
    pub bytes: Option<Vec<u8>>,
}

/// An exception that a tool threw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thrown {
    /// The error's `name`; `Error` if the thrown value is not an error.
    pub name: String,
    /// The error's `message`, or the text of the thrown value.
    pub message: String,
    /// Line in the author's text, counted from 1.
    pub line: Option<u32>,
    /// Column in the author's text in UTF-16 units, counted from 1.
    pub column: Option<u32>,
    /// The stack, a frame a line, without frames of the guest itself.
    pub stack: String,
}

/// A value that JSON cannot represent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The location: a JSON Pointer (RFC 6901), `""` for the whole value.
    pub path: String,
    /// The original value, and the value it became.
    pub message: String,
}

/// A limit that the guest enforces, because only the guest can stop in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitExceeded {
    /// The result's JSON text is longer than [`Call::result_bytes`](crate::Call::result_bytes).
    ResultBytes,
    /// More host calls are pending than [`Call::operations`](crate::Call::operations).
    Operations,
}
