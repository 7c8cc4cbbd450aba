//! Arguments of `adapter`.

use crate::adapter::Agent;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell adapter pi --write\n  toolcell adapter claude --gate --write\n  \
    toolcell adapter copilot --remove\n\n\
    Without --write and --remove, the files are only printed. They are in the current folder, or in the --project folder.\n\
    Existing content is kept. With --gate, `toolcell decide` decides about the agent's own tools as well (`external_tools`\n\
    in the policy); writing without --gate takes that back. `--dir DIR` becomes part of the files.\n\
    Exit status: 0 done, or nothing to remove; 2 a file cannot be parsed; 4 a file was not written by this command")]
pub(crate) struct AdapterArgs {
    /// The agent
    pub(crate) agent: Agent,

    #[command(flatten)]
    pub(crate) what: AdapterEdit,

    /// Let Toolcell decide about the agent's own tools, such as its shell
    #[arg(long)]
    pub(crate) gate: bool,

    /// Use the user's global files instead of the project's
    #[arg(long)]
    pub(crate) user: bool,

    /// Replace or remove files and entries of another origin
    #[arg(long)]
    pub(crate) force: bool,
}

/// What is done with the files.
#[derive(Debug, clap::Args)]
pub(crate) struct AdapterEdit {
    /// Write the files
    #[arg(long, conflicts_with = "remove")]
    pub(crate) write: bool,

    /// Remove what --write added
    #[arg(long, conflicts_with = "gate")]
    pub(crate) remove: bool,
}
