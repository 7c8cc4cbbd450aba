//! What a person decides about the tools of MCP servers.
//!
//! Invariant: what is trusted is what a review showed: a definition that changed since is refused when it is called.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::runtime::Handle;
pub use toolcell_bridge::LoginState as ServerLoginState;
use toolcell_bridge::{Definition, Login, Logout};
use toolcell_dts::{Detail, FunctionSchema, server_interface};
use toolcell_host::OperationError;
use toolcell_store::audit::{Action, AuditEvent};
use toolcell_store::{Fault, Store};
use toolcell_tool::{ServerName, ServerToolName};

use crate::clock::Clock;
use crate::host_calls::{ServerReview, check_known, wait_on};
use crate::parts::Parts;
use crate::type_check::ANY_SERVER;

/// The error of asking a server, or of trusting it.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum ServerError {
    /// The policy defines no such server.
    #[error("there is no server `{name}`")]
    #[code(ServerUnknown)]
    #[hint("define it in `[servers.NAME]` of the user's policy; `toolcell servers list` shows those that are")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The server refuses this client, or a person has to sign in.
    #[error("{message}")]
    #[code(ServerUnauthorized)]
    #[hint("see `auth` in `[servers.NAME]` of the policy")]
    Unauthorized {
        /// What went wrong, and what to do.
        message: String,
    },
    /// The sign-in failed.
    #[error("{message}")]
    #[code(ServerFailed)]
    #[hint(
        "run `toolcell servers login` again; `oauth` in `[servers.NAME]` of the policy says who Toolcell is to the authorization server"
    )]
    Login {
        /// What went wrong.
        message: String,
    },
    /// No person signed in within the time.
    #[error("no sign-in was completed within {seconds} s")]
    #[code(ServerFailed)]
    #[hint("run the command again, and complete the sign-in in the browser")]
    LoginTimeout {
        /// The time in seconds.
        seconds: u64,
    },
    /// There is no store to keep the tokens in.
    #[error("the tokens of `{server}` cannot be kept without a store")]
    #[code(ServerFailed)]
    #[hint("open the toolbox with a store")]
    NoStore {
        /// The server.
        server: String,
    },
    /// The server cannot be reached, or fails.
    #[error("{message}")]
    #[code(ServerFailed)]
    #[hint("check the command or the URL in `[servers.NAME]` of the policy, and the secrets that it names")]
    Failed {
        /// What went wrong.
        message: String,
    },
}

impl From<OperationError> for ServerError {
    fn from(error: OperationError) -> Self {
        match error.code.as_ref() {
            "server-unauthorized" => Self::Unauthorized { message: error.message },
            _ => Self::Failed { message: error.message },
        }
    }
}

/// What a sign-out of an MCP server did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerLogout {
    /// There were no tokens.
    NoTokens,
    /// The tokens are deleted and revoked.
    Revoked,
    /// The tokens are deleted, and valid until they expire.
    NotRevoked {
        /// Why they are not revoked.
        reason: String,
    },
    /// The tokens of a server that the policy does not define are deleted, and valid until they expire.
    NotDefined,
}

impl From<Logout> for ServerLogout {
    fn from(outcome: Logout) -> Self {
        match outcome {
            Logout::NoTokens => Self::NoTokens,
            Logout::Revoked => Self::Revoked,
            Logout::NotRevoked { reason } => Self::NotRevoked { reason },
        }
    }
}

/// A sign-in to an MCP server that waits for a person.
#[derive(Clone)]
pub struct ServerLogin {
    server: ServerName,
    login: Arc<Login>,
    /// What runs the sign-in.
    runtime: Handle,
    store: Arc<Store>,
    clock: Clock,
}

impl ServerLogin {
    /// Returns the URL at which the person signs in.
    #[must_use]
    pub fn url(&self) -> &str {
        self.login.url()
    }

