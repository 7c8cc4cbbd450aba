//! The host's policy: what tools may have, from the files of the user and of the project.
//!
//! Invariant: a project may only narrow. Whatever a policy with a project's file permits, the policy without it permits as
//! well. Nothing here reads a file, the environment or a clock; only [`Policy::protects`] looks where granted folders are.

mod approval;
mod call;
mod command;
mod duplicates;
mod file;
mod form;
mod granting;
mod grants;
mod limits;
mod line;
mod origin;
mod problem;
mod rule;
mod schema;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use toolcell_analysis::{Capabilities, Capability};
use toolcell_capabilities::{Protected, refused_folder};
use toolcell_host::Budget;
use toolcell_store::audit::Contents;
use toolcell_tool::{Lang, SecretGrant, ToolId, ToolName};

use crate::policy::grants::{AllRules, Subject};
use crate::policy::limits::{Limits, TOOLS};
use crate::policy::origin::{Held, Stated};
use crate::policy::problem::FolderAt;

pub use approval::ApprovalMode;
pub use command::{GateCommand, NamePattern, When};
pub use duplicates::Duplicates;
pub use file::PolicyFile;
pub use grants::{Ruling, Verdict};
pub use limits::{Limit, LimitError, Wanted};
pub(crate) use line::line;
pub use origin::{Layer, Origin, Setting};
pub use problem::{PolicyError, PolicyProblem};
pub use toolcell_tool::Grants;

/// How often is often, for what is worth making a tool of (the documents say 2 and 3).
const SEEN_OFTEN: u64 = 2;

/// What to do with a run that cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum WhenUnrecorded {
    /// It does not start.
    #[default]
    Refuse,
    /// It runs, and whoever started it is told.
    Run,
}

/// What whoever started the process says beyond the files. It counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The language of messages.
    pub language: Option<Lang>,
    /// What a tool that nobody approved may do.
    pub approval: Option<ApprovalMode>,
}

/// What tools may have.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use toolcell::policy::{Layer, Policy, PolicyFile, Wanted};
///
/// let user = PolicyFile::parse(Layer::User, "[ceilings]\ntimeout_ms = 60_000", Path::new("user.toml"))?;
/// let project = PolicyFile::parse(Layer::Project, "[ceilings]\ntimeout_ms = 90_000", Path::new("project.toml"))?;
/// let policy = Policy::layered([user, project])?;
/// let error = policy.budget(&Wanted { timeout_ms: Some(70_000), ..Wanted::default() }).unwrap_err();
/// assert_eq!(error.to_string(), "timeout_ms is 70000, it must be 1 to 60000 (ceiling of user user.toml:2)");
/// # Ok::<(), toolcell::policy::PolicyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Policy {
    language: Held<Option<Lang>>,
    limits: Limits,
    tools: Held<u64>,
    duplicates: Held<Duplicates>,
    failures: Held<u64>,
    repetitions: Held<u64>,
    contents: Held<Contents>,
    when_unrecorded: Held<WhenUnrecorded>,
    approval: Held<ApprovalMode>,
    reserved: Vec<Stated<ToolName>>,
    grants: AllRules,
    folders: Vec<FolderAt>,
    gates: Vec<GateCommand>,
    files: Vec<(Layer, Arc<Path>)>,
}

impl Default for Policy {
    /// What holds where no file says anything.
    fn default() -> Self {
        Self {
            language: Held::built_in(None),
            limits: Limits::default(),
            tools: Held::built_in(TOOLS),
            duplicates: Held::built_in(Duplicates::default()),
            failures: Held::built_in(SEEN_OFTEN),
            repetitions: Held::built_in(SEEN_OFTEN),
            contents: Held::built_in(Contents::default()),
            when_unrecorded: Held::built_in(WhenUnrecorded::default()),
            approval: Held::built_in(ApprovalMode::default()),
            reserved: Vec::new(),
            grants: AllRules::default(),
            folders: Vec::new(),
            gates: Vec::new(),
            files: Vec::new(),
        }
    }
}

impl Policy {
    /// The policy of these files: the user's first, whatever their order. What a project asks for beyond what holds
    /// without it does not count; [`origins`](Self::origins) tells of it.
    ///
    /// # Errors
    /// `policy-invalid`: two files have a gate of one name.
    pub fn layered(files: impl IntoIterator<Item = PolicyFile>) -> Result<Self, PolicyError> {
        let mut files: Vec<PolicyFile> = files.into_iter().collect();
        files.sort_by_key(|file| file.layer);
        let mut policy = Self::default();
        for file in files {
            policy.settle(file)?;
        }
        Ok(policy)
    }

    fn settle(&mut self, file: PolicyFile) -> Result<(), PolicyError> {
        // A language permits nothing, so the project's own wins.
        if let Some(Stated { value, origin }) = file.language {
            self.language = Held { value: Some(value), origin, beyond: Vec::new() };
        }
        // Nor does advice.
        for (held, stated) in [(&mut self.failures, file.failures), (&mut self.repetitions, file.repetitions)] {
            if let Some(Stated { value, origin }) = stated {
                *held = Held { value, origin, beyond: Vec::new() };
            }
        }
        self.limits.settle(&file.limits, &file.ceilings);
        self.duplicates.settle(file.duplicates.as_ref(), |what| what as u64);
        self.tools.settle(file.tools.as_ref(), |tools| tools);
        self.contents.settle(file.contents.as_ref(), |contents| u64::from(contents == Contents::Verbatim));
        self.when_unrecorded.settle(file.when_unrecorded.as_ref(), |when| when as u64);
        self.approval.settle(file.approval.as_ref(), |mode| mode as u64);
        self.reserved.extend(file.reserved);
        match (file.layer, file.grants) {
            (Layer::User, Some(rules)) => self.grants.user = Some(rules),
            (Layer::Project, Some(rules)) => self.grants.projects.push(rules),
            (_, None) => {}
        }
        self.folders.extend(file.folders);
        problem::gates_differ(&self.gates, &file.gates)?;
        self.gates.extend(file.gates);
        self.files.push((file.layer, file.path));
        Ok(())
    }

