//! Arguments of `config`, `init`, `approvals`, `grant`, `completions` and `man`, and the policy options of
//! all commands.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use toolcell::policy::ApprovalMode;
use toolcell_i18n::message;

use super::usage_error::ValueError;

/// Options that locate the policy files.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyArgs {
    /// The user's policy file [default: `toolcell/toolcell.toml` in the user's configuration directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Ignore the project's policy file
    #[arg(long, global = true)]
    pub(crate) no_project: bool,

    /// Approval mode, overriding the policy files: never, ask, auto-safe or auto
    #[arg(long, global = true, value_name = "MODE", value_parser = parse_approval_mode)]
    pub(crate) approval: Option<ApprovalMode>,

    /// Folder where the upward search for the project's policy file starts [default: the current
    /// folder]
    #[arg(long, global = true, value_name = "FOLDER", hide_short_help = true, conflicts_with = "no_project")]
    pub(crate) project: Option<PathBuf>,

    /// List of trusted project files, whose hooks may run [default: `toolcell/trusted` in the
    /// user's state directory]
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) trusted: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell config show --origin\n  toolcell config check toolcell.toml\n  \
    toolcell config schema > toolcell.schema.json\n  toolcell config trust\n\n\
    Two files apply: the user's, and the project's `toolcell.toml`, found by searching upwards from the\n\
    current folder to the home directory or the end of the file system. The project's file can only\n\
    narrow what the user's allows. Its hooks run only after `toolcell config trust` for that exact file;\n\
    until then they deny.")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the effective policy
    Show {
        /// Show also the origin of each value, and the project's values that were rejected
        #[arg(long)]
        origin: bool,
    },
    /// Validate policy files, with the position of each error
    #[command(after_help = "Exit status: 0 all files are valid, 2 a file is invalid")]
    Check {
        /// A policy file, or - for standard input [default: the files in effect]
        file: Option<String>,
    },
    /// Print the JSON Schema of policy files, for editors
    Schema,
    /// Trust a project's policy file: its hooks may run while it is unchanged
    Trust {
        /// The file [default: the project's file in effect]
        file: Option<PathBuf>,
    },
    /// Revoke the trust in a policy file
    Untrust {
        /// The file
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell init\n  toolcell init --user\n\n\
    A project's file can only narrow what the user's file allows. An existing file is not overwritten.")]
pub(crate) struct InitArgs {
    /// Folder to create `toolcell.toml` in
    #[arg(default_value = ".", conflicts_with = "user")]
    pub(crate) folder: PathBuf,

    /// Create the user's policy file, which applies to all projects
    #[arg(long)]
    pub(crate) user: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell approvals\n  toolcell approvals grant json-to-csv\n  \
    toolcell approvals refuse dt_0123456789ab --reason 'it reads more than it says'\n\n\
    An approval covers one tool with the grants that were shown. A changed tool has a new identifier and\n\
    needs a new approval, and so does a deleted tool. A refusal covers the tool with any grants, until it\n\
    is approved or revoked. `toolcell show NAME` shows all details of a tool.\n\
    Exit status: 0 done, 3 not approved, 4 no such tool, or it changed since it was shown")]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ApprovalsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List pending approvals, then past decisions
    List,
    /// Approve a tool
    Grant {
        /// Tool name or identifier
        tool: String,
        /// Approve the next run only, within 24 hours
        #[arg(long)]
        once: bool,
        /// Do not ask; print what is approved first
        #[arg(long)]
        yes: bool,
        /// Approve only if the tool and its grants still match this digest from `toolcell
        /// approvals`
        #[arg(long, value_name = "DIGEST")]
        shown: Option<String>,
    },
    /// Refuse a tool
    Refuse {
        /// Tool name or identifier
        tool: String,
        /// Reason, kept with the decision
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Revoke the approvals and refusals of a tool
    Revoke {
        /// Tool name or identifier
        tool: String,
    },
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell grant fetch-json net=api.example.com timers\n  \
    toolcell grant fetch-json net=http://127.0.0.1:8080 --dry-run\n  \
    toolcell grant notes kv=notes files=data:./data:write --yes\n\n\
    The grants are added to the rule of the tool in the user's policy file, whose comments are kept. A new rule is for\n\
    this tool alone: a changed tool has a new identifier, and is granted nothing by it. The tool is approved with\n\
    exactly the grants that were shown. `toolcell approvals revoke TOOL` takes the approval back.\n\
    Exit status: 0 done, 2 a grant is invalid or has no effect, 3 not approved, 4 no such tool, or the policy changed")]
pub(crate) struct GrantArgs {
    /// Tool name or identifier
    pub(crate) tool: String,

    /// What to grant: timers, clock, random, net=HOST, net=HOST:PORT, kv=SPACE, files=NAME:PATH,
    /// files=NAME:PATH:write, secrets=NAME@HOST, tools=NAME, servers=NAME.TOOL, servers=NAME:reading
    #[arg(value_name = "GRANT", required = true)]
    pub(crate) grants: Vec<String>,

    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Do not ask; print what is granted first
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  echo 'source <(toolcell completions bash)' >> ~/.bashrc\n  \
    echo 'source <(toolcell completions zsh)' >> ~/.zshrc\n  \
    echo 'toolcell completions fish | source' >> ~/.config/fish/completions/toolcell.fish\n\n\
    Tool names are completed from the store.")]
pub(crate) struct CompletionsArgs {
    /// The shell to generate the script for
    pub(crate) shell: ShellName,
}

/// A shell with completion support.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ShellName {
    Bash,
    Zsh,
    Fish,
}

impl ShellName {
    /// Returns the shell's name in lower case.
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
    /// Folder to write one page per command to [default: print the main page]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  toolcell types > toolcell.d.ts\n  toolcell types --tools --servers > toolcell.d.ts\n\n\
    In tsconfig.json, `\"lib\": [\"esnext\"], \"types\": []` leaves out what browsers and Node.js have and a tool does not."
)]
pub(crate) struct TypesArgs {
    /// Let `tools.call` take the names of the stored tools, with the types of their parameters and results
    #[arg(long)]
    pub(crate) tools: bool,

    /// Declare the tools of the policy's MCP servers, which are started for it
    #[arg(long)]
    pub(crate) servers: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell schema run\n  toolcell schema config show\n  toolcell schema --json\n\n\
    Without a command, the names are listed; with --json, all schemas are printed.")]
pub(crate) struct SchemaArgs {
    /// The command, or `error` for a command that could not do its work
    pub(crate) command: Vec<String>,
}

fn parse_approval_mode(text: &str) -> Result<ApprovalMode, ValueError> {
    ApprovalMode::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = ApprovalMode::ALL.iter().map(|mode| mode.name()).collect();
        ValueError(message!("expected one of {names}", names = names.join(", ")))
    })
}
