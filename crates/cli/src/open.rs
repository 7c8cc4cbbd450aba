//! Opens the toolbox that a command works with.

use std::path::Path;

use toolcell::{SandboxConfig, Toolbox, ToolboxConfig};

use crate::failure::Failure;

/// The toolbox with the store in a directory.
pub(crate) fn toolbox(dir: &Path, sandbox: SandboxConfig) -> Result<Toolbox, Failure> {
    Ok(Toolbox::open(dir, ToolboxConfig { sandbox, ..ToolboxConfig::default() })?)
}

/// The same with a store that has to be there: nothing is made by looking for it.
pub(crate) fn existing(dir: &Path, sandbox: SandboxConfig) -> Result<Toolbox, Failure> {
    Ok(Toolbox::open_existing(dir, ToolboxConfig { sandbox, ..ToolboxConfig::default() })?)
}
