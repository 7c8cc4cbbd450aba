//! Packs ICU's dictionaries, which saves one of their three megabytes, and the templates, which saves most of theirs: few
//! processes read them. And turns the lexicon, which is text, into tables: a sense that does not exist fails the build.

#![expect(clippy::disallowed_methods, clippy::expect_used, clippy::panic, reason = "a build script has no callers")]

#[path = "src/dictionary_format.rs"]
mod dictionary_format;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use dictionary_format::{AlphabeticDictionary, PackedDictionaries};
use icu_provider::prelude::*;
use icu_segmenter::provider::{Baked, DictionaryBreakData, SegmenterDictionaryAutoV2, SegmenterDictionaryExtendedV2};
use serde::Serialize;

/// The highest level there is: it takes seconds here, and makes unpacking no slower.
const LEVEL: i32 = 22;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/dictionary_format.rs");
    println!("cargo::rerun-if-changed=lexicon");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("lexicon.rs"), lexicon_tables(Path::new("lexicon"))).expect("OUT_DIR is writable");
    println!("cargo::rerun-if-changed=templates");
    pack("template", &templates(Path::new("templates")), &out);
    let chinese_and_japanese = load::<SegmenterDictionaryAutoV2>("cjdict");
    let DictionaryBreakData::Char16Trie(words) = chinese_and_japanese.get() else { panic!("it is another trie") };
    let alphabetic: Vec<_> = ["burmesedict", "khmerdict", "laodict", "thaidict"]
        .into_iter()
        .map(|name| (name, load::<SegmenterDictionaryExtendedV2>(name)))
        .collect();
    let alphabetic = alphabetic.iter().map(|(name, dictionary)| {
        let DictionaryBreakData::ZeroTrie { alphabet, trie } = dictionary.get() else { panic!("it is another trie") };
        AlphabeticDictionary { name, alphabet: alphabet.get_inversion_list_vec(), trie: trie.store.as_bytes() }
    });
    let packed = PackedDictionaries { chinese_and_japanese: words.data.as_bytes(), alphabetic: alphabetic.collect() };
    pack("dictionary", &packed, &out);
}

/// Writes a value to `NAME.zst`, and its size to the variable `TOOLCELL_NAME_BYTES`.
fn pack(name: &str, value: &impl Serialize, out: &Path) {
    let bytes = postcard::to_allocvec(value).expect("texts, bytes and numbers can be written");
    let packed = zstd::bulk::compress(&bytes, LEVEL).expect("there is memory enough");
    fs::write(out.join(name).with_extension("zst"), packed).expect("OUT_DIR is writable");
    println!("cargo::rustc-env=TOOLCELL_{}_BYTES={}", name.to_uppercase(), bytes.len());
}

/// Returns the texts of the templates, each with its code, and of the words that ask for them.
fn templates(folder: &Path) -> (Vec<(String, String)>, Vec<String>) {
    let read = |file: &Path| fs::read_to_string(file).expect("the templates can be read");
    let templates = files(folder).into_iter().map(|file| (read(&file), read(&file.with_extension("ts"))));
    let concepts = files(&folder.join("concepts")).into_iter().map(|file| read(&file));
    (templates.collect(), concepts.collect())
}

/// Returns the JSON files of a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("the folder can be read").map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

/// A dictionary, as it comes with the library.
fn load<M>(name: &str) -> DataPayload<M>
where
    M: DataMarker,
    Baked: DataProvider<M>,
{
    let id =
        DataIdentifierBorrowed::for_marker_attributes(DataMarkerAttributes::try_from_str(name).expect("it is one"));
    let found = Baked.load(DataRequest { id, ..DataRequest::default() });
    found.expect("the dictionary comes with the library").payload
}

/// Returns the source of the tables of all languages.
fn lexicon_tables(folder: &Path) -> String {
    let mut source = String::new();
    for language in ["english", "thai", "japanese", "chinese"] {
        let text = fs::read_to_string(folder.join(language).with_extension("txt")).expect("the lexicon can be read");
        let table = language.to_uppercase();
        writeln!(source, "pub(super) static {table}: &[LexiconRow] = &[").expect("a string can be written to");
        for (sense, forms) in sections(&text) {
            let sense = sense.replace('(', "(Trigger::");
            writeln!(source, "    (Sense::{sense}, {forms:?}),").expect("a string can be written to");
        }
        source.push_str("];\n");
    }
    source
}

/// Splits a text into its sections: a sense in brackets, then its forms. Lines that begin with `#` are comments.
fn sections(text: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(sense) = line.strip_prefix('[') {
            found.push((sense.strip_suffix(']').expect("a sense ends with a bracket"), String::new()));
        } else {
            let (_, forms) = found.last_mut().expect("forms follow a sense");
            forms.push_str(line);
            forms.push(' ');
        }
    }
    found
}
