//! Compiles the catalogues in `po/` to sorted tables.

#![expect(clippy::disallowed_methods, reason = "a build script writes files and reads its environment")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut code = String::new();
    for (table, file) in [("JA", "po/ja.po"), ("ZH", "po/zh.po")] {
        println!("cargo::rerun-if-changed={file}");
        let catalog = polib::po_file::parse(Path::new(file)).map_err(|error| format!("{file}: {error}"))?;
        let mut entries = Vec::new();
        for message in catalog.messages() {
            let text = message.msgstr().unwrap_or_default();
            if !text.is_empty() && !message.is_fuzzy() {
                // As in a compiled catalogue of gettext, a context stands before its message, with EOT between the two.
                let key = match message.msgctxt() {
                    Some(context) if !context.is_empty() => format!("{context}\u{4}{}", message.msgid()),
                    _ => message.msgid().to_owned(),
                };
                entries.push((key, text.to_owned()));
            }
        }
        entries.sort();
        writeln!(code, "static {table}: &[(&str, &str)] = &[")?;
        for (key, text) in entries {
            writeln!(code, "    ({key:?}, {text:?}),")?;
        }
        writeln!(code, "];")?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("catalogs.rs"), code)?;
    Ok(())
}
