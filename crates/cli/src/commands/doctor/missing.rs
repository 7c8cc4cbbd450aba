//! Lists the features that a machine lacks, and the cost of each.
//!
//! Invariant: nothing in this list keeps Toolcell from working. If no image works, `doctor` reports
//! an error instead.

use serde::Serialize;
use toolcell::ImageKind;
use toolcell_i18n::{Message, message};

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
    pub(super) cost: Message,
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
    let mut add = |what, cost| all.push(MissingFeature { what, cost });
    match image {
        Some(ImageKind::Interpreted) => {
            add("executable-pages", message!("tools run in the interpreter, about 30 times slower"));
        }
        Some(ImageKind::Embedded | ImageKind::Bounded) => add(
            "address-space",
            message!(
                "tools take about 1.6 times as long, and each call about 30 µs longer: pre-allocated cells without \
                 bounds checks need 20 GiB of address space (not memory)"
            ),
        ),
        Some(ImageKind::Roomy) if !machine.pagemap_scan => add(
            "pagemap-scan",
            message!(
                "a call takes 55 to 60 µs instead of 16 to 21: more speed needs Linux 6.7 and a readable \
                 /proc/self/pagemap"
            ),
        ),
        Some(ImageKind::Roomy) | None => {}
    }
    if deadlines == Some(Deadlines::SlicesWithoutThread) {
        add(
            "threads",
            message!(
                "deadlines are checked after slices of fuel instead of by epochs; the analysis and the server need \
                 threads too: raise the process limit (`ulimit -u`, `pids.max`)"
            ),
        );
    }
    if !machine.home {
        add("home", message!("the store and the policy are found only with --dir, TOOLCELL_DIR and --config"));
    }
    if store.directory.is_none() {
        add(
            "store",
            message!("nothing is stored: only exec, check, batch, reflect and replay work; set a folder with --dir"),
        );
    } else if !store.writable {
        add(
            "store-writable",
            message!(
                "no tool is created, and nothing is recorded; tools run only if the policy sets \
                 `audit.required = false`"
            ),
        );
    }
    if !machine.network {
        add("network", message!("tools with the grant `net` cannot connect; nothing else needs the network"));
    }
    if !machine.proc {
        add("proc", message!("pagemap_scan is unavailable, and memory limits may be undetected"));
    }
    if machine.open_files.is_some_and(|files| files < MIN_TESTED_FILES) {
        add("open-files", message!("the limit is below 64 open files: the store and the server may need more"));
    }
    if machine.memory_bytes.is_some_and(|bytes| bytes < MIN_TESTED_MEMORY_BYTES) {
        add(
            "memory",
            message!("less than 128 MiB: keep the limit of a call (--memory-mb, `limits.memory_mb`) well below it"),
        );
    }
    all
}
