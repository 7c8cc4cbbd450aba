//! The place of the objects, on which all nodes agree.
//!
//! A node that looked for objects elsewhere than the others put them would take the library for damaged. So the first node that stores
//! or reads an object leaves a note of the place in a history of its own, and the others compare.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use blake3::Hash;
use toolcell::store::{Blobs, Histories, HistoryKey, SharedError};
use toolcell_i18n::message;

/// The key of the history that has the place.
const KEY: &str = "objects";
/// The place of objects that are beside the histories: the option that names it.
pub(crate) const BESIDE: &str = "--shared";
/// The maximum length of a place that is shown, in characters.
const MAX_SHOWN: usize = 200;

/// The objects at a place, once it was compared with that of the other nodes.
pub(crate) struct PlacedBlobs {
    histories: Arc<dyn Histories>,
    blobs: Arc<dyn Blobs>,
    place: String,
    key: HistoryKey,
    is_known: AtomicBool,
}

impl PlacedBlobs {
    /// # Errors
    /// None: the key is valid.
    pub(crate) fn new(
        histories: Arc<dyn Histories>,
        blobs: Arc<dyn Blobs>,
        place: String,
    ) -> Result<Self, SharedError> {
        Ok(Self { histories, blobs, place, key: HistoryKey::parse(KEY)?, is_known: AtomicBool::new(false) })
    }

    fn check(&self) -> Result<(), SharedError> {
        if self.is_known.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut entries = self.histories.read(&self.key, 0, 1)?;
        if entries.is_empty() {
            // Another node may be faster. Whether it was this one is read back.
            match self.histories.append(&self.key, 0, self.place.as_bytes()) {
                Ok(_) | Err(SharedError::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
            entries = self.histories.read(&self.key, 0, 1)?;
        }
        match entries.first() {
            Some(known) if *known == self.place.as_bytes() => {
                self.is_known.store(true, Ordering::Relaxed);
                Ok(())
            }
            known => {
                let known = String::from_utf8_lossy(known.map_or(&[], |known| known));
                Err(SharedError::Invalid {
                    reason: message!(
                        "the objects are in {known}, and this node was given {place}: give all nodes the same --blobs",
                        known = known.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect::<String>(),
                        place = self.place.clone()
                    ),
                })
            }
        }
    }
}

impl Blobs for PlacedBlobs {
    fn put(&self, hash: Hash, bytes: &[u8]) -> Result<(), SharedError> {
        self.check()?;
        self.blobs.put(hash, bytes)
    }

    fn get(&self, hash: Hash) -> Result<Option<Vec<u8>>, SharedError> {
        self.check()?;
        self.blobs.get(hash)
    }
}
