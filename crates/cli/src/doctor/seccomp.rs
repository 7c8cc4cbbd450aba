//! The seccomp profile that Toolcell works under, in the form that container runtimes take (the OCI runtime
//! specification, `linux.seccomp`; `--security-opt seccomp=FILE` of Docker and Podman).
//!
//! Invariant: what is not named is refused. What is named has its reason beside it, in `seccomp.json`.

use std::collections::BTreeMap;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::Streams;
use crate::exit::Exit;
use crate::failure::Failure;

/// The calls, in groups.
const GROUPS: &str = include_str!("seccomp.json");
/// `EPERM`.
const REFUSED: u32 = 1;

/// What is allowed besides running tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Besides {
    /// Sockets: for grants of `net`, and `mcp --http`
    Network,
    /// Other processes: for gates that are commands, and for `--jail`
    Processes,
}

impl Besides {
    fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Processes => "processes",
        }
    }
}

/// Prints the profile.
pub(super) fn print(besides: &[Besides], streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let text = serde_json::to_string_pretty(&profile(besides).map_err(std::io::Error::from)?);
    writeln!(streams.output, "{}", text.map_err(std::io::Error::from)?)?;
    Ok(Exit::Done)
}

fn profile(besides: &[Besides]) -> serde_json::Result<Value> {
    let mut groups: BTreeMap<String, Vec<Value>> = serde_json::from_str(GROUPS)?;
    let mut calls = groups.remove("base").unwrap_or_default();
    let allowed = [Besides::Network, Besides::Processes].into_iter().filter(|group| besides.contains(group));
    calls.extend(allowed.filter_map(|group| groups.remove(group.name())).flatten());
    for call in &mut calls {
        if call.get("action").is_none() {
            call["action"] = "SCMP_ACT_ALLOW".into();
        }
    }
    Ok(json!({
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": REFUSED,
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
        "syscalls": calls,
    }))
}
