//! A server on loopback, and clients that read and write bytes.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ProgressNotificationParam,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::http::{HttpConfig, HttpError, TokenStore, serve};
use crate::in_flight::CallTracker;
use crate::principal::Principal;

/// The longest wait for something that should happen.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
pub(super) const SHORT: Duration = Duration::from_millis(150);

pub(super) const ALICE: &str = "alice-0123456789abcdef";
pub(super) const BOB: &str = "bob-00123456789abcdef";

pub(super) const METRICS: &str = "metrics-0123456789abcdef";

/// A config with two principals and a metrics token.
pub(super) fn two_principals() -> HttpConfig {
    let text = format!(
        "[principals.alice]\ntoken = '{ALICE}'\n[principals.bob]\ntoken = '{BOB}'\n[metrics]\ntoken = '{METRICS}'\n"
    );
    HttpConfig { tokens: TokenStore::parse(&text).unwrap(), ..HttpConfig::default() }
}

/// A handler with the tools that the tests need.
#[derive(Clone)]
pub(super) struct TestHandler {
    calls: CallTracker,
    events: mpsc::UnboundedSender<&'static str>,
    release: Arc<Notify>,
}

impl ServerHandler for TestHandler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(_under_way) = self.calls.start() else { return Err(ErrorData::internal_error("closing", None)) };
        let answer = match &*request.name {
            "who" => {
                let parts = context.extensions.get::<hyper::http::request::Parts>().unwrap();
                assert!(!parts.headers.contains_key("authorization"));
                parts.extensions.get::<Principal>().unwrap().to_string()
            }
            "big" => "x".repeat(request.arguments.unwrap()["size"].as_u64().unwrap().try_into().unwrap()),
            "wait" => self.wait(&context).await,
            "announce" => {
                let token = context.meta.get_progress_token().unwrap();
                context.peer.notify_progress(ProgressNotificationParam::new(token, 1.0)).await.unwrap();
                self.wait(&context).await
            }
            "stubborn" => {
                let _ = self.events.send("began");
                self.calls.stopping().cancelled().await;
                "stopped".to_owned()
            }
            other => return Err(ErrorData::invalid_params(other.to_owned(), None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(answer)]).into())
    }
}

impl TestHandler {
    async fn wait(&self, context: &RequestContext<RoleServer>) -> String {
        let _ = self.events.send("began");
        let end = tokio::select! {
            () = context.ct.cancelled() => "cancelled",
            () = self.calls.stopping().cancelled() => "stopped",
            () = self.release.notified() => "released",
        };
        let _ = self.events.send(end);
        end.to_owned()
    }
}

/// A server on loopback.
pub(super) struct TestServer {
    pub(super) address: SocketAddr,
    pub(super) calls: CallTracker,
    pub(super) release: Arc<Notify>,
    events: mpsc::UnboundedReceiver<&'static str>,
    shutdown: Option<oneshot::Sender<()>>,
    serving: JoinHandle<Result<(), HttpError>>,
    handler: TestHandler,
}

impl TestServer {
    pub(super) async fn new(config: HttpConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (calls, release) = (CallTracker::default(), Arc::new(Notify::new()));
        let (says, said) = mpsc::unbounded_channel();
        let desk = TestHandler { calls: calls.clone(), events: says, release: Arc::clone(&release) };
        let own = desk.clone();
        let (shutdown, ordered) = oneshot::channel();
        let theirs = calls.clone();
        let serving = tokio::spawn(async move {
            let shutdown = async {
                let _ = ordered.await;
            };
            serve(listener, desk, &config, &theirs, shutdown).await
        });
        Self { address, calls, release, events: said, shutdown: Some(shutdown), serving, handler: own }
    }

    pub(super) fn handler(&self) -> TestHandler {
        self.handler.clone()
    }

    /// The next event that a tool reports.
    pub(super) async fn next_event(&mut self) -> &'static str {
        tokio::time::timeout(PATIENCE, self.events.recv()).await.unwrap().unwrap()
    }

    pub(super) fn shut_down(&mut self) {
        self.shutdown.take().unwrap().send(()).unwrap();
    }

    pub(super) async fn wait_until_stopped(self) {
        drop(self.shutdown);
        tokio::time::timeout(PATIENCE, self.serving).await.unwrap().unwrap().unwrap();
    }

    pub(super) async fn client(&self) -> RawClient {
        RawClient::over(tokio::net::TcpStream::connect(self.address).await.unwrap())
    }

    /// Sends one request on a connection of its own, and returns the response.
    pub(super) async fn ask(&self, request: &str) -> Reply {
        let mut client = self.client().await;
        client.send(request).await;
        client.reply().await
    }
}

/// A connection to a server.
pub(super) struct RawClient {
    pub(super) stream: tokio::net::TcpStream,
    read: Vec<u8>,
}

/// A response.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: HashMap<String, String>,
    pub(super) body: String,
}

impl RawClient {
    pub(super) const fn over(stream: tokio::net::TcpStream) -> Self {
        Self { stream, read: Vec::new() }
    }