    /// Returns the identifier of the authorization server, as it says.
    #[must_use]
    pub fn issuer(&self) -> &str {
        self.login.issuer()
    }

    /// Returns the URL to which the browser returns.
    #[must_use]
    pub fn redirect_uri(&self) -> &str {
        self.login.redirect_uri()
    }

    /// Waits until the browser has returned, or [`finish`](Self::finish) has succeeded on another thread. Who signed in is
    /// logged as `by`.
    ///
    /// # Errors
    /// `server-failed`: the authorization server refuses, or the time is over.
    pub fn wait(&self, limit: Duration, by: &str) -> Result<(), ServerError> {
        let login = Arc::clone(&self.login);
        let waited = wait_on(&self.runtime, async move { Ok(tokio::time::timeout(limit, login.wait()).await) })?;
        let outcome = waited.map_err(|_| ServerError::LoginTimeout { seconds: limit.as_secs() })?;
        outcome.map_err(|message| ServerError::Login { message })?;
        log(&self.store, (self.clock)(), Action::LoginServer, &self.server, by)
    }

    /// Ends the sign-in with the URL to which a browser returned, such as one on another machine.
    ///
    /// # Errors
    /// `server-failed`: the URL is not of this sign-in, which waits on; or the authorization server refuses.
    pub fn finish(&self, returned: &str) -> Result<(), ServerError> {
        let (login, returned) = (Arc::clone(&self.login), returned.to_owned());
        let outcome = wait_on(&self.runtime, async move { Ok(login.finish(&returned).await) });
        outcome?.map_err(|message| ServerError::Login { message })
    }
}

/// Starts a sign-in to a server.
pub(crate) fn login(parts: &Parts, name: &str) -> Result<ServerLogin, ServerError> {
    let server = find(parts, name)?;
    let Some(store) = parts.store.clone() else {
        return Err(ServerError::NoStore { server: server.to_string() });
    };
    let servers = parts.resources.servers(parts.resource_context())?;
    let asked = server.clone();
    let login = Arc::new(parts.resources.wait_for_servers(async move { servers.login(&asked).await })?);
    let runtime = parts.resources.background_handle()?;
    Ok(ServerLogin { server, login, runtime, store, clock: parts.clock })
}

/// Deletes the tokens of a server, and has its authorization server revoke them.
pub(crate) fn logout(parts: &Parts, name: &str, by: &str) -> Result<ServerLogout, ServerError> {
    let server = match find(parts, name) {
        Ok(server) => server,
        Err(unknown) => return logout_removed(parts, name, by, unknown),
    };
    let servers = parts.resources.servers(parts.resource_context())?;
    let asked = server.clone();
    let outcome = parts.resources.wait_for_servers(async move { servers.logout(&asked).await })?;
    if let Some(store) = &parts.store {
        log(store, parts.now(), Action::LogoutServer, &server, by)?;
    }
    Ok(outcome.into())
}

/// Deletes the tokens of a server that the policy no longer defines. Fails with `unknown` if it has no tokens.
fn logout_removed(parts: &Parts, name: &str, by: &str, unknown: ServerError) -> Result<ServerLogout, ServerError> {
    let (Some(store), Ok(server)) = (&parts.store, ServerName::parse(name)) else { return Err(unknown) };
    let credentials = store.server_credentials();
    let failed = |fault: Fault| ServerError::Failed { message: fault.to_string() };
    if credentials.read(&server).map_err(failed)?.is_none() {
        return Err(unknown);
    }
    // A process that still has the server may be about to replace them.
    let lock = credentials.lock(&server).map_err(failed)?;
    credentials.delete(&server).map_err(failed)?;
    drop(lock);
    log(store, parts.now(), Action::LogoutServer, &server, by)?;
    Ok(ServerLogout::NotDefined)
}

