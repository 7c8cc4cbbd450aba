//! Arguments of `servers`.

use clap::Subcommand;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  toolcell servers\n  toolcell servers diff github\n  toolcell servers trust github\n  toolcell servers login calendar\n\n\
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
    /// Sign in to a server whose `auth` is `oauth`
    #[command(
        after_help = "Examples:\n  toolcell servers login calendar\n  toolcell servers login calendar --no-browser\n\n\
        The browser returns to a port of this machine. If the browser is on another machine,\n\
        copy the address at which it ends, and paste it here."
    )]
    Login {
        /// The name of the server
        server: String,

        /// Show the URL, and open no browser
        #[arg(long)]
        no_browser: bool,

        /// The time in which to sign in, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
        timeout: u64,
    },
    /// Delete the tokens of a server, and revoke them where its authorization server can
    #[command(after_help = "Examples:\n  toolcell servers logout calendar")]
    Logout {
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
