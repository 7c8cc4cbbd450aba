//! Everything that is known of a tool, for whoever looks at it before it runs.
//!
//! Invariant: looking changes nothing, and leaves no line in the log.

use toolcell_analysis::Capabilities;
use toolcell_store::{Approval, Decision, Entry, Fault, FindError, Past, ToolRef, Usage};
use toolcell_tool::{IdPrefix, Notes, ToolName, ToolSpec};

use crate::find::FindToolError;
use crate::params::Parameter;
use crate::permit::needs_approval;
use crate::policy::{Grants, Ruling};
use crate::proof::Proof;
use crate::toolbox::Toolbox;
use crate::vet::Refusal;

/// A tool, and what is known of it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// What the index keeps.
    pub entry: Entry,
    /// What is to be used in its place, where it is deprecated.
    pub successor: Option<Entry>,
    /// What is said about it.
    pub notes: Notes,
    /// What decides how it behaves.
    pub spec: ToolSpec,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What happened to its name, the first step first.
    pub history: Vec<Past>,
    /// What its runs showed.
    pub usage: Usage,
    /// What it asks its host to grant.
    pub asked: Capabilities,
    /// What the policy says to each of these.
    pub rulings: Vec<Ruling>,
    /// What it would be granted.
    pub grants: Grants,
    /// What somebody said to it, with whatever grants.
    pub approvals: Vec<Approval>,
    /// Whether it may run.
    pub standing: Standing,
    /// What came of the last trial of it.
    pub proof: Option<Proof>,
}

/// Whether a tool may run with what it would be granted now.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Standing {
    /// Somebody approved it.
    Approved,
    /// Somebody refused it.
    Refused,
    /// Nobody has to approve it.
    Free,
    /// Somebody has to approve it.
    Unapproved {
        /// Why.
        why: String,
    },
    /// The analysis refuses it.
    Unsafe(Refusal),
}

impl Standing {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Free => "free",
            Self::Unapproved { .. } => "unapproved",
            Self::Unsafe(_) => "unsafe",
        }
    }
}

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShowError {
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindToolError),
    /// A name has no such step in its history.
    #[error("`{name}` has no version {number}, it has {}", .known.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))]
    NoVersion {
        /// The name.
        name: ToolName,
        /// The number that was asked for.
        number: u64,
        /// The numbers that there are, at most the last ten.
        known: Vec<u64>,
    },
    /// The store fails, or what it holds is damaged.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl ShowError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Find(error) => error.code(),
            Self::NoVersion { .. } => "version-not-found",
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Find(error) => error.hint(),
            Self::NoVersion { .. } => "`toolcell show` without a version prints the history of a name",
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl From<FindError> for ShowError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Fault(fault) => Self::Fault(fault),
            other => Self::Find(FindToolError::Store(other)),
        }
    }
}

impl Toolbox {
    /// What is known of the tool that is called so, or that its name led to at a step of its history. An identifier is
    /// enough also where its name leads elsewhere by now, or was deleted.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `version-not-found`, `integrity`, and those of the disk.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Standing, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// let (name, description) = ("twice".to_owned(), "Doubles".to_owned());
    /// let code = "const execute = ({ n }) => 2 * n".to_owned();
    /// toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;
    /// let shown = toolbox.show("twice", None)?;
    /// assert_eq!((shown.usage.runs, shown.history.len()), (0, 1));
    /// assert!(matches!(shown.standing, Standing::Free));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn show(&self, called: &str, version: Option<u64>) -> Result<Shown, ShowError> {
        let entry = match version {
            None => self.find_also_gone(called)?,
            Some(number) => self.find_version(called, number)?,
        };
        let store = self.shelf()?;
        let ready = self.ready(&entry)?;
        let asked = ready.vetted.as_ref().map(|tool| tool.asked().clone()).unwrap_or_default();
        let grants = self.policy.grants_for(entry.id, &entry.name, &entry.tags, &asked);
        let said = store.decision(entry.id, &grants.to_value())?;
        let proof = self.proof(&entry)?;
        let standing = match (&ready.vetted, said) {
            (Err(refusal), _) => Standing::Unsafe(refusal.clone()),
            (Ok(_), Some(Decision::Refused)) => Standing::Refused,
            (Ok(_), Some(Decision::Approved)) => Standing::Approved,
            (Ok(tool), None) => match needs_approval(self.policy.approval().0, tool) {
                None => Standing::Free,
                Some(why) => Standing::Unapproved { why },
            },
        };
        Ok(Shown {
            successor: store.in_place_of(&entry)?,
            notes: store.notes(&entry)?,
            spec: store.spec(&entry)?,
            parameters: ready.schema.as_ref().map(|schema| schema.parameters().to_vec()).unwrap_or_default(),
            history: store.history(&entry.name)?,
            usage: store.usage(&entry)?,
            rulings: self.policy.granted_by(entry.id, &entry.name, &entry.tags, &asked),
            approvals: store.approvals(entry.id)?,
            asked,
            grants,
            standing,
            proof,
            entry,
        })
    }

    /// A tool that is there, or that was.
    fn find_also_gone(&self, called: &str) -> Result<Entry, ShowError> {
        match (self.find(called), IdPrefix::parse(called)) {
            (Err(FindToolError::Unknown { instead: Some(_), .. }), Ok(prefix)) => {
                Ok(self.shelf()?.find_any(&prefix)?)
            }
            (found, _) => Ok(found?),
        }
    }

    /// The tool that a name led to at a step of its history.
    fn find_version(&self, called: &str, number: u64) -> Result<Entry, ShowError> {
        let store = self.shelf()?;
        let name = match ToolRef::parse(called) {
            Ok(ToolRef::Name(name)) => name,
            _ => self.find_also_gone(called)?.name,
        };
        let history = store.history(&name)?;
        if history.is_empty() {
            // Whoever is not found is told what may be meant.
            self.find(called)?;
        }
        let Some(past) = history.iter().find(|past| past.number == number) else {
            let known = history.iter().skip(history.len().saturating_sub(10)).map(|past| past.number).collect();
            return Err(ShowError::NoVersion { name, number, known });
        };
        match IdPrefix::parse(&past.id.to_string()) {
            Ok(id) => Ok(store.find_any(&id)?),
            Err(_) => Err(FindError::Unknown(past.id.to_string()).into()),
        }
    }
}
