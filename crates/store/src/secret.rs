//! A secret that whoever opens the store shares with all others who do.
//!
//! Invariant: it is made once, by chance, in a file that nobody else reads. Nothing exports it, shows it or logs it: what
//! this module gives is derived from it, for one purpose, and says nothing about what it gives for another.
//!
//! It is no part of the index, whose file others may be allowed to read. A repair that finds the index damaged takes it
//! away: which tokens were spent is not known any more then, so none that was made with it may be good.

use std::io::{ErrorKind, Read as _, Write as _};

use crate::directory::{Directory, open_regular, private};
use crate::error::Fault;
use crate::store::Store;
use crate::wait::{PATIENCE, lock_within};

/// The file.
pub(crate) const FILE: &str = "secret";
/// How long it is, in bytes.
const LEN: usize = 32;
/// What sets apart what is derived here from whatever else is derived anywhere.
const CONTEXT: &str = "toolcell 2026-12 secret of a store";

/// The secret itself.
pub(crate) struct Secret([u8; LEN]);

impl Store {
    /// The secret of this store for a purpose: the same in all processes that have the store open, and after each start.
    ///
    /// It is made when it is asked for first. `fsck` that makes a damaged index anew lets another one be made.
    ///
    /// # Errors
    /// `store-read-only` where there is none yet and none can be kept, and those of the disk.
    ///
    /// # Examples
    /// ```
    /// use toolcell_store::{Settings, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let key = store.secret("approvals")?;
    /// assert_ne!(key, store.secret("cursors")?);
    /// assert_eq!(key, Store::open(folder.path(), &Settings::default())?.secret("approvals")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn secret(&self, purpose: &str) -> Result<[u8; 32], Fault> {
        let secret = if let Some(secret) = self.secret.get() {
            secret
        } else {
            let known = kept(&self.directory)?;
            let secret = known.map_or_else(|| made(&self.directory), Ok)?;
            self.secret.get_or_init(|| secret)
        };
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&secret.0).update(purpose.as_bytes());
        Ok(*hasher.finalize().as_bytes())
    }
}

/// The secret, if there is one.
fn kept(directory: &Directory) -> Result<Option<Secret>, Fault> {
    let file = match open_regular(directory.root(), FILE, private().read(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(Fault::disk(FILE))?,
    };
    let mut bytes = Vec::with_capacity(LEN + 1);
    file.take(LEN as u64 + 1).read_to_end(&mut bytes).map_err(Fault::disk(FILE))?;
    match <[u8; LEN]>::try_from(bytes) {
        Ok(secret) => Ok(Some(Secret(secret))),
        Err(_) => Err(Fault::disk(FILE)(std::io::Error::new(ErrorKind::InvalidData, format!("it is not {LEN} bytes")))),
    }
}

/// Makes the secret, unless somebody else was faster.
fn made(directory: &Directory) -> Result<Secret, Fault> {
    directory.must_be_writable()?;
    // Given up when it is dropped.
    let queue = directory.lock_file("writer")?;
    lock_within(&queue, "the index", PATIENCE, std::fs::File::try_lock).map_err(Fault::disk("writer"))?;
    if let Some(secret) = kept(directory)? {
        return Ok(secret);
    }
    let secret = by_chance()?;
    write(directory, &secret).map_err(Fault::disk(FILE))?;
    Ok(secret)
}

/// The hash of a new key pair, whose key is the system's random numbers.
fn by_chance() -> Result<Secret, Fault> {
    let pair = minisign::KeyPair::generate_unencrypted_keypair();
    let pair = pair.map_err(std::io::Error::other).map_err(Fault::disk("the system's random numbers"))?;
    Ok(Secret(*blake3::hash(&pair.sk.to_bytes()).as_bytes()))
}

/// Writes it, whole or not at all.
fn write(directory: &Directory, secret: &Secret) -> std::io::Result<()> {
    let (root, name) = (directory.root(), format!("tmp/{FILE}.{}", std::process::id()));
    let mut options = private();
    let mut file = root.open_with(&name, options.create(true).truncate(true).write(true))?;
    file.write_all(&secret.0)?;
    file.sync_all()?;
    root.rename(&name, root, FILE)?;
    root.open(".").and_then(|dir| dir.sync_all())
}

/// What is wrong with the secret, if something is.
pub(crate) fn wrong(directory: &Directory) -> Result<Option<String>, Fault> {
    match kept(directory) {
        Ok(_) => Ok(None),
        Err(Fault::Disk { source, .. }) if source.kind() == ErrorKind::InvalidData => Ok(Some(source.to_string())),
        Err(fault) => match directory.root().symlink_metadata(FILE) {
            Ok(metadata) if !metadata.is_file() => Ok(Some("it is no file".to_owned())),
            _ => Err(fault),
        },
    }
}

/// Lets another one be made.
pub(crate) fn put_aside(directory: &Directory) -> Result<(), Fault> {
    let quarantine = directory.folder("quarantine")?;
    match directory.root().rename(FILE, &quarantine, FILE) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Fault::disk(FILE)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
