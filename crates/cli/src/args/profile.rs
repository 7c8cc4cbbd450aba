//! Arguments of `profile` and `profile diff`.

use std::path::PathBuf;

use clap::Subcommand;

use super::{LimitArgs, SandboxArgs};

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  toolcell profile average.ts @params.json\n  toolcell profile average numbers=@numbers.json --svg average.svg\n  \
    toolcell profile average.ts --lines\n  toolcell profile average.ts --json > before.json\n  \
    toolcell profile diff before.json after.json\n\n\
    The tool runs once, as with `toolcell exec FILE` or `toolcell run TOOL`, and uses the same fuel. The argument is\n\
    a file if it is `-`, contains a `/`, or ends in .ts, .mts, .js or .mjs; otherwise it names a stored tool.\n\
    Exit status: that of `toolcell run`"
)]
pub(crate) struct ProfileArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ProfileCommand>,

    #[command(flatten)]
    pub(crate) take: ProfileTakeArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProfileTakeArgs {
    /// A TypeScript or JavaScript file, - for standard input, or the name or identifier of a stored
    /// tool
    #[arg(value_name = "FILE|TOOL", required = true)]
    pub(crate) tool: Option<String>,

    /// Parameters: a JSON object, @FILE, - for standard input, or KEY=VALUE
    #[arg(value_name = "PARAMS|KEY=VALUE")]
    pub(crate) params: Vec<String>,

    /// Print every line of the source with its fuel
    #[arg(long, conflicts_with = "json")]
    pub(crate) lines: bool,

    /// Also draw a flame graph to this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Seed of `Math.random()`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// Compare two profiles, largest change first
    Diff(ProfileDiffArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell profile diff before.json after.json\n\n\
    Both profiles must come from `toolcell profile --json` of the same Toolcell version.\n\
    Exit status: 0 compared, 2 a file is not a profile, or the fuel models differ, 4 no such file")]
pub(crate) struct ProfileDiffArgs {
    /// The earlier profile, or - for standard input
    #[arg(value_name = "BEFORE")]
    pub(crate) before: String,

    /// The later profile, or - for standard input
    #[arg(value_name = "AFTER")]
    pub(crate) after: String,
}
