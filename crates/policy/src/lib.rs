//! The host's policy: what tools are granted, from the files of the user and of the project.
//!
//! Invariant: a project's file can only narrow. Whatever a policy with a project's file permits,
//! the policy without it permits too. Nothing here reads a file, the environment or a clock; the functions that check
//! granted folders get what they need of the file system as a closure.

mod approval;
mod call;
mod command;
mod duplicates;
mod effective;
mod external_tools;
mod file;
mod flows;
mod grant_rules;
mod limits;
mod parse_grants;
mod problem;
mod provenance;
mod raw;
mod raw_grants;
mod schema;
mod server_auth;
mod servers;
mod suggest;
#[cfg(test)]
mod tests;
mod types;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use toolcell_i18n::{Lang, Message};
use toolcell_protocol::Budget;
use toolcell_tool::AuditContents;
use toolcell_tool::{Access, FilesGrant, SecretGrant, ToolId, ToolName};
use toolcell_tool::{Capabilities, Capability};

use crate::external_tools::ExternalRules;
use crate::grant_rules::{FileRules, GrantRules, Rule, RuleTarget, Scope};
use crate::limits::{DEFAULT_MAX_TOOLS, Limits};
use crate::problem::GrantedFolder;
use crate::provenance::{Effective, Sourced};

pub use approval::ApprovalMode;
pub use command::{HookAction, HookCommand, HookDefinition, HookProtocol, HookTiming, NamePattern, variable_refusal};
pub use duplicates::Duplicates;
pub use external_tools::{CallDecision, ExternalRuling};
pub use file::PolicyFile;
pub use flows::{Declassification, FlowPolicy};
pub use grant_rules::{GrantDecision, GrantVerdict};
pub use limits::{Limit, LimitError, LimitOverrides};
pub use problem::{PolicyError, PolicyProblem};
pub use provenance::{Layer, Origin, Setting};
pub use server_auth::{OAuth, OAuthClient, OAuthGrant, ServerAuth};
pub use servers::{ServerDefinition, ServerHints, ServerTransport, Template};
pub use suggest::{SuggestedArgument, suggest_arguments, suggest_grant};
pub use toolcell_tool::Grants;
pub use types::TypeCompiler;

/// The default of `reflection.failures` and `reflection.repetitions`. (The contract says 2 and 3.)
const DEFAULT_REFLECTION_THRESHOLD: u64 = 2;

/// The handling of runs that cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum OnAuditFailure {
    /// Refuse the run.
    #[default]
    Refuse,
    /// Run it, and report the failure to the caller.
    Run,
}

/// Settings from the command line or the embedding host, which override the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The language of messages.
    pub language: Option<Lang>,
    /// The approval mode.
    pub approval: Option<ApprovalMode>,
}

/// The policy: limits, grants, hooks and approval mode of tools.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use toolcell_policy::{Layer, Policy, PolicyFile, LimitOverrides};
///
/// let user = PolicyFile::parse(Layer::User, "[ceilings]\ntimeout_ms = 60_000", Path::new("user.toml"))?;
/// let project = PolicyFile::parse(Layer::Project, "[ceilings]\ntimeout_ms = 90_000", Path::new("project.toml"))?;
/// let policy = Policy::from_layers([user, project])?;
/// let error = policy.budget(&LimitOverrides { timeout_ms: Some(70_000), ..LimitOverrides::default() }).unwrap_err();
/// assert_eq!(error.to_string(), "timeout_ms is 70000, it must be 1 to 60000 (ceiling of user user.toml:2)");
/// # Ok::<(), toolcell_policy::PolicyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Policy {
    language: Effective<Option<Lang>>,
    limits: Limits,
    tools: Effective<u64>,
    duplicates: Effective<Duplicates>,
    failures: Effective<u64>,
    repetitions: Effective<u64>,
    contents: Effective<AuditContents>,
    keeps_receipts: Effective<bool>,
    on_audit_failure: Effective<OnAuditFailure>,
    approval: Effective<ApprovalMode>,
    reserved: Vec<Sourced<ToolName>>,
    grants: GrantRules,
    folders: Vec<GrantedFolder>,
    hooks: Vec<HookDefinition>,
    external_tools: ExternalRules,
    flows: FlowPolicy,
    servers: Vec<ServerDefinition>,
    /// The servers that projects define, which are ignored.
    ignored_servers: Vec<ServerDefinition>,
    types: Option<TypeCompiler>,
    /// The compilers that projects name, which are ignored.
    ignored_types: Vec<TypeCompiler>,
    files: Vec<(Layer, Arc<Path>)>,
}

