//! Opens the toolbox that a command works with, under the policy in effect.
//!
//! Invariant: every code path to a run goes through this module, so no command bypasses the policy
//! and the hooks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcell::policy::{OnAuditFailure, Policy};
use toolcell::store::{Notice, OpenError, Settings, Store, StoreAccess};
use toolcell::{
    SandboxConfig, SecretName, Toolbox, ToolboxConfig, ToolboxError, TypeCheckerProgram, escape_control_chars,
};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, message, msgid};

use crate::error::CliError;
use crate::library;
use crate::policy_files::PolicyFiles;

/// What is in the directory of each store, also of one whose creation was interrupted.
const STORE_FILES: [&str; 4] = ["toolcell-store", "lock", "index.sqlite", "objects"];

/// Opens the toolbox with the store in a directory, creating the store if needed.
pub(crate) fn open(dir: &Path, sandbox: SandboxConfig, rules: &PolicyFiles) -> Result<Toolbox, CliError> {
    check_is_for_store(dir)?;
    let config = build_config(sandbox, rules)?;
    Ok(Toolbox::with_store(attached(dir, &config, Store::open)?, config)?)
}

/// Opens a store. The copy of a shared library is brought up to date, if the environment names its database.
fn attached(
    dir: &Path,
    config: &ToolboxConfig,
    open: impl Fn(&Path, &Settings) -> Result<Store, OpenError>,
) -> Result<Store, CliError> {
    let settings = Settings { replication: library::attach(dir)?, ..config.store_settings() };
    let store = open(dir, &settings)?;
    if let Err(fault) = store.follow() {
        // What this copy has can be read; a change says itself that it cannot be made.
        toolcell::store::emit_notice(&Notice::Behind { why: &fault.localize() });
    }
    Ok(store)
}

/// Refuses to create a store beside the files of a user: in a directory that has other files, unless it is a hidden
/// one, which belongs to a program.
fn check_is_for_store(dir: &Path) -> Result<(), CliError> {
    // The store says what is wrong with a directory that cannot be read.
    let Ok(real) = dir.canonicalize() else { return Ok(()) };
    let is_hidden = real.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let is_empty = std::fs::read_dir(&real).is_ok_and(|mut entries| entries.next().is_none());
    if is_hidden || is_empty || STORE_FILES.iter().any(|file| real.join(file).exists()) {
        return Ok(());
    }
    Err(CliError::coded(
        ErrorCode::StoreInvalid,
        message!(
            "{path} is not a store, and has other files in it",
            path = escape_control_chars(&dir.display().to_string())
        ),
        msgid!("name a new or an empty directory with `--dir`"),
    ))
}

/// Opens the toolbox with an existing store; never creates one.
pub(crate) fn open_existing(dir: &Path, sandbox: SandboxConfig, rules: &PolicyFiles) -> Result<Toolbox, CliError> {
    let config = build_config(sandbox, rules)?;
    Ok(Toolbox::with_store(attached(dir, &config, Store::open_existing)?, config)?)
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
    let type_checker = type_checker(Some(&policy));
    Ok(ToolboxConfig { sandbox, policy, hooks, secrets, protected, type_checker, ..ToolboxConfig::default() })
}

/// Returns the program that checks types: `toolcell-types`, which `TOOLCELL_TYPES` names or which is beside this program, or
/// else the compiler that the policy names. An empty `TOOLCELL_TYPES` names none.
pub(crate) fn type_checker(policy: Option<&Policy>) -> Option<TypeCheckerProgram> {
    if let Some(named) = std::env::var_os("TOOLCELL_TYPES") {
        return Some(PathBuf::from(named))
            .filter(|named| !named.as_os_str().is_empty())
            .map(TypeCheckerProgram::Worker);
    }
    let name = format!("toolcell-types{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().map(|program| program.with_file_name(name));
    let worker = beside.filter(|program| program.is_file()).map(TypeCheckerProgram::Worker);
    worker.or_else(|| policy.and_then(Policy::type_compiler).map(TypeCheckerProgram::from))
}
