//! Grants of storage: a key-value space, and folders.
//!
//! Invariant: a folder grant covers one path. A grant of a subfolder is unrelated to a grant of its
//! parent, because only the code that opens the folder can tell whether the path to it contains a
//! symlink.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use toolcell_i18n::{Localize, Message, message};

use crate::grants::error::GrantError;
use crate::grants::identifier::{FolderName, SpaceName};
use crate::grants::{Bytes, MAX_BYTES, MIB, check_range};

/// The access that a storage grant allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing.
    Write,
}

impl Access {
    /// Returns the name used in policies and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// A grant of a key-value space. All tools that are granted a space of the same name share it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "RawKvGrant")]
pub struct KvGrant {
    /// The name of the space.
    pub space: SpaceName,
    /// The allowed access; default write.
    pub access: Access,
    /// The maximum size of all keys and values together, in bytes; default 1 MiB.
    pub bytes: Bytes,
    /// The maximum number of keys; default 1,000.
    pub keys: u32,
    /// The maximum size of a value, in bytes of JSON text; default 64 KiB.
    pub value_bytes: Bytes,
}

impl KvGrant {
    /// Creates a grant of a space with the default access and limits.
    #[must_use]
    pub const fn new(space: SpaceName) -> Self {
        Self { space, access: Access::Write, bytes: MIB, keys: 1_000, value_bytes: 64 << 10 }
    }

    /// Validates the grant.
    ///
    /// # Errors
    /// `grant-invalid`: a limit out of its range.
    pub fn validate(self) -> Result<Self, GrantError> {
        check_range(message!("number of bytes"), self.bytes, 0, MAX_BYTES)?;
        check_range(message!("number of bytes"), self.value_bytes, 0, MAX_BYTES)?;
        Ok(self)
    }

    /// Returns the intersection of both grants, or `None` for different spaces.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        (self.space == other.space).then(|| Self {
            space: self.space.clone(),
            access: self.access.min(other.access),
            bytes: self.bytes.min(other.bytes),
            keys: self.keys.min(other.keys),
            value_bytes: self.value_bytes.min(other.value_bytes),
        })
    }
}

impl Localize for KvGrant {
    fn localize(&self) -> Message {
        let Self { space, access, bytes, keys, value_bytes } = self;
        let space = match access {
            Access::Read => message!("read space {space}", space),
            Access::Write => message!("write space {space}", space),
        };
        message!(
            "{space}, at most {bytes} bytes in {keys} keys, {value_bytes} per value",
            space,
            bytes,
            keys,
            value_bytes
        )
    }
}

impl fmt::Display for KvGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawKvGrant {
    space: SpaceName,
    access: Option<Access>,
    bytes: Option<Bytes>,
    keys: Option<u32>,
    value_bytes: Option<Bytes>,
}

impl TryFrom<RawKvGrant> for KvGrant {
    type Error = GrantError;

    fn try_from(form: RawKvGrant) -> Result<Self, GrantError> {
        let plain = Self::new(form.space);
        let grant = Self {
            access: form.access.unwrap_or(plain.access),
            bytes: form.bytes.unwrap_or(plain.bytes),
            keys: form.keys.unwrap_or(plain.keys),
            value_bytes: form.value_bytes.unwrap_or(plain.value_bytes),
            ..plain
        };
        grant.validate()
    }
}

/// A grant of a folder on disk.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "RawFilesGrant")]
pub struct FilesGrant {
    /// The name that tools use for the folder: the first component of their paths.
    pub name: FolderName,
    /// The path of the folder on this machine.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The allowed access; default read.
    pub access: Access,
    /// The maximum number of bytes that a run writes; default 10 MiB.
    pub bytes: Bytes,
    /// The maximum number of bytes that a run reads; default 100 MiB.
    pub read_bytes: Bytes,
}

impl FilesGrant {
    /// Creates a grant of a folder with the default access and limits.
    #[must_use]
    pub const fn new(name: FolderName, path: PathBuf) -> Self {
        Self { name, path, access: Access::Read, bytes: 10 * MIB, read_bytes: 100 * MIB }
    }

    /// Validates the grant.
    ///
    /// # Errors
    /// `grant-invalid`: an empty path, the root of the file system, or a limit out of its range.
    pub fn validate(self) -> Result<Self, GrantError> {
        let shown = self.path.display().to_string();
        let wrong = |why| Err(GrantError::new(message!("folder"), &shown, why));
        if self.path.as_os_str().is_empty() {
            return wrong(message!("the path is empty"));
        }
        if self.path == Path::new("/") {
            return wrong(message!("it is the whole file system; name the folder that the tool needs"));
        }
        check_range(message!("number of bytes"), self.bytes, 0, MAX_BYTES)?;
        check_range(message!("number of bytes"), self.read_bytes, 0, MAX_BYTES)?;
        Ok(self)
    }

    /// Returns the intersection of both grants, or `None` for different folders.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        (self.name == other.name && self.path == other.path).then(|| Self {
            name: self.name.clone(),
            path: self.path.clone(),
            access: self.access.min(other.access),
            bytes: self.bytes.min(other.bytes),
            read_bytes: self.read_bytes.min(other.read_bytes),
        })
    }
}

impl Localize for FilesGrant {
    /// Returns folder and access. Limits are shown only if they differ from the defaults.
    fn localize(&self) -> Message {
        let (name, path) = (&self.name, path_to_text(&self.path).escape_debug().to_string());
        let mut parts = vec![match self.access {
            Access::Read => message!("read {name} at {path}", name, path),
            Access::Write => message!("write {name} at {path}", name, path),
        }];
        let plain = Self::new(self.name.clone(), PathBuf::new());
        if self.access == Access::Write && self.bytes != plain.bytes {
            parts.push(message!("at most {limit} bytes written", limit = self.bytes));
        }
        if self.read_bytes != plain.read_bytes {
            parts.push(message!("at most {limit} bytes read", limit = self.read_bytes));
        }
        Message::list(parts)
    }
}

impl fmt::Display for FilesGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.localize(), f)
    }
}

/// Converts a path to text injectively: two paths never have the same text.
fn path_to_text(path: &Path) -> String {
    // Paths contain no NUL, so the leading NUL distinguishes escaped text from a path that is
    // written the same way.
    let escaped = || format!("\0{}", path.as_os_str().as_encoded_bytes().escape_ascii());
    path.to_str().map_or_else(escaped, str::to_owned)
}

fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path_to_text(path))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFilesGrant {
    name: FolderName,
    path: PathBuf,
    access: Option<Access>,
    bytes: Option<Bytes>,
    read_bytes: Option<Bytes>,
}

impl TryFrom<RawFilesGrant> for FilesGrant {
    type Error = GrantError;

    fn try_from(form: RawFilesGrant) -> Result<Self, GrantError> {
        let plain = Self::new(form.name, form.path);
        let grant = Self {
            access: form.access.unwrap_or(plain.access),
            bytes: form.bytes.unwrap_or(plain.bytes),
            read_bytes: form.read_bytes.unwrap_or(plain.read_bytes),
            ..plain
        };
        grant.validate()
    }
}
