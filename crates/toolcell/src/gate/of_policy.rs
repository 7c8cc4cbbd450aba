//! The gates that policy files name.
//!
//! Invariant: a command of a project's file runs only if somebody trusts exactly that file, and what it runs is what was trusted. Until
//! then it denies every call that it would be asked about: to leave it out would be to permit what it may forbid.

use std::fmt;

use crate::gate::command::{GateCommand, StillTrusted, When};
use crate::gate::{GateError, Gates, Verdict};
use crate::policy::{self, Layer, Origin, Policy};

/// Whether a command of a project's file runs.
#[derive(Clone)]
pub enum Trust {
    /// Nobody trusted its file as it is: it denies.
    No,
    /// It runs, whatever it is by now.
    Yes,
    /// It runs as long as this says so, which is asked before each start. What it says otherwise is told with the denial.
    AsLongAs(StillTrusted),
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::No => "No",
            Self::Yes => "Yes",
            Self::AsLongAs(_) => "AsLongAs(..)",
        })
    }
}

impl Gates {
    /// Adds the commands of a policy. `trusts` says whether a command of a project's file runs.
    ///
    /// # Errors
    /// `gate-invalid`
    pub fn add_policy(
        &mut self,
        policy: &Policy,
        trusts: impl Fn(&policy::GateCommand) -> Trust,
    ) -> Result<(), GateError> {
        for gate in policy.gates() {
            let tools = gate.tools.iter().map(ToString::to_string);
            let trusted = match gate.layer {
                Layer::User => Trust::Yes,
                Layer::Project => trusts(gate),
            };
            let trusted = match trusted {
                Trust::Yes => None,
                Trust::AsLongAs(still) => Some(still),
                Trust::No => {
                    let reason = untrusted(gate);
                    self.before(gate.name.as_str(), move |_| Verdict::deny(reason.clone())).only(tools)?;
                    continue;
                }
            };
            let (before, after) = (gate.when.contains(&policy::When::Before), gate.when.contains(&policy::When::After));
            let when = match (before, after) {
                (true, true) => When::BeforeAndAfter,
                (false, true) => When::After,
                (_, false) => When::Before,
            };
            let command = GateCommand {
                name: gate.name.clone(),
                command: gate.command.clone(),
                when,
                timeout: gate.timeout,
                tools: tools.collect(),
                folder: gate.folder.clone(),
                env: gate.env.clone(),
            };
            self.command_if(command, trusted)?;
        }
        Ok(())
    }
}

/// Why a command does not run whose file nobody trusted.
fn untrusted(gate: &policy::GateCommand) -> String {
    let origin = gate.origin.to_string();
    let file = if let Origin::File { path, .. } = &gate.origin { path.display().to_string() } else { String::new() };
    format!(
        "the gate `{}` ({origin}) does not run, because nobody trusted its file; look at it, and then: toolcell config trust \
         {file}",
        gate.name
    )
}
