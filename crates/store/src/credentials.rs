//! The credentials of MCP servers that a person signed in to.
//!
//! Invariant: the credentials of a server are in a file that only its owner can read, and which is replaced as a whole. They
//! are never exported, shown or logged.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};

use toolcell_i18n::{message, msgid};
use toolcell_tool::ServerName;

use crate::db::Db;
use crate::directory::{Directory, open_regular, private_options};
use crate::error::{Fault, Reason};
use crate::file_lock::{LOCK_TIMEOUT, lock_timeout};

/// The folder of the files.
const FOLDER: &str = "credentials";
/// The maximum size of a file in bytes.
const MAX_BYTES: u64 = 256 << 10;

/// The credentials of MCP servers.
pub struct ServerCredentials<'a>(&'a Directory);

/// A lock on the credentials of a server, until it is dropped.
#[must_use = "dropping it releases the lock"]
pub struct CredentialsLock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

impl<'a> ServerCredentials<'a> {
    pub(crate) fn new(db: &'a Db) -> Self {
        Self(&db.directory)
    }

    /// Returns the credentials of a server; `None` if none are kept.
    ///
    /// # Errors
    /// Any [`Fault`].
    ///
    /// # Examples
    /// ```
    /// use toolcell_store::{Settings, Store};
    /// use toolcell_tool::ServerName;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), &Settings::default())?;
    /// let (credentials, server) = (store.server_credentials(), ServerName::parse("github")?);
    /// assert_eq!(credentials.read(&server)?, None);
    /// credentials.replace(&server, "a token")?;
    /// assert_eq!(credentials.read(&server)?.as_deref(), Some("a token"));
    /// assert!(credentials.delete(&server)?);
    /// assert!(!credentials.delete(&server)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(&self, server: &ServerName) -> Result<Option<String>, Fault> {
        let path = path_of(server);
        let file = match open_regular(self.0.root(), &path, private_options().read(true)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(Fault::disk(&path))?,
        };
        let mut text = String::new();
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(Fault::disk(&path))?;
        if text.len() as u64 > MAX_BYTES {
            let reason = message!("it has more than {limit} bytes", limit = MAX_BYTES);
            return Err(Fault::disk(&path)(Reason::io(ErrorKind::InvalidData, reason)));
        }
        Ok(Some(text))
    }

    /// Keeps the credentials of a server, in place of those that are kept.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn replace(&self, server: &ServerName, text: &str) -> Result<(), Fault> {
        self.0.check_writable()?;
        let folder = self.0.open_folder(FOLDER)?;
        let (root, written) = (self.0.root(), format!("tmp/{FOLDER}.{server}.{}", std::process::id()));
        let write = || {
            let mut file = root.open_with(&written, private_options().create(true).truncate(true).write(true))?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            root.rename(&written, &folder, file_name(server))?;
            folder.open(".").and_then(|folder| folder.sync_all())
        };
        write().map_err(|error| {
            // What was written of it is of no use, and may be secret.
            let _ = root.remove_file(&written);
            Fault::disk(&path_of(server))(error)
        })
    }

    /// Deletes the credentials of a server; whether there were any.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn delete(&self, server: &ServerName) -> Result<bool, Fault> {
        self.0.check_writable()?;
        let path = path_of(server);
        match self.0.root().remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Fault::disk(&path)(error)),
        }
    }

    /// Waits until no other process replaces the credentials of a server, and keeps others from it: a refresh token can be
    /// used only once.
    ///
    /// # Errors
    /// `store-read-only`; another process keeps the lock for a minute; or another [`Fault`].
    pub fn lock(&self, server: &ServerName) -> Result<CredentialsLock, Fault> {
        self.0.check_writable()?;
        self.0.open_folder(FOLDER)?;
        let path = format!("{FOLDER}/{server}.lock");
        let file = self.0.open_lock_file(&path)?;
        let what = msgid!("the credentials of a server");
        lock_timeout(&file, what, LOCK_TIMEOUT, File::try_lock).map_err(Fault::disk(&path))?;
        Ok(CredentialsLock(file))
    }
}

fn file_name(server: &ServerName) -> String {
    format!("{server}.json")
}

fn path_of(server: &ServerName) -> String {
    format!("{FOLDER}/{}", file_name(server))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files of a store")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::{Settings, Store};

    #[test]
    fn only_the_owner_can_read_credentials() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &Settings::default()).unwrap();
        let server = ServerName::parse("github").unwrap();
        store.server_credentials().replace(&server, "first").unwrap();
        store.server_credentials().replace(&server, "a token").unwrap();
        let mode = |path: &str| folder.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("credentials"), mode("credentials/github.json")), (0o700, 0o600));
        assert_eq!(std::fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0);
    }

    #[test]
    fn a_symlink_or_a_large_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &Settings::default()).unwrap();
        let (server, other) = (ServerName::parse("github").unwrap(), folder.path().join("other"));
        std::fs::create_dir(folder.path().join("credentials")).unwrap();
        std::fs::write(&other, "not credentials").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("credentials/github.json")).unwrap();
        store.server_credentials().read(&server).unwrap_err();
        store.server_credentials().replace(&server, &"x".repeat(300 << 10)).unwrap();
        let fault = store.server_credentials().read(&server).unwrap_err();
        assert!(fault.to_string().contains("more than 262144 bytes"), "{fault}");
        assert_eq!(std::fs::read_to_string(other).unwrap(), "not credentials");
    }

    #[test]
    fn one_process_at_a_time_replaces_credentials() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &Settings::default()).unwrap();
        let other = Store::open(folder.path(), &Settings::default()).unwrap();
        let (server, another) = (ServerName::parse("github").unwrap(), ServerName::parse("gitlab").unwrap());
        let lock = store.server_credentials().lock(&server).unwrap();
        drop(other.server_credentials().lock(&another).unwrap());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| other.server_credentials().lock(&server).map(drop));
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!waiting.is_finished());
            drop(lock);
            waiting.join().unwrap().unwrap();
        });
    }
}
