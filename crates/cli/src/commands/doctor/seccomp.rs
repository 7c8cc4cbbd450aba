//! The seccomp profile that Toolcell needs, in the format of container runtimes (OCI runtime
//! specification, `linux.seccomp`; `--security-opt seccomp=FILE` of Docker and Podman).
//!
//! Invariant: system calls that are not listed fail. `seccomp.json` gives the reason for each
//! listed one.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::args::ExtraSyscalls;
use crate::error::CliError;
use crate::exit::Exit;
use crate::streams::Streams;

/// The allowed system calls, in groups.
const SYSCALL_GROUPS: &str = include_str!("seccomp.json");
/// The value of `EPERM` on Linux.
const EPERM: u32 = 1;

/// Prints the profile.
pub(super) fn print(besides: &[ExtraSyscalls], streams: &mut Streams<'_>) -> Result<Exit, CliError> {
    let text = serde_json::to_string_pretty(&profile(besides).map_err(std::io::Error::from)?);
    writeln!(streams.output, "{}", text.map_err(std::io::Error::from)?)?;
    Ok(Exit::Done)
}

fn profile(besides: &[ExtraSyscalls]) -> serde_json::Result<Value> {
    let mut groups: BTreeMap<String, Vec<Value>> = serde_json::from_str(SYSCALL_GROUPS)?;
    let mut calls = groups.remove("base").unwrap_or_default();
    let allowed =
        [ExtraSyscalls::Network, ExtraSyscalls::Processes].into_iter().filter(|group| besides.contains(group));
    calls.extend(allowed.filter_map(|group| groups.remove(group.name())).flatten());
    for call in &mut calls {
        if call.get("action").is_none() {
            call["action"] = "SCMP_ACT_ALLOW".into();
        }
    }
    Ok(json!({
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": EPERM,
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
        "syscalls": calls,
    }))
}
