//! A quick hash for names: they are told apart by few bits, and nobody outside gains by making them collide.
//!
//! Multiply and rotate, as in the hash of Firefox and rustc; no table here is larger than the source.

use std::hash::{BuildHasherDefault, Hasher};

/// A map with it.
pub(in super::super) type Map<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Quick>>;

/// The hash so far.
#[derive(Default)]
pub(in super::super) struct Quick(u64);

impl Quick {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            self.add(chunk.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte)));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.add(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
