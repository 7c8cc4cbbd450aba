//! Compresses the assets, and names each by the hash of its content.
#![expect(clippy::disallowed_methods, reason = "a build script reads and writes files of the build")]

use std::io::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

/// The name of a constant, the file, and its media type.
const ASSETS: [(&str, &str, &str); 5] = [
    ("STYLE", "ui.css", "text/css; charset=utf-8"),
    ("SCRIPT", "ui.js", "text/javascript; charset=utf-8"),
    ("LEDGER_SCRIPT", "ledger.js", "text/javascript; charset=utf-8"),
    ("PLAYGROUND_SCRIPT", "playground.js", "text/javascript; charset=utf-8"),
    ("ICON", "icon.svg", "image/svg+xml"),
];

fn main() -> std::io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(std::io::ErrorKind::NotFound)?);
    println!("cargo::rerun-if-changed=assets");
    let mut constants = Vec::new();
    for (constant, name, kind) in ASSETS {
        let content = fs::read(format!("assets/{name}"))?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&content)?;
        fs::write(out.join(name), encoder.finish()?)?;
        let hash = blake3::hash(&content).to_hex();
        constants.push(format!(
            "pub(crate) const {constant}: Asset = Asset {{ path: \"/assets/{}/{name}\", kind: {kind:?}, \
             compressed: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\")) }};",
            &hash[..16]
        ));
    }
    let names: Vec<&str> = ASSETS.iter().map(|(constant, ..)| *constant).collect();
    constants.push(format!("const ALL: [Asset; {}] = [{}];", names.len(), names.join(", ")));
    fs::write(out.join("assets.rs"), constants.join("\n"))
}
