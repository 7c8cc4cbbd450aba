//! Arguments of `flows`.

use clap::Subcommand;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  toolcell flows\n  toolcell flows explain digest\n  toolcell flows clear cli\n\n\
    Rules are `[[flows]]` of a policy file: they say which data may decide which operations. An answer that a caller was\n\
    given counts for its later runs until a person clears that."
)]
pub(crate) struct FlowsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<FlowsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowsCommand {
    /// List the rules about flows of data, and what callers, spaces and folders hold
    #[command(after_help = "Examples:\n  toolcell flows list\n  toolcell flows list --json")]
    List,
    /// Show which flows a tool may cause with its grants, and what the rules say of them
    #[command(after_help = "Examples:\n  toolcell flows explain digest\n  toolcell flows explain digest --json\n\n\
        Exit status: 0 done, 4 no such tool")]
    Explain {
        /// The name or identifier of the tool
        tool: String,
    },
    /// Clear the sources that a caller has received, or that a space or a folder holds
    #[command(
        after_help = "Examples:\n  toolcell flows clear cli\n  toolcell flows clear kv:notes\n  toolcell flows clear --all\n\n\
        Clear that of an agent only together with what it remembers: when its conversation ends."
    )]
    Clear {
        /// A caller, a space (kv:NAME) or a folder (files:PATH), as `toolcell flows` lists it
        #[arg(required_unless_present = "all")]
        holder: Option<String>,

        /// Forget all of them
        #[arg(long, conflicts_with = "holder")]
        all: bool,

        /// Forget without being asked
        #[arg(long, short)]
        yes: bool,
    },
}
