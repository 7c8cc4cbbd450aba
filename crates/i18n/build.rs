//! Packs the catalogues in `po/`: all texts in one, and a sorted table of where each begins and ends.
//!
//! A table of string slices would be three times as large: the binary keeps a relocation for each pointer.

#![expect(clippy::disallowed_methods, reason = "a build script writes files and reads its environment")]

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const FILES: [&str; 2] = ["po/ja.po", "po/zh.po"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut translations: BTreeMap<String, [String; FILES.len()]> = BTreeMap::new();
    for (index, file) in FILES.into_iter().enumerate() {
        println!("cargo::rerun-if-changed={file}");
        let catalog = polib::po_file::parse(Path::new(file)).map_err(|error| format!("{file}: {error}"))?;
        for message in catalog.messages() {
            let text = message.msgstr().unwrap_or_default();
            if !text.is_empty() && !message.is_fuzzy() {
                // As in a compiled catalogue of gettext, a context stands before its message, with EOT between the two.
                let key = match message.msgctxt() {
                    Some(context) if !context.is_empty() => format!("{context}\u{4}{}", message.msgid()),
                    _ => message.msgid().to_owned(),
                };
                text.clone_into(&mut translations.entry(key).or_default()[index]);
            }
        }
    }

    let mut texts = Texts::default();
    let mut table = String::from(
        "#[expect(clippy::unreadable_literal, reason = \"the build script writes them\")]\nstatic ENTRIES: &[Entry] = &[\n",
    );
    for (key, translated) in &translations {
        let key = texts.add(key)?;
        let [ja, zh] = [texts.add(&translated[0])?, texts.add(&translated[1])?];
        writeln!(table, "    Entry {{ key: {key}, ja: {ja}, zh: {zh} }},")?;
    }
    table.push_str("];\n");
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("entries.rs"), table)?;
    fs::write(Path::new(&out).join("texts.txt"), texts.text)?;
    Ok(())
}

/// Texts one after another, each once.
#[derive(Default)]
struct Texts {
    text: String,
    known: HashMap<String, String>,
}

impl Texts {
    /// Adds a text, and returns where it stands, as code. An empty one is a missing translation.
    fn add(&mut self, text: &str) -> Result<String, Box<dyn Error>> {
        if let Some(known) = self.known.get(text) {
            return Ok(known.clone());
        }
        let start = u32::try_from(self.text.len())?;
        self.text.push_str(text);
        let span = format!("Span({start}, {})", u32::try_from(self.text.len())?);
        self.known.insert(text.to_owned(), span.clone());
        Ok(span)
    }
}
