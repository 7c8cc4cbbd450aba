//! The place of the objects, on which all nodes agree.
//!
//! A node that looked for objects elsewhere than the others put them would take the library for damaged. So the first node leaves a note
//! of the place in a history of its own, with the hash of an object that it put there, and the others compare the one and get the other:
//! the same name may be that of another store.

use std::hash::{BuildHasher as _, Hasher as _};
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

    /// Compares the place with that of the other nodes, once.
    ///
    /// # Errors
    /// [`SharedError::Invalid`] if it is another one, and the failures of both engines.
    pub(crate) fn check(&self) -> Result<(), SharedError> {
        if self.is_known.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut entries = self.histories.read(&self.key, 0, 1)?;
        if entries.is_empty() {
            let mark = draw_mark();
            let hash = blake3::hash(&mark);
            self.blobs.put(hash, &mark)?;
            let note = format!("{}\n{}", self.place, hash.to_hex());
            // Another node may be faster. Whether it was this one is read back.
            match self.histories.append(&self.key, 0, note.as_bytes()) {
                Ok(_) | Err(SharedError::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
            entries = self.histories.read(&self.key, 0, 1)?;
        }
        let note = entries.first().map(|note| String::from_utf8_lossy(note).into_owned()).unwrap_or_default();
        let parsed = note.split_once('\n').and_then(|(place, mark)| Some((place, Hash::from_hex(mark).ok()?)));
        let Some((known, mark)) = parsed else {
            return Err(SharedError::Invalid {
                reason: message!(
                    "entry {number} cannot be read by this version of Toolcell: {reason}",
                    number = 1,
                    reason = message!("its form is unknown")
                ),
            });
        };
        if known != self.place {
            return Err(SharedError::Invalid {
                reason: message!(
                    "the objects are in {known}, and this node was given {place}: give all nodes the same --blobs",
                    known = known.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect::<String>(),
                    place = self.place.clone()
                ),
            });
        }
        let is_there = self.blobs.get(mark)?.is_some_and(|bytes| blake3::hash(&bytes) == mark);
        if !is_there {
            return Err(SharedError::Invalid {
                reason: message!(
                    "the objects at {place} are not those of this library: compare the endpoint with that of the other nodes",
                    place = self.place.clone()
                ),
            });
        }
        self.is_known.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Bytes that no other library has. The standard library seeds its hash maps with random numbers of the system.
fn draw_mark() -> Vec<u8> {
    let draw = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    [draw(), draw()].into_iter().flat_map(u64::to_le_bytes).collect()
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
