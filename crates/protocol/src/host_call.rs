//! Host calls as the host understands them: the operation, with its arguments.
//!
//! The guest sends a [`HostCall`], which names its kind and carries its arguments as JSON. This module
//! is the one definition of both; the code that serves, records or refuses a host call matches on a
//! [`HostRequest`].
//!
//! Invariant: parsing never fails. A payload that does not fit its kind is an error inside of the
//! operation, because the host reports it to the tool only after it has checked the grant. The text of
//! the payload stays as the guest sent it: receipts and digests are of that text.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::reply::HostCall;

/// A host call with its parsed arguments.
#[derive(Debug, Clone)]
pub struct ParsedHostCall {
    call: HostCall,
    request: HostRequest,
}

/// The operation that a host call requests.
#[derive(Debug, Clone)]
pub enum HostRequest {
    /// `timer`: wait.
    Timer(Payload<TimerRequest>),
    /// `fetch`: send an HTTP request, whose body is [`HostCall::bytes`].
    Fetch(Payload<FetchRequest>),
    /// `fetch.read`: read the next chunk of a response body.
    FetchRead(Payload<FetchReadRequest>),
    /// `kv.get`: read a key.
    KvGet(Payload<KvGetRequest>),
    /// `kv.list`: list keys.
    KvList(Payload<KvListRequest>),
    /// `kv.commit`: write keys if others have not changed.
    KvCommit(Payload<KvCommitRequest>),
    /// `files.*`: act on a file or a folder.
    File(FileAction, Payload<FileRequest>),
    /// `tools.call`: call another tool or a host function.
    ToolCall(Payload<ToolCallRequest>),
    /// `servers.call`: call a tool of an MCP server.
    ServerCall(Payload<ServerCallRequest>),
    /// `servers.search`: find tools of MCP servers.
    ServerSearch(Payload<ServerSearchRequest>),
    /// `servers.describe`: declare a tool of an MCP server in TypeScript.
    ServerDescribe(Payload<ServerDescribeRequest>),
    /// A kind that this version does not know. The guest of this version sends none.
    Unknown(UnknownKind),
}

/// The arguments of a host call, or the reason why they cannot be read.
pub type Payload<T> = Result<T, PayloadError>;

/// The error for a payload that does not fit its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadError(String);

impl std::fmt::Display for PayloadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PayloadError {}

/// The capability that an unknown kind belongs to, by its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKind {
    /// `kv.…`
    Kv,
    /// `files.…`
    Files,
    /// No capability.
    Other,
}

/// The arguments of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct TimerRequest {
    /// The delay in milliseconds.
    pub ms: f64,
}

/// The arguments of an HTTP request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FetchRequest {
    /// The absolute URL.
    pub url: String,
    /// The method.
    pub method: String,
    /// Names and values of the headers, in order.
    pub headers: Vec<(String, String)>,
    /// The handling of redirects.
    pub redirect: Redirect,
}

/// The handling of redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Redirect {
    /// Redirects are followed, at most 20.
    #[default]
    Follow,
    /// A redirect is an error.
    Error,
    /// The tool receives the redirect response.
    Manual,
}

/// The arguments of a read from a response body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct FetchReadRequest {
    /// The identifier of the request's host call.
    pub fetch: u32,
}

/// The arguments of a read from a key-value space.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KvGetRequest {
    /// The key.
    pub key: String,
}

/// The arguments of a list of keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KvListRequest {
    /// The start of the keys.
    #[serde(default)]
    pub prefix: String,
    /// The key after which the list starts.
    pub after: Option<String>,
    /// The maximum number of keys.
    pub limit: Option<u32>,
}

/// The arguments of a commit to a key-value space.
#[derive(Debug, Clone, Deserialize)]
pub struct KvCommitRequest {
    /// The versions that the commit depends on.
    pub checks: Vec<KvVersionCheck>,
    /// The writes.
    pub writes: Vec<KvWriteRequest>,
}