impl Default for Policy {
    /// The built-in policy.
    fn default() -> Self {
        Self {
            language: Effective::built_in(None),
            limits: Limits::default(),
            tools: Effective::built_in(DEFAULT_MAX_TOOLS),
            duplicates: Effective::built_in(Duplicates::default()),
            failures: Effective::built_in(DEFAULT_REFLECTION_THRESHOLD),
            repetitions: Effective::built_in(DEFAULT_REFLECTION_THRESHOLD),
            contents: Effective::built_in(AuditContents::default()),
            keeps_receipts: Effective::built_in(false),
            on_audit_failure: Effective::built_in(OnAuditFailure::default()),
            approval: Effective::built_in(ApprovalMode::default()),
            reserved: Vec::new(),
            grants: GrantRules::default(),
            folders: Vec::new(),
            hooks: Vec::new(),
            external_tools: ExternalRules::default(),
            flows: FlowPolicy::default(),
            servers: Vec::new(),
            ignored_servers: Vec::new(),
            types: None,
            ignored_types: Vec::new(),
            files: Vec::new(),
        }
    }
}

impl Policy {
    /// Merges policy files: the user's first, whatever their order. A project's setting that is
    /// wider than the policy without it is ignored; [`settings`](Self::settings) reports it.
    ///
    /// # Errors
    /// `policy-invalid`: two files have a hook with the same name.
    pub fn from_layers(files: impl IntoIterator<Item = PolicyFile>) -> Result<Self, PolicyError> {
        let mut files: Vec<PolicyFile> = files.into_iter().collect();
        files.sort_by_key(|file| file.layer);
        let mut policy = Self::default();
        for file in files {
            policy.apply(file)?;
        }
        Ok(policy)
    }

    fn apply(&mut self, file: PolicyFile) -> Result<(), PolicyError> {
        // A language permits nothing, so the project's file wins.
        if let Some(Sourced { value, origin }) = file.language {
            self.language = Effective { value: Some(value), origin, ignored: Vec::new() };
        }
        // Nor do reflection thresholds.
        for (held, stated) in [(&mut self.failures, file.failures), (&mut self.repetitions, file.repetitions)] {
            if let Some(Sourced { value, origin }) = stated {
                *held = Effective { value, origin, ignored: Vec::new() };
            }
        }
        self.limits.apply(&file.limits, &file.ceilings);
        self.duplicates.apply(file.duplicates.as_ref(), |what| what as u64);
        self.tools.apply(file.tools.as_ref(), |tools| tools);
        self.contents.apply(file.contents.as_ref(), |contents| u64::from(contents == AuditContents::Verbatim));
        self.keeps_receipts.apply(file.keeps_receipts.as_ref(), u64::from);
        self.on_audit_failure.apply(file.on_audit_failure.as_ref(), |when| when as u64);
        self.approval.apply(file.approval.as_ref(), |mode| mode as u64);
        self.reserved.extend(file.reserved);
        match (file.layer, file.grants) {
            (Layer::User, Some(rules)) => self.grants.user = Some(rules),
            (Layer::Project, Some(rules)) => self.grants.projects.push(rules),
            (_, None) => {}
        }
        self.folders.extend(file.folders);
        problem::check_hook_names_differ(&self.hooks, &file.hooks)?;
        self.hooks.extend(file.hooks);
        self.external_tools.apply(file.external_default.as_ref(), file.external_rules);
        self.flows.apply(file.flows, file.declassifications);
        match file.layer {
            Layer::User => {
                self.servers.extend(file.servers);
                self.types = file.types.or_else(|| self.types.take());
            }
            Layer::Project => {
                self.ignored_servers.extend(file.servers);
                self.ignored_types.extend(file.types);
            }
        }
        self.files.push((file.layer, file.path));
        Ok(())
    }

