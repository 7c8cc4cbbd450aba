//! Compiles the guest ahead of time, once for each kind of machine, so that no process that runs a tool needs a
//! compiler. See `src/tunables.rs` for what the kinds are.
//!
//! Invariant: what is compiled is the guest whose digest is committed beside it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a build script has no callers; it reads and writes files; and a build that cannot go on ends"
)]

mod marks;
#[path = "src/tunables.rs"]
mod tunables;

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use tunables::Kind;
use wasmparser::{DataKind, Operator, Parser, Payload};
use wasmtime::{Config, Engine, OptLevel};

/// The kinds of images that profiles are taken with.
const PROFILING: [Kind; 2] = [Kind::Bounded, Kind::Interpreted];

fn main() {
    println!("cargo::rerun-if-changed=src/tunables.rs");
    println!("cargo::rerun-if-changed=../guest/prebuilt");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rustc-env=TOOLCELL_ENGINE_VERSION={}", engine_version(&root.join("../Cargo.lock")));
    let guest = pinned_guest(&root.join("../guest/prebuilt"));

    let mut digests =
        format!("/// blake3 of the guest.\npub(crate) const GUEST: &str = \"{}\";\n", blake3::hash(&guest));
    let (from, fresh) = fresh_memory(&guest);
    fs::write(out.join("fresh.memory"), fresh).expect("OUT_DIR is writable");
    let line = format!(
        "/// Where the guest's memory begins to be anything but zero.\npub(crate) const FRESH_FROM: usize = {:#x}_{:04x};\n",
        from >> 16,
        from & 0xffff
    );
    digests.push_str(&line);
    for kind in Kind::ALL {
        let image = compile(kind, tunables::config(kind), &guest);
        let digest = blake3::hash(&image);
        fs::write(out.join(format!("{}.cwasm", kind.name())), &image).expect("OUT_DIR is writable");
        let name = kind.name().to_uppercase();
        let line = format!("/// blake3 of the {} image.\npub(crate) const {name}: &str = \"{digest}\";\n", kind.name());
        digests.push_str(&line);
    }
    let marked = marks::marked(&guest);
    for kind in PROFILING {
        let image = compile(kind, tunables::profiling(kind), &marked);
        let digest = blake3::hash(&image);
        // Few processes take a profile: it is kept small, rather than ready to be loaded.
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&image).expect("memory is written");
        let packed = packed.finish().expect("memory is written");
        fs::write(out.join(format!("profiling-{}.cwasm.zlib", kind.name())), &packed).expect("OUT_DIR is writable");
        let name = kind.name().to_uppercase();
        let (high, low) = (image.len() >> 16, image.len() & 0xffff);
        let line = format!(
            "/// blake3 of the {} image for profiles, and its size.\n\
             pub(crate) const PROFILING_{name}: (&str, usize) = (\"{digest}\", {high:#x}_{low:04x});\n",
            kind.name(),
        );
        digests.push_str(&line);
    }
    fs::write(out.join("digests.rs"), digests).expect("OUT_DIR is writable");
}

/// The version of Wasmtime in the lock file: fuel means something only together with it.
fn engine_version(lock: &Path) -> String {
    println!("cargo::rerun-if-changed={}", lock.display());
    let lock = fs::read_to_string(lock).expect("the lock file lies beside the workspace");
    let (_, after) = lock.split_once("name = \"wasmtime\"\nversion = \"").expect("Wasmtime is locked");
    after.split('"').next().unwrap_or_default().to_owned()
}

/// The guest, if it is the one whose digest is committed.
fn pinned_guest(prebuilt: &Path) -> Vec<u8> {
    let file = prebuilt.join("guest.wasm");
    let guest = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let listed = fs::read_to_string(prebuilt.join("guest.wasm.b3")).expect("the digest lies beside the guest");
    let pinned = listed.split_whitespace().next().unwrap_or_default();
    let actual = blake3::hash(&guest).to_string();
    assert_eq!(actual, pinned, "{} is not the guest that was committed; `make guest` builds it", file.display());
    guest
}

/// The memory of a fresh instance, from the first page that is not zero: a prepared script is kept as what differs.
fn fresh_memory(guest: &[u8]) -> (usize, Vec<u8>) {
    let mut memory = Vec::new();
    let mut from = usize::MAX;
    for payload in Parser::new(0).parse_all(guest) {
        let Payload::DataSection(section) = payload.expect("the guest is valid") else { continue };
        for segment in section {
            let segment = segment.expect("the guest is valid");
            // The snapshot leaves empty segments where the original ones were.
            let DataKind::Active { offset_expr, .. } = segment.kind else { continue };
            let Ok(Operator::I32Const { value }) = offset_expr.get_operators_reader().read() else {
                panic!("a data segment's place is no constant")
            };
            let at = value.cast_unsigned() as usize;
            let end = at + segment.data.len();
            memory.resize(memory.len().max(end), 0);
            memory[at..end].copy_from_slice(segment.data);
            from = from.min(at & !4095);
        }
    }
    // Whole pages, so that no line of the comparison is cut short.
    memory.resize(memory.len().next_multiple_of(4096), 0);
    (from, memory.split_off(from))
}

/// The image of the guest for one kind of machine.
fn compile(kind: Kind, config: wasmtime::Result<Config>, guest: &[u8]) -> Vec<u8> {
    let mut config = config.expect("the settings are valid");
    config.cranelift_opt_level(OptLevel::Speed).cranelift_nan_canonicalization(true);
    if kind != Kind::Interpreted {
        // A named target keeps the build machine's CPU out of the image. What is switched on beyond the baseline is
        // x86-64-v2 (every CPU since about 2009); a machine without it gets the interpreter.
        let target = env::var("TARGET").expect("cargo sets it");
        config.target(&target).expect("Cranelift knows the target");
        if target.starts_with("x86_64") {
            for flag in ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"] {
                // SAFETY: the engine that loads the image checks that the CPU has what it was compiled for.
                #[expect(unsafe_code, reason = "Wasmtime has no safe way to choose a CPU level")]
                unsafe {
                    config.cranelift_flag_enable(flag);
                }
            }
        }
    }
    let engine = Engine::new(&config).expect("the settings fit together");
    engine.precompile_module(guest).expect("the guest is valid")
}
