//! Rejected requests: attempts that fail before an operation starts, because the request cannot be
//! parsed, is too long, or would wait too long.
//!
//! Invariant: they are in the audit log like any other attempt, and nowhere else.

use toolcell_store::Fault;
use toolcell_store::audit::{Action, AuditEvent, EventFailure};

use crate::toolbox::Toolbox;

impl Toolbox {
    /// Records a request that was rejected before an operation started. `operation` is the name of
    /// the operation, if it is known, and `tool` the tool that the caller named.
    ///
    /// # Errors
    /// The store's I/O errors.
    ///
    /// # Examples
    /// ```
    /// use toolcell::store::audit::{AuditFilter, AuditOrder};
    /// use toolcell::{Toolbox, ToolboxConfig};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
    /// toolbox.record_rejected(Some("create_tool"), None, "request-invalid", "there is no `nam`".to_owned())?;
    /// let line = toolbox.store().unwrap().audit().query(AuditFilter::default(), AuditOrder::NewestFirst)?.next().unwrap()?;
    /// assert_eq!((line.action.as_str(), line.error.as_deref()), ("create_tool", Some("request-invalid")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record_rejected(
        &self,
        operation: Option<&str>,
        tool: Option<&str>,
        code: &'static str,
        message: String,
    ) -> Result<(), Fault> {
        let Some(store) = self.audited_store() else { return Ok(()) };
        let action = operation.and_then(Action::from_name).unwrap_or(Action::Request);
        let result = Err(EventFailure { code, message: Some(message) });
        let attempt = AuditEvent { name: tool.map(str::to_owned), result, ..AuditEvent::new(action, self.now()) };
        store.log(&attempt)
    }
}
