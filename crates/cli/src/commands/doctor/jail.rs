//! The jail section of `doctor`.
//!
//! Invariant: a machine without support for the jail is a finding, not an error: calls do not
//! require the jail.

use serde::Serialize;
use toolcell::jail::{Landlock, Program};
use toolcell::{Budget, CallContext, Draft, Outcome, Params, Precheck, SandboxConfig, Toolbox};
use toolcell_i18n::{Localize as _, Message, message};

/// Whether calls can run in the jail on this machine.
#[derive(Debug, Serialize)]
pub(crate) struct JailFindings {
    works: bool,
    /// How much of Landlock the kernel enforces: `full`, `part` or `missing`. The seccomp filter is
    /// always enforced.
    landlock: Option<&'static str>,
    /// Why the jail does not work.
    error: Option<Message>,
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
    pub(crate) fn description(&self) -> Message {
        match (&self.error, self.landlock) {
            (None, Some("full")) => message!("works (seccomp filter, full Landlock support)"),
            (None, Some("part")) => message!("works (seccomp filter, partial Landlock support in this kernel)"),
            (None, _) => message!("works (seccomp filter, no Landlock in this kernel)"),
            (Some(reason), _) => message!("does not work: {reason}", reason),
        }
    }
}

fn probe_call(sandbox: SandboxConfig) -> Result<Landlock, Message> {
    let toolbox =
        Toolbox::new(&SandboxConfig { jail: Some(Program::This), ..sandbox }).map_err(|error| error.localize())?;
    let draft = Draft::from_bytes("doctor.js", b"const execute = () => 6").map_err(|error| error.localize())?;
    let report = toolbox.exec(&draft, &Params::default(), &Budget::default(), &CallContext::default(), Precheck::Off);
    match (report.map_err(|error| error.localize())?.outcome, toolbox.confinement()) {
        (Outcome::Returned(Some(value)), Some(walls)) if value.as_str() == "6" => Ok(walls.landlock),
        (Outcome::Stopped(stop), _) => Err(stop.localize()),
        _ => Err(message!("the test call returned a wrong result")),
    }
}
