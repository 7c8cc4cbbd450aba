//! Opens the toolbox that a command works with.

use std::path::Path;

use toolcell::{SandboxConfig, Toolbox, ToolboxConfig};

use crate::failure::Failure;

/// The toolbox with the store in a directory.
pub(crate) fn toolbox(dir: &Path, sandbox: SandboxConfig) -> Result<Toolbox, Failure> {
    Ok(Toolbox::open(dir, ToolboxConfig { sandbox, ..ToolboxConfig::default() })?)
}
