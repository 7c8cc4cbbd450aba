//! The figures that the project promises, measured in one run beside native QuickJS, Node and `quickjs-emscripten`.
//!
//! Whatever is compared is measured in turns, so that a busy machine slows both. A missed target is printed and fails
//! nothing: how busy the machine is, is not the project's fault.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]
#![expect(clippy::disallowed_methods, reason = "what a process has open stands in /proc")]

mod cpu;
#[path = "../engines/mod.rs"]
mod engines;
mod latency;
mod measure;
mod memory;
mod node;
mod process;
mod table;

use table::Table;
use toolcell_host::{ENGINE_VERSION, GUEST_DIGEST, Sandbox, SandboxConfig};

fn main() {
    let mut table = Table::default();
    // Memory first: what comes later leaves its traces in the figures of the process.
    memory::measure(&mut table);
    let sandbox = Sandbox::new(&SandboxConfig::default()).unwrap();
    let mut peers = node::peers(&mut table);
    latency::measure(&mut table, &sandbox, &mut peers);
    drop(peers);
    cpu::measure(&mut table, &sandbox);
    process::measure(&mut table);

    let image = sandbox.image().name();
    println!("Toolcell with the {image} image of guest {}, Wasmtime {ENGINE_VERSION}\n", &GUEST_DIGEST[..12]);
    print!("{table}");
}
