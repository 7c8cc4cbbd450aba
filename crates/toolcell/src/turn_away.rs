//! Attempts that end before an operation sees them: what is asked for cannot be read, is too long, or has to wait too long.
//!
//! Invariant: they are in the log like any other, and nowhere else.

use toolcell_store::Fault;
use toolcell_store::audit::{Action, Attempt, Failure};

use crate::toolbox::Toolbox;

impl Toolbox {
    /// Records that something was asked for and refused before an operation saw it. `operation` is the name of the
    /// operation, where it got so far that there is one, and `tool` what the caller said that it is about.
    ///
    /// # Errors
    /// Those of the disk.
    ///
    /// # Examples
    /// ```
    /// use toolcell::store::audit::{Filter, Order};
    /// use toolcell::{Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.turn_away(Some("create_tool"), None, "request-invalid", "there is no `nam`".to_owned())?;
    /// let line = toolbox.store().unwrap().audit().query(Filter::default(), Order::NewestFirst)?.next().unwrap()?;
    /// assert_eq!((line.action.as_str(), line.error.as_deref()), ("create_tool", Some("request-invalid")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn turn_away(
        &self,
        operation: Option<&str>,
        tool: Option<&str>,
        code: &'static str,
        message: String,
    ) -> Result<(), Fault> {
        let Some(store) = self.recorder() else { return Ok(()) };
        let action = operation.and_then(Action::named).unwrap_or(Action::Request);
        let result = Err(Failure { code, message: Some(message) });
        let attempt = Attempt { name: tool.map(str::to_owned), result, ..Attempt::new(action, self.now()) };
        store.log(&attempt)
    }
}
