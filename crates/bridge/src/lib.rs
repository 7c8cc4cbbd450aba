//! A client of MCP servers, whose tools it offers as functions.
//!
//! ```text
//! Bridge ─ one Server each ─ Connection (program or HTTP), made on first use, replaced when it ends
//!                          └ Definitions: the tools as the server lists them, each with a digest
//! ```
//!
//! Revisions 2024-11-05 to 2026-07-28 of the protocol are spoken. While a call is in flight, a server may ask the user for
//! input (elicitation in form mode), which is passed on to the caller of the run (`questions`). Requests for sampling are
//! refused, and the list of roots is empty.
//!
//! Invariant: nothing that a server says is trusted. Messages are bounded in size and answers in time; inputs are checked
//! before they are sent, and results before they are returned; the secrets that the server got are taken out of all that
//! it says. A server that fails costs the calls that it was to answer.

mod connection;
mod definitions;
mod error;
mod oauth;
mod questions;
mod reader;
mod redaction;
mod result;
mod search;
mod server;
mod terms;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use toolcell_capabilities::Net;
use toolcell_protocol::OperationError;
use toolcell_tool::ServerName;

pub use connection::{HttpAuth, Program, ServerAddress, ServerConfig, end_programs};
pub use definitions::{Definition, Definitions};
pub use error::unknown_server;
pub use oauth::{CredentialStorage, GrantType, Login, LoginState, Logout, OAuthConfig};
pub use questions::{Answer, CallOrigin, PendingAnswer, Question, QuestionSink};
pub use result::CallResult;
pub use search::{SearchResult, search};
use server::Server;

/// The connections to MCP servers, which are made on first use.
pub struct Bridge {
    servers: BTreeMap<ServerName, Arc<Server>>,
}

impl Bridge {
    /// Creates a bridge. No server is started before it is needed.
    ///
    /// # Errors
    /// `server-unreachable`: the secrets of a server cannot be searched for.
    pub fn new(configs: impl IntoIterator<Item = ServerConfig>, net: Option<&Net>) -> Result<Self, OperationError> {
        let servers = configs.into_iter().map(|config| {
            let name = config.name.clone();
            Ok((name, Arc::new(Server::new(config, net.cloned())?)))
        });
        Ok(Self { servers: servers.collect::<Result<_, _>>()? })
    }

    /// Returns the tools of a server, which is started if it does not run.
    ///
    /// # Errors
    /// `server-unknown`, `server-unreachable`, `server-failed`; without effects.
    pub async fn definitions(&self, server: &ServerName) -> Result<Arc<Definitions>, OperationError> {
        self.server(server)?.definitions().await
    }

    /// Calls a tool, whose definition was looked at. The server may ask the caller for input meanwhile.
    ///
    /// # Errors
    /// `params-invalid` and `server-tool-changed` without effects. `server-tool-failed`, `server-result` and
    /// `server-failed`, with the effects that the call may have had.
    pub async fn call(
        &self,
        server: &ServerName,
        tool: &Arc<Definition>,
        input: Value,
        origin: CallOrigin,
    ) -> Result<CallResult, OperationError> {
        self.server(server)?.call(tool, input, origin).await
    }

    /// Starts a sign-in to a server that is reached with access tokens.
    ///
    /// # Errors
    /// `server-unknown`, `server-failed`.
    pub async fn login(&self, server: &ServerName) -> Result<Login, OperationError> {
        self.server(server)?.login().await
    }

    /// Deletes the tokens of a server, and has its authorization server revoke them.
    ///
    /// # Errors
    /// `server-unknown`, `server-failed`.
    pub async fn logout(&self, server: &ServerName) -> Result<Logout, OperationError> {
        self.server(server)?.logout().await
    }

    /// Whether a person is signed in to a server. The server is not asked.
    ///
    /// # Errors
    /// `server-unknown`; `server-failed`: what is kept cannot be read.
    pub fn login_state(&self, server: &ServerName) -> Result<LoginState, OperationError> {
        self.server(server)?.login_state()
    }

    fn server(&self, name: &ServerName) -> Result<&Arc<Server>, OperationError> {
        self.servers.get(name).ok_or_else(|| unknown_server(name.as_str()))
    }
}
