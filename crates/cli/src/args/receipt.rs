//! Arguments of `replay`.

use crate::args::SandboxArgs;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  toolcell run average @params.json --receipt average.receipt\n  toolcell replay average.receipt\n  \
    cat average.receipt | toolcell replay - --json\n\n\
    It needs no store, no policy and no network: what the host answered the tool is in the receipt, and nothing is done.\n\
    Exit status: 0 reproduced, 1 something came out otherwise, 2 no receipt, 3 it was run by another version, or cannot be\n\
    repeated, 4 no such file, 6 it was changed after it was signed, 130 interrupted"
)]
pub(crate) struct ReplayArgs {
    /// A receipt file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    /// Replay even if another version wrote the receipt, and report the differences
    #[arg(long)]
    pub(crate) anyway: bool,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}
