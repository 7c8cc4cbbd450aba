//! The catalogues as the build script packs them.

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

/// Returns the Japanese and the Chinese translation of a message, whose key is its English text, or `context`, EOT
/// and its English text. A missing translation is empty.
pub(crate) fn find(key: &str) -> Option<(&'static str, &'static str)> {
    let index = ENTRIES.binary_search_by_key(&key, |entry| entry.key.text()).ok()?;
    let Entry { ja, zh, .. } = &ENTRIES[index];
    Some((ja.text(), zh.text()))
}
