//! What the guest answers. The host treats every byte of it as hostile.

use serde::{Deserialize, Serialize};

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// It is done.
    Done {
        /// JSON text, or `None` for `undefined`.
        value: Option<String>,
        /// What JSON could not hold and what became of it.
        warnings: Vec<Warning>,
    },
    /// The tool threw, or its promise was rejected.
    Threw(Thrown),
    /// No job is left and the tool's promise is not settled: the host does the operations and calls `resume`.
    /// With nothing in flight, nothing can settle it any more: the tool is stalled.
    Pending {
        /// Operations that were started since the last reply, in the order of their calls.
        started: Vec<Operation>,
        /// Operations whose result nobody waits for any more, and answers whose rest nobody reads.
        cancelled: Vec<u32>,
    },
    /// A limit that the guest itself watches was reached.
    Exceeded(Exceeded),
}

/// Something the host is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Its number, counted from 1 in the order of the calls.
    pub id: u32,
    /// What to do, such as `timer`.
    pub kind: String,
    /// JSON text with the details.
    pub payload: String,
    /// What is sent along, such as the body of a request.
    #[serde(with = "serde_bytes")]
    pub bytes: Option<Vec<u8>>,
}

/// What the tool threw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thrown {
    /// The error's `name`; `Error` where something else than an error was thrown.
    pub name: String,
    /// The error's `message`, or the text of what was thrown.
    pub message: String,
    /// Line in the author's text, counted from 1.
    pub line: Option<u32>,
    /// Column in the author's text in UTF-16 units, counted from 1.
    pub column: Option<u32>,
    /// The stack, a frame a line, without frames of the guest itself.
    pub stack: String,
}

/// A value that JSON cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Where: a JSON Pointer (RFC 6901), `""` for the whole value.
    pub path: String,
    /// What was there and what it became.
    pub message: String,
}

/// A limit that the guest watches, because only it can stop in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exceeded {
    /// The result's JSON text is longer than [`Call::result_bytes`](crate::Call::result_bytes).
    ResultBytes,
    /// More operations are pending than [`Call::operations`](crate::Call::operations).
    Operations,
}
