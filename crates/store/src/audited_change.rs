//! Changes that are recorded in the audit log.
//!
//! Invariant: a change and its audit line are committed both or neither; see [the
//! outbox](crate::db::outbox).

use jiff::Timestamp;
use toolcell_i18n::Message;
use toolcell_tool::{ServerName, Status, ToolId, ToolName, ToolSpec};

use crate::approvals::{Approval, Approvals, DecisionOutcome};
use crate::audit::AuditEvent;
use crate::bundle::{Bundles, Import, ImportError, ImportReport};
use crate::catalog::{
    Catalog, DeprecationError, HistoryError, NewTool, OnConflict, StatusError, ToolRef, VersionCommit,
};
use crate::error::Fault;
use crate::labels::{LabelHolder, Labels};
use crate::maintenance::{GcReport, Maintenance};
use crate::trusted_definitions::{TrustedDefinition, TrustedDefinitions};
use crate::version::Scores;

/// A change with its audit event. The store fills in what the event says about the outcome.
#[must_use = "nothing is changed until one of its methods is called"]
pub struct AuditedChange<'a> {
    pub(crate) catalog: Catalog<'a>,
    pub(crate) approvals: Approvals<'a>,
    pub(crate) bundles: Bundles<'a>,
    pub(crate) maintenance: Maintenance<'a>,
    pub(crate) trusted_definitions: TrustedDefinitions<'a>,
    pub(crate) labels: Labels<'a>,
    pub(crate) event: AuditEvent<'a>,
}

impl AuditedChange<'_> {
    /// Same as [`Catalog::insert`]. The audit line records the tool that was replaced.
    ///
    /// # Errors
    /// Same as [`Catalog::insert`].
    pub fn insert(self, registration: &NewTool<'_>, when_taken: OnConflict) -> Result<VersionCommit, HistoryError> {
        self.catalog.insert_audited(registration, when_taken, Some(self.event))
    }

    /// Same as [`Catalog::delete`], with an audit line.
    ///
    /// # Errors
    /// Same as [`Catalog::delete`].
    pub fn delete(self, reference: &ToolRef, at: Timestamp) -> Result<VersionCommit, HistoryError> {
        self.catalog.delete_audited(reference, at, Some(self.event))
    }

    /// Same as [`Catalog::undelete`], with an audit line.
    ///
    /// # Errors
    /// Same as [`Catalog::undelete`].
    pub fn undelete(self, reference: &ToolRef, at: Timestamp) -> Result<VersionCommit, HistoryError> {
        self.catalog.undelete_audited(reference, at, Some(self.event))
    }

    /// Same as [`Catalog::roll_back`], with an audit line.
    ///
    /// # Errors
    /// Same as [`Catalog::roll_back`].
    pub fn roll_back(self, name: &ToolName, number: u64, at: Timestamp) -> Result<VersionCommit, HistoryError> {
        self.catalog.roll_back_audited(name, number, at, Some(self.event))
    }

    /// Same as [`Approvals::set_decision`], with an audit line.
    ///
    /// # Errors
    /// Same as [`Approvals::set_decision`].
    pub fn set_decision(self, approval: &Approval) -> Result<DecisionOutcome, Fault> {
        self.approvals.set_decision_audited(approval, Some(self.event))
    }

    /// Same as [`Approvals::revoke`]. The audit line records the number of revoked decisions.
    ///
    /// # Errors
    /// Same as [`Approvals::revoke`].
    pub fn revoke(self, tool: ToolId) -> Result<usize, Fault> {
        self.approvals.revoke_audited(tool, Some(self.event))
    }

    /// Same as [`Catalog::set_status`]. The audit line records the old and the new status.
    ///
    /// # Errors
    /// Same as [`Catalog::set_status`].
    pub fn set_status(self, id: ToolId, to: Status) -> Result<Status, StatusError> {
        self.catalog.set_status_audited(id, to, Some(self.event))
    }

    /// Same as [`Catalog::deprecate`]. The audit line records the previous status.
    ///
    /// # Errors
    /// Same as [`Catalog::deprecate`].
    pub fn deprecate(self, id: ToolId, successor: Option<ToolId>) -> Result<Status, DeprecationError> {
        self.catalog.deprecate_audited(id, successor, Some(self.event))
    }

    /// Replaces the trusted definitions of a server by these. The audit line records their number.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn trust_server_tools(
        self,
        server: &ServerName,
        tools: &[TrustedDefinition],
        by: &str,
        at: Timestamp,
    ) -> Result<(), Fault> {
        let mut event = self.event;
        event.name = Some(server.to_string());
        event.details.count = Some(tools.len() as u64);
        self.trusted_definitions.replace_audited(server, tools, by, at, event)
    }

    /// Forgets where the data came from that something holds. The audit line names it.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn clear_label(self, holder: &LabelHolder) -> Result<(), Fault> {
        let mut event = self.event;
        event.name = Some(holder.to_string());
        self.labels.clear_audited(holder, event)
    }

    /// Same as [`Bundles::import`]. The audit line records the number of imported tools.
    ///
    /// # Errors
    /// Same as [`Bundles::import`].
    pub fn import(
        self,
        import: &Import,
        judge: &dyn Fn(&ToolSpec) -> Result<Scores, Message>,
        when_taken: OnConflict,
        at: Timestamp,
    ) -> Result<ImportReport, ImportError> {
        self.bundles.import_audited(import, judge, when_taken, at, Some(self.event))
    }

    /// Same as [`Maintenance::collect`] with [`GcMode::Execute`](crate::GcMode::Execute). Nothing is
    /// deleted unrecorded: the audit line, with the number of deleted names, is committed before
    /// any file is removed.
    ///
    /// # Errors
    /// Same as [`Maintenance::collect`].
    pub fn collect(self, deleted_before: Timestamp, now: Timestamp) -> Result<GcReport, Fault> {
        self.maintenance.collect_audited(deleted_before, now, Some(self.event))
    }
}
