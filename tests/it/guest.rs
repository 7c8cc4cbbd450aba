//! The guest binary is the reviewed one: its digest, its version, and its imports.

use toolcell_host::{ENGINE_VERSION, GUEST_DIGEST};
use wasmparser::{ExternalKind, Parser, Payload, TypeRef};

use crate::fixtures::sandbox::{read, root};

fn wasm() -> Vec<u8> {
    std::fs::read(root().join("guest/prebuilt/guest.wasm")).unwrap()
}

#[test]
fn the_guest_is_the_one_that_is_pinned() {
    let digest = blake3::hash(&wasm()).to_string();
    assert_eq!(read("guest/prebuilt/guest.wasm.b3"), format!("{digest}  guest.wasm\n"));
    assert_eq!(GUEST_DIGEST, digest);
    assert!(read("guest/prebuilt/PROVENANCE.md").contains(&digest), "PROVENANCE.md names another guest");
}

/// Fuel figures and receipts name this version.
#[test]
fn the_engine_version_is_that_of_the_dependency() {
    let exact = format!("wasmtime = {{ version = \"={ENGINE_VERSION}\"");
    assert!(read("Cargo.toml").contains(&exact), "Cargo.toml does not require exactly Wasmtime {ENGINE_VERSION}");
    let locked = format!("name = \"wasmtime\"\nversion = \"{ENGINE_VERSION}\"\n");
    assert!(read("Cargo.lock").contains(&locked), "Cargo.lock has another Wasmtime than {ENGINE_VERSION}");
}

/// The attack surface: all imports of the guest. A new one is a decision; `host/src/imports/`
/// implements them.
const IMPORTS: &[&str] = &[
    "toolcell.log",
    "toolcell.partial",
    "toolcell.seed",
    "wasi_snapshot_preview1.clock_time_get",
    "wasi_snapshot_preview1.environ_get",
    "wasi_snapshot_preview1.environ_sizes_get",
    "wasi_snapshot_preview1.fd_close",
    "wasi_snapshot_preview1.fd_fdstat_get",
    "wasi_snapshot_preview1.fd_read",
    "wasi_snapshot_preview1.fd_seek",
    "wasi_snapshot_preview1.fd_write",
    "wasi_snapshot_preview1.proc_exit",
    "wasi_snapshot_preview1.random_get",
];

const EXPORTS: &[&str] = &["__stack_pointer", "abi_version", "buffer", "call", "describe", "load", "memory", "resume"];

#[test]
fn the_guest_imports_these_functions_and_no_others() {
    let wasm = wasm();
    let mut imports = Vec::new();
    let mut exports = Vec::new();
    for payload in Parser::new(0).parse_all(&wasm) {
        match payload.unwrap() {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import.unwrap();
                    assert!(matches!(import.ty, TypeRef::Func(_)), "{import:?} is no function");
                    imports.push(format!("{}.{}", import.module, import.name));
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export.unwrap();
                    assert_ne!(export.kind, ExternalKind::Table, "{export:?}");
                    exports.push(export.name.to_owned());
                }
            }
            _ => {}
        }
    }
    imports.sort();
    exports.sort();
    assert_eq!(imports, IMPORTS);
    assert_eq!(exports, EXPORTS);
}

#[test]
fn nothing_of_the_machine_that_built_the_guest_is_in_it() {
    let wasm = wasm();
    let text = String::from_utf8_lossy(&wasm);
    for trace in ["/root/", "/home/", "/tmp/", ".cargo/registry", "crates.io"] {
        assert!(!text.contains(trace), "the guest contains {trace}");
    }
}
