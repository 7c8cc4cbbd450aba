//! Puts images of the guest where the crate includes them: the guest is compiled ahead of time, once for each kind of machine,
//! so that no process that runs a tool needs a compiler.
//!
//! The compiler takes minutes to build. Images are kept in the folder that `TOOLCELL_IMAGE_CACHE` names, under the digest of
//! all that they are made from, and a build without the feature `compiler` takes them from there.
//!
//! Invariant: what is compiled is the guest whose digest is committed beside it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "a build script has no callers; it reads and writes files; and a build that cannot go on ends"
)]

#[cfg(feature = "compiler")]
#[path = "src/engine/call_targets.rs"]
#[expect(dead_code, reason = "images are packed here, and unpacked nowhere")]
mod call_targets;
#[cfg(feature = "compiler")]
#[path = "build/compile.rs"]
mod compile;
#[cfg(feature = "compiler")]
#[path = "src/engine/config.rs"]
#[expect(unreachable_pub, reason = "the library exports a part of it")]
mod engine_config;
#[cfg(feature = "compiler")]
#[path = "build/marks.rs"]
mod marks;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The images, by the names of their kinds.
const KINDS: [&str; 4] = ["roomy", "embedded", "bounded", "interpreted"];

/// The memory of a fresh instance, which is packed as the images are.
const FRESH: &str = "fresh";

/// A variable with the names of the images that are built in, separated by commas: for a package of which each MiB counts.
/// Without it, all are, and those that start most processes are packed so that they are unpacked fast.
const IMAGES: &str = "TOOLCELL_IMAGES";

/// A variable with the folder that keeps images. A build with the compiler puts all kinds there, whichever it builds in.
const IMAGE_CACHE: &str = "TOOLCELL_IMAGE_CACHE";

/// The version of Wasmtime and of its compiler, as in the manifest of the workspace.
const WASMTIME: &str = "48.0.8";

/// What makes images of the guest.
const SOURCES: [(&str, &[u8]); 5] = [
    ("build.rs", include_bytes!("build.rs")),
    ("build/compile.rs", include_bytes!("build/compile.rs")),
    ("build/marks.rs", include_bytes!("build/marks.rs")),
    ("src/engine/call_targets.rs", include_bytes!("src/engine/call_targets.rs")),
    ("src/engine/config.rs", include_bytes!("src/engine/config.rs")),
];

fn main() {
    for (source, _) in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    // A link to `../guest/prebuilt`, which is part of the package of this crate.
    println!("cargo::rerun-if-changed=prebuilt/guest.wasm");
    println!("cargo::rerun-if-changed=prebuilt/guest.wasm.b3");
    println!("cargo::rerun-if-env-changed={IMAGES}");
    println!("cargo::rerun-if-env-changed={IMAGE_CACHE}");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let guest = pinned_guest(&root.join("prebuilt"));
    let kept = env::var_os(IMAGE_CACHE).map(|cache| Path::new(&cache).join(inputs(&guest)));

    let fills_cache = kept.is_some() && cfg!(feature = "compiler");
    let kinds = KINDS.into_iter().filter(|kind| fills_cache || is_built_in(kind));
    let is_kept = |name: &&str| kept.as_ref().is_some_and(|kept| kept.join(name).with_extension("rs").exists());
    let (found, missing): (Vec<&str>, Vec<&str>) = std::iter::once(FRESH).chain(kinds).partition(is_kept);
    if !missing.is_empty() {
        make_images(&guest, &missing, &out, kept.as_deref());
    }
    if let Some(kept) = &kept {
        for name in found {
            copy(name, kept, &out);
        }
        for name in missing {
            copy(name, &out, kept);
        }
    }
    let described = |name: &str| fs::read_to_string(out.join(name).with_extension("rs")).expect("it was just written");
    let mut images = format!(
        "use super::{{Built, Packed, Packing}};\n\n\
         // Not every image is built in, and each has a packing of its own.\n\
         const _: [Packing; 3] = [Packing::Fast, Packing::Small, Packing::SmallCode];\n\n{}",
        described(FRESH)
    );
    for kind in KINDS {
        let image = if is_built_in(kind) { format!("Some({})", described(kind)) } else { "None".to_owned() };
        let name = kind.to_uppercase();
        images.push_str(&["pub(super) static ", &name, ": Option<Built> = ", &image, ";\n"].concat());
    }
    fs::write(out.join("images.rs"), images).expect("OUT_DIR is writable");
}

/// Whether an image is built in: it is asked for, and there is a feature for it if it needs one.
fn is_built_in(kind: &str) -> bool {
    let is_wanted = env::var(IMAGES).map_or(true, |names| names.split(',').any(|name| name == kind));
    is_wanted && (kind != "embedded" || env::var_os("CARGO_FEATURE_EMBEDDED").is_some())
}

/// Writes each of these images, and what describes it.
#[cfg(feature = "compiler")]
fn make_images(guest: &[u8], names: &[&str], out: &Path, _kept: Option<&Path>) {
    let guest = compile::Guest::new(guest, env::var_os(IMAGES).is_none());
    for name in names {
        let described = if *name == FRESH { guest.pack_fresh(out) } else { guest.pack_image(name, out) };
        fs::write(out.join(name).with_extension("rs"), described).expect("OUT_DIR is writable");
    }
}

#[cfg(not(feature = "compiler"))]
fn make_images(_guest: &[u8], names: &[&str], _out: &Path, kept: Option<&Path>) {
    let looked =
        kept.map_or_else(|| format!("{IMAGE_CACHE} is not set"), |kept| format!("nothing in {}", kept.display()));
    panic!(
        "there is no compiler for images of the guest, and {looked} ({}): let {IMAGE_CACHE} name the folder with the unpacked \
         images of the release of this version, for this target, or enable the feature `compiler`",
        names.join(", ")
    );
}

/// Copies an image and what describes it. Another build that looks for it finds all of it, or nothing.
fn copy(name: &str, from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    for extension in ["packed", "rs"] {
        let (from, to) = (from.join(name).with_extension(extension), to.join(name).with_extension(extension));
        let new = to.with_extension(std::process::id().to_string());
        let copied = fs::copy(&from, &new).and_then(|_| fs::rename(&new, &to));
        copied.unwrap_or_else(|error| panic!("{} cannot be copied to {}: {error}", from.display(), to.display()));
    }
}

/// The digest of all that images are made from.
fn inputs(guest: &[u8]) -> String {
    let mut inputs = blake3::Hasher::new();
    let mut add = |input: &[u8]| {
        inputs.update(&(input.len() as u64).to_le_bytes());
        inputs.update(input);
    };
    add(guest);
    add(WASMTIME.as_bytes());
    for (_, source) in SOURCES {
        add(source);
    }
    add(env::var("TARGET").expect("cargo sets it").as_bytes());
    // How images are packed depends on whether they are chosen, and not on which.
    add(&[u8::from(env::var_os(IMAGES).is_some())]);
    inputs.finalize().to_string()
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
