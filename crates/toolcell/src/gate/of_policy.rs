//! The gates that policy files name.
//!
//! Invariant: a command of a project's file runs only if somebody trusts exactly that file. Until then it denies every
//! call that it would be asked about: to leave it out would be to permit what it may forbid.

use crate::gate::command::{GateCommand, When};
use crate::gate::{GateError, Gates, Verdict};
use crate::policy::{self, Layer, Origin, Policy};

impl Gates {
    /// Adds the commands of a policy. `trusts` says whether the file of a project's command is trusted, by its hash.
    ///
    /// # Errors
    /// `gate-invalid`
    pub fn add_policy(
        &mut self,
        policy: &Policy,
        trusts: impl Fn(&policy::GateCommand) -> bool,
    ) -> Result<(), GateError> {
        for gate in policy.gates() {
            let tools = gate.tools.iter().map(ToString::to_string);
            if gate.layer == Layer::Project && !trusts(gate) {
                let origin = gate.origin.to_string();
                let file = if let Origin::File { path, .. } = &gate.origin {
                    path.display().to_string()
                } else {
                    String::new()
                };
                let reason = format!(
                    "the gate `{}` ({origin}) does not run, because nobody trusted its file; look at it, and then: \
                     toolcell config trust {file}",
                    gate.name
                );
                self.before(gate.name.as_str(), move |_| Verdict::deny(reason.clone())).only(tools)?;
                continue;
            }
            let (before, after) = (gate.when.contains(&policy::When::Before), gate.when.contains(&policy::When::After));
            let when = match (before, after) {
                (true, true) => When::BeforeAndAfter,
                (false, true) => When::After,
                (_, false) => When::Before,
            };
            self.command(GateCommand {
                name: gate.name.clone(),
                command: gate.command.clone(),
                when,
                timeout: gate.timeout,
                tools: tools.collect(),
                folder: gate.folder.clone(),
            })?;
        }
        Ok(())
    }
}
