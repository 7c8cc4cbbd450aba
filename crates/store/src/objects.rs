//! Immutable blobs under their blake3 hash.
//!
//! Invariant: what [`Objects::read`] gives has the hash that was asked for; whatever is found under a name that is not
//! its hash is damage. A file is written under another name, whole, and renamed, so an object is there or it is not.
//!
//! Objects are plain: `b3sum objects/ab/cd…` prints `abcd…`.

use std::ffi::OsString;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use blake3::Hash;
use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, OpenOptionsExt as _};

use crate::directory::{Directory, make_folder, private};
use crate::error::Fault;
use crate::gc::Mode;

/// The largest object: a source of 64 KiB, or all that is said about one.
pub(crate) const OBJECT_LIMIT: u64 = 1 << 20;
/// Objects do not change, not even by accident.
const READ_ONLY_FILE: u32 = 0o400;

/// The objects of a store.
pub(crate) struct Objects {
    dir: Dir,
    /// Objects that are being written.
    tmp: Dir,
    next: AtomicU64,
}

/// What is found under a hash.
pub(crate) enum Found {
    /// Bytes with that hash.
    Whole(Vec<u8>),
    /// Nothing.
    Missing,
    /// Something else, and what it is.
    Damaged(String),
}

impl Objects {
    pub(crate) fn open(directory: &Directory) -> Result<Self, Fault> {
        Ok(Self { dir: directory.folder("objects")?, tmp: directory.folder("tmp")?, next: AtomicU64::new(0) })
    }

    /// What is stored under a hash, looked at closely.
    pub(crate) fn look(&self, hash: Hash) -> Result<Found, Fault> {
        let path = path(hash);
        let mut options = private();
        let file = match self.dir.open_with(&path, options.read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Missing),
            Err(_) if is_link(&self.dir, &path) => {
                return Ok(Found::Damaged("is a link".to_owned()));
            }
            Err(error) => return Err(failed_read(hash, error)),
        };
        let failed = |error| failed_read(hash, error);
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Ok(Found::Damaged("is no file".to_owned()));
        }
        if metadata.len() > OBJECT_LIMIT {
            return Ok(Found::Damaged(format!("is {} bytes, the limit is {OBJECT_LIMIT}", metadata.len())));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
        file.take(OBJECT_LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
        let actual = blake3::hash(&bytes);
        if actual == hash {
            Ok(Found::Whole(bytes))
        } else {
            let (len, actual) = (bytes.len(), actual.to_hex());
            Ok(Found::Damaged(format!("is not what its name says: its {len} bytes have the hash {}…", &actual[..16])))
        }
    }

    /// The same, where what cannot be read is damaged: it is asked for twice, and a file that may not be read is as good as one
    /// that is not there.
    pub(crate) fn examine(&self, hash: Hash) -> Result<Found, Fault> {
        match self.look(hash).or_else(|_| self.look(hash)) {
            Err(Fault::Unreadable { source, .. }) => Ok(Found::Damaged(format!("cannot be read: {source}"))),
            other => other,
        }
    }

    /// Whether something is stored under a hash, without looking at what.
    pub(crate) fn has(&self, hash: Hash) -> bool {
        // Nothing is opened, so it does not matter where a planted link leads.
        let found = rustix::fs::statat(&self.dir, path(hash), rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_file())
    }

    /// How many bytes are stored under a hash.
    pub(crate) fn len(&self, hash: Hash) -> u64 {
        self.dir.symlink_metadata(path(hash)).map_or(0, |metadata| metadata.len())
    }

    /// When an object was written.
    pub(crate) fn modified(&self, hash: Hash) -> Option<std::time::SystemTime> {
        let metadata = self.dir.symlink_metadata(path(hash)).ok()?;
        metadata.modified().ok().map(cap_std::time::SystemTime::into_std)
    }

    /// Writes an object, over whatever else has its name.
    pub(crate) fn write(&self, hash: Hash, bytes: &[u8]) -> Result<(), Fault> {
        // Names of processes come again; what a dead one left behind is passed over.
        let (mut file, name) = loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}.{number}", std::process::id());
            let mut options = private();
            match self.tmp.open_with(&name, options.create_new(true).write(true).mode(READ_ONLY_FILE)) {
                Ok(file) => break (file, name),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Fault::disk(format!("tmp/{name}"))(error)),
            }
        };
        let written = file.write_all(bytes).and_then(|()| self.publish(&name, hash));
        drop(file);
        written.map_err(|error| {
            // Where even this fails, `gc` takes it away.
            let _ = self.tmp.remove_file(&name);
            Fault::disk(format!("objects/{}", path(hash)))(error)
        })
    }

    fn publish(&self, name: &str, hash: Hash) -> std::io::Result<()> {
        let path = path(hash);
        match self.tmp.rename(name, &self.dir, &path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make_folder(&self.dir, &path[..2])?;
                self.tmp.rename(name, &self.dir, &path)
            }
            other => other,
        }
    }

    /// Moves what is stored under a hash into the quarantine.
    pub(crate) fn put_aside(&self, hash: Hash, quarantine: &Dir) -> Result<(), Fault> {
        put_aside(&self.dir, Path::new(&path(hash)), quarantine, hash.to_hex().as_str())
    }

    /// Moves what does not belong among the objects into the quarantine. `path` is that of a [`Name::Stranger`].
    pub(crate) fn put_stranger_aside(&self, path: &Path, quarantine: &Dir) -> Result<(), Fault> {
        let path = path.strip_prefix("objects").unwrap_or(path);
        put_aside(&self.dir, path, quarantine, &format!("stranger.{}", path.to_string_lossy().replace('/', ".")))
    }

    /// Takes an object away. That it is gone already is fine.
    pub(crate) fn remove(&self, hash: Hash) -> Result<(), Fault> {
        match self.dir.remove_file(path(hash)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Fault::disk(format!("objects/{}", path(hash)))(error))
            }
            _ => Ok(()),
        }
    }

    /// Every name in the folder of objects: hashes, and what else is there.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(Name) -> Result<(), Fault>) -> Result<(), Fault> {
        let disk = || Fault::disk("objects");
        let mut folders = names(&self.dir).map_err(disk())?;
        folders.sort();
        for folder in folders {
            let path = Path::new("objects").join(&folder);
            let known = folder.to_str().filter(|folder| folder.len() == 2 && hex(folder));
            let is_folder = || self.dir.symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir());
            let Some(known) = known.filter(|_| is_folder()) else {
                visit(Name::Stranger(path))?;
                continue;
            };
            let inside = self.dir.open_dir_nofollow(known).map_err(Fault::disk(format!("objects/{known}")))?;
            for name in names(&inside).map_err(disk())? {
                let text = name.to_str().filter(|name| name.len() == 62 && hex(name));
                let hash = text.and_then(|text| Hash::from_hex(format!("{known}{text}")).ok());
                visit(hash.map_or_else(|| Name::Stranger(path.join(&name)), Name::Hash))?;
            }
        }
        Ok(())
    }

    /// Takes away what was being written by processes that are no more, and says how much that was.
    pub(crate) fn sweep_unfinished(&self, older_than: std::time::SystemTime, mode: Mode) -> Result<u64, Fault> {
        let (mut swept, mut trouble) = (0, None);
        for name in names(&self.tmp).map_err(Fault::disk("tmp"))? {
            let Ok(metadata) = self.tmp.symlink_metadata(&name) else { continue };
            // No folder in there is ours.
            let is_old = !metadata.is_dir() && metadata.modified().is_ok_and(|time| time.into_std() < older_than);
            if !is_old {
                continue;
            }
            let removed = if mode == Mode::Do { self.tmp.remove_file(&name) } else { Ok(()) };
            match removed {
                Ok(()) => swept += 1,
                Err(error) => drop(trouble.get_or_insert((name, error))),
            }
        }
        match trouble {
            Some((name, error)) if swept == 0 => Err(Fault::disk(format!("tmp/{}", name.to_string_lossy()))(error)),
            _ => Ok(swept),
        }
    }

    /// Waits until these objects outlast a loss of power.
    pub(crate) fn sync(&self, hashes: &[Hash]) -> Result<(), Fault> {
        // One call for all of them costs about as much as one call for one of them.
        #[cfg(target_os = "linux")]
        if hashes.len() > 1 {
            // A `Dir` is a path only, and such a thing is not synced.
            let opened = self.dir.open(".").and_then(|dir| Ok(rustix::fs::syncfs(&dir)?));
            return opened.map_err(Fault::disk("objects"));
        }
        for hash in hashes {
            let path = path(*hash);
            let disk = || Fault::disk(format!("objects/{path}"));
            self.dir.open_with(&path, private().read(true)).and_then(|file| file.sync_all()).map_err(disk())?;
            let folder = self.dir.open_dir(&path[..2]).and_then(|dir| dir.open(".")).map_err(disk())?;
            folder.sync_all().map_err(disk())?;
        }
        Ok(())
    }
}

