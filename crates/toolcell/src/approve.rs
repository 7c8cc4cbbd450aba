//! What people say to tools: which wait for somebody, what to know before one decides, and the decision.
//!
//! Invariant: an approval is of the tool and the grants of a [`Question`] that was shown, and of no others: where the policy grants
//! something else by then, nothing is approved. A refusal is of the tool, whatever it is granted. Each attempt to decide leaves one
//! audit line.

use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Approval, Decision, Entry, Fault, FindError, Settled, Store, ToolRef};
use toolcell_tool::{IdPrefix, ToolId, ToolName};

use crate::find::FindToolError;
use crate::gate::Question;
use crate::permit::needs_approval;
use crate::policy::Grants;
use crate::toolbox::Toolbox;
use crate::vet::Refusal;

/// A tool that somebody should look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// The tool.
    pub tool: Entry,
    /// What it was asked about with.
    pub question: toolcell_store::Question,
}

/// What somebody said to a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The tool.
    pub tool: ToolId,
    /// Its name.
    pub name: ToolName,
    /// With which grants it may run; of a refusal those that it has now, which do not limit it.
    pub grants: Grants,
}

/// Why nothing is decided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindToolError),
    /// It does not run, whatever somebody says.
    #[error("{0}")]
    Unsafe(Refusal),
    /// What was shown is not what would be approved.
    #[error("`{name}` would be granted {now}, and what was shown is {shown}: nothing was approved")]
    Changed {
        /// The name of the tool.
        name: ToolName,
        /// The grants that were shown.
        shown: String,
        /// The grants that the policy gives now.
        now: String,
    },
    /// The question is about no stored tool.
    #[error("the question is about a call of `{0}`, and not about a stored tool: there is nothing to approve")]
    NoTool(String),
    /// The store fails, or what it holds is damaged.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl ApprovalError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Find(error) => error.code(),
            Self::Unsafe(_) => "safety-check-failed",
            Self::Changed { .. } => "approval-changed",
            Self::NoTool(_) => "tool-not-found",
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Find(error) => error.hint(),
            Self::Unsafe(refusal) => refusal.hint(),
            Self::Changed { .. } => "look at it again with `toolcell approvals`, and decide about what is shown there",
            Self::NoTool(_) => "look at a stored tool with `toolcell approvals`, and decide about that",
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Toolbox {
    /// What waits for an answer, the newest first.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn pending(&self, limit: usize) -> Result<Vec<Pending>, Fault> {
        let store = self.shelf()?;
        let asked = store.pending(limit)?.into_iter();
        let pending = asked.map(|question| Ok(found(store, question.tool)?.map(|tool| Pending { tool, question })));
        pending.filter_map(Result::transpose).collect()
    }

    /// What was said to tools that names lead to, the newest first.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn decisions(&self, limit: usize) -> Result<Vec<(Entry, Approval)>, Fault> {
        let store = self.shelf()?;
        let said = store.decisions(limit)?.into_iter();
        let decisions = said.map(|approval| Ok(found(store, approval.tool)?.map(|tool| (tool, approval))));
        decisions.filter_map(Result::transpose).collect()
    }

    /// What somebody should know who decides about a tool: its source, its findings, what it asks for, and what it would be
    /// granted now. The tool is meant by its name, or by its identifier or a prefix of it.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `safety-check-failed`, `integrity`, and those of the disk.
    pub fn question(&self, tool: &str) -> Result<Question, ApprovalError> {
        let (entry, grants) = self.grantable(tool)?;
        let ready = self.ready(&entry)?;
        let tool = ready.vetted.as_ref().map_err(|refusal| ApprovalError::Unsafe(refusal.clone()))?;
        let why = needs_approval(self.policy.approval().0, tool);
        let why = why.unwrap_or_else(|| "it needs no approval under this policy".to_owned());
        let call = self.gate_call(entry.name.as_str(), Some(entry.id), serde_json::json!({}));
        Ok(Question::about_tool(tool, &grants, call, &why))
    }

    /// Says that the tool of a question may run with the grants of that question. `by` is who says so.
    ///
    /// # Errors
    /// `approval-changed`: the policy would grant it something else than was shown. `tool-not-found`, `safety-check-failed`,
    /// `store-read-only`, `integrity`, and those of the disk.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.create(&CreateTool {
    ///     name: "later".to_owned(),
    ///     description: "Waits a while".to_owned(),
    ///     code: "const execute = ({ ms }) => new Promise((done) => setTimeout(done, ms))".to_owned(),
    ///     ..CreateTool::default()
    /// })?;
    /// assert_eq!(toolbox.pending(10)?.len(), 1);
    /// let question = toolbox.question("later")?;
    /// // Shown to a person, who says yes:
    /// toolbox.approve(&question, "somebody")?;
    /// assert_eq!((toolbox.pending(10)?.len(), toolbox.decisions(10)?.len()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn approve(&self, shown: &Question, by: &str) -> Result<Decided, ApprovalError> {
        let called = shown.call.tool.map_or_else(|| shown.call.tool_name.clone(), |id| id.to_string());
        self.approved_as_shown(shown, &called, by).or_else(|error| self.undecided(Action::Approve, &called, error))
    }

    fn approved_as_shown(&self, shown: &Question, called: &str, by: &str) -> Result<Decided, ApprovalError> {
        let (Some(_), Some(approving)) = (shown.call.tool, &shown.approving) else {
            return Err(ApprovalError::NoTool(shown.call.tool_name.clone()));
        };
        let (entry, now) = self.grantable(called)?;
        if now != approving.grants {
            let shown = approving.grants.to_string();
            return Err(ApprovalError::Changed { name: entry.name, shown, now: now.to_string() });
        }
        match self.settle(self.shelf()?, &entry, &now, Decision::Approved, by)? {
            // The line of a decision that is kept is there.
            Settled::Kept => Ok(Decided { tool: entry.id, name: entry.name, grants: now }),
            Settled::Gone => Err(FindToolError::Store(FindError::Unknown(called.to_owned())).into()),
        }
    }

    /// Says that a tool may not run, whatever the policy grants it now or later. `by` is who says so. [`Toolbox::approve`] and
    /// [`Toolbox::revoke`] reverse it.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `store-read-only`, `integrity`, and those of the disk.
    pub fn refuse(&self, tool: &str, by: &str) -> Result<Decided, ApprovalError> {
        let done = self.find(tool).map_err(ApprovalError::from).and_then(|entry| {
            let ready = self.ready(&entry)?;
            // A tool that the analysis refuses by now may have been approved before, and is granted nothing.
            let asked = ready.vetted.as_ref().map(|tool| tool.asked().clone()).unwrap_or_default();
            let grants = self.policy.grants_for(entry.id, &entry.name, &entry.tags, &asked);
            self.settle(self.shelf()?, &entry, &grants, Decision::Refused, by)?;
            Ok(Decided { tool: entry.id, name: entry.name, grants })
        });
        done.or_else(|error| self.undecided(Action::Refuse, tool, error))
    }

    /// Takes back what was said to a tool, and says how much that was. The tool is asked about again when it is run next.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `store-read-only`, and those of the disk.
    pub fn revoke(&self, tool: &str, by: &str) -> Result<(Entry, usize), ApprovalError> {
        let done = self.find(tool).map_err(ApprovalError::from).and_then(|entry| {
            let name = Some(entry.name.to_string());
            let mut attempt = Attempt { tool: Some(entry.id), name, ..Attempt::new(Action::Revoke, self.now()) };
            attempt.details.decided_by = Some(by.to_owned());
            let count = self.shelf()?.change(attempt).revoke(entry.id)?;
            Ok((entry, count))
        });
        match done {
            Ok(done) => Ok(done),
            Err(error) => self.undecided(Action::Revoke, tool, error),
        }
    }

    /// A tool, and what it would be granted.
    fn grantable(&self, tool: &str) -> Result<(Entry, Grants), ApprovalError> {
        let entry = self.find(tool)?;
        let ready = self.ready(&entry)?;
        let vetted = ready.vetted.as_ref().map_err(|refusal| ApprovalError::Unsafe(refusal.clone()))?;
        let grants = self.policy.grants_for(entry.id, &entry.name, &entry.tags, vetted.asked());
        Ok((entry, grants))
    }

    /// Writes the line of an attempt that came to nothing.
    fn undecided<T>(&self, action: Action, tool: &str, error: ApprovalError) -> Result<T, ApprovalError> {
        let result = Err(Failure { code: error.code(), message: Some(error.to_string()) });
        let name = Some(tool.to_owned());
        self.note(&Attempt { name, result, ..Attempt::new(action, self.now()) });
        Err(error)
    }
}

/// The tool of an identifier, where a name leads to it.
pub(crate) fn found(store: &Store, id: ToolId) -> Result<Option<Entry>, Fault> {
    let Ok(whole) = IdPrefix::parse(&id.to_string()) else { return Ok(None) };
    match store.find(&ToolRef::Id(whole)) {
        Ok(entry) => Ok(Some(entry)),
        Err(FindError::Fault(fault)) => Err(fault),
        Err(_) => Ok(None),
    }
}
