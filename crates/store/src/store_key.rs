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
use std::sync::OnceLock;

use toolcell_i18n::{Message, message, msgid};

use crate::directory::{Directory, open_regular, private_options};
use crate::error::{Fault, Reason, localize_io_error};
use crate::file_lock::{LOCK_TIMEOUT, lock_timeout};

/// The name of the file.
pub(crate) const FILE: &str = "secret";
/// The size of the key, in bytes.
const KEY_BYTES: usize = 32;
/// The context string of key derivation, for domain separation.
const CONTEXT: &str = "toolcell 2026-12 secret of a store";

/// The key itself.
struct StoreKey([u8; KEY_BYTES]);

/// The key of an open store, read or generated on first use.
#[derive(Default)]
pub(crate) struct LazyStoreKey(OnceLock<StoreKey>);

impl LazyStoreKey {
    /// Derives a key for a purpose.
    pub(crate) fn derive(&self, directory: &Directory, purpose: &str) -> Result<[u8; 32], Fault> {
        let key = if let Some(key) = self.0.get() {
            key
        } else {
            let known = read_key(directory)?;
            let key = known.map_or_else(|| create_key(directory), Ok)?;
            self.0.get_or_init(|| key)
        };
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&key.0).update(purpose.as_bytes());
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
            let reason = message!("it is not {len} bytes", len = KEY_BYTES);
            Err(Fault::disk(FILE)(Reason::io(ErrorKind::InvalidData, reason)))
        }
    }
}

/// Generates and writes the key, unless another process was faster.
fn create_key(directory: &Directory) -> Result<StoreKey, Fault> {
    directory.check_writable()?;
    // Dropping the file releases the lock.
    let queue = directory.open_lock_file("writer")?;
    lock_timeout(&queue, msgid!("the index"), LOCK_TIMEOUT, std::fs::File::try_lock).map_err(Fault::disk("writer"))?;
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
    let pair = pair.map_err(std::io::Error::other).map_err(Fault::disk_of(message!("the system's random numbers")))?;
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
pub(crate) fn find_defect(directory: &Directory) -> Result<Option<Message>, Fault> {
    match read_key(directory) {
        Ok(_) => Ok(None),
        Err(Fault::Disk { source, .. }) if source.kind() == ErrorKind::InvalidData => {
            Ok(Some(localize_io_error(&source)))
        }
        Err(fault) => match directory.root().symlink_metadata(FILE) {
            Ok(metadata) if !metadata.is_file() => Ok(Some(message!("it is not a regular file"))),
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
