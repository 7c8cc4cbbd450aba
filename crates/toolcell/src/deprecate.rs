//! Tools that work, and in whose place others are to be used.
//!
//! Invariant: a deprecated tool runs as before, and every answer about it names what is to be used now. Each attempt to
//! deprecate leaves one audit line.

use toolcell_store::audit::{Action, Attempt, Failure};
use toolcell_store::{Entry, Fault, FindError};
use toolcell_tool::{Status, ToolId, ToolName};

use crate::find::FindToolError;
use crate::toolbox::Toolbox;

/// A tool that is deprecated now.
#[derive(Debug, Clone, PartialEq)]
pub struct Deprecated {
    /// The tool.
    pub tool: ToolId,
    /// Its name.
    pub name: ToolName,
    /// What it was before.
    pub before: Status,
    /// What is to be used in its place.
    pub successor: Option<Entry>,
}

/// Why a tool is not deprecated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeprecateError {
    /// There is no such tool.
    #[error(transparent)]
    Find(#[from] FindToolError),
    /// As the store says.
    #[error(transparent)]
    Store(toolcell_store::DeprecateError),
    /// The store fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl DeprecateError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Find(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Find(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl From<toolcell_store::DeprecateError> for DeprecateError {
    fn from(error: toolcell_store::DeprecateError) -> Self {
        use toolcell_store::DeprecateError as Error;
        match error {
            Error::Fault(fault) | Error::Find(FindError::Fault(fault)) => Self::Fault(fault),
            Error::Find(error) => Self::Find(FindToolError::Store(error)),
            other => Self::Store(other),
        }
    }
}

impl Toolbox {
    /// Deprecates a tool, in favour of another one where one is named. It goes on to work, and says what to use in its
    /// place. What is deprecated does not travel with bundles. Both are meant by name, or by identifier.
    ///
    /// # Errors
    /// `tool-not-found`, `id-ambiguous`, `successor-invalid`, `status-illegal`, and those of the disk.
    ///
    /// # Examples
    /// ```
    /// use toolcell::{CreateTool, Params, RunOptions, RunTool, Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// for (name, code) in [("old", "const execute = () => 1"), ("new", "const execute = () => 2")] {
    ///     let (name, code, description) = (name.to_owned(), code.to_owned(), "a number".to_owned());
    ///     toolbox.create(&CreateTool { name, description, code, ..CreateTool::default() })?;
    /// }
    /// toolbox.deprecate("old", Some("new"))?;
    /// let ran = toolbox.run(&RunTool::of("old", Params::default()), &RunOptions::default())?;
    /// assert_eq!(ran.value()?.unwrap().as_str(), "1");
    /// assert_eq!(ran.deprecated.unwrap().successor.unwrap().as_str(), "new");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deprecate(&self, tool: &str, successor: Option<&str>) -> Result<Deprecated, DeprecateError> {
        let found = self.find(tool).map_err(DeprecateError::from);
        let named = || successor.map(|name| self.find(name)).transpose();
        match found {
            Ok(entry) => {
                let named = named().map_err(DeprecateError::from);
                let done = named.and_then(|successor| self.deprecated(&entry, successor));
                self.say_deprecated(entry.name.as_str(), Some(entry.id), done)
            }
            Err(error) => self.say_deprecated(tool, None, Err(error)),
        }
    }

    /// Deprecates a tool that was found.
    pub(crate) fn deprecated(&self, tool: &Entry, successor: Option<Entry>) -> Result<Deprecated, DeprecateError> {
        let name = Some(tool.name.to_string());
        let attempt = Attempt { tool: Some(tool.id), name, ..Attempt::new(Action::Status, self.now()) };
        let before = self.shelf()?.change(attempt).deprecate(tool.id, successor.as_ref().map(|entry| entry.id))?;
        Ok(Deprecated { tool: tool.id, name: tool.name.clone(), before, successor })
    }

    /// Writes the audit line of an attempt to deprecate that came to nothing. That of one that did not is written with it.
    pub(crate) fn say_deprecated(
        &self,
        name: &str,
        tool: Option<ToolId>,
        done: Result<Deprecated, DeprecateError>,
    ) -> Result<Deprecated, DeprecateError> {
        if let Err(error) = &done {
            let result = Err(Failure { code: error.code(), message: Some(error.to_string()) });
            let name = Some(name.to_owned());
            self.note(&Attempt { tool, name, result, ..Attempt::new(Action::Status, self.now()) });
        }
        done
    }

    /// What is to be used in place of a tool that is deprecated, as names lead now.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn in_place_of(&self, tool: &Entry) -> Result<Option<Entry>, Fault> {
        self.shelf()?.in_place_of(tool)
    }
}
