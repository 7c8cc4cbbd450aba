//! Arguments of `servers`.

use clap::Subcommand;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  toolcell servers\n  toolcell servers diff github\n  toolcell servers trust github\n\n\
    Servers are defined in `[servers.NAME]` of the user's policy. The definition of a tool has to be trusted before code\n\
    calls it, and again after the server has changed it."
)]
pub(crate) struct ServersArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ServersCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// List the MCP servers of the policy, and how many of their tools are trusted
    #[command(after_help = "Examples:\n  toolcell servers list\n  toolcell servers list --json")]
    List,
    /// Start a server, and show which tools are new or changed since they were trusted
    #[command(after_help = "Examples:\n  toolcell servers diff github\n  toolcell servers diff github --json\n\n\
        Exit status: 0 all tools are trusted as they are, 1 something is new or changed, or the server cannot be reached,\n\
        4 no such server")]
    Diff {
        /// The name of the server
        server: String,
    },
    /// Trust the tools of a server as they are now
    #[command(
        after_help = "Examples:\n  toolcell servers trust github\n  toolcell servers trust github --shown DIGEST"
    )]
    Trust {
        /// The name of the server
        server: String,

        /// Trust them without being asked
        #[arg(long, short)]
        yes: bool,

        /// Trust them without being asked if they are those that `diff` showed with this digest
        #[arg(long, value_name = "DIGEST")]
        shown: Option<String>,
    },
}
