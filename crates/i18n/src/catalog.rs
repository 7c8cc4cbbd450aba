//! The catalogues as the build script packs them.

use crate::Lang;

include!(concat!(env!("OUT_DIR"), "/entries.rs"));

/// All texts, one after another.
static TEXTS: &str = include_str!(concat!(env!("OUT_DIR"), "/texts.txt"));

/// A message and its translations, sorted by the message.
struct Entry {
    key: Span,
    ja: Span,
    zh: Span,
}

/// Start and end of a text in [`TEXTS`], in bytes.
#[derive(Clone, Copy)]
struct Span(u32, u32);

impl Span {
    fn text(self) -> &'static str {
        &TEXTS[self.0 as usize..self.1 as usize]
    }
}

/// Returns the translation of a message, whose key is its English text, or `context`, EOT and its English
/// text.
pub(crate) fn find(lang: Lang, key: &str) -> Option<&'static str> {
    let select = match lang {
        Lang::En => return None,
        Lang::Ja => |entry: &Entry| entry.ja,
        Lang::Zh => |entry: &Entry| entry.zh,
    };
    let index = ENTRIES.binary_search_by_key(&key, |entry| entry.key.text()).ok()?;
    Some(select(&ENTRIES[index]).text()).filter(|text| !text.is_empty())
}
