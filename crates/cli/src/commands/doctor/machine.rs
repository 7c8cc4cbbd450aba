//! Probes what this machine gives a process: limits, files, network, kernel features, and the user.
//!
//! Invariant: a probe never fails. What cannot be determined, for example without `/proc`, is
//! `None`.

use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit, getuid};
use rustix::thread::{SecureComputingMode, no_new_privs, secure_computing_mode};
use serde::Serialize;
use toolcell_i18n::msgid;

/// The results of the probes.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property of the machine")]
#[serde(rename_all = "camelCase")]
pub(super) struct Machine {
    /// The kernel's release.
    pub(super) kernel: String,
    /// The real user ID of this process.
    pub(super) user: u32,
    /// Whether there is a home directory, or XDG directories instead of one.
    pub(super) home: bool,
    /// Limit on address space, in bytes; `None` means unlimited.
    pub(super) address_space_bytes: Option<u64>,
    /// Limit on open files; `None` means unlimited.
    pub(super) open_files: Option<u64>,
    /// Memory limit of the control groups, in bytes; `None` means unlimited or unknown.
    pub(super) memory_bytes: Option<u64>,
    /// Number of cores available to this process.
    pub(super) cores: usize,
    /// Whether `/proc` is readable.
    pub(super) proc: bool,
    /// Whether there is a route to other machines.
    pub(super) network: bool,
    /// Whether the kernel reports dirty pages of an instance (`PAGEMAP_SCAN`).
    pub(super) pagemap_scan: bool,
    /// The seccomp mode: `off`, `filter`, or `unknown`.
    pub(super) seccomp: &'static str,
    /// Whether the process has `no_new_privs` set, so that starting a program gains no privileges.
    pub(super) no_new_privileges: Option<bool>,
}

impl Machine {
    /// Runs all probes.
    pub(super) fn probe() -> Self {
        Self {
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            user: getuid().as_raw(),
            home: etcetera::base_strategy::Xdg::new().is_ok(),
            address_space_bytes: getrlimit(Resource::As).current,
            open_files: getrlimit(Resource::Nofile).current,
            memory_bytes: memory_limit(),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            proc: Path::new("/proc/self/status").exists(),
            network: has_network_route(),
            pagemap_scan: toolcell::pagemap_scan(),
            seccomp: seccomp_mode(),
            no_new_privileges: no_new_privs().ok(),
        }
    }
}

/// Whether the routing table has a route to other machines. Nothing is sent.
fn has_network_route() -> bool {
    // Addresses reserved for documentation: RFC 5737 and RFC 3849.
    [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")]
        .iter()
        .any(|(here, there)| UdpSocket::bind(here).and_then(|socket| socket.connect(there)).is_ok())
}

fn seccomp_mode() -> &'static str {
    match secure_computing_mode() {
        // A kernel without seccomp rejects the query.
        Ok(SecureComputingMode::Disabled) | Err(rustix::io::Errno::INVAL) => msgid!("off"),
        // A filter may refuse the query itself.
        Ok(SecureComputingMode::Filter) | Err(_) => msgid!("filter"),
        Ok(_) => msgid!("unknown"),
    }
}

/// Returns the tightest memory limit of this process's control groups, over cgroup v2 and v1.
fn memory_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = |controllers: &str| {
        let of = |line: &str| {
            let (_, after) = line.split_once(':')?;
            let (names, path) = after.split_once(':')?;
            names.split(',').any(|name| name == controllers).then(|| path.trim_start_matches('/').to_owned())
        };
        // If the group is unknown, use the root: a container sees its own group there.
        groups.lines().find_map(of).unwrap_or_default()
    };
    let found = [
        smallest_limit(Path::new("/sys/fs/cgroup"), &group(""), "memory.max"),
        smallest_limit(Path::new("/sys/fs/cgroup/memory"), &group("memory"), "memory.limit_in_bytes"),
    ];
    found.into_iter().flatten().min()
}

/// Returns the smallest limit of a group and its ancestors.
fn smallest_limit(root: &Path, group: &str, file: &str) -> Option<u64> {
    let inner: PathBuf = root.join(group);
    let around = inner.ancestors().take_while(|folder| folder.starts_with(root));
    let limits = around.filter_map(|folder| fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok());
    // Cgroup v1 writes a number close to `i64::MAX` for "no limit".
    limits.filter(|limit: &u64| *limit < 1 << 60).min()
}
