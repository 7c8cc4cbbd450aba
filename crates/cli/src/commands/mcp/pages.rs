//! The pages of `mcp --ui`: for the operators of the token file, or behind a one-time link.
//!
//! Invariant: the pages show the toolboxes of the server under its policy, and do not change the policy: it holds for all principals, and
//! it is read when the server starts.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use toolcell::ApprovalPrompt;
use toolcell::policy::Grants;
use toolcell_error::ErrorCode;
use toolcell_i18n::{Lang, Localize as _, message, msgid, tr};
use toolcell_mcp::http::{HostPages, Operators, PAGES_PATH, SignInError, TokenStore};
use toolcell_mcp::{OpenFailure, Principal};
use toolcell_ui::{
    AnsweredFor, CurrentToolbox, LinkConfig, MountedPages, Operator, OperatorsConfig, PageError, SignIn, SignInRefusal,
    ToolboxSource, UiError,
};

use super::toolboxes::{self, Toolboxes};
use crate::commands::CLI_CALLER;
use crate::commands::ui::person;
use crate::error::CliError;

/// How people get to the pages.
pub(super) enum WayIn {
    /// By a one-time link, whose path this is.
    Link(String),
    /// By signing in.
    SignIn,
}

impl WayIn {
    /// Tells people how they get to the pages.
    pub(super) fn to_text(&self, address: SocketAddr, lang: Lang) -> String {
        match self {
            Self::Link(path) => {
                tr!(lang, "the page is at {url}; the link works once", url = format!("http://{address}{path}"))
            }
            Self::SignIn => {
                tr!(lang, "operators sign in at {url}", url = format!("http://{address}{PAGES_PATH}/"))
            }
        }
    }
}

/// Builds the pages of a server.
pub(super) fn build(
    address: SocketAddr,
    tokens: &TokenStore,
    toolboxes: &Arc<Toolboxes>,
    lang: Lang,
) -> Result<(HostPages, WayIn), CliError> {
    let source = |principal: &Principal| -> Arc<dyn ToolboxSource> {
        Arc::new(ServerSource { toolboxes: Arc::clone(toolboxes), principal: principal.clone() })
    };
    let failed = |error: UiError| CliError::coded(error.code(), error.localize(), error.hint());
    let operators = Operators::new(tokens);
    let decided_for = tokens.principals().map(|(principal, _)| principal);
    let decided_for = decided_for
        .filter(|principal| tokens.operators().iter().any(|operator| operator.principals().contains(principal)));
    let decided_for: Vec<_> = decided_for.map(|principal| (principal.to_string(), source(principal))).collect();
    let (pages, way) = match tokens {
        _ if !decided_for.is_empty() => {
            let sign_in = Arc::new(TokenSignIn(operators));
            let config = OperatorsConfig { sign_in, principals: decided_for, lang };
            (MountedPages::for_operators(config, PAGES_PATH).map_err(failed)?, WayIn::SignIn)
        }
        _ if tokens.principals().any(|(principal, _)| !principal.is_local()) => {
            return Err(CliError::usage(
                message!("--ui is given, but the token file has no operators: no one could sign in"),
                msgid!("add `[operators.NAME]` with `token_blake3` and `principals`, or omit --ui"),
            ));
        }
        _ if !address.ip().to_canonical().is_loopback() => {
            return Err(CliError::usage(
                message!(
                    "{address} is reachable from other machines, and a one-time link is for this machine only",
                    address
                ),
                msgid!("use --tokens with a file that has `[operators.NAME]`, or listen on 127.0.0.1"),
            ));
        }
        _ => {
            let (source, person, caller) = (source(&Principal::local()), person(), CLI_CALLER.to_owned());
            let config = LinkConfig { source, person, caller, lang };
            let (pages, path) = MountedPages::with_link(config, PAGES_PATH).map_err(failed)?;
            (pages, WayIn::Link(path))
        }
    };
    let MountedPages { router, closing } = pages;
    let pages = HostPages {
        router,
        closing,
        principal_of: |extensions| {
            let AnsweredFor(principal) = extensions.get()?;
            principal.as_deref().map_or_else(|| Some(Principal::local()), |name| Principal::parse(name).ok())
        },
    };
    Ok((pages, way))
}

/// The operators of the token file.
struct TokenSignIn(Operators);

impl SignIn for TokenSignIn {
    fn operator(&self, token: &str, address: IpAddr) -> Result<Operator, SignInRefusal> {
        match self.0.sign_in(token, address) {
            Ok(operator) => Ok(Operator {
                name: operator.name().to_owned(),
                principals: operator.principals().iter().map(Principal::to_string).collect(),
            }),
            Err(SignInError::Unknown) => Err(SignInRefusal::Unknown),
            Err(SignInError::TooManyAttempts { wait }) => Err(SignInRefusal::TooManyAttempts { wait }),
        }
    }
}

/// The toolbox of a principal.
struct ServerSource {
    toolboxes: Arc<Toolboxes>,
    principal: Principal,
}

impl ToolboxSource for ServerSource {
    fn current(&self) -> Result<CurrentToolbox, PageError> {
        let toolbox = self.toolboxes.open(&self.principal).map_err(|error| {
            let OpenFailure { code, message, hint } = error.into();
            PageError { code, message, hint }
        })?;
        Ok(CurrentToolbox { toolbox, policy_version: 0 })
    }

    fn can_grant(&self) -> bool {
        false
    }

    fn grant_command(&self) -> String {
        // The page names no path of the machine.
        match toolboxes::folder_of(&self.principal) {
            Some(folder) => format!("toolcell --dir DIR/{} grant", folder.display()),
            None => "toolcell --dir DIR grant".to_owned(),
        }
    }

    fn grant(&self, shown: &ApprovalPrompt, _: &Grants, _: &str) -> Result<(), PageError> {
        let id = shown.call.tool.map_or_else(|| shown.call.tool_name.clone(), |id| id.to_string());
        let command = format!("{} {id}", self.grant_command());
        Err(PageError {
            code: ErrorCode::GrantInvalid,
            message: message!("the policy of a server is not changed from its pages: nothing was decided"),
            hint: message!("grant it on the machine of the server with `{command}`, and restart it", command),
        })
    }
}