    /// The policy with what whoever started the process says.
    #[must_use]
    pub fn with(mut self, overrides: &Overrides) -> Self {
        if let Some(language) = overrides.language {
            self.language = Held { value: Some(language), origin: Origin::Flag, beyond: Vec::new() };
        }
        if let Some(mode) = overrides.approval {
            self.approval.settle(Some(&Stated { value: mode, origin: Origin::Flag }), |mode| mode as u64);
        }
        self
    }

    /// What a call gets, if its caller may have what it wants.
    ///
    /// # Errors
    /// `limit-invalid`: below the least that the sandbox takes, or above the ceiling.
    pub fn budget(&self, wanted: &Wanted) -> Result<Budget, LimitError> {
        self.limits.budget(wanted)
    }

    /// What a tool is granted of what it asks for.
    #[must_use]
    pub fn grants_for(&self, id: ToolId, name: &ToolName, tags: &[String], asked: &Capabilities) -> Grants {
        Self::together(&self.granted_by(id, name, tags, asked))
    }

    /// Which rule grants or refuses each capability that a tool asks for.
    #[must_use]
    pub fn granted_by(&self, id: ToolId, name: &ToolName, tags: &[String], asked: &Capabilities) -> Vec<Ruling> {
        self.grants.rulings(&Subject { id: Some(id), name: Some(&name.folded()), tags }, asked)
    }

    /// What rulings about several capabilities grant together.
    pub(crate) fn together(rulings: &[Ruling]) -> Grants {
        let mut grants = Grants::default();
        for ruling in rulings {
            grants.take(ruling.capability, &ruling.grants);
        }
        grants
    }

    /// Of what any rule grants something to any tool: no tool gets anything of another capability.
    #[must_use]
    pub fn most_granted(&self) -> BTreeSet<Capability> {
        self.grants.most()
    }

    /// Refuses to grant a folder in which a store is, or which is in a store, and one that is where the current directory is.
    /// `real` follows links, where it can.
    ///
    /// # Errors
    /// `policy-invalid`
    pub(crate) fn is_apart_from(&self, store: &Path, real: impl Fn(&Path) -> PathBuf) -> Result<(), PolicyError> {
        problem::folders_apart(&self.folders, store, real)
    }

    /// Refuses to grant a folder for writing in which something protected is, or which is in something protected, and to grant one
    /// for reading where that is hidden. A folder that is not there is looked at when it is opened.
    ///
    /// # Errors
    /// `policy-invalid`
    pub fn protects(&self, protected: &[Protected]) -> Result<(), PolicyError> {
        problem::folders_unprotected(&self.folders, |path, access| refused_folder(path, access, protected))
    }

    /// Whether no folder is granted.
    pub(crate) const fn grants_no_folder(&self) -> bool {
        self.folders.is_empty()
    }

    /// The files that it was made of, the user's first.
    pub fn files(&self) -> impl Iterator<Item = (Layer, &Path)> {
        self.files.iter().map(|(layer, path)| (*layer, &**path))
    }

    /// The secrets that any tool may send somewhere, and all hosts to which it may. A project's file may only take away from that.
    #[must_use]
    pub fn secrets(&self) -> Vec<SecretGrant> {
        self.grants.secrets()
    }

    /// What becomes of a tool that does what another one does already.
    #[must_use]
    pub const fn duplicates(&self) -> Duplicates {
        self.duplicates.value
    }

    /// After how many failed attempts a tool is worth making, and where the same was seen how often.
    #[must_use]
    pub const fn worth_making(&self) -> (u64, u64) {
        (self.failures.value, self.repetitions.value)
    }

    /// What a tool that nobody approved may do, and who says so.
    #[must_use]
    pub const fn approval(&self) -> (ApprovalMode, &Origin) {
        (self.approval.value, &self.approval.origin)
    }

    /// The language of messages, if a file or a flag says one.
    #[must_use]
    pub const fn language(&self) -> Option<Lang> {
        self.language.value
    }

    /// How many tools may have a name.
    #[must_use]
    pub const fn tools_limit(&self) -> u64 {
        self.tools.value
    }

    /// What is recorded of parameters and results.
    #[must_use]
    pub const fn contents(&self) -> Contents {
        self.contents.value
    }

    /// What to do with a run that cannot be recorded.
    #[must_use]
    pub const fn when_unrecorded(&self) -> WhenUnrecorded {
        self.when_unrecorded.value
    }

    /// The name that a policy reserves, and where, if it is this one or one that people take for it.
    #[must_use]
    pub fn reserved(&self, name: &ToolName) -> Option<(&ToolName, &Origin)> {
        let found = self.reserved.iter().find(|reserved| reserved.value.folded() == name.folded())?;
        Some((&found.value, &found.origin))
    }

    /// The commands to ask, the user's first.
    #[must_use]
    pub fn gates(&self) -> &[GateCommand] {
        &self.gates
    }

    /// The JSON Schema of a policy file, for editors.
    #[must_use]
    pub fn json_schema() -> Value {
        schema::SCHEMA.clone()
    }
}
