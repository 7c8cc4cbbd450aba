//! The jail section of `doctor`.
//!
//! Invariant: a machine without support for the jail is a finding, not an error: calls do not
//! require the jail.

use serde::Serialize;
use toolcell::jail::{Landlock, Program};
use toolcell::{Budget, CallContext, Draft, Outcome, Params, Precheck, SandboxConfig, Toolbox, escape_control_chars};

/// Whether calls can run in the jail on this machine.
#[derive(Debug, Serialize)]
pub(crate) struct JailFindings {
    works: bool,
    /// How much of Landlock the kernel enforces: `full`, `part` or `missing`. The seccomp filter is
    /// always enforced.
    landlock: Option<&'static str>,
    /// Why the jail does not work.
    error: Option<String>,
}

impl JailFindings {
    /// Makes a test call in the jail.
    pub(crate) fn probe(sandbox: SandboxConfig) -> Self {
        match probe_call(sandbox) {
            Ok(landlock) => Self { works: true, landlock: Some(landlock.name()), error: None },
            Err(error) => Self { works: false, landlock: None, error: Some(error) },
        }
    }

    /// Describes the result in one line.
    pub(crate) fn description(&self) -> String {
        match (&self.error, self.landlock) {
            (None, Some("full")) => "works (seccomp filter, full Landlock support)".to_owned(),
            (None, Some("part")) => "works (seccomp filter, partial Landlock support in this kernel)".to_owned(),
            (None, _) => "works (seccomp filter, no Landlock in this kernel)".to_owned(),
            (Some(error), _) => format!("does not work: {}", escape_control_chars(error)),
        }
    }
}

fn probe_call(sandbox: SandboxConfig) -> Result<Landlock, String> {
    let message = |error: &dyn std::fmt::Display| error.to_string();
    let toolbox =
        Toolbox::new(&SandboxConfig { jail: Some(Program::This), ..sandbox }).map_err(|error| message(&error))?;
    let draft = Draft::from_bytes("doctor.js", b"const execute = () => 6").map_err(|error| message(&error))?;
    let report = toolbox.exec(&draft, &Params::default(), &Budget::default(), &CallContext::default(), Precheck::Off);
    match (report.map_err(|error| message(&error))?.outcome, toolbox.confinement()) {
        (Outcome::Returned(Some(value)), Some(walls)) if value.as_str() == "6" => Ok(walls.landlock),
        (Outcome::Stopped(stop), _) => Err(stop.to_string()),
        _ => Err("the test call returned a wrong result".to_owned()),
    }
}
