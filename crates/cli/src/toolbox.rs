//! Opens the toolbox that a command works with, under the policy in effect.
//!
//! Invariant: every code path to a run goes through this module, so no command bypasses the policy
//! and the hooks.

use std::path::Path;
use std::sync::Arc;

use toolcell::policy::OnAuditFailure;
use toolcell::store::{Notice, OpenError, StoreAccess};
use toolcell::{SandboxConfig, SecretName, Toolbox, ToolboxConfig, ToolboxError};
use toolcell_i18n::Localize as _;

use crate::error::CliError;
use crate::policy_files::PolicyFiles;

/// Opens the toolbox with the store in a directory, creating the store if needed.
pub(crate) fn open(dir: &Path, sandbox: SandboxConfig, rules: &PolicyFiles) -> Result<Toolbox, CliError> {
    Ok(Toolbox::open(dir, build_config(sandbox, rules)?)?)
}

/// Opens the toolbox with an existing store; never creates one.
pub(crate) fn open_existing(dir: &Path, sandbox: SandboxConfig, rules: &PolicyFiles) -> Result<Toolbox, CliError> {
    Ok(Toolbox::open_existing(dir, build_config(sandbox, rules)?)?)
}

/// Opens a toolbox for drafts. Runs are recorded if a writable store exists; none is created.
pub(crate) fn open_for_drafts(
    dir: Option<&Path>,
    sandbox: SandboxConfig,
    rules: &PolicyFiles,
) -> Result<Toolbox, CliError> {
    let config = build_config(sandbox, rules)?;
    let opened = dir.filter(|dir| dir.is_dir()).map(|dir| Toolbox::open_existing(dir, config.clone()));
    match opened {
        Some(Ok(toolbox)) if toolbox.store().is_some_and(|store| store.access() == StoreAccess::Full) => Ok(toolbox),
        None | Some(Ok(_) | Err(ToolboxError::Open(OpenError::NotAStore { .. }))) => {
            Ok(Toolbox::without_store(config)?)
        }
        Some(Err(error)) if rules.policy().on_audit_failure() == OnAuditFailure::Run => {
            toolcell::store::emit_notice(&Notice::Unrecorded { why: &error.localize() });
            Ok(Toolbox::without_store(config)?)
        }
        Some(Err(error)) => Err(error.into()),
    }
}

/// Builds the toolbox configuration from the policy files.
pub(crate) fn build_config(sandbox: SandboxConfig, rules: &PolicyFiles) -> Result<ToolboxConfig, CliError> {
    let (policy, hooks) = (rules.policy().clone(), rules.hooks()?);
    // Secrets come from this process's environment only.
    let secrets = Arc::new(|name: &SecretName| std::env::var(format!("TOOLCELL_SECRET_{name}")).ok());
    let protected = rules.protected_paths()?;
    Ok(ToolboxConfig { sandbox, policy, hooks, secrets, protected, ..ToolboxConfig::default() })
}
