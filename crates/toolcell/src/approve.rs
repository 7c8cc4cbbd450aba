//! What people say to tools: which wait for somebody, what to know before one decides, and the decision.
//!
//! Invariant: a decision is about one tool with the grants that the policy gives it now. Each attempt to decide leaves one
//! audit line.

use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Approval, Decision, Entry, Fault, FindError, Store, ToolRef};
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
    /// With which grants it may run, or may not.
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
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Find(error) => error.hint(),
            Self::Unsafe(refusal) => refusal.hint(),
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

    /// Says that a tool may run with the grants that it gets now, or that it may not. `by` is who says so.
    ///
    /// # Errors
    /// As [`Toolbox::question`], and `store-read-only`.
    ///
    /// # Examples
    /// ```
    /// use toolcell::store::Decision;
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
    /// toolbox.decide("later", Decision::Approved, "somebody")?;
    /// assert_eq!((toolbox.pending(10)?.len(), toolbox.decisions(10)?.len()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decide(&self, tool: &str, decision: Decision, by: &str) -> Result<Decided, ApprovalError> {
        let done = self.grantable(tool).and_then(|(entry, grants)| {
            self.settle(self.shelf()?, &entry, &grants, decision, by)?;
            Ok(Decided { tool: entry.id, name: entry.name, grants })
        });
        let action = if decision == Decision::Approved { Action::Approve } else { Action::Refuse };
        match done {
            // The line of a decision that is kept is there.
            Ok(decided) => Ok(decided),
            Err(error) => self.undecided(action, tool, error),
        }
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

/// The tool of an identifier, unless somebody deleted it meanwhile.
/// The tool of an identifier, where a name leads to it.
pub(crate) fn found(store: &Store, id: ToolId) -> Result<Option<Entry>, Fault> {
    let Ok(whole) = IdPrefix::parse(&id.to_string()) else { return Ok(None) };
    match store.find(&ToolRef::Id(whole)) {
        Ok(entry) => Ok(Some(entry)),
        Err(FindError::Fault(fault)) => Err(fault),
        Err(_) => Ok(None),
    }
}
