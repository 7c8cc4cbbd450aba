//! Lists the features that a machine lacks, and the cost of each.
//!
//! Invariant: nothing in this list keeps Toolcell from working. If no image works, `doctor` reports
//! an error instead.

use serde::Serialize;
use toolcell::ImageKind;

use super::Deadlines;
use super::machine::Machine;
use super::store::StoreFindings;

/// Smallest limit on open files that was tested.
const MIN_TESTED_FILES: u64 = 64;
/// Smallest memory limit that was tested, in bytes.
const MIN_TESTED_MEMORY_BYTES: u64 = 128 << 20;

/// A feature that the machine lacks.
#[derive(Debug, Serialize)]
pub(super) struct MissingFeature {
    /// A stable identifier of the feature.
    pub(super) what: &'static str,
    /// What does not work, or is slower, without it.
    pub(super) cost: String,
}

/// Returns the missing features, most costly first. `image` is the image that was selected because
/// faster ones do not work here, or because it is the fastest; an image that the user asked for
/// says nothing about the machine.
pub(super) fn find_missing(
    image: Option<ImageKind>,
    deadlines: Option<Deadlines>,
    machine: &Machine,
    store: &StoreFindings,
) -> Vec<MissingFeature> {
    let mut all = Vec::new();
    let mut say = |what, cost: &str| all.push(MissingFeature { what, cost: cost.to_owned() });
    match image {
        Some(ImageKind::Interpreted) => say("executable-pages", "tools run about 30 times slower, in the interpreter"),
        Some(ImageKind::Bounded) => say(
            "address-space",
            "tools run about 1.6 times as long, and a call takes some 30 µs longer: cells that are kept ready, without bounds \
             checks, need 20 GiB of addresses (not of memory)",
        ),
        Some(ImageKind::Roomy) if !machine.pagemap_scan => say(
            "pagemap-scan",
            "a call takes 55 to 60 µs instead of 16 to 21: that needs Linux 6.7 and a readable /proc/self/pagemap",
        ),
        Some(ImageKind::Roomy) | None => {}
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
    if machine.open_files.is_some_and(|files| files < MIN_TESTED_FILES) {
        say("open-files", "fewer than 64 files may be open at once: the store and the server may need more");
    }
    if machine.memory_bytes.is_some_and(|bytes| bytes < MIN_TESTED_MEMORY_BYTES) {
        say("memory", "less than 128 MiB: keep the limit of a call (--memory-mb, `limits.memory_mb`) well below it");
    }
    all
}
