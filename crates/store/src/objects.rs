//! Immutable objects, stored under their blake3 hash.
//!
//! Invariant: bytes from [`Objects::read_verified`] match the requested hash; a file that does not
//! match its name is reported as damage. A file is written under a temporary name and then renamed,
//! so an object exists completely or not at all.
//!
//! Objects are plain files: `b3sum objects/ab/cd…` prints `abcd…`.

use std::ffi::OsString;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use blake3::Hash;
use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, OpenOptionsExt as _};
use toolcell_i18n::{Message, message};

use crate::directory::{Directory, create_folder, private_options};
use crate::error::{Fault, localize_io_error};

/// The maximum size of an object, in bytes: a source has at most 64 KiB, and a version its
/// metadata.
pub(crate) const OBJECT_LIMIT: u64 = 1 << 20;
/// The mode of object files: read-only, against accidental changes.
const OBJECT_MODE: u32 = 0o400;

/// The objects of a store.
pub(crate) struct Objects {
    dir: Dir,
    /// The folder of temporary files.
    tmp: Dir,
    next: AtomicU64,
}

/// The state of an object.
pub(crate) enum ObjectState {
    /// The object exists and matches its hash.
    Intact(Vec<u8>),
    /// There is no file.
    Missing,
    /// The file is damaged, and how.
    Damaged(Message),
}

impl Objects {
    pub(crate) fn open(directory: &Directory) -> Result<Self, Fault> {
        Ok(Self { dir: directory.open_folder("objects")?, tmp: directory.open_folder("tmp")?, next: AtomicU64::new(0) })
    }

