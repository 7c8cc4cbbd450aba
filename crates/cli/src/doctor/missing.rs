//! What a machine does not give, and what that costs.
//!
//! Invariant: nothing in here keeps Toolcell from working; where something does, there is no image, and that is an error.

use serde::Serialize;
use toolcell::Kind;

use super::Deadlines;
use super::machine::Machine;
use super::store::StoreFindings;

/// Fewer open files than this were never tried.
const FILES_TRIED: u64 = 64;
/// Less memory than this was never tried.
const MEMORY_TRIED: u64 = 128 << 20;

/// One thing that is missing.
#[derive(Debug, Serialize)]
pub(super) struct Missing {
    /// What it is, as programs know it.
    pub(super) what: &'static str,
    /// What does not work, or takes longer.
    pub(super) cost: String,
}

/// All that is missing, what costs most first. `image` is the one that was taken because others do not work here, or because
/// it is the fastest; one that was asked for says nothing of the machine.
pub(super) fn missing(
    image: Option<Kind>,
    deadlines: Option<Deadlines>,
    machine: &Machine,
    store: &StoreFindings,
) -> Vec<Missing> {
    let mut all = Vec::new();
    let mut say = |what, cost: &str| all.push(Missing { what, cost: cost.to_owned() });
    match image {
        Some(Kind::Interpreted) => say("executable-pages", "tools run about 30 times slower, in the interpreter"),
        Some(Kind::Bounded) => say(
            "address-space",
            "tools run about 1.6 times as long, and a call takes some 30 µs longer: cells that are kept ready, without bounds \
             checks, need 20 GiB of addresses (not of memory)",
        ),
        Some(Kind::Roomy) if !machine.pagemap_scan => say(
            "pagemap-scan",
            "a call takes 55 to 60 µs instead of 16 to 21: that needs Linux 6.7 and a readable /proc/self/pagemap",
        ),
        Some(Kind::Roomy) | None => {}
    }
    if deadlines == Some(Deadlines::SlicesWithoutThread) {
        say(
            "threads",
            "calls look at their deadline after slices of fuel, and not when an epoch ends; the analysis and the server start threads as \
             well: raise the limit of processes (`ulimit -u`, `pids.max`)",
        );
    }
    if !machine.home {
        say("home", "nothing but --dir, TOOLCELL_DIR and --config says where the store and the policy are");
    }
    if store.directory.is_none() {
        say("store", "nothing is kept: exec, check, batch, reflect and replay work; --dir names a folder");
    } else if !store.writable {
        say(
            "store-writable",
            "no tool is made, and nothing is recorded; stored tools run where the policy says `audit.required = false`",
        );
    }
    if !machine.network {
        say("network", "tools with the grant `net` reach nobody; nothing else needs it");
    }
    if !machine.proc {
        say("proc", "nothing but what is said here of pagemap-scan; limits of memory may go unseen");
    }
    if machine.open_files.is_some_and(|files| files < FILES_TRIED) {
        say("open-files", "fewer than 64 files may be open at once: the store and the server may need more");
    }
    if machine.memory_bytes.is_some_and(|bytes| bytes < MEMORY_TRIED) {
        say("memory", "less than 128 MiB: keep the limit of a call (--memory-mb, `limits.memory_mb`) well below it");
    }
    all
}
