//! What can be typed to look at the machine.

use crate::args::SandboxArgs;
use crate::doctor::Besides;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell doctor\n  toolcell doctor --json\n  \
    toolcell doctor --seccomp > seccomp.json\n  toolcell doctor --seccomp --allow network,processes > seccomp.json\n\n\
    Exit status: 0 it works, 5 no image of the guest works here, 6 an image or the store is not as it was written,\n\
    70 the first call gave a wrong answer")]
pub(crate) struct DoctorArgs {
    /// Print the seccomp profile that Toolcell works under, as container runtimes take it, and nothing else
    #[arg(long)]
    pub(crate) seccomp: bool,

    /// What the profile allows besides running tools
    #[arg(long, value_name = "WHAT", value_delimiter = ',', requires = "seccomp")]
    pub(crate) allow: Vec<Besides>,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}