    /// Reads an object and checks its hash.
    pub(crate) fn read_verified(&self, hash: Hash) -> Result<ObjectState, Fault> {
        let path = object_path(hash);
        let mut options = private_options();
        let file = match self.dir.open_with(&path, options.read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ObjectState::Missing),
            Err(_) if is_link(&self.dir, &path) => {
                return Ok(ObjectState::Damaged(message!("is a symlink")));
            }
            Err(error) => return Err(read_fault(hash, error)),
        };
        let failed = |error| read_fault(hash, error);
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Ok(ObjectState::Damaged(message!("is not a regular file")));
        }
        if metadata.len() > OBJECT_LIMIT {
            let (len, limit) = (metadata.len(), OBJECT_LIMIT);
            return Ok(ObjectState::Damaged(message!("is {len} bytes, the limit is {limit}", len, limit)));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
        file.take(OBJECT_LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
        let actual = blake3::hash(&bytes);
        if actual == hash {
            Ok(ObjectState::Intact(bytes))
        } else {
            let (len, actual) = (bytes.len(), actual.to_hex());
            let start = &actual[..16];
            Ok(ObjectState::Damaged(message!("does not match its hash: its {len} bytes hash to {start}…", len, start)))
        }
    }

    /// Same as [`Objects::read_verified`], but an unreadable file counts as damaged. It is tried
    /// twice; a file without read permission is as useless as a missing one.
    pub(crate) fn examine(&self, hash: Hash) -> Result<ObjectState, Fault> {
        match self.read_verified(hash).or_else(|_| self.read_verified(hash)) {
            Err(Fault::Unreadable { source, .. }) => {
                Ok(ObjectState::Damaged(message!("cannot be read: {reason}", reason = localize_io_error(&source))))
            }
            other => other,
        }
    }

    /// Whether there is a file for a hash; its content is not checked.
    pub(crate) fn exists(&self, hash: Hash) -> bool {
        // Nothing is opened, so the target of a planted symlink does not matter.
        let found = rustix::fs::statat(&self.dir, object_path(hash), rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_file())
    }

    /// The size of an object, in bytes.
    pub(crate) fn len(&self, hash: Hash) -> u64 {
        self.dir.symlink_metadata(object_path(hash)).map_or(0, |metadata| metadata.len())
    }

    /// When an object was written.
    pub(crate) fn modified(&self, hash: Hash) -> Option<SystemTime> {
        let metadata = self.dir.symlink_metadata(object_path(hash)).ok()?;
        metadata.modified().ok().map(cap_std::time::SystemTime::into_std)
    }

    /// Writes an object and replaces anything of its name.
    pub(crate) fn write(&self, hash: Hash, bytes: &[u8]) -> Result<(), Fault> {
        // Process identifiers are reused, so names left behind by a dead process are skipped.
        let (mut file, name) = loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}.{number}", std::process::id());
            let mut options = private_options();
            match self.tmp.open_with(&name, options.create_new(true).write(true).mode(OBJECT_MODE)) {
                Ok(file) => break (file, name),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Fault::disk(format!("tmp/{name}"))(error)),
            }
        };
        let written = file.write_all(bytes).and_then(|()| self.publish(&name, hash));
        drop(file);
        written.map_err(|error| {
            // If this fails too, `gc` removes the file.
            let _ = self.tmp.remove_file(&name);
            Fault::disk(format!("objects/{}", object_path(hash)))(error)
        })
    }

    fn publish(&self, name: &str, hash: Hash) -> std::io::Result<()> {
        let path = object_path(hash);
        match self.tmp.rename(name, &self.dir, &path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                create_folder(&self.dir, &path[..2])?;
                self.tmp.rename(name, &self.dir, &path)
            }
            other => other,
        }
    }

    /// Moves an object to the quarantine.
    pub(crate) fn quarantine(&self, hash: Hash, quarantine: &Dir) -> Result<(), Fault> {
        move_to_quarantine(&self.dir, Path::new(&object_path(hash)), quarantine, hash.to_hex().as_str())
    }

    /// Moves a foreign file from the objects folder to the quarantine. `path` is that of an
    /// [`ObjectName::Unknown`].
    pub(crate) fn quarantine_unknown(&self, path: &Path, quarantine: &Dir) -> Result<(), Fault> {
        let path = path.strip_prefix("objects").unwrap_or(path);
        move_to_quarantine(
            &self.dir,
            path,
            quarantine,
            &format!("stranger.{}", path.to_string_lossy().replace('/', ".")),
        )
    }

    /// Removes an object; it may already be gone.
    pub(crate) fn remove(&self, hash: Hash) -> Result<(), Fault> {
        match self.dir.remove_file(object_path(hash)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Fault::disk(format!("objects/{}", object_path(hash)))(error))
            }
            _ => Ok(()),
        }
    }

    /// Visits all names in the objects folder, including foreign ones.
    pub(crate) fn for_each(&self, visit: &mut dyn FnMut(ObjectName) -> Result<(), Fault>) -> Result<(), Fault> {
        let disk = || Fault::disk("objects");
        let mut folders = list_names(&self.dir).map_err(disk())?;
        folders.sort();
        for folder in folders {
            let path = Path::new("objects").join(&folder);
            let known = folder.to_str().filter(|folder| folder.len() == 2 && is_hex(folder));
            let is_folder = || self.dir.symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir());
            let Some(known) = known.filter(|_| is_folder()) else {
                visit(ObjectName::Unknown(path))?;
                continue;
            };
            let inside = self.dir.open_dir_nofollow(known).map_err(Fault::disk(format!("objects/{known}")))?;
            for name in list_names(&inside).map_err(disk())? {
                let text = name.to_str().filter(|name| name.len() == 62 && is_hex(name));
                let hash = text.and_then(|text| Hash::from_hex(format!("{known}{text}")).ok());
                visit(hash.map_or_else(|| ObjectName::Unknown(path.join(&name)), ObjectName::Hash))?;
            }
        }
        Ok(())
    }

    /// Counts temporary files from before a time.
    pub(crate) fn count_temp_files(&self, older_than: SystemTime) -> Result<u64, Fault> {
        Ok(self.old_temp_files(older_than)?.count() as u64)
    }

    /// Removes temporary files from before a time and returns their number. Fails only if none of
    /// them could be removed.
    pub(crate) fn remove_temp_files(&self, older_than: SystemTime) -> Result<u64, Fault> {
        let (mut removed, mut trouble) = (0, None);
        for name in self.old_temp_files(older_than)? {
            match self.tmp.remove_file(&name) {
                Ok(()) => removed += 1,
                Err(error) => drop(trouble.get_or_insert((name, error))),
            }
        }
        match trouble {
            Some((name, error)) if removed == 0 => Err(Fault::disk(format!("tmp/{}", name.to_string_lossy()))(error)),
            _ => Ok(removed),
        }
    }

    fn old_temp_files(&self, older_than: SystemTime) -> Result<impl Iterator<Item = OsString>, Fault> {
        let names = list_names(&self.tmp).map_err(Fault::disk("tmp"))?;
        Ok(names.into_iter().filter(move |name| {
            let Ok(metadata) = self.tmp.symlink_metadata(name) else { return false };
            // The store creates no folders there.
            !metadata.is_dir() && metadata.modified().is_ok_and(|time| time.into_std() < older_than)
        }))
    }

    /// Makes objects durable.
    pub(crate) fn sync(&self, hashes: &[Hash]) -> Result<(), Fault> {
        // One `syncfs` for all of them costs about as much as an `fsync` of one.
        #[cfg(target_os = "linux")]
        if hashes.len() > 1 {
            // A `Dir` is opened with `O_PATH` and cannot be synced.
            let opened = self.dir.open(".").and_then(|dir| Ok(rustix::fs::syncfs(&dir)?));
            return opened.map_err(Fault::disk("objects"));
        }
        for hash in hashes {
            let path = object_path(*hash);
            let disk = || Fault::disk(format!("objects/{path}"));
            self.dir.open_with(&path, private_options().read(true)).and_then(|file| file.sync_all()).map_err(disk())?;
            let folder = self.dir.open_dir(&path[..2]).and_then(|dir| dir.open(".")).map_err(disk())?;
            folder.sync_all().map_err(disk())?;
        }
        Ok(())
    }
}

