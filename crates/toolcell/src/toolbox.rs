//! The toolbox: a sandbox, and the scripts that were prepared in it.
//!
//! Invariant: a prepared script is kept under the hash of everything that went into preparing it, so a kept one is
//! never another than a new one would be.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use crate::exec::Precheck;
use lru::LruCache;
use toolcell_host::{Grant, Kind, Prepared, Sandbox, SandboxConfig, StartError};

/// How many prepared scripts are kept, some 100 KiB each.
const KEPT: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// A script that was evaluated once, and the way back to the author's text.
pub(crate) struct Kept {
    pub(crate) prepared: Prepared,
    pub(crate) script: toolcell_analysis::Script,
}

/// Runs tools.
pub struct Toolbox {
    pub(crate) sandbox: Sandbox,
    kept: Mutex<LruCache<blake3::Hash, Arc<Kept>>>,
}

impl Toolbox {
    /// A toolbox with a sandbox of its own.
    ///
    /// # Errors
    /// As [`Sandbox::new`]: `integrity`, `no-image`, `limit-invalid`.
    pub fn new(config: &SandboxConfig) -> Result<Self, StartError> {
        Ok(Self { sandbox: Sandbox::new(config)?, kept: Mutex::new(LruCache::new(KEPT)) })
    }

    /// The image of the guest that is in use.
    #[must_use]
    pub fn image(&self) -> Kind {
        self.sandbox.image()
    }

    /// The images that were tried before, and why they do not work here.
    #[must_use]
    pub fn passed_over(&self) -> &[(Kind, String)] {
        self.sandbox.passed_over()
    }

    /// How many calls run at once.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.sandbox.slots()
    }

    /// The script that was prepared under this key, if it is still kept.
    pub(crate) fn kept(&self, key: &blake3::Hash) -> Option<Arc<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(crate) fn keep(&self, key: blake3::Hash, kept: Kept) -> Arc<Kept> {
        let kept = Arc::new(kept);
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).put(key, Arc::clone(&kept));
        kept
    }
}

/// The key of a script with a name and grants.
pub(crate) fn key(name: &str, source: &str, grants: &[Grant], precheck: Precheck) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 prepared script");
    hasher.update(&[u8::from(precheck == Precheck::Off)]);
    for part in [name, source] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    for grant in grants {
        hasher.update(grant.name().as_bytes()).update(b"\0");
    }
    hasher.finalize()
}
