//! Compiles the guest once for each kind of machine. See `src/engine/config.rs` for what the kinds are.

use std::env;
use std::fs;
use std::path::Path;

use lz4::block::CompressionMode;
use wasmparser::{DataKind, Operator, Parser, Payload};
use wasmtime::{Engine, OptLevel};

use crate::engine_config::{self, ImageKind};
use crate::{FRESH, call_targets, marks};

/// The number of sections that Wasm does not define.
const CUSTOM: u8 = 0;

/// The highest levels there are of LZ4 and of Zstandard: they take seconds here, and make unpacking no slower.
const FAST: i32 = 12;
const SMALL: i32 = 22;

/// What of the guest all images share: its digest, and the memory of a fresh instance.
pub(crate) struct Guest<'a> {
    bytes: &'a [u8],
    marked: Vec<u8>,
    fresh_from: usize,
    fresh: Vec<u8>,
    /// Whether what starts most processes is packed so that it is unpacked fast, rather than so that it is small.
    is_fast: bool,
}

impl<'a> Guest<'a> {
    pub(crate) fn new(bytes: &'a [u8], is_fast: bool) -> Self {
        // Those of the two functions that do all others (`guest/snapshot/src/bulk.rs`).
        assert_eq!(long_moves(bytes), 2, "the guest moves memory in pieces that hold a deadline up");
        let (fresh_from, fresh) = fresh_memory(bytes);
        Self { bytes, marked: marks::marked(bytes), fresh_from, fresh, is_fast }
    }

    /// Packs the memory of a fresh instance into a file of this folder, and returns the items that describe it.
    pub(crate) fn pack_fresh(&self, out: &Path) -> String {
        let pack = if self.is_fast { fast } else { small };
        format!(
            "/// blake3 of the guest.\n\
             pub(crate) const GUEST: &str = \"{}\";\n\
             /// Where the guest's memory begins to be anything but zero.\n\
             pub(crate) const FRESH_FROM: usize = {};\n\
             /// That memory.\n\
             pub(super) static FRESH: Packed = {};\n",
            blake3::hash(self.bytes),
            number(self.fresh_from),
            pack(out, FRESH, &self.fresh),
        )
    }

    /// Compiles the image of this name into a file of this folder, and returns the expression that describes it.
    pub(crate) fn pack_image(&self, name: &str, out: &Path) -> String {
        let kind =
            ImageKind::ALL.into_iter().find(|kind| kind.name() == name).expect("the names are those of the kinds");
        let image = compile(kind, &nameless(if kind.is_instrumented() { &self.marked } else { self.bytes }));
        let at = place(&image, &self.fresh);
        let others = [&image[..at], &image[at + self.fresh.len()..]].concat();
        let pack = match kind {
            // It starts most processes.
            ImageKind::Roomy if self.is_fast => fast,
            ImageKind::Interpreted => small,
            _ if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") => small_code,
            _ => small,
        };
        format!(
            "Built {{\n    \
                 others: {},\n    \
                 fresh_at: {},\n    \
                 digest: \"{}\",\n\
             }}",
            pack(out, name, &others),
            number(at),
            blake3::hash(&image),
        )
    }
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
    let engine = Engine::new(&config).unwrap_or_else(|error| {
        panic!(
            "images for this target cannot be compiled here ({error:#}): enable the feature `cross` of `toolcell-host`, or take \
             those of a release (TOOLCELL_IMAGE_CACHE)"
        )
    });
    engine.precompile_module(guest).expect("the guest is valid")
}