    pub(super) async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads a response to its end.
    pub(super) async fn reply(&mut self) -> Reply {
        let mut reply = self.head().await;
        if reply.headers.get("transfer-encoding").is_some_and(|encoding| encoding == "chunked") {
            loop {
                let size = self.read_until("\r\n").await;
                let size = usize::from_str_radix(size.trim(), 16).unwrap();
                let chunk = self.exactly(size + 2).await;
                if size == 0 {
                    break;
                }
                reply.body.push_str(&chunk[..size]);
            }
        } else if let Some(length) = reply.headers.get("content-length") {
            reply.body = self.exactly(length.parse().unwrap()).await;
        }
        reply
    }

    /// Reads the head of a response.
    pub(super) async fn head(&mut self) -> Reply {
        let head = self.read_until("\r\n\r\n").await;
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let pair = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Reply { status, headers: lines.filter_map(pair).collect(), body: String::new() }
    }

    /// Reads up to and including a text.
    pub(super) async fn read_until(&mut self, end: &str) -> String {
        loop {
            let found = self.read.windows(end.len()).position(|window| window == end.as_bytes());
            if let Some(at) = found {
                let rest = self.read.split_off(at + end.len());
                return String::from_utf8(std::mem::replace(&mut self.read, rest)).unwrap();
            }
            assert!(self.more().await > 0, "it ended after {:?}", String::from_utf8_lossy(&self.read));
        }
    }

    async fn exactly(&mut self, length: usize) -> String {
        while self.read.len() < length {
            assert!(self.more().await > 0, "it ended after {} bytes", self.read.len());
        }
        let rest = self.read.split_off(length);
        String::from_utf8(std::mem::replace(&mut self.read, rest)).unwrap()
    }

    async fn more(&mut self) -> usize {
        tokio::time::timeout(PATIENCE, self.stream.read_buf(&mut self.read)).await.unwrap().unwrap()
    }

    /// Whether the server closed the connection without sending more.
    pub(super) async fn is_ended(&mut self) -> bool {
        let mut rest = [0];
        let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut rest)).await.unwrap();
        self.read.is_empty() && !matches!(read, Ok(1..))
    }
}

impl Reply {
    pub(super) fn json(&self) -> Value {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        serde_json::from_str(data.unwrap_or(&self.body)).unwrap()
    }

    /// The text of a tool result.
    pub(super) fn text(&self) -> String {
        self.json()["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    /// The code of a problem document.
    pub(super) fn code(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        self.json()["code"].as_str().unwrap().to_owned()
    }

    pub(super) fn session(&self) -> String {
        self.headers["mcp-session-id"].clone()
    }
}

/// A request with a body.
pub(super) fn post(headers: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

pub(super) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// A tool call of revision 2026-07-28.
pub(super) fn call(headers: &str, tool: &str, arguments: &Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 7,
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let headers =
        format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n{headers}");
    post(&headers, &body)
}

pub(super) fn who_request() -> String {
    call("", "who", &json!({}))
}

/// The first request of a session of revision 2025-11-25.
pub(super) fn initialize(headers: &str) -> String {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    });
    post(headers, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string())
}

/// A tool call in a session.
pub(super) fn call_in(session: &str, headers: &str, tool: &str) -> String {
    let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": 7 } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    post(&in_session(session, headers), &body)
}

pub(super) fn in_session(session: &str, headers: &str) -> String {
    format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n{headers}")
}

pub(super) fn initialized(session: &str, headers: &str) -> String {
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    post(&in_session(session, headers), &body)
}

pub(super) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// Opens an initialised session.
pub(super) async fn open_session(served: &TestServer, headers: &str) -> String {
    let session = served.ask(&initialize(headers)).await.session();
    assert_eq!(served.ask(&initialized(&session, headers)).await.status, 202);
    session
}

/// Set in the environment of an isolated test.
const ALONE: &str = "TOOLCELL_TEST_ALONE";

/// Runs a test in a process of its own with a limit on open files.
#[expect(clippy::disallowed_methods, reason = "the process is told by its environment that it is the one")]
pub(super) fn run_isolated<F: Future<Output = ()>>(name: &str, files: u32, test: impl FnOnce() -> F) {
    if std::env::var(ALONE).is_ok() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(test());
    }
    let limited = format!("ulimit -n {files} && exec \"$0\" --exact http::tests::{name} --nocapture");
    let own = std::env::current_exe().unwrap();
    let status = std::process::Command::new("sh").arg("-c").arg(limited).arg(own).env(ALONE, "1").status().unwrap();
    assert!(status.success());
}

/// The resident memory of this process, in KiB.
pub(super) fn memory() -> i64 {
    status("VmRSS:")
}

/// The peak resident memory of this process, in KiB.
pub(super) fn most_memory() -> i64 {
    status("VmHWM:")
}

#[expect(clippy::disallowed_methods, reason = "the kernel says it in a file")]
fn status(field: &str) -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
