//! The figures that the project promises, measured in one run together with native QuickJS, Node
//! and `quickjs-emscripten`.
//!
//! Comparisons are measured in turns, so that a busy machine slows both sides. A missed target is
//! printed but does not fail the run, because the load of the machine is not under the project's
//! control.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::disallowed_methods, reason = "what a process has open stands in /proc")]
#![expect(clippy::disallowed_types, reason = "the server is measured from outside, over HTTP")]

mod analysis;
mod capabilities;
#[path = "../../load_client/mod.rs"]
mod client;
mod cpu;
mod deadline;
#[path = "../engines/mod.rs"]
mod engines;
mod flows;
mod jail;
mod latency;
mod mcp;
mod measure;
mod memory;
mod node;
mod operations;
mod process;
mod profile;
mod reflection;
mod store;
mod suite;
mod table;

use table::Table;
use toolcell_host::{ENGINE_VERSION, GUEST_DIGEST, Sandbox, SandboxOptions};

/// Sections that can be measured alone: `cargo bench --bench ratios -- cpu deadline`.
const SECTIONS: [&str; 17] = [
    "memory",
    "calls",
    "jail",
    "cpu",
    "profile",
    "deadline",
    "analysis",
    "process",
    "store",
    "operations",
    "reflection",
    "flows",
    "mcp",
    "fair",
    "nodes",
    "capabilities",
    "suite",
];

fn main() {
    toolcell_jail::serve_if_worker();
    // Cargo adds its own options.
    let named: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if let Some(unknown) = named.iter().find(|name| !SECTIONS.contains(&name.as_str())) {
        return println!("there is no section `{unknown}`; there are {}", SECTIONS.join(", "));
    }
    let wanted = |section: &str| named.is_empty() || named.iter().any(|name| name == section);

    let mut table = Table::default();
    // Memory first, because later sections affect the memory figures of the process.
    if wanted("memory") {
        memory::measure(&mut table);
    }
    let sandbox = Sandbox::new(&SandboxOptions::default()).unwrap();
    if wanted("calls") {
        let mut peers = node::peers(&mut table);
        latency::measure(&mut table, &sandbox, &mut peers);
    }
    if wanted("jail") {
        jail::measure(&mut table, &sandbox);
    }
    if wanted("cpu") {
        cpu::measure(&mut table, &sandbox);
    }
    if wanted("profile") {
        profile::measure(&mut table, &sandbox);
    }
    if wanted("deadline") {
        deadline::measure(&mut table);
    }
    if wanted("analysis") {
        analysis::measure(&mut table);
    }
    if wanted("process") {
        process::measure(&mut table);
    }
    if wanted("store") {
        store::measure(&mut table);
    }
    if wanted("operations") {
        operations::measure(&mut table);
    }
    if wanted("reflection") {
        reflection::measure(&mut table);
    }
    if wanted("flows") {
        flows::measure(&mut table);
    }
    if wanted("mcp") {
        mcp::measure(&mut table);
    }
    if wanted("fair") {
        mcp::measure_fairness(&mut table);
    }
    if wanted("nodes") {
        mcp::measure_nodes(&mut table);
    }
    if wanted("capabilities") {
        capabilities::measure(&mut table);
    }
    if wanted("suite") {
        suite::measure(&mut table);
    }

    let image = sandbox.image().name();
    println!("Toolcell with the {image} image of guest {}, Wasmtime {ENGINE_VERSION}\n", &GUEST_DIGEST[..12]);
    print!("{table}");
}
