//! Compiles the guest ahead of time, once for each kind of machine, so that no process that runs a tool needs a
//! compiler. See `src/engine/config.rs` for what the kinds are.
//!
//! Invariant: what is compiled is the guest whose digest is committed beside it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a build script has no callers; it reads and writes files; and a build that cannot go on ends"
)]

#[path = "src/engine/call_targets.rs"]
#[expect(dead_code, reason = "images are packed here, and unpacked nowhere")]
mod call_targets;
#[path = "src/engine/config.rs"]
mod engine_config;
mod marks;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use engine_config::ImageKind;
use lz4::block::CompressionMode;
use wasmparser::{DataKind, Operator, Parser, Payload};
use wasmtime::{Engine, OptLevel};

/// The number of sections that Wasm does not define.
const CUSTOM: u8 = 0;

/// A variable with the names of the images that are built in, separated by commas: for a package of which each MiB counts.
/// Without it, all are, and those that start most processes are packed so that they are unpacked fast.
const IMAGES: &str = "TOOLCELL_IMAGES";

/// The highest levels there are of LZ4 and of Zstandard: they take seconds here, and make unpacking no slower.
const FAST: i32 = 12;
const SMALL: i32 = 22;

fn main() {
    println!("cargo::rerun-if-changed=src/engine/call_targets.rs");
    println!("cargo::rerun-if-changed=src/engine/config.rs");
    // A link to `../guest/prebuilt`, which is part of the package of this crate.
    println!("cargo::rerun-if-changed=prebuilt/guest.wasm");
    println!("cargo::rerun-if-changed=prebuilt/guest.wasm.b3");
    println!("cargo::rerun-if-changed=marks.rs");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={IMAGES}");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let guest = pinned_guest(&root.join("prebuilt"));
    // Those of the two functions that do all others (`guest/snapshot/src/bulk.rs`).
    assert_eq!(long_moves(&guest), 2, "the guest moves memory in pieces that hold a deadline up");

    let (from, fresh) = fresh_memory(&guest);
    let mut images = format!(
        "use super::{{Built, Packed, Packing}};\n\n\
         // Not every image is built in, and each has a packing of its own.\n\
         const _: [Packing; 3] = [Packing::Fast, Packing::Small, Packing::SmallCode];\n\n\
         /// blake3 of the guest.\n\
         pub(crate) const GUEST: &str = \"{}\";\n\
         /// Where the guest's memory begins to be anything but zero.\n\
         pub(crate) const FRESH_FROM: usize = {};\n\
         /// That memory.\n\
         pub(super) static FRESH: Packed = {};\n",
        blake3::hash(&guest),
        number(from),
        if prefers_speed() { fast(&out, "fresh", &fresh) } else { small(&out, "fresh", &fresh) },
    );
    let marked = marks::marked(&guest);
    for kind in ImageKind::ALL {
        let name = kind.name().to_uppercase();
        if !is_built_in(kind) {
            images.push_str(&["pub(super) static ", &name, ": Option<Built> = None;\n"].concat());
            continue;
        }
        let image = compile(kind, &nameless(if kind.is_instrumented() { &marked } else { &guest }));
        let at = place(&image, &fresh);
        let others = [&image[..at], &image[at + fresh.len()..]].concat();
        let pack = match kind {
            // It starts most processes.
            ImageKind::Roomy if prefers_speed() => fast,
            ImageKind::Interpreted => small,
            _ if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") => small_code,
            _ => small,
        };
        let built = format!(
            "/// The image `{kind}`.\n\
             pub(super) static {name}: Option<Built> = Some(Built {{\n    \
                 others: {},\n    \
                 fresh_at: {},\n    \
                 digest: \"{}\",\n\
             }});\n",
            pack(&out, kind.name(), &others),
            number(at),
            blake3::hash(&image),
            kind = kind.name(),
        );
        images.push_str(&built);
    }
    fs::write(out.join("images.rs"), images).expect("OUT_DIR is writable");
}

/// Whether an image is built in: it is asked for, and there is a feature for it if it needs one.
fn is_built_in(kind: ImageKind) -> bool {
    let is_wanted = env::var(IMAGES).map_or(true, |names| names.split(',').any(|name| name == kind.name()));
    is_wanted && (kind != ImageKind::Embedded || env::var_os("CARGO_FEATURE_EMBEDDED").is_some())
}

/// Whether images are packed for speed rather than for size: unless a build chooses among them.
fn prefers_speed() -> bool {
    env::var_os(IMAGES).is_none()
}

/// Packs bytes so that they are unpacked fast (LZ4), into a file of this name, and describes it.
fn fast(out: &Path, name: &str, bytes: &[u8]) -> String {
    let packed = lz4::block::compress(bytes, Some(CompressionMode::HIGHCOMPRESSION(FAST)), false);
    describe(out, name, "Fast", &packed.expect("an image is not too large"), bytes.len())
}

/// Packs bytes so that they are small (Zstandard), likewise.
fn small(out: &Path, name: &str, bytes: &[u8]) -> String {
    let packed = zstd::bulk::compress(bytes, SMALL).expect("there is memory enough");
    describe(out, name, "Small", &packed, bytes.len())
}

/// Packs machine code of x86-64 so that it is smaller still.
fn small_code(out: &Path, name: &str, bytes: &[u8]) -> String {
    let mut code = bytes.to_vec();
    call_targets::to_absolute(&mut code);
    let packed = zstd::bulk::compress(&code, SMALL).expect("there is memory enough");
    describe(out, name, "SmallCode", &packed, bytes.len())
}

fn describe(out: &Path, name: &str, packing: &str, packed: &[u8], size: usize) -> String {
    // By this, it can be found in a finished binary.
    let mark = format!("\x7fguest image {name}\0");
    fs::write(out.join(format!("{name}.packed")), [mark.as_bytes(), packed].concat()).expect("OUT_DIR is writable");
    let file = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.packed\"))");
    format!("Packed {{ packing: Packing::{packing}, file: {file}, mark: {}, size: {} }}", mark.len(), number(size))
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

/// How many operators of the guest may copy or fill more than 256 KiB at once.
fn long_moves(guest: &[u8]) -> usize {
    let mut long = 0;
    for payload in Parser::new(0).parse_all(guest) {
        let Payload::CodeSectionEntry(body) = payload.expect("the guest is valid") else { continue };
        let mut length = None;
        for operator in body.get_operators_reader().expect("the guest is valid") {
            length = match operator.expect("the guest is valid") {
                Operator::I32Const { value } => Some(value),
                Operator::MemoryCopy { .. } | Operator::MemoryFill { .. } => {
                    long += usize::from(!length.is_some_and(|length| (0..=256 << 10).contains(&length)));
                    None
                }
                Operator::MemoryInit { .. } => panic!("the guest copies a passive segment"),
                _ => None,
            };
        }
    }
    long
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

/// The guest without what only a debugger would read.
fn nameless(guest: &[u8]) -> Vec<u8> {
    let mut nameless = guest[..8].to_vec();
    for payload in Parser::new(0).parse_all(guest) {
        if let Some((id, range)) = payload.expect("the guest is valid").as_section()
            && id != CUSTOM
        {
            marks::section(&mut nameless, id, &guest[range]);
        }
    }
    nameless
}

/// The image of the guest for one kind of machine.
fn compile(kind: ImageKind, guest: &[u8]) -> Vec<u8> {
    let mut config = engine_config::config(kind).expect("the settings are valid");
    config.cranelift_opt_level(OptLevel::Speed).cranelift_nan_canonicalization(true);
    if kind != ImageKind::Interpreted {
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
