//! The values of recent runs that are too long for a message, kept in memory for one principal.
//!
//! Invariant: the values take at most [`MAX_BYTES`], except for a single larger one; the oldest is
//! dropped first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The beginning of the URI of a value, before its hash.
pub(crate) const URI_PREFIX: &str = "toolcell://results/";
/// The memory for values, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// A cache of values by their URI.
#[derive(Debug, Default)]
pub(crate) struct ResultCache(Mutex<VecDeque<(Arc<str>, Arc<str>)>>);

impl ResultCache {
    /// Keeps the JSON text of a value, and returns its URI: the same one for the same text.
    pub(crate) fn insert(&self, json: &str) -> Arc<str> {
        let uri: Arc<str> = format!("{URI_PREFIX}{}", blake3::hash(json.as_bytes())).into();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(known, _)| *known == uri).and_then(|at| kept.remove(at));
        kept.push_back(known.unwrap_or_else(|| (Arc::clone(&uri), json.into())));
        let mut bytes: usize = kept.iter().map(|(_, json)| json.len()).sum();
        while bytes > MAX_BYTES && kept.len() > 1 {
            bytes -= kept.pop_front().map_or(0, |(_, json)| json.len());
        }
        uri
    }

    /// Returns the JSON text of a value that is still kept.
    pub(crate) fn get(&self, uri: &str) -> Option<Arc<str>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| **known == *uri).map(|(_, json)| Arc::clone(json))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_value_is_dropped_when_there_is_no_more_room() {
        let cache = ResultCache::default();
        let value = |mark: char| mark.to_string().repeat(MAX_BYTES / 4);
        let uris: Vec<_> = ('a'..='e').map(|mark| cache.insert(&value(mark))).collect();
        assert_eq!(cache.get(&uris[0]), None);
        assert!(uris[1..].iter().all(|uri| cache.get(uri).is_some()));
        // What is used again is the newest one.
        assert_eq!(cache.insert(&value('b')), uris[1]);
        cache.insert(&value('f'));
        assert_eq!((cache.get(&uris[2]), cache.get(&uris[1]).as_deref()), (None, Some(&*value('b'))));
        let huge = cache.insert(&"x".repeat(2 * MAX_BYTES));
        assert!(cache.get(&huge).is_some() && cache.get(&uris[1]).is_none());
    }
}
