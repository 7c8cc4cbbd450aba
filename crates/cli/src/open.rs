//! Opens the toolbox that a command works with, under the rules that hold here.
//!
//! Invariant: every road to a run goes through here, so that no command runs a tool without the policy and the gates.

use std::path::Path;
use std::sync::Arc;

use toolcell::policy::WhenUnrecorded;
use toolcell::store::{Access, Notice, OpenError};
use toolcell::{SandboxConfig, SecretName, Toolbox, ToolboxConfig, ToolboxError};

use crate::failure::Failure;
use crate::rules::Rules;

/// The toolbox with the store in a directory, which is made where there is none.
pub(crate) fn toolbox(dir: &Path, sandbox: SandboxConfig, rules: &Rules) -> Result<Toolbox, Failure> {
    Ok(Toolbox::open(dir, config(sandbox, rules)?)?)
}

/// The toolbox with a store that is there: looking at one does not make one.
pub(crate) fn existing(dir: &Path, sandbox: SandboxConfig, rules: &Rules) -> Result<Toolbox, Failure> {
    Ok(Toolbox::open_existing(dir, config(sandbox, rules)?)?)
}

/// A toolbox for drafts: what it runs is recorded where there is a store that can be written, and none is made for it.
pub(crate) fn for_drafts(dir: Option<&Path>, sandbox: SandboxConfig, rules: &Rules) -> Result<Toolbox, Failure> {
    let config = config(sandbox, rules)?;
    let opened = dir.filter(|dir| dir.is_dir()).map(|dir| Toolbox::open_existing(dir, config.clone()));
    match opened {
        Some(Ok(toolbox)) if toolbox.store().is_some_and(|store| store.access() == Access::Full) => Ok(toolbox),
        None | Some(Ok(_) | Err(ToolboxError::Open(OpenError::NoStore { .. }))) => Ok(Toolbox::without_store(config)?),
        Some(Err(error)) if rules.policy().when_unrecorded() == WhenUnrecorded::Run => {
            toolcell::store::tell(&Notice::Unrecorded { why: &error.to_string() });
            Ok(Toolbox::without_store(config)?)
        }
        Some(Err(error)) => Err(error.into()),
    }
}

/// What a toolbox is made with under these rules.
pub(crate) fn config(sandbox: SandboxConfig, rules: &Rules) -> Result<ToolboxConfig, Failure> {
    let (policy, gates) = (rules.policy().clone(), rules.gates()?);
    // A secret is in the environment of whoever starts this, and nowhere else.
    let secrets = Arc::new(|name: &SecretName| std::env::var(format!("TOOLCELL_SECRET_{name}")).ok());
    let protected = rules.protected()?;
    Ok(ToolboxConfig { sandbox, policy, gates, secrets, protected, ..ToolboxConfig::default() })
}
