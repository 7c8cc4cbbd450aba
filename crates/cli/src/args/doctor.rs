//! Arguments of `doctor`.

use clap::ValueEnum;

use crate::args::SandboxArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell doctor\n  toolcell doctor --json\n  \
    toolcell doctor --seccomp > seccomp.json\n  toolcell doctor --seccomp --allow network,processes > seccomp.json\n\n\
    Exit status: 0 it works, 5 no guest image works on this machine, 6 an image or the store is damaged,\n\
    70 the test call returned a wrong result")]
pub(crate) struct DoctorArgs {
    /// Print only the seccomp profile that Toolcell needs, in the format of container runtimes
    #[arg(long)]
    pub(crate) seccomp: bool,

    /// Additional system calls that the profile allows
    #[arg(long, value_name = "WHAT", value_delimiter = ',', requires = "seccomp")]
    pub(crate) allow: Vec<ExtraSyscalls>,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

/// Groups of system calls beyond those needed to run tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtraSyscalls {
    /// Sockets: for `net` grants and `mcp --http`
    Network,
    /// Processes: for command hooks and `--jail`
    Processes,
}

impl ExtraSyscalls {
    /// Returns the name of the group.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Processes => "processes",
        }
    }
}
