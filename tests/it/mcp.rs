//! `toolcell mcp` keeps its promises, over pipes and over HTTP, with sessions and without.
//!
//! Reading order: [`home`] is where a server is started, [`peer`] is the other side of it, [`web`] is that side over HTTP; the
//! other modules are what a peer finds.
//!
//! Invariant: the server is the binary, and the peer knows nothing of how it is made.
#![expect(clippy::needless_pass_by_value, reason = "what is said to a server is written where it is said")]

pub(crate) mod home;
mod peer;
mod reply;
mod web;

mod approvals;
mod ends;
mod frames;
mod hostile;
mod operations;
mod progress;
mod published;
mod resources;
mod states;
mod tasks;
mod telemetry;
mod tenants;
mod together;

use self::home::Home;
use self::peer::Peer;

/// Says that it began, and never ends. The analysis does not see that, so nobody has to approve it.
const BEGINS: &str = "export default () => ({ name: 'begins', description: 'd', parameters: {}, \
    execute(id, params, onUpdate) { onUpdate('began'); let n = 1; while (n >= 0) n = (n + 1) % 7 } })";

/// Peers of each era over each way in, of two servers on one store.
fn peers(home: &Home, capabilities: &serde_json::Value, check: impl Fn(Peer)) {
    check(home.piped(&[]).in_session(capabilities.clone()));
    check(home.piped(&[]).stateless(capabilities.clone()));
    let web = home.web(&[]);
    check(web.peer().in_session(capabilities.clone()));
    check(web.peer().stateless(capabilities.clone()));
}