/// A name in the objects folder.
pub(crate) enum ObjectName {
    /// An object.
    Hash(Hash),
    /// A foreign file or folder.
    Unknown(PathBuf),
}

/// Moves a file to the quarantine under a free name: earlier files stay.
fn move_to_quarantine(dir: &Dir, path: &Path, quarantine: &Dir, name: &str) -> Result<(), Fault> {
    let mut free = name.to_owned();
    for number in 1.. {
        if quarantine.symlink_metadata(&free).is_err() {
            break;
        }
        free = format!("{name}.{number}");
    }
    dir.rename(path, quarantine, &free).map_err(Fault::disk(format!("quarantine/{free}")))
}

/// The path of an object in the objects folder.
pub(crate) fn object_path(hash: Hash) -> String {
    let name = hash.to_hex();
    format!("{}/{}", &name[..2], &name[2..])
}

/// The fault for an object that could not be read: the file is unreadable, or this process cannot
/// read anything now.
fn read_fault(hash: Hash, source: std::io::Error) -> Fault {
    if is_unreadable(&source) {
        Fault::Unreadable { hash: hash.to_hex().to_string(), source }
    } else {
        Fault::disk(format!("objects/{}", object_path(hash)))(source)
    }
}

/// Whether the file itself is unreadable, as opposed to a problem of this process.
fn is_unreadable(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let errors = [Errno::ACCESS, Errno::PERM, Errno::IO, Errno::NXIO, Errno::BADMSG];
    errors.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn is_link(dir: &Dir, path: &str) -> bool {
    dir.symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The names in a folder.
pub(crate) fn list_names(dir: &Dir) -> std::io::Result<Vec<OsString>> {
    dir.entries()?.map(|entry| Ok(entry?.file_name())).collect()
}
