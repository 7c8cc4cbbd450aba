//! The options of a session.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toolcell::jail::Program;
use toolcell::policy::{Layer, PolicyError};
use toolcell::{ImageKind, Lang, Policy, PolicyFile, SandboxConfig};

use crate::failure::Failure;
use crate::host::{FunctionDeclaration, HookDeclaration};

/// The options of a session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct OpenOptions {
    /// The folder of the store. Without it nothing is stored or recorded.
    pub(crate) dir: Option<PathBuf>,
    /// Without it, the built-in policy.
    pub(crate) policy: Option<PolicySource>,
    /// The caller in records.
    pub(crate) caller: String,
    /// The working directory that hooks are given.
    pub(crate) cwd: Option<PathBuf>,
    #[serde(default = "english")]
    lang: String,
    /// The program of the worker processes. Without it tools run in this process.
    pub(crate) worker: Option<PathBuf>,
    pub(crate) slots: Option<usize>,
    #[serde(default)]
    pub(crate) hooks: Vec<HookDeclaration>,
    #[serde(default)]
    pub(crate) functions: Vec<FunctionDeclaration>,
    /// Whether the host has an approver.
    #[serde(default)]
    pub(crate) has_approver: bool,
    /// Whether the host resolves secrets.
    #[serde(default)]
    pub(crate) has_secrets: bool,
}

/// The text of a policy, which the package has read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicySource {
    /// The file that it comes from, for messages and for the folders that it names.
    path: Option<PathBuf>,
    text: String,
}

fn english() -> String {
    Lang::En.name().to_owned()
}

impl OpenOptions {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        serde_json::from_str(text).map_err(|error| Failure::request(format!("the options are invalid: {error}")))
    }

    pub(crate) fn lang(&self) -> Result<Lang, Failure> {
        Lang::ALL.into_iter().find(|lang| lang.name() == self.lang).ok_or_else(|| {
            Failure::request(format!("`lang` is `{}`, it must be en, ja or zh", self.lang.escape_debug()))
        })
    }

    pub(crate) fn sandbox(&self) -> SandboxConfig {
        let config = match &self.worker {
            Some(program) => SandboxConfig { jail: Some(Program::Other(program.clone())), ..SandboxConfig::default() },
            None => SandboxConfig { images: ImageKind::FOR_FOREIGN_PROCESS.to_vec(), ..SandboxConfig::default() },
        };
        SandboxConfig { slots: self.slots.unwrap_or(config.slots), ..config }
    }
}

impl PolicySource {
    pub(crate) fn parse(&self, lang: Lang) -> Result<Policy, Failure> {
        let path = self.path.as_deref().unwrap_or(Path::new("policy"));
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let failure = |error: PolicyError| Failure::from_error(&error, error.code(), error.hint(), lang);
        let file = PolicyFile::parse(Layer::User, &self.text, &path).map_err(failure)?;
        Policy::from_layers([file]).map_err(failure)
    }
}
