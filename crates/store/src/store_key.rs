//! The store key: a secret shared by all processes that open the store.
//!
//! Invariant: the key is generated once, at random, in a file that only its owner can read. It is
//! never exported, shown or logged: callers get keys derived from it, each for one purpose and
//! independent of the others.
//!
//! The key is not part of the index, whose file other users may be allowed to read. A repair of a
//! damaged index replaces the key: the used tokens are no longer known then, so tokens made with
//! the old key must not be valid.

use std::io::{ErrorKind, Read as _, Write as _};

use crate::directory::{Directory, open_regular, private_options};
use crate::error::Fault;
use crate::file_lock::{LOCK_TIMEOUT, lock_timeout};
use crate::store::Store;

/// The name of the file.
pub(crate) const FILE: &str = "secret";
/// The size of the key, in bytes.
const KEY_BYTES: usize = 32;
/// The context string of key derivation, for domain separation.
const CONTEXT: &str = "toolcell 2026-12 secret of a store";

/// The key itself.
pub(crate) struct StoreKey([u8; KEY_BYTES]);

impl Store {
    /// Derives a key for a purpose. It is the same in all processes and after every restart.
    ///
    /// The store key is generated on first use. A rebuild of a damaged index by `fsck` replaces it.
    ///
    /// # Errors
    /// `store-read-only` if there is no key yet and none can be written, or another [`Fault`].
    ///
    /// # Examples
    /// ```
    /// use toolcell_store::{Settings, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let key = store.derive_key("approvals")?;
    /// assert_ne!(key, store.derive_key("cursors")?);
    /// assert_eq!(key, Store::open(folder.path(), &Settings::default())?.derive_key("approvals")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn derive_key(&self, purpose: &str) -> Result<[u8; 32], Fault> {
        let secret = if let Some(secret) = self.own_key.get() {
            secret
        } else {
            let known = read_key(&self.directory)?;
            let secret = known.map_or_else(|| create_key(&self.directory), Ok)?;
            self.own_key.get_or_init(|| secret)
        };
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&secret.0).update(purpose.as_bytes());
        Ok(*hasher.finalize().as_bytes())
    }
}

/// Reads the key, if there is one.
fn read_key(directory: &Directory) -> Result<Option<StoreKey>, Fault> {
    let file = match open_regular(directory.root(), FILE, private_options().read(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(Fault::disk(FILE))?,
    };
    let mut bytes = Vec::with_capacity(KEY_BYTES + 1);
    file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(Fault::disk(FILE))?;
    match <[u8; KEY_BYTES]>::try_from(bytes) {
        Ok(secret) => Ok(Some(StoreKey(secret))),
        Err(_) => {
            Err(Fault::disk(FILE)(std::io::Error::new(ErrorKind::InvalidData, format!("it is not {KEY_BYTES} bytes"))))
        }
    }
}

/// Generates and writes the key, unless another process was faster.
fn create_key(directory: &Directory) -> Result<StoreKey, Fault> {
    directory.check_writable()?;
    // Dropping the file releases the lock.
    let queue = directory.open_lock_file("writer")?;
    lock_timeout(&queue, "the index", LOCK_TIMEOUT, std::fs::File::try_lock).map_err(Fault::disk("writer"))?;
    if let Some(secret) = read_key(directory)? {
        return Ok(secret);
    }
    let secret = generate_key()?;
    write_key(directory, &secret).map_err(Fault::disk(FILE))?;
    Ok(secret)
}

/// Hashes a new signing key, which is generated from random numbers of the system.
fn generate_key() -> Result<StoreKey, Fault> {
    let pair = minisign::KeyPair::generate_unencrypted_keypair();
    let pair = pair.map_err(std::io::Error::other).map_err(Fault::disk("the system's random numbers"))?;
    Ok(StoreKey(*blake3::hash(&pair.sk.to_bytes()).as_bytes()))
}

/// Writes the key atomically.
fn write_key(directory: &Directory, secret: &StoreKey) -> std::io::Result<()> {
    let (root, name) = (directory.root(), format!("tmp/{FILE}.{}", std::process::id()));
    let mut options = private_options();
    let mut file = root.open_with(&name, options.create(true).truncate(true).write(true))?;
    file.write_all(&secret.0)?;
    file.sync_all()?;
    root.rename(&name, root, FILE)?;
    root.open(".").and_then(|dir| dir.sync_all())
}

/// The defect of the key file, if it has one.
pub(crate) fn find_defect(directory: &Directory) -> Result<Option<String>, Fault> {
    match read_key(directory) {
        Ok(_) => Ok(None),
        Err(Fault::Disk { source, .. }) if source.kind() == ErrorKind::InvalidData => Ok(Some(source.to_string())),
        Err(fault) => match directory.root().symlink_metadata(FILE) {
            Ok(metadata) if !metadata.is_file() => Ok(Some("it is not a regular file".to_owned())),
            _ => Err(fault),
        },
    }
}

/// Moves the key to the quarantine; the next use generates another.
pub(crate) fn quarantine_key(directory: &Directory) -> Result<(), Fault> {
    let quarantine = directory.open_folder("quarantine")?;
    match directory.root().rename(FILE, &quarantine, FILE) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Fault::disk(FILE)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
