//! The call of a stored tool that is let through.
//!
//! Invariant: what is noted of it is how the tool left it, before anything is added to that.

use toolcell_host::{CallError, Operations, Report, Run};
use toolcell_store::Entry;

use super::given::{key, since_1970};
use crate::cell::Code;
use crate::operations::Given;
use crate::permit::Permit;
use crate::receipt::Recording;
use crate::toolbox::Toolbox;
use crate::ungranted;
use crate::vet::VettedTool;

impl Toolbox {
    /// Calls a stored tool. Where it gets a receipt, what it is given and leaves is noted.
    pub(super) fn call(
        &self,
        entry: &Entry,
        tool: &VettedTool,
        permit: &Permit,
        random: Option<u64>,
        given: &Given<'_>,
        recording: Option<&Recording<'_>>,
    ) -> Result<Report, CallError> {
        let options = given.options;
        let clock = permit.grants().clock.then(|| self.real_clock());
        let run = Run {
            tool: None,
            call_id: &given.call_id,
            seed: random.unwrap_or(options.seed),
            started_at: since_1970(self.now()),
            clock: clock.as_ref(),
            operations: recording.map_or(given as &dyn Operations, Recording::operations),
            cancel: options.cancel.as_ref(),
            partial: options.partial.as_ref(),
            when_full: options.when_full,
        };
        let key = key(entry.id, permit.grants());
        let code = self.kept(&key).map_or(Code::Script(tool.script()), Code::Evaluated);
        let mut report = self.enter(key, entry.name.as_str(), code, permit, &run)?;
        if let Some(recording) = recording {
            recording.ended(self, &entry.name, tool, permit, (&run, &report));
        }
        ungranted::tell(&mut report, entry, tool, permit.grants(), &self.policy);
        Ok(report)
    }
}