/// A key whose version must not have changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KvVersionCheck {
    /// The key.
    pub key: String,
    /// The version, or `None` if the key must not exist.
    pub version: Option<u64>,
}

/// A write of a commit: a value, or a deletion.
#[derive(Debug, Clone, Deserialize)]
pub struct KvWriteRequest {
    /// The key.
    pub key: String,
    /// The value as JSON text.
    pub value: Option<Box<RawValue>>,
    /// The time after which the key expires, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Whether the key is deleted.
    #[serde(default)]
    pub delete: bool,
}

/// An action on a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAction {
    /// `files.read`
    Read,
    /// `files.write`: the content is [`HostCall::bytes`].
    Write,
    /// `files.list`
    List,
    /// `files.stat`
    Stat,
    /// `files.remove`
    Remove,
    /// `files.mkdir`
    MakeFolder,
}

/// The arguments of an action on a file or a folder.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FileRequest {
    /// The path, which begins with the name of a granted folder.
    pub path: String,
    /// The mode of a write.
    pub mode: Option<WriteMode>,
}

/// The mode of a write: how it treats an existing or a missing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteMode {
    /// Creates the file or replaces its content atomically: a concurrent reader sees either the old
    /// or the new content.
    Replace,
    /// Creates the file atomically. Fails if it exists.
    Create,
    /// Appends to the file, or creates it if it does not exist.
    Append,
}

/// The arguments of a call of another tool.
#[derive(Debug, Clone, Deserialize)]
pub struct ToolCallRequest {
    /// The name of the tool or the host function.
    pub name: String,
    /// The parameters as JSON text.
    pub params: Box<RawValue>,
    /// Whether the result stays with the host, and a text that stands for it is the answer.
    #[serde(default)]
    pub keep: bool,
}

/// The arguments of a call of a server's tool.
#[derive(Debug, Clone, Deserialize)]
pub struct ServerCallRequest {
    /// The name of the server.
    pub server: String,
    /// The name of the tool, as the server names it or as code does.
    pub tool: String,
    /// The input as JSON text.
    pub input: Box<RawValue>,
    /// Whether the result stays with the host, and a text that stands for it is the answer.
    #[serde(default)]
    pub keep: bool,
}

/// The arguments of a search for tools of servers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ServerSearchRequest {
    /// What the tool is to do.
    pub query: String,
    /// The maximum number of tools.
    pub limit: Option<u32>,
}

/// The arguments of a description of a server's tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ServerDescribeRequest {
    /// The tool, as `server.tool`.
    pub tool: String,
}

impl HostRequest {
    /// Parses the kind and the payload of a host call.
    #[must_use]
    pub fn parse(call: &HostCall) -> Self {
        let payload = &*call.payload;
        match &*call.kind {
            "timer" => Self::Timer(parse(payload)),
            "fetch" => Self::Fetch(parse(payload)),
            "fetch.read" => Self::FetchRead(parse(payload)),
            "kv.get" => Self::KvGet(parse(payload)),
            "kv.list" => Self::KvList(parse(payload)),
            "kv.commit" => Self::KvCommit(parse(payload)),
            "files.read" => Self::File(FileAction::Read, parse(payload)),
            "files.write" => Self::File(FileAction::Write, parse(payload)),
            "files.list" => Self::File(FileAction::List, parse(payload)),
            "files.stat" => Self::File(FileAction::Stat, parse(payload)),
            "files.remove" => Self::File(FileAction::Remove, parse(payload)),
            "files.mkdir" => Self::File(FileAction::MakeFolder, parse(payload)),
            "tools.call" => Self::ToolCall(parse(payload)),
            "servers.call" => Self::ServerCall(parse(payload)),
            "servers.search" => Self::ServerSearch(parse(payload)),
            "servers.describe" => Self::ServerDescribe(parse(payload)),
            kind if kind.starts_with("kv.") => Self::Unknown(UnknownKind::Kv),
            kind if kind.starts_with("files.") => Self::Unknown(UnknownKind::Files),
            _ => Self::Unknown(UnknownKind::Other),
        }
    }
}

