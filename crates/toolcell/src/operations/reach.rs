//! Opens what a run is granted, before it begins.
//!
//! Invariant: a grant that cannot be kept ends the run before it began. What cannot be decided is refused.

use std::sync::{Arc, Mutex};

use toolcell_capabilities::{Files, FolderError, RunFiles};
use toolcell_capabilities::{Net, NetConfig, RootsError, RunNet, Secret, SecretError};
use toolcell_host::Operations;
use toolcell_store::Entry;
use toolcell_tool::{Grants, SecretGrant, SecretName};

use super::{Given, Ledger, Nesting, Space, visible};
use crate::run::RunOptions;
use crate::toolbox::Toolbox;

/// Where the values of secrets come from. Nothing for one that is not there.
pub type SecretSource = Arc<dyn Fn(&SecretName) -> Option<String> + Send + Sync>;

/// Something that is granted cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReachError {
    /// A folder does not open.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The certificates of authorities cannot be read.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// A secret is not there.
    #[error("the secret `{name}` is granted, and it is not there")]
    SecretMissing {
        /// Which.
        name: SecretName,
    },
    /// A secret is nothing that can be put into a request.
    #[error("the secret `{name}` cannot be used: {source}")]
    SecretInvalid {
        /// Which.
        name: SecretName,
        /// Why not.
        source: SecretError,
    },
    /// There is no store that a space could be in.
    #[error("a space of keys and values is in a store, and this toolbox has none")]
    NoStore,
}

impl ReachError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Folder(error) => error.code(),
            Self::Roots(error) => error.code(),
            Self::SecretMissing { .. } => "secret-missing",
            Self::SecretInvalid { .. } => "secret-invalid",
            Self::NoStore => "kv-no-store",
        }
    }

    /// What a tool is told whose call of another tool fails for it: not where things are on this machine.
    pub(crate) fn to_tool(&self) -> String {
        match self {
            Self::Folder(error) => error.to_tool(),
            Self::Roots(_) => "the certificates that are trusted cannot be read".to_owned(),
            Self::SecretMissing { .. } | Self::SecretInvalid { .. } | Self::NoStore => self.to_string(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Folder(error) => error.hint().to_owned(),
            Self::Roots(error) => error.hint().unwrap_or("this is a bug of ours").to_owned(),
            Self::SecretMissing { name } => {
                format!("set `TOOLCELL_SECRET_{name}` in the environment, or take the grant back")
            }
            Self::SecretInvalid { .. } => "a secret is one line of 8 to 8192 bytes; set it anew".to_owned(),
            Self::NoStore => "open the toolbox with a store".to_owned(),
        }
    }
}

impl Toolbox {
    /// Opens what is granted to one run of a tool. What a run uses that is called within another one counts there as well.
    pub(crate) fn give<'a>(
        &'a self,
        grants: &Grants,
        entry: &Entry,
        run: &str,
        options: &'a RunOptions,
        nesting: Nesting<'_>,
    ) -> Result<Given<'a>, ReachError> {
        let Nesting { within, plan } = nesting;
        let tool = entry.id.to_string();
        let caller = within.map(|within| within.given);
        let meters = caller.map(|caller| caller.meters.clone()).unwrap_or_default();
        let secrets = grants.secrets.iter().map(|grant| Ok((grant.clone(), self.secret(grant)?)));
        let secrets = secrets.collect::<Result<Vec<_>, ReachError>>()?;
        let net = if grants.net.is_empty() {
            None
        } else {
            let (tool, run, grants) = (tool.clone(), run.to_owned(), grants.net.clone());
            let (meters, caller) = (meters.clone(), caller.and_then(|caller| caller.net.clone()));
            let other_secrets = self.other_secrets();
            Some(Arc::new(self.net()?.start(RunNet { tool, run, grants, secrets, other_secrets, meters, caller })))
        };
        let files = if grants.files.is_empty() {
            None
        } else {
            let (meters, caller) = (meters.clone(), caller.and_then(|caller| caller.files.as_deref()));
            let (grants, protected) = (&*grants.files, &*self.protected());
            Some(Arc::new(Files::open(&RunFiles { tool: &tool, grants, protected, meters, caller })?))
        };
        let space = grants.kv.as_ref().map(|grant| {
            let store = self.store.clone().ok_or(ReachError::NoStore)?;
            Ok::<_, ReachError>(Space { store, grant: Arc::new(grant.clone()), now: self.clock })
        });
        Ok(Given {
            toolbox: self,
            id: entry.id,
            name: entry.name.to_string(),
            depth: within.map_or(0, |within| within.depth),
            plan,
            meters,
            options,
            call_id: run.to_owned(),
            full: grants.clone(),
            grants: visible(grants),
            net,
            files,
            space: space.transpose()?,
            background: &self.background,
            ledger: Ledger::default(),
            pending: Mutex::default(),
        })
    }

    /// The secrets that any tool may send somewhere. One that is not there goes nowhere, and comes back from nowhere.
    fn other_secrets(&self) -> Vec<(SecretGrant, Secret)> {
        let there = |grant: SecretGrant| self.secret(&grant).ok().map(|secret| (grant, secret));
        self.policy.secrets().into_iter().filter_map(there).collect()
    }

    /// The value of a secret.
    fn secret(&self, grant: &SecretGrant) -> Result<Secret, ReachError> {
        let name = grant.name.clone();
        let Some(value) = (self.secrets)(&name) else { return Err(ReachError::SecretMissing { name }) };
        Secret::parse(value).map_err(|source| ReachError::SecretInvalid { name, source })
    }

    /// What makes requests, made when it is needed first.
    fn net(&self) -> Result<&Net, ReachError> {
        if let Some(net) = self.net.get() {
            return Ok(net);
        }
        let made = Net::new(NetConfig { roots: self.roots.clone(), ..NetConfig::default() })?;
        Ok(self.net.get_or_init(|| made))
    }
}

impl Given<'_> {
    /// Whether it may wait for a time: a tool that makes requests gives them a time as well.
    pub(super) fn may_wait(&self) -> bool {
        use toolcell_host::Grant;
        self.grants().iter().any(|grant| matches!(grant, Grant::Timers | Grant::Net))
    }
}
