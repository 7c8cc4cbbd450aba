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
use std::path::{Path, PathBuf};

use lz4::block::CompressionMode;
use tunables::Kind;
use wasmparser::{DataKind, Operator, Parser, Payload};
use wasmtime::{Config, Engine, OptLevel};

/// The kinds of images that profiles are taken with.
const PROFILING: [Kind; 2] = [Kind::Bounded, Kind::Interpreted];

/// The highest level there is: it takes seconds here, and makes unpacking no slower.
const LEVEL: i32 = 12;

fn main() {
    println!("cargo::rerun-if-changed=src/tunables.rs");
    println!("cargo::rerun-if-changed=../guest/prebuilt");
    println!("cargo::rerun-if-changed=marks.rs");
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rustc-env=TOOLCELL_ENGINE_VERSION={}", engine_version(&root.join("../Cargo.lock")));
    let guest = pinned_guest(&root.join("../guest/prebuilt"));

    let (from, fresh) = fresh_memory(&guest);
    let roomy = compile(Kind::Roomy, tunables::config(Kind::Roomy), &guest);
    let mut images = format!(
        "use super::Packed;\n\n\
         /// blake3 of the guest.\n\
         pub(crate) const GUEST: &str = \"{}\";\n\
         /// blake3 of the roomy image.\n\
         pub(crate) const ROOMY: &str = \"{}\";\n\
         /// Where the guest's memory begins to be anything but zero.\n\
         pub(crate) const FRESH_FROM: usize = {};\n\
         /// Where that memory lies in the roomy image, and its size.\n\
         pub(crate) const FRESH: (usize, usize) = ({}, {});\n",
        blake3::hash(&guest),
        blake3::hash(&roomy),
        number(from),
        number(place(&roomy, &fresh)),
        number(fresh.len()),
    );
    fs::write(out.join("roomy.cwasm"), &roomy).expect("OUT_DIR is writable");
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Roomy) {
        let image = compile(kind, tunables::config(kind), &guest);
        images.push_str(&packed(&out, kind.name(), &image, &fresh));
    }
    let marked = marks::marked(&guest);
    for kind in PROFILING {
        let image = compile(kind, tunables::profiling(kind), &marked);
        images.push_str(&packed(&out, &format!("profiling_{}", kind.name()), &image, &fresh));
    }
    fs::write(out.join("images.rs"), images).expect("OUT_DIR is writable");
}

/// Packs an image into a file of this name, and describes it. What a fresh memory holds is in the roomy image already.
fn packed(out: &Path, name: &str, image: &[u8], fresh: &[u8]) -> String {
    let at = place(image, fresh);
    let others = [&image[..at], &image[at + fresh.len()..]].concat();
    let packed = lz4::block::compress(&others, Some(CompressionMode::HIGHCOMPRESSION(LEVEL)), false);
    let packed = packed.expect("an image is not too large");
    // By this, it can be found in a finished binary, as an image that is not packed can by Wasmtime's mark.
    let mark = format!("\x7fguest image {name} lz4\0");
    fs::write(out.join(format!("{name}.lz4")), [mark.as_bytes(), &*packed].concat()).expect("OUT_DIR is writable");
    format!(
        "/// The image `{name}`.\n\
         pub(crate) const {}: Packed = Packed {{\n    \
             file: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.lz4\")),\n    \
             mark: {},\n    \
             digest: \"{}\",\n    \
             size: {},\n    \
             fresh_at: {},\n\
         }};\n",
        name.to_uppercase(),
        mark.len(),
        blake3::hash(image),
        number(image.len()),
        number(at),
    )
}

/// Where an image holds the memory of a fresh instance: as it is, because it is mapped from there.
fn place(image: &[u8], fresh: &[u8]) -> usize {
    // Nearly all places are told apart by the first bytes.
    let found = image.windows(fresh.len()).position(|part| part == fresh);
    found.expect("Wasmtime keeps the guest's memory as it is, for copying on write")
}

/// A number as it is written in a source.
fn number(number: usize) -> String {
    format!("{:#x}_{:04x}", number >> 16, number & 0xffff)
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
