//! `toolcell mcp` over stdio and over HTTP, with sessions and stateless.
//!
//! Reading order: [`server`] starts a server, [`raw_client`] is its client, and [`raw_http`] is
//! that client's HTTP transport; the other modules are the tests.
//!
//! Invariant: the server is the binary, and the client shares no code with it.
#![expect(clippy::needless_pass_by_value, reason = "what is said to a server is written where it is said")]

mod raw_client;
mod raw_http;
mod reply;
pub(crate) mod server;

mod approvals;
mod concurrency;
mod flows;
mod framing;
mod host_methods;
mod hostile;
mod operations;
mod pages;
mod progress;
mod published;
mod request_state;
mod resources;
mod server_questions;
mod shutdown;
mod tasks;
mod telemetry;
mod tenants;

use self::raw_client::RawClient;
use self::server::BinaryFixture;

/// A tool that reports progress and then loops forever. The analysis does not detect the loop, so
/// the tool needs no approval.
const BEGINS: &str = "export default () => ({ name: 'begins', description: 'd', parameters: {}, \
    execute(id, params, onUpdate) { onUpdate('began'); let n = 1; while (n >= 0) n = (n + 1) % 7 } })";

/// Runs a check with a client of each revision over each transport, on two servers that share a
/// store.
fn for_each_client(home: &BinaryFixture, capabilities: &serde_json::Value, check: impl Fn(RawClient)) {
    check(home.start_stdio(&[]).in_session(capabilities.clone()));
    check(home.start_stdio(&[]).stateless(capabilities.clone()));
    let web = home.start_http(&[]);
    check(web.client().in_session(capabilities.clone()));
    check(web.client().stateless(capabilities.clone()));
}
