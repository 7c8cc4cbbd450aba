//! What can be typed about the rules under which tools run, and about who approves them.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use toolcell::policy::ApprovalMode;

/// Where policy files are.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyArgs {
    /// The user's policy file [default: `toolcell/toolcell.toml` in the user's configuration directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Look for no project's policy file
    #[arg(long, global = true)]
    pub(crate) no_project: bool,

    /// What a tool that nobody approved may do, whatever the files say: never, ask, auto-safe or auto
    #[arg(long, global = true, value_name = "MODE", value_parser = approval)]
    pub(crate) approval: Option<ApprovalMode>,

    /// Where the search for a project's policy file begins, and goes upwards [default: the current folder]
    #[arg(long, global = true, value_name = "FOLDER", hide_short_help = true, conflicts_with = "no_project")]
    pub(crate) project: Option<PathBuf>,

    /// The list of project files whose gates may run [default: `toolcell/trusted` in the user's state directory]
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) trusted: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell config show --origin\n  toolcell config check toolcell.toml\n  \
    toolcell config schema > toolcell.schema.json\n  toolcell config trust\n\n\
    Two files count: the user's, and a `toolcell.toml` that is found upwards from the current folder,\n\
    up to the home directory or the end of the file system. The project's may only narrow what the\n\
    user's allows, and its gates run only where `toolcell config trust` was said to exactly that file;\n\
    until then they deny.")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the values that count
    Show {
        /// Say also where each comes from, and what a project asked for in vain
        #[arg(long)]
        origin: bool,
    },
    /// Say whether policy files are sound, and if not, where and why
    #[command(after_help = "Exit status: 0 all are sound, 2 one is not")]
    Check {
        /// A policy file, or - for standard input [default: those that hold here]
        file: Option<String>,
    },
    /// Print the JSON Schema of policy files, for editors
    Schema,
    /// Let the gates of a project's policy file run, as long as it stays as it is
    Trust {
        /// The file [default: the project's that holds here]
        file: Option<PathBuf>,
    },
    /// Take that back
    Untrust {
        /// The file
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
#[command(after_help = "A project's file may only narrow what the user's allows. Nothing is overwritten.")]
pub(crate) struct InitArgs {
    /// The folder to write `toolcell.toml` to
    #[arg(default_value = ".", conflicts_with = "user")]
    pub(crate) folder: PathBuf,

    /// Write the user's policy file, which holds for all projects
    #[arg(long)]
    pub(crate) user: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell approvals\n  toolcell approvals grant json-to-csv\n  \
    toolcell approvals refuse dt_0123456789ab --reason 'it reads more than it says'\n\n\
    An approval is of one tool, as it is, with the grants that were shown. A tool that changes is another\n\
    one, and one that is deleted has to be approved again. A refusal is of the tool, whatever it is granted,\n\
    until it is approved or revoked. `toolcell show NAME` shows all that is known of it.\n\
    Exit status: 0 done, 3 not approved, 4 there is no such tool, or it is not what was shown")]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ApprovalsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Show what waits for an answer, and then what was answered
    List,
    /// Let a tool run
    Grant {
        /// A name or an identifier
        tool: String,
        /// Ask nothing; what is approved is said before it is
        #[arg(long)]
        yes: bool,
        /// Approve it only if it is, and is granted, what `toolcell approvals` showed with this digest
        #[arg(long, value_name = "DIGEST")]
        shown: Option<String>,
    },
    /// Do not let a tool run
    Refuse {
        /// A name or an identifier
        tool: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Take back what was said to a tool
    Revoke {
        /// A name or an identifier
        tool: String,
    },
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  echo 'source <(toolcell completions bash)' >> ~/.bashrc\n  \
    echo 'source <(toolcell completions zsh)' >> ~/.zshrc\n  \
    echo 'toolcell completions fish | source' >> ~/.config/fish/completions/toolcell.fish\n\n\
    Names of tools are completed from the store.")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: ShellName,
}

/// A shell that can complete.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ShellName {
    Bash,
    Zsh,
    Fish,
}

impl ShellName {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell man | man -l -\n  toolcell man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// A folder to write a page for each command to [default: the main page, to standard output]
    pub(crate) folder: Option<PathBuf>,
}

fn approval(text: &str) -> Result<ApprovalMode, String> {
    ApprovalMode::named(text).ok_or_else(|| {
        let known: Vec<&str> = ApprovalMode::ALL.iter().map(|mode| mode.name()).collect();
        format!("there are {}", known.join(", "))
    })
}
