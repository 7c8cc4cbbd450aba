//! Rejected requests: attempts that fail before an operation starts, because the request cannot be
//! parsed, is too long, or would wait too long.
//!
//! Invariant: they are in the audit log like any other attempt, and nowhere else.

use toolcell_error::ErrorCode;
use toolcell_store::Fault;
use toolcell_store::audit::{Action, AuditEvent, EventFailure};

use super::Recorder;

impl Recorder {
    /// Records a request that was rejected before an operation started. `operation` is the name of
    /// the operation, if it is known, and `tool` the tool that the caller named.
    pub(crate) fn record_rejected(
        &self,
        operation: Option<&str>,
        tool: Option<&str>,
        code: ErrorCode,
        message: String,
    ) -> Result<(), Fault> {
        let Some(store) = self.audited_store() else { return Ok(()) };
        let action = operation.and_then(Action::from_name).unwrap_or(Action::Request);
        let result = Err(EventFailure { code, message: Some(message) });
        let attempt = AuditEvent { name: tool.map(str::to_owned), result, ..AuditEvent::new(action, self.now()) };
        store.log(&attempt)
    }
}