    /// Applies the overrides of the process.
    #[must_use]
    pub fn with_overrides(mut self, overrides: &Overrides) -> Self {
        if let Some(language) = overrides.language {
            self.language = Effective { value: Some(language), origin: Origin::Flag, ignored: Vec::new() };
        }
        if let Some(mode) = overrides.approval {
            self.approval.apply(Some(&Sourced { value: mode, origin: Origin::Flag }), |mode| mode as u64);
        }
        self
    }

    /// Returns the budget of a call, if its caller may have the requested limits.
    ///
    /// # Errors
    /// `limit-invalid`: a limit is below the sandbox's minimum or above its ceiling.
    pub fn budget(&self, wanted: &LimitOverrides) -> Result<Budget, LimitError> {
        self.limits.budget(wanted)
    }

    /// Returns what a tool is granted of the capabilities that it requests.
    #[must_use]
    pub fn grants_for(&self, id: ToolId, name: &ToolName, tags: &[String], asked: &Capabilities) -> Grants {
        Self::combine(&self.grant_decisions(id, name, tags, asked))
    }

    /// Returns the decision about each capability that a tool requests, with the rule that made it.
    #[must_use]
    pub fn grant_decisions(
        &self,
        id: ToolId,
        name: &ToolName,
        tags: &[String],
        asked: &Capabilities,
    ) -> Vec<GrantDecision> {
        let target = RuleTarget { id: Some(id), name: Some(&name.case_folded()), tags, is_draft: false };
        self.grants.decide_all(&target, asked)
    }

    /// Returns what code gets that is not stored: `grants.drafts`.
    #[must_use]
    pub fn draft_grants(&self) -> Grants {
        let target = RuleTarget { id: None, name: None, tags: &[], is_draft: true };
        Self::combine(&Capability::ALL.map(|capability| self.grants.decide(&target, capability)))
    }

    /// Returns the policy with a rule of the user that grants these to one tool. A rule of a file for
    /// the same tool, or of a project, narrows it.
    #[must_use]
    pub fn with_tool_grants(mut self, tool: ToolId, grants: &Grants) -> Self {
        let said = grants
            .capabilities()
            .into_iter()
            .map(|capability| (capability, Sourced { value: grants.for_capability(capability), origin: Origin::Flag }));
        let (key, scope) = (format!("grants.tools.{tool}"), Scope::Ids(tool, tool));
        let rule = Rule { key, scope, only_tool: None, grants: said.collect() };
        let rules = || FileRules { origin: Origin::Flag, rules: Vec::new() };
        self.grants.user.get_or_insert_with(rules).rules.push(rule);
        self
    }

    /// Combines the decisions about several capabilities into one set of grants.
    #[must_use]
    pub fn combine(rulings: &[GrantDecision]) -> Grants {
        let mut grants = Grants::default();
        for ruling in rulings {
            grants.set_capability(ruling.capability, &ruling.grants);
        }
        grants
    }

    /// Returns the capabilities that any rule grants to any tool: the upper bound of all grants.
    #[must_use]
    pub fn upper_bound(&self) -> BTreeSet<Capability> {
        self.grants.upper_bound()
    }

    /// Refuses a granted folder that contains a store or is inside of one, and one whose path
    /// depends on the current directory. `real` resolves symlinks where it can.
    ///
    /// # Errors
    /// `policy-invalid`
    pub fn excludes_path(&self, store: &Path, real: impl Fn(&Path) -> PathBuf) -> Result<(), PolicyError> {
        problem::check_folders_exclude_store(&self.folders, store, real)
    }

