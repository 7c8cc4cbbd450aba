//! The context of a command: what it works with besides its own arguments.
//!
//! Invariant: an invalid policy file, or an unknown store directory, is an error of each command
//! that needs it, and of no other.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use toolcell::{Approver, CancelToken, Lang, SandboxConfig, Toolbox};

use crate::args::PolicyArgs;
use crate::error::CliError;
use crate::policy_files::PolicyFiles;
use crate::prompt::TerminalApprover;
use crate::render::progress::Progress;
use crate::streams::{OutputFormat, Streams};
use crate::toolbox;

/// The environment of a command: policy, store directory, output format, language and streams.
pub(crate) struct Context<'a> {
    /// The options that locate the policy files.
    pub(crate) policy_args: PolicyArgs,
    /// The value of `--dir`, if given.
    pub(crate) dir_option: Option<PathBuf>,
    /// The format of the output.
    pub(crate) format: OutputFormat,
    /// The language of messages.
    pub(crate) lang: Lang,
    /// The standard streams.
    pub(crate) streams: Streams<'a>,
    /// Cancelled by Ctrl-C.
    pub(crate) cancel: CancelToken,
    /// The policy files, or why they are invalid; see [`Context::policy`].
    pub(crate) policy: Result<PolicyFiles, Rc<CliError>>,
    /// The store directory, or why it is unknown; see [`Context::store_dir`].
    pub(crate) store_dir: Result<PathBuf, Rc<CliError>>,
}

impl Context<'_> {
    /// Returns the policy in effect.
    ///
    /// # Errors
    /// The error of the policy files, if one of them is invalid.
    pub(crate) fn policy(&self) -> Result<&PolicyFiles, CliError> {
        self.policy.as_ref().map_err(|error| CliError::Shared(Rc::clone(error)))
    }

    /// Returns the store directory, which need not exist.
    ///
    /// # Errors
    /// `usage` if it is unknown.
    pub(crate) fn store_dir(&self) -> Result<&Path, CliError> {
        self.store_dir.as_deref().map_err(|error| CliError::Shared(Rc::clone(error)))
    }

    /// Returns the store directory, for commands that work without one.
    pub(crate) fn optional_store_dir(&self) -> Option<&Path> {
        self.store_dir.as_deref().ok()
    }

    /// Opens the toolbox with the store, creating the store if needed.
    pub(crate) fn open_toolbox(&self, sandbox: SandboxConfig) -> Result<Toolbox, CliError> {
        let policy = self.policy()?;
        toolbox::open(self.store_dir()?, sandbox, policy)
    }

    /// Opens the toolbox with the existing store; never creates one.
    pub(crate) fn open_existing_toolbox(&self, sandbox: SandboxConfig) -> Result<Toolbox, CliError> {
        let policy = self.policy()?;
        toolbox::open_existing(self.store_dir()?, sandbox, policy)
    }

    /// Opens a toolbox for drafts. Runs are recorded if a writable store exists; none is created.
    pub(crate) fn open_toolbox_for_drafts(&self, sandbox: SandboxConfig) -> Result<Toolbox, CliError> {
        toolbox::open_for_drafts(self.optional_store_dir(), sandbox, self.policy()?)
    }

    /// Returns an approver that prompts on the terminal, if the user can be prompted. It hides the
    /// progress display during a prompt.
    pub(crate) fn approver(&self, progress: Option<&Arc<Progress>>) -> Option<Arc<dyn Approver>> {
        let approver = || {
            let approver = TerminalApprover::new(self.lang, &self.cancel, progress);
            match self.optional_store_dir() {
                Some(store) => approver.with_granting(self.policy_args.clone(), store.to_owned()),
                None => approver,
            }
        };
        self.streams.is_interactive().then(|| Arc::new(approver()) as Arc<dyn Approver>)
    }
}
