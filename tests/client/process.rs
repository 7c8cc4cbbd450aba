//! Servers as processes.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The policy of the servers.
const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/client/policy.toml");

/// The command that serves a store, under a policy that lets it have thousands of tools. Nothing of whoever runs this is
/// read.
pub(crate) fn toolcell(program: &Path, store: &Path) -> Command {
    let mut command = Command::new(program);
    // The library warns of each error that it answers with.
    command
        .arg0("toolcell")
        .env("TOOLCELL_LANG", "en")
        .env("TOOLCELL_LOG", "error,rmcp=off")
        .env_remove("TOOLCELL_MCP_TOKEN");
    command.args(["mcp", "--no-project", "--config", POLICY, "--dir"]).arg(store);
    command
}

/// What is resident of a process.
pub(crate) fn rss_kib(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// Tells a process to end.
pub(crate) fn end(pid: u32) {
    let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGTERM);
}