    /// Refuses the granted folders for which `refusal` returns a reason. It gets the path of a
    /// folder and whether the folder is granted for reading or for writing.
    ///
    /// # Errors
    /// `policy-invalid`
    pub fn check_folders(
        &self,
        refusal: impl Fn(&Path, Access) -> std::io::Result<Option<Message>>,
    ) -> Result<(), PolicyError> {
        problem::check_folders(&self.folders, refusal)
    }

    /// Returns the folders that any rule of the user grants.
    pub fn granted_folders(&self) -> impl Iterator<Item = &FilesGrant> {
        self.grants.folders()
    }

    /// Returns whether no folder is granted.
    #[must_use]
    pub const fn grants_no_folder(&self) -> bool {
        self.folders.is_empty()
    }

    /// Returns the policy's files, the user's first.
    pub fn files(&self) -> impl Iterator<Item = (Layer, &Path)> {
        self.files.iter().map(|(layer, path)| (*layer, &**path))
    }

    /// Returns the secrets that any tool may send, each with all its hosts. A project's file can
    /// only remove some.
    #[must_use]
    pub fn secrets(&self) -> Vec<SecretGrant> {
        self.grants.secrets()
    }

    /// Returns what happens to a new tool that is equivalent to an existing one.
    #[must_use]
    pub const fn duplicates(&self) -> Duplicates {
        self.duplicates.value
    }

    /// Returns the reflection thresholds: the number of failed attempts and the number of
    /// repetitions from which a tool is worth creating.
    #[must_use]
    pub const fn reflection_thresholds(&self) -> (u64, u64) {
        (self.failures.value, self.repetitions.value)
    }

    /// Returns the approval mode and where it was set.
    #[must_use]
    pub const fn approval(&self) -> (ApprovalMode, &Origin) {
        (self.approval.value, &self.approval.origin)
    }

    /// Returns the language of messages, if a file or a flag sets one.
    #[must_use]
    pub const fn language(&self) -> Option<Lang> {
        self.language.value
    }

    /// Returns the maximum number of named tools.
    #[must_use]
    pub const fn tools_limit(&self) -> u64 {
        self.tools.value
    }

    /// Returns how parameters and results are recorded.
    #[must_use]
    pub const fn contents(&self) -> AuditContents {
        self.contents.value
    }

    /// Returns whether the store keeps a receipt of each run of a tool.
    #[must_use]
    pub const fn keeps_receipts(&self) -> bool {
        self.keeps_receipts.value
    }

    /// Returns what to do with a run that cannot be recorded.
    #[must_use]
    pub const fn on_audit_failure(&self) -> OnAuditFailure {
        self.on_audit_failure.value
    }

    /// Returns the reserved name that equals this one or is confusable with it, and where it is
    /// reserved.
    #[must_use]
    pub fn reserved(&self, name: &ToolName) -> Option<(&ToolName, &Origin)> {
        let found = self.reserved.iter().find(|reserved| reserved.value.case_folded() == name.case_folded())?;
        Some((&found.value, &found.origin))
    }

    /// Returns the hooks, the user's first.
    #[must_use]
    pub fn hooks(&self) -> &[HookDefinition] {
        &self.hooks
    }

    /// Returns the decision about a call of a tool that Toolcell does not run; `None` if the policy
    /// does not decide.
    #[must_use]
    pub fn decide_external(&self, tool_name: &str, args: &Value) -> Option<ExternalRuling> {
        self.external_tools.decide(tool_name, args)
    }

    /// Returns the rules about the flow of data.
    #[must_use]
    pub const fn flows(&self) -> &FlowPolicy {
        &self.flows
    }

    /// Returns the MCP servers whose tools code may call, by name.
    #[must_use]
    pub fn servers(&self) -> &[ServerDefinition] {
        &self.servers
    }

    /// Returns the compiler of TypeScript that the user names to check types.
    #[must_use]
    pub const fn type_compiler(&self) -> Option<&TypeCompiler> {
        self.types.as_ref()
    }

    /// Returns the JSON Schema of a policy file, for editors.
    #[must_use]
    pub fn json_schema() -> Value {
        schema::SCHEMA.clone()
    }
}
