//! Opens the network session of a run, with the secrets that it may send.
//!
//! Invariant: the values of secrets are read when a run starts, and are never part of the environment of a cell.

use std::sync::Arc;

use toolcell_capabilities::{Net, NetConfig, NetSession, NetSessionConfig, Secret};
use toolcell_policy::Policy;
use toolcell_tool::SecretGrant;

use super::SessionRequest;
use super::open::GrantOpenError;
use super::resources::Resources;

impl Resources {
    /// Opens the network session of a run, if it is granted any request.
    pub(super) fn open_net(&self, request: SessionRequest<'_>) -> Result<Option<Arc<NetSession>>, GrantOpenError> {
        let SessionRequest { policy, grants, tool, run, meters, caller } = request;
        let secrets = grants.secrets.iter().map(|grant| Ok((grant.clone(), self.load_secret(grant)?)));
        let secrets = secrets.collect::<Result<Vec<_>, GrantOpenError>>()?;
        if grants.net.is_empty() {
            return Ok(None);
        }
        let config = NetSessionConfig {
            tool: tool.to_owned(),
            run: run.to_owned(),
            grants: grants.net.clone(),
            secrets,
            other_secrets: self.other_secrets(policy),
            meters: meters.clone(),
            caller,
        };
        Ok(Some(Arc::new(self.net_client()?.start(config))))
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
    pub(super) fn net_client(&self) -> Result<&Net, GrantOpenError> {
        if let Some(net) = self.net.get() {
            return Ok(net);
        }
        let made = Net::new(NetConfig { roots: self.roots.clone(), ..NetConfig::default() })?;
        Ok(self.net.get_or_init(|| made))
    }
}
