//! What a tool may keep: a space of keys and values, and folders.
//!
//! Invariant: a folder is the folder of one path. What is below of it is another one, because only whoever opened the folder
//! knows that the way down does not lead out of it.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::grants::error::GrantError;
use crate::grants::word::{FolderName, SpaceName};
use crate::grants::{Bytes, MAX_BYTES, MIB, within};

/// What may be done with what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It may be read.
    Read,
    /// It may be read, and changed.
    Write,
}

impl Access {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// A space of keys and values. Tools with a space of one name share it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "KvForm")]
pub struct KvGrant {
    /// Which.
    pub space: SpaceName,
    /// What may be done with it; anything unless said.
    pub access: Access,
    /// The most bytes of all keys and values; 1 MiB unless said.
    pub bytes: Bytes,
    /// The most keys; 1,000 unless said.
    pub keys: u32,
    /// The longest value, in bytes of JSON text; 64 KiB unless said.
    pub value_bytes: Bytes,
}

impl KvGrant {
    /// What is granted of a space where nothing more is said.
    #[must_use]
    pub const fn to(space: SpaceName) -> Self {
        Self { space, access: Access::Write, bytes: MIB, keys: 1_000, value_bytes: 64 << 10 }
    }

    /// The grant, if its parts go together.
    ///
    /// # Errors
    /// `grant-invalid`: a cap out of its range.
    pub fn checked(self) -> Result<Self, GrantError> {
        within("number of bytes", self.bytes, 0, MAX_BYTES)?;
        within("number of bytes", self.value_bytes, 0, MAX_BYTES)?;
        Ok(self)
    }

    /// What both grant.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        (self.space == other.space).then(|| Self {
            space: self.space.clone(),
            access: self.access.min(other.access),
            bytes: self.bytes.min(other.bytes),
            keys: self.keys.min(other.keys),
            value_bytes: self.value_bytes.min(other.value_bytes),
        })
    }
}

impl fmt::Display for KvGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { space, access, bytes, keys, value_bytes } = self;
        write!(f, "{} space {space}, at most {bytes} bytes in {keys} keys, {value_bytes} a value", access.name())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KvForm {
    space: SpaceName,
    access: Option<Access>,
    bytes: Option<Bytes>,
    keys: Option<u32>,
    value_bytes: Option<Bytes>,
}

impl TryFrom<KvForm> for KvGrant {
    type Error = GrantError;

    fn try_from(form: KvForm) -> Result<Self, GrantError> {
        let plain = Self::to(form.space);
        let grant = Self {
            access: form.access.unwrap_or(plain.access),
            bytes: form.bytes.unwrap_or(plain.bytes),
            keys: form.keys.unwrap_or(plain.keys),
            value_bytes: form.value_bytes.unwrap_or(plain.value_bytes),
            ..plain
        };
        grant.checked()
    }
}

/// A folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "FilesForm")]
pub struct FilesGrant {
    /// What tools call it: the first part of their paths.
    pub name: FolderName,
    /// Where it is.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// What may be done in it; reading unless said.
    pub access: Access,
    /// The most bytes that a run writes; 10 MiB unless said.
    pub bytes: Bytes,
    /// The most bytes that a run reads; 100 MiB unless said.
    pub read_bytes: Bytes,
}

impl FilesGrant {
    /// What is granted of a folder where nothing more is said.
    #[must_use]
    pub const fn to(name: FolderName, path: PathBuf) -> Self {
        Self { name, path, access: Access::Read, bytes: 10 * MIB, read_bytes: 100 * MIB }
    }

    /// The grant, if its parts go together.
    ///
    /// # Errors
    /// `grant-invalid`: an empty path, the whole file system, a cap out of its range.
    pub fn checked(self) -> Result<Self, GrantError> {
        let shown = self.path.display().to_string();
        let wrong = |why: &'static str| Err(GrantError::new("folder", &shown, why));
        if self.path.as_os_str().is_empty() {
            return wrong("say where it is");
        }
        if self.path == Path::new("/") {
            return wrong("that is the whole file system; name the folder that the tool needs");
        }
        within("number of bytes", self.bytes, 0, MAX_BYTES)?;
        within("number of bytes", self.read_bytes, 0, MAX_BYTES)?;
        Ok(self)
    }

    /// What both grant.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        (self.name == other.name && self.path == other.path).then(|| Self {
            name: self.name.clone(),
            path: self.path.clone(),
            access: self.access.min(other.access),
            bytes: self.bytes.min(other.bytes),
            read_bytes: self.read_bytes.min(other.read_bytes),
        })
    }
}

impl fmt::Display for FilesGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at {}", self.access.name(), self.name, text(&self.path).escape_debug())?;
        let plain = Self::to(self.name.clone(), PathBuf::new());
        if self.access == Access::Write && self.bytes != plain.bytes {
            write!(f, ", at most {} bytes written", self.bytes)?;
        }
        if self.read_bytes != plain.read_bytes {
            write!(f, ", at most {} bytes read", self.read_bytes)?;
        }
        Ok(())
    }
}

/// A path as text; two paths never have the same.
fn text(path: &Path) -> String {
    // No path has a NUL in it, so what is escaped is told from what is written so.
    let escaped = || format!("\0{}", path.as_os_str().as_encoded_bytes().escape_ascii());
    path.to_str().map_or_else(escaped, str::to_owned)
}

fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(path))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilesForm {
    name: FolderName,
    path: PathBuf,
    access: Option<Access>,
    bytes: Option<Bytes>,
    read_bytes: Option<Bytes>,
}

impl TryFrom<FilesForm> for FilesGrant {
    type Error = GrantError;

    fn try_from(form: FilesForm) -> Result<Self, GrantError> {
        let plain = Self::to(form.name, form.path);
        let grant = Self {
            access: form.access.unwrap_or(plain.access),
            bytes: form.bytes.unwrap_or(plain.bytes),
            read_bytes: form.read_bytes.unwrap_or(plain.read_bytes),
            ..plain
        };
        grant.checked()
    }
}
