//! Opens what a run is granted, before it begins.
//!
//! Invariant: a grant that cannot be kept ends the run before it began. What cannot be decided is refused.

use std::sync::{Arc, Mutex};

use toolcell_capabilities::{Files, FolderError};
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
    /// Opens what is granted to one run of a tool.
    pub(crate) fn give<'a>(
        &'a self,
        grants: &Grants,
        entry: &Entry,
        run: &str,
        options: &'a RunOptions,
        nesting: Nesting,
    ) -> Result<Given<'a>, ReachError> {
        let secrets = grants.secrets.iter().map(|grant| Ok((grant.clone(), self.secret(grant)?)));
        let secrets = secrets.collect::<Result<Vec<_>, ReachError>>()?;
        let net = if grants.net.is_empty() {
            None
        } else {
            let (tool, run, grants) = (entry.id.to_string(), run.to_owned(), grants.net.clone());
            Some(Arc::new(self.net()?.start(RunNet { tool, run, grants, secrets })))
        };
        let files = if grants.files.is_empty() { None } else { Some(Arc::new(Files::open(&grants.files)?)) };
        let space = grants.kv.as_ref().map(|grant| {
            let store = self.store.clone().ok_or(ReachError::NoStore)?;
            Ok::<_, ReachError>(Space { store, grant: Arc::new(grant.clone()), now: self.clock })
        });
        Ok(Given {
            toolbox: self,
            id: entry.id,
            name: entry.name.to_string(),
            depth: nesting.depth,
            plan: nesting.plan,
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
