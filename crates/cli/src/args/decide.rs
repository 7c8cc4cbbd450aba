//! Arguments of `decide`.

use std::time::Duration;

use clap::ValueEnum;
use toolcell::DEFAULT_DECISION_TIMEOUT;
use toolcell::policy::HookProtocol;

use super::SandboxArgs;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  echo '{\"toolName\": \"bash\", \"toolArgs\": {\"command\": \"ls\"}}' | toolcell decide\n  \
    toolcell decide --dialect claude < event.json\n\n\
    Reads the JSON that the host passes to a hook before a tool runs, and prints the decision as that host reads it.\n\
    The policy decides (`external_tools`), then the hooks; `ask` is left to the host. Whatever goes wrong is a denial.\n\
    Each decision leaves a line in the audit log.\n\
    Exit status: 0 decided, 2 usage, or the decision cannot be printed"
)]
pub(crate) struct DecideArgs {
    /// The host whose JSON is read and printed
    #[arg(long, value_name = "HOST", default_value = "toolcell")]
    dialect: Dialect,

    /// The time that the hooks have, in milliseconds. It must be less than the time after which the
    /// host lets a call pass
    #[arg(long, value_name = "MS", default_value_t = default_timeout_ms(), value_parser = clap::value_parser!(u64).range(1..=600_000))]
    timeout_ms: u64,

    /// The caller in the audit log
    #[arg(long, value_name = "NAME", default_value = "host")]
    pub(crate) caller: String,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

impl DecideArgs {
    /// Returns the protocol of the host.
    pub(crate) fn protocol(&self) -> HookProtocol {
        match self.dialect {
            Dialect::Toolcell => HookProtocol::Toolcell,
            Dialect::Copilot => HookProtocol::Copilot,
            Dialect::Claude => HookProtocol::Claude,
        }
    }

    /// Returns the time that the hooks have.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

fn default_timeout_ms() -> u64 {
    u64::try_from(DEFAULT_DECISION_TIMEOUT.as_millis()).unwrap_or(u64::MAX)
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Dialect {
    Toolcell,
    Copilot,
    Claude,
}
