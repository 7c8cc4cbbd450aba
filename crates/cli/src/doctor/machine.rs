//! What this machine gives a process: limits, files, the network, the kernel, and who it is.
//!
//! Invariant: nothing is needed to look. What cannot be seen, as without `/proc`, is `None`, and never a failure.

use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit, getuid};
use rustix::thread::{SecureComputingMode, no_new_privs, secure_computing_mode};
use serde::Serialize;

/// What was found.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "a machine has each of these things or has not")]
pub(super) struct Machine {
    /// The kernel's version.
    pub(super) kernel: String,
    /// Who this process is.
    pub(super) user: u32,
    /// Whether there is a home directory, or folders in its place.
    pub(super) home: bool,
    /// How much address space the process may take; `None` is without a limit.
    pub(super) address_space_bytes: Option<u64>,
    /// How many files it may have open; `None` is without a limit.
    pub(super) open_files: Option<u64>,
    /// How much memory its control groups give it; `None` is without a limit, or not to be seen.
    pub(super) memory_bytes: Option<u64>,
    /// On how many cores it may run.
    pub(super) cores: usize,
    /// Whether `/proc` can be read.
    pub(super) proc: bool,
    /// Whether there is a way to other machines.
    pub(super) network: bool,
    /// Whether the kernel says which pages a cell has written.
    pub(super) pagemap_scan: bool,
    /// Whether system calls are filtered: `off`, `filter`, or `unknown`.
    pub(super) seccomp: &'static str,
    /// Whether it can gain no privileges by starting other programs.
    pub(super) no_new_privileges: Option<bool>,
}

impl Machine {
    /// Looks at it.
    pub(super) fn look() -> Self {
        Self {
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            user: getuid().as_raw(),
            home: etcetera::base_strategy::Xdg::new().is_ok(),
            address_space_bytes: getrlimit(Resource::As).current,
            open_files: getrlimit(Resource::Nofile).current,
            memory_bytes: memory(),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            proc: Path::new("/proc/self/status").exists(),
            network: network(),
            pagemap_scan: toolcell::pagemap_scan(),
            seccomp: seccomp(),
            no_new_privileges: no_new_privs().ok(),
        }
    }
}

/// Whether an address elsewhere can be reached, as far as the tables of this machine say. Nothing is sent.
fn network() -> bool {
    // Addresses that are set aside for documentation: RFC 5737 and RFC 3849.
    [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")]
        .iter()
        .any(|(here, there)| UdpSocket::bind(here).and_then(|socket| socket.connect(there)).is_ok())
}

fn seccomp() -> &'static str {
    match secure_computing_mode() {
        // A kernel without it does not know the question.
        Ok(SecureComputingMode::Disabled) | Err(rustix::io::Errno::INVAL) => "off",
        // A filter may refuse to have it put.
        Ok(SecureComputingMode::Filter) | Err(_) => "filter",
        Ok(_) => "unknown",
    }
}

/// The tightest limit on memory of the control groups that this process is in (version 2, and before that version 1).
fn memory() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = |controllers: &str| {
        let of = |line: &str| {
            let (_, after) = line.split_once(':')?;
            let (names, path) = after.split_once(':')?;
            names.split(',').any(|name| name == controllers).then(|| path.trim_start_matches('/').to_owned())
        };
        // Where it cannot be seen which group this is, a container sees its own at the root.
        groups.lines().find_map(of).unwrap_or_default()
    };
    let found = [
        tightest(Path::new("/sys/fs/cgroup"), &group(""), "memory.max"),
        tightest(Path::new("/sys/fs/cgroup/memory"), &group("memory"), "memory.limit_in_bytes"),
    ];
    found.into_iter().flatten().min()
}

/// The smallest limit of a group and those around it.
fn tightest(root: &Path, group: &str, file: &str) -> Option<u64> {
    let inner: PathBuf = root.join(group);
    let around = inner.ancestors().take_while(|folder| folder.starts_with(root));
    let limits = around.filter_map(|folder| fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok());
    // Version 1 writes a number near the largest there is where there is no limit.
    limits.filter(|limit: &u64| *limit < 1 << 60).min()
}