fn parse<T: DeserializeOwned>(payload: &str) -> Payload<T> {
    serde_json::from_str(payload).map_err(|error| PayloadError(error.to_string()))
}

impl ParsedHostCall {
    /// Returns the identifier of the call.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.call.id
    }

    /// Returns the kind as the guest sent it.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.call.kind
    }

    /// Returns the arguments as the guest sent them.
    #[must_use]
    pub fn payload_json(&self) -> &str {
        &self.call.payload
    }

    /// Returns the operation.
    #[must_use]
    pub const fn request(&self) -> &HostRequest {
        &self.request
    }

    /// Returns the call as the guest sent it.
    #[must_use]
    pub const fn as_sent(&self) -> &HostCall {
        &self.call
    }

    /// Returns the call as the guest sent it.
    #[must_use]
    pub fn into_sent(self) -> HostCall {
        self.call
    }

    /// Returns the kind, the operation, and the binary data that accompanies it.
    #[must_use]
    pub fn into_parts(self) -> (String, HostRequest, Option<Vec<u8>>) {
        (self.call.kind, self.request, self.call.bytes)
    }
}

impl From<HostCall> for ParsedHostCall {
    fn from(call: HostCall) -> Self {
        Self { request: HostRequest::parse(&call), call }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: &str, payload: &str) -> ParsedHostCall {
        HostCall { id: 1, kind: kind.to_owned(), payload: payload.to_owned(), bytes: None }.into()
    }

    #[test]
    fn the_text_of_a_call_stays_as_it_was_sent() {
        for (kind, payload) in [("timer", r#"{"ms":1.0}"#), ("kv.get", "{"), ("kv.other", "{}"), ("", "\u{0}")] {
            let call = call(kind, payload);
            assert_eq!((call.kind(), call.payload_json(), call.id()), (kind, payload, 1));
            assert_eq!(call.as_sent(), &call.clone().into_sent());
        }
    }

    #[test]
    fn a_payload_belongs_to_its_kind() {
        assert!(
            matches!(call("timer", r#"{"ms":250}"#).request(), HostRequest::Timer(Ok(TimerRequest { ms })) if *ms > 249.0)
        );
        let fetch = r#"{"url":"https://a.example/","method":"GET","headers":[["a","b"]],"redirect":"manual"}"#;
        let HostRequest::Fetch(Ok(request)) = call("fetch", fetch).into_parts().1 else { panic!("it is a request") };
        assert_eq!((&*request.method, request.headers.len(), request.redirect), ("GET", 1, Redirect::Manual));
        let commit = r#"{"checks":[{"key":"a","version":null}],"writes":[{"key":"a","value":1e400}]}"#;
        let HostRequest::KvCommit(Ok(request)) = call("kv.commit", commit).into_parts().1 else { panic!("it is one") };
        assert_eq!(request.writes[0].value.as_deref().map(RawValue::get), Some("1e400"));
        for (kind, family) in [("kv.x", UnknownKind::Kv), ("files.x", UnknownKind::Files), ("kv", UnknownKind::Other)] {
            assert!(matches!(call(kind, "{}").request(), HostRequest::Unknown(of) if *of == family), "{kind}");
        }
    }

    #[test]
    fn a_payload_that_does_not_fit_is_an_error_inside_of_its_operation() {
        let HostRequest::Fetch(Err(error)) = call("fetch", r#"{"url":1}"#).into_parts().1 else { panic!("it fits") };
        assert!(error.to_string().starts_with("invalid type: integer `1`, expected a string"), "{error}");
        assert!(matches!(call("files.write", "").request(), HostRequest::File(FileAction::Write, Err(_))));
    }
}
