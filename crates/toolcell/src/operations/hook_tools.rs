//! Hooks that are stored tools: their runs.
//!
//! Invariant: a tool decides only if a person approved it, and it runs without grants. Whatever
//! keeps it from running is an error, on which the hook denies.

use std::time::Duration;

use serde_json::Value;
use toolcell_host::{Budget, CallContext, Json, OnOverload, Outcome};
use toolcell_i18n::{Localize, message};
use toolcell_policy::{Grants, LimitOverrides};
use toolcell_store::{Decision, Entry};
use toolcell_tool::Status;

use super::lookup::find;
use crate::admission::hook::{FailureCause, HookTools};
use crate::admission::{CallAuthorization, UngrantedCall};
use crate::execution::{LoadedTool, ToolCode, cache_key, unix_time};
use crate::parts::Parts;

/// Runs the stored tools that are hooks of a call.
pub(crate) struct StoredHookTools<'a> {
    parts: &'a Parts,
    on_overload: OnOverload,
}

impl<'a> StoredHookTools<'a> {
    /// Creates the runs for the hooks of a call with this behaviour on overload: the hooks of a
    /// nested call must not wait for a slot that its caller holds.
    pub(crate) const fn new(parts: &'a Parts, on_overload: OnOverload) -> Self {
        Self { parts, on_overload }
    }

    /// Checks that a person approved the tool. Only a tool that is approved as it is decides: a
    /// model may have stored another one under the name.
    fn check_approved(&self, entry: &Entry, loaded: &LoadedTool) -> Result<(), FailureCause> {
        let (name, id) = (&entry.name, entry.id.short());
        if entry.status == Status::Quarantined {
            return Err(FailureCause::Unapproved(message!("`{name}` ({id}) is quarantined", name, id)));
        }
        let tool = loaded.vetted.as_ref().map_err(not_started)?;
        let policy = self.parts.admission.policy();
        let grants = policy.grants_for(entry.id, &entry.name, &entry.tags, tool.requested_capabilities());
        let store = self.parts.require_store().map_err(|fault| not_started(&fault))?;
        let decision = store.approvals().decision(entry.id, &grants.to_value()).map_err(|fault| not_started(&fault))?;
        if decision == Some(Decision::Approved) {
            return Ok(());
        }
        Err(FailureCause::Unapproved(message!(
            "`{name}` ({id}) is not approved; review it, then run: toolcell approvals grant {id}",
            name,
            id
        )))
    }
}

impl HookTools for StoredHookTools<'_> {
    fn run(&self, tool: &str, event: Value, timeout: Duration) -> Result<Option<Json>, FailureCause> {
        let Self { parts, on_overload } = *self;
        let entry = find(parts, tool).map_err(|error| not_started(&error))?;
        let loaded = parts.load_tool(&entry).map_err(|fault| not_started(&fault))?;
        self.check_approved(&entry, &loaded)?;
        let vetted = loaded.vetted.as_ref().map_err(not_started)?;
        let schema = loaded.schema().map_err(|error| not_started(&error))?;
        let args = schema.check_value(event).map_err(|error| FailureCause::Failed(error.localize()))?;
        let limits =
            parts.admission.policy().budget(&LimitOverrides::default()).map_err(|error| not_started(&error))?;
        let call = UngrantedCall::new(args, Budget { deadline: timeout, ..limits });
        let key = cache_key(entry.id, &Grants::default());
        let code = parts.runtime.cached_script(&key).map_or(ToolCode::Script(vetted.script()), ToolCode::Prepared);
        let context = CallContext { started_at: unix_time(parts.now()), on_overload, ..CallContext::default() };
        let authorization = CallAuthorization::without_host_calls(&call);
        let report = parts.runtime.execute(key, entry.name.as_str(), code, authorization, &context);
        match report.map_err(|error| not_started(&error))?.outcome {
            Outcome::Returned(result) => Ok(result),
            Outcome::Threw(thrown) => {
                Err(FailureCause::Failed(message!("{name}: {error}", name = thrown.name, error = thrown.message)))
            }
            Outcome::Stopped(stop) => Err(FailureCause::Failed(stop.localize())),
        }
    }
}

fn not_started(error: &impl Localize) -> FailureCause {
    FailureCause::NotStarted(error.localize())
}