/// Whether a person is signed in to a server, which is not asked.
pub(crate) fn login_state(parts: &Parts, name: &str) -> Result<ServerLoginState, ServerError> {
    let server = find(parts, name)?;
    Ok(parts.resources.servers(parts.resource_context())?.login_state(&server)?)
}

/// Returns the declaration of a tool of a server, as it was trusted, by its name in code; `None` if none of that name was, or
/// several.
pub(crate) fn tool_declaration(parts: &Parts, server: &str, tool: &str) -> Result<Option<String>, ServerError> {
    let server = find(parts, server)?;
    let Ok(name) = ServerToolName::parse(tool) else { return Ok(None) };
    let trusted = parts.resources.servers(parts.resource_context())?.trusted(&server)?;
    let mut named = trusted.iter().filter(|tool| tool.code_name().as_ref() == Some(&name));
    let only = named.next().filter(|_| named.next().is_none());
    Ok(only.map(|tool| tool.declaration(Detail::Full)))
}

fn log(store: &Store, at: Timestamp, action: Action, server: &ServerName, by: &str) -> Result<(), ServerError> {
    let mut event = AuditEvent::new(action, at);
    event.name = Some(server.to_string());
    event.details.decided_by = Some(by.to_owned());
    store.log(&event).map_err(|fault| ServerError::Failed { message: fault.to_string() })
}

/// Returns the name of a server of the policy.
fn find(parts: &Parts, name: &str) -> Result<ServerName, ServerError> {
    let unknown = |_| ServerError::Unknown { name: name.chars().take(64).collect() };
    check_known(parts.admission.policy(), name).map_err(unknown)
}

/// Asks a server for its tools, and compares them with what was trusted.
pub(crate) fn review(parts: &Parts, name: &str) -> Result<ServerReview, ServerError> {
    let server = find(parts, name)?;
    let servers = parts.resources.servers(parts.resource_context())?;
    Ok(parts.resources.wait_for_servers(async move { Arc::clone(&servers).review(&server).await })?)
}

/// Puts the declarations of the trusted tools of all servers of the policy into declarations that admit any.
pub(crate) fn declare(parts: &Parts, declarations: &str) -> Result<String, ServerError> {
    let mut all = String::new();
    for server in parts.admission.policy().servers() {
        let review = review(parts, server.name.as_str())?;
        let functions: Vec<FunctionSchema<'_>> = review.unchanged.iter().map(Definition::function).collect();
        let declared = server_interface(server.name.as_str(), &functions, Detail::Full);
        all.push_str(&declared.map_err(|collision| ServerError::Failed { message: collision.to_string() })?);
    }
    Ok(if all.is_empty() { declarations.to_owned() } else { declarations.replacen(ANY_SERVER, &all, 1) })
}

/// Declares the tools of all servers of the policy that a person trusted, as they were trusted. A server of which none is, is
/// declared to have any.
pub(crate) fn declare_trusted(parts: &Parts) -> Result<String, ServerError> {
    let mut all = String::new();
    for server in parts.admission.policy().servers() {
        let trusted = parts.resources.servers(parts.resource_context())?.trusted(&server.name)?;
        let functions: Vec<FunctionSchema<'_>> = trusted.iter().map(Definition::function).collect();
        if functions.is_empty() {
            let name = &server.name;
            all.push_str(&format_any_server(name.as_str()));
            continue;
        }
        let declared = server_interface(server.name.as_str(), &functions, Detail::Brief);
        all.push_str(&declared.map_err(|collision| ServerError::Failed { message: collision.to_string() })?);
    }
    Ok(all)
}

fn format_any_server(name: &str) -> String {
    format!("interface Servers {{\n  {name}: {{ [tool: string]: (input?: object) => Promise<any> }};\n}}\n")
}

/// Trusts the tools of a server as a review showed them.
pub(crate) fn trust(parts: &Parts, review: &ServerReview, by: &str) -> Result<(), ServerError> {
    Ok(parts.resources.servers(parts.resource_context())?.trust(review, by)?)
}
