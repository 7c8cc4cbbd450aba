//! Server processes.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The policy file of the servers.
pub(crate) const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/load_client/policy.toml");

/// Returns the command that serves a store, under a policy that allows thousands of tools. It
/// ignores the caller's policy and settings.
pub(crate) fn serve_command(program: &Path, store: &Path) -> Command {
    let mut command = Command::new(program);
    // rmcp logs a warning for each error reply.
    command
        .arg0("toolcell")
        .env("TOOLCELL_LANG", "en")
        .env("TOOLCELL_LOG", "error,rmcp=off")
        .env_remove("TOOLCELL_MCP_TOKEN");
    command.args(["mcp", "--no-project", "--config", POLICY, "--dir"]).arg(store);
    command
}

/// Returns the resident memory of a process, in KiB.
pub(crate) fn rss_kib(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// Sends SIGTERM to a process.
pub(crate) fn terminate(pid: u32) {
    let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGTERM);
}
