//! Arguments of `replay`.

use crate::args::SandboxArgs;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  toolcell run average @params.json --receipt average.receipt\n  toolcell replay average.receipt\n  \
    cat average.receipt | toolcell replay - --json\n\n\
    A replay needs no store, no policy and no network: the receipt contains the host's responses, and no effect is\n\
    performed.\n\
    Exit status: 0 reproduced, 1 the result differs, 2 not a receipt, 3 written by another version, or not\n\
    replayable, 4 no such file, 6 the receipt was changed after signing, 130 interrupted"
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