/// A name in the folder of objects.
pub(crate) enum Name {
    /// That of an object.
    Hash(Hash),
    /// Something that does not belong there.
    Stranger(PathBuf),
}

/// Moves something into the quarantine, under a name that is free there: what was put aside before stays.
fn put_aside(dir: &Dir, path: &Path, quarantine: &Dir, name: &str) -> Result<(), Fault> {
    let mut free = name.to_owned();
    for number in 1.. {
        if quarantine.symlink_metadata(&free).is_err() {
            break;
        }
        free = format!("{name}.{number}");
    }
    dir.rename(path, quarantine, &free).map_err(Fault::disk(format!("quarantine/{free}")))
}

/// Where an object is.
pub(crate) fn path(hash: Hash) -> String {
    let name = hash.to_hex();
    format!("{}/{}", &name[..2], &name[2..])
}

/// Why an object cannot be read: its file cannot be, or this process reads nothing now.
fn failed_read(hash: Hash, source: std::io::Error) -> Fault {
    if is_unreadable(&source) {
        Fault::Unreadable { hash: hash.to_hex().to_string(), source }
    } else {
        Fault::disk(format!("objects/{}", path(hash)))(source)
    }
}

/// Whether the file itself is what cannot be read, and not this process what cannot read.
fn is_unreadable(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let errors = [Errno::ACCESS, Errno::PERM, Errno::IO, Errno::NXIO, Errno::BADMSG];
    errors.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn is_link(dir: &Dir, path: &str) -> bool {
    dir.symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

fn hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The names in a folder.
pub(crate) fn names(dir: &Dir) -> std::io::Result<Vec<OsString>> {
    dir.entries()?.map(|entry| Ok(entry?.file_name())).collect()
}
