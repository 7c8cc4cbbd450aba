//! Opens the resources that a run is granted, before it starts.
//!
//! Invariant: a run does not start if one of its grants cannot be opened. What cannot be checked is
//! refused.

use std::sync::{Arc, Mutex};

use toolcell_capabilities::{Files, FilesConfig, FolderError};
use toolcell_capabilities::{Net, NetConfig, NetSessionConfig, RootsError, Secret, SecretError};
use toolcell_host::HostCalls;
use toolcell_i18n::{Message, message, msgid};
use toolcell_policy::Policy;
use toolcell_tool::{Grants, SecretGrant, SecretName, ToolId};

use super::effects::EffectRecorder;
use super::held::EffectApprover;
use super::nested::{NestedCalls, NestingContext};
use super::resources::{ResourceContext, Resources};
use super::{KvAccess, RunEnvironment, cell_grants};

/// A granted resource cannot be opened.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum GrantOpenError {
    /// A folder cannot be opened.
    #[error(transparent)]
    #[coded(transparent)]
    Folder(#[from] FolderError),
    /// The root certificates cannot be read.
    #[error(transparent)]
    #[coded(transparent)]
    Roots(#[from] RootsError),
    /// A granted secret is missing.
    #[error("the secret `{name}` is granted but not set")]
    #[code(SecretMissing)]
    SecretMissing {
        /// The name of the secret.
        name: SecretName,
    },
    /// A secret cannot be used in a request.
    #[error("the secret `{name}` cannot be used: {source}")]
    #[code(SecretInvalid)]
    SecretInvalid {
        /// The name of the secret.
        name: SecretName,
        /// Why it cannot be used.
        source: SecretError,
    },
    /// A key-value space is granted, and the toolbox has no store.
    #[error("a key-value space needs a store, and this toolbox has none")]
    #[code(KvNoStore)]
    NoStore,
}

impl GrantOpenError {
    /// Returns the message for a tool whose call of another tool fails for this reason. It does not
    /// reveal paths of this machine.
    pub(crate) fn message_for_tool(&self) -> String {
        match self {
            Self::Folder(error) => error.message_for_tool(),
            Self::Roots(_) => "the trusted root certificates cannot be read".to_owned(),
            Self::SecretMissing { .. } | Self::SecretInvalid { .. } | Self::NoStore => self.to_string(),
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> Message {
        match self {
            Self::Folder(error) => error.hint().into(),
            Self::Roots(error) => error.hint().unwrap_or(msgid!("this is a bug in Toolcell")).into(),
            Self::SecretMissing { name } => {
                message!("set `TOOLCELL_SECRET_{name}` in the environment, or revoke the grant", name)
            }
            Self::SecretInvalid { .. } => message!("a secret is one line of 8 to 8192 bytes; set it again"),
            Self::NoStore => message!("open the toolbox with a store"),
        }
    }
}

/// A run whose grants are opened.
pub(crate) struct OpenRequest<'a, 'r> {
    /// The grants.
    pub(crate) grants: &'r Grants,
    /// The identifier of the tool.
    pub(crate) tool: ToolId,
    /// The name of the tool.
    pub(crate) name: &'r str,
    /// The call identifier that the tool sees.
    pub(crate) call_id: &'r str,
    /// Decides about held effects, if the caller asked for that.
    pub(crate) effect_approver: Option<&'a dyn EffectApprover>,
    /// Runs the stored tools that the tool calls.
    pub(crate) nested: Box<dyn NestedCalls + 'a>,
    /// The position in the chain of nested calls.
    pub(crate) nesting: NestingContext<'r>,
}

impl Resources {
    /// Opens the grants of one run of a tool. A nested run also counts against the quotas of its
    /// caller.
    pub(crate) fn open_grants<'a>(
        &'a self,
        context: ResourceContext<'_>,
        request: OpenRequest<'a, '_>,
    ) -> Result<RunEnvironment<'a>, GrantOpenError> {
        let OpenRequest { grants, tool: id, name, call_id: run, effect_approver, nested, nesting } = request;
        let NestingContext { caller: within, plan } = nesting;
        let tool = id.to_string();
        let caller = within.map(|within| within.environment);
        let meters = caller.map(|caller| caller.meters.clone()).unwrap_or_default();
        let secrets = grants.secrets.iter().map(|grant| Ok((grant.clone(), self.load_secret(grant)?)));
        let secrets = secrets.collect::<Result<Vec<_>, GrantOpenError>>()?;
        let net = if grants.net.is_empty() {
            None
        } else {
            let (tool, run, grants) = (tool.clone(), run.to_owned(), grants.net.clone());
            let (meters, caller) = (meters.clone(), caller.and_then(|caller| caller.net.clone()));
            let other_secrets = self.other_secrets(context.admission.policy());
            Some(Arc::new(self.net_client()?.start(NetSessionConfig {
                tool,
                run,
                grants,
                secrets,
                other_secrets,
                meters,
                caller,
            })))
        };
        let files = if grants.files.is_empty() {
            None
        } else {
            let (meters, caller) = (meters.clone(), caller.and_then(|caller| caller.files.as_deref()));
            let (grants, protected) = (&*grants.files, &*self.protected_paths(context));
            Some(Arc::new(Files::open(&FilesConfig { tool: &tool, grants, protected, meters, caller })?))
        };
        let space = grants.kv.as_ref().map(|grant| {
            let store = context.store.cloned().ok_or(GrantOpenError::NoStore)?;
            Ok::<_, GrantOpenError>(KvAccess { store, grant: Arc::new(grant.clone()), now: self.clock })
        });
        Ok(RunEnvironment {
            resources: self,
            nested,
            effect_approver,
            id,
            name: name.to_owned(),
            depth: within.map_or(0, |within| within.depth),
            plan,
            meters,
            call_id: run.to_owned(),
            all_grants: grants.clone(),
            cell_grants: cell_grants(grants),
            net,
            files,
            kv: space.transpose()?,
            effects: EffectRecorder::default(),
            pending: Mutex::default(),
        })
    }

    /// Returns the secrets that any tool may send. Responses of the hosts that may get them are
    /// searched for them. Missing ones are skipped.
    fn other_secrets(&self, policy: &Policy) -> Vec<(SecretGrant, Secret)> {
        let there = |grant: SecretGrant| self.load_secret(&grant).ok().map(|secret| (grant, secret));
        policy.secrets().into_iter().filter_map(there).collect()
    }

    /// Loads the value of a secret.
    fn load_secret(&self, grant: &SecretGrant) -> Result<Secret, GrantOpenError> {
        let name = grant.name.clone();
        let Some(value) = (self.secrets)(&name) else { return Err(GrantOpenError::SecretMissing { name }) };
        Secret::parse(value).map_err(|source| GrantOpenError::SecretInvalid { name, source })
    }

    /// Returns the HTTP client, which is created on first use.
    fn net_client(&self) -> Result<&Net, GrantOpenError> {
        if let Some(net) = self.net.get() {
            return Ok(net);
        }
        let made = Net::new(NetConfig { roots: self.roots.clone(), ..NetConfig::default() })?;
        Ok(self.net.get_or_init(|| made))
    }
}

impl RunEnvironment<'_> {
    /// Whether the tool may use timers. A tool that makes requests may too, because it sets
    /// timeouts on them.
    pub(super) fn can_wait(&self) -> bool {
        use toolcell_host::Grant;
        self.grants().iter().any(|grant| matches!(grant, Grant::Timers | Grant::Net))
    }
}
