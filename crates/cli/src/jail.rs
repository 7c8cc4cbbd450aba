//! What `doctor` says of the jail.
//!
//! Invariant: that there can be none is a finding and no failure: calls need no jail.

use serde::Serialize;
use toolcell::jail::{Landlock, Program};
use toolcell::{Budget, Draft, Outcome, Params, Precheck, Run, SandboxConfig, Toolbox, visible};

/// Whether calls can run in a jail here.
#[derive(Debug, Serialize)]
pub(crate) struct JailFindings {
    works: bool,
    /// How far Landlock holds: `full`, `part` or `missing`. The filter of system calls holds in any case.
    landlock: Option<&'static str>,
    /// Why there can be none.
    error: Option<String>,
}

impl JailFindings {
    /// Makes a call in a jail.
    pub(crate) fn look(sandbox: SandboxConfig) -> Self {
        match call(sandbox) {
            Ok(landlock) => Self { works: true, landlock: Some(landlock.name()), error: None },
            Err(error) => Self { works: false, landlock: None, error: Some(error) },
        }
    }

    /// The same in a line.
    pub(crate) fn text(&self) -> String {
        match (&self.error, self.landlock) {
            (None, Some("full")) => "works (system calls are filtered, Landlock forbids the rest)".to_owned(),
            (None, Some("part")) => {
                "works (system calls are filtered; of Landlock, this kernel knows a part)".to_owned()
            }
            (None, _) => "works (system calls are filtered; this kernel has no Landlock)".to_owned(),
            (Some(error), _) => format!("does not work: {}", visible(error)),
        }
    }
}

fn call(sandbox: SandboxConfig) -> Result<Landlock, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let toolbox =
        Toolbox::new(&SandboxConfig { jail: Some(Program::This), ..sandbox }).map_err(|error| said(&error))?;
    let draft = Draft::from_bytes("doctor.js", b"const execute = () => 6").map_err(|error| said(&error))?;
    let report = toolbox.exec(&draft, &Params::default(), &Budget::default(), &Run::default(), Precheck::Off);
    match (report.map_err(|error| said(&error))?.outcome, toolbox.walls()) {
        (Outcome::Returned(Some(value)), Some(walls)) if value.as_str() == "6" => Ok(walls.landlock),
        (Outcome::Stopped(stop), _) => Err(stop.to_string()),
        _ => Err("the first call gave a wrong answer".to_owned()),
    }
}
