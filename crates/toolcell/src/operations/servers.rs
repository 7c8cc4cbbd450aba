//! What a person decides about the tools of MCP servers.
//!
//! Invariant: what is trusted is what a review showed: a definition that changed since is refused when it is called.

use std::sync::Arc;

use toolcell_bridge::Definition;
use toolcell_dts::{Detail, FunctionSchema, server_interface};
use toolcell_host::OperationError;

use crate::host_calls::{ServerReview, check_known};
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
        Self::Failed { message: error.message }
    }
}

/// Asks a server for its tools, and compares them with what was trusted.
pub(crate) fn review(parts: &Parts, name: &str) -> Result<ServerReview, ServerError> {
    let unknown = |_| ServerError::Unknown { name: name.chars().take(64).collect() };
    let server = check_known(parts.admission.policy(), name).map_err(unknown)?;
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
