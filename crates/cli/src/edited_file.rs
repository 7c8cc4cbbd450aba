//! A text file that the user owns and that a command edits: a client's configuration, a policy.
//!
//! Invariant: a file is replaced atomically, and only if it still has the content that was read.
//! Symlinks are followed and kept: their target is edited.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message, msgid};

use crate::error::{CliError, io_reason};
use crate::input;

/// Maximum number of symlinks followed; the same limit as in Linux.
const MAX_SYMLINKS: usize = 40;

/// The limits of an edited file, and what its errors say.
#[derive(Debug)]
pub(crate) struct EditRules {
    /// Maximum size of the file, in bytes.
    pub(crate) limit: u64,
    /// The code of the error if the file changed in the meantime.
    pub(crate) changed: ErrorCode,
    /// The hint for a file that is too long.
    pub(crate) too_long_hint: &'static str,
    /// The hint for a file that cannot be read.
    pub(crate) unreadable_hint: &'static str,
    /// The hint for a file that cannot be written.
    pub(crate) unwritable_hint: &'static str,
}

/// A file, as it was read.
pub(crate) struct EditedFile<'a> {
    target: PathBuf,
    before: Option<String>,
    rules: &'a EditRules,
}

impl<'a> EditedFile<'a> {
    /// Reads a file, which need not exist.
    pub(crate) fn open(path: &Path, rules: &'a EditRules) -> Result<Self, CliError> {
        let target = rules.resolve_symlinks(path)?;
        let before = rules.read(&target)?;
        Ok(Self { target, before, rules })
    }

    /// Returns the content; empty if the file does not exist.
    pub(crate) fn text(&self) -> &str {
        self.before.as_deref().unwrap_or_default()
    }

    /// Replaces the content, and returns whether it changed. Empty content removes the file. `mode`
    /// is that of a new file.
    pub(crate) fn replace(&self, after: &str, mode: u32) -> Result<bool, CliError> {
        if after == self.text() {
            return Ok(false);
        }
        if after.len() as u64 > self.rules.limit {
            return Err(self.rules.too_long(&self.target));
        }
        self.rules.replace(&self.target, self.before.as_deref(), after, mode).map(|()| true)
    }
}

impl EditRules {
    /// Follows symlinks to their final target, whether it exists or not.
    fn resolve_symlinks(&self, path: &Path) -> Result<PathBuf, CliError> {
        let failed = |error| self.unreadable(path, &error);
        let mut target = path.to_owned();
        for _ in 0..MAX_SYMLINKS {
            match std::fs::read_link(&target) {
                Ok(next) => target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next)),
                // Not a symlink, or nothing there.
                Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                    return Ok(target);
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Err(self.unreadable_because(path, &message!("too many levels of symlinks")))
    }

    /// Reads a file; `None` if it does not exist.
    fn read(&self, path: &Path) -> Result<Option<String>, CliError> {
        let failed = |error| self.unreadable(path, &error);
        let metadata = match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(failed)?,
        };
        // Reading a pipe or a device could block forever.
        if !metadata.is_file() {
            return Err(self.unreadable_because(path, &message!("is not a file")));
        }
        let bytes = File::open(path).and_then(|file| input::read_up_to(file, self.limit + 1)).map_err(failed)?;
        if bytes.len() as u64 > self.limit {
            return Err(self.too_long(path));
        }
        input::decode_utf8(bytes, &path.display().to_string()).map(Some)
    }

    fn too_long(&self, path: &Path) -> CliError {
        let message = message!("{from} is longer than {limit} bytes", from = path.display(), limit = self.limit);
        CliError::usage(message, self.too_long_hint)
    }

    /// Replaces a file if its content is still `before`. Empty content removes the file.
    fn replace(&self, path: &Path, before: Option<&str>, after: &str, mode: u32) -> Result<(), CliError> {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        if before.is_none() {
            let mut making = DirBuilder::new();
            // The folder of a private file is private too.
            making.recursive(true).mode(if mode == 0o600 { 0o700 } else { 0o777 });
            making.create(folder).map_err(|error| self.unwritable(folder, &error))?;
        }
        let failed = |error: std::io::Error| self.unwritable(path, &error);
        if after.is_empty() {
            self.check_unchanged(path, before)?;
            std::fs::remove_file(path).map_err(failed)?;
        } else {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let new = folder.join(format!(".{name}.{}.new", std::process::id()));
            let done = write_new_file(&new, path, after, mode).map_err(failed).and_then(|()| {
                self.check_unchanged(path, before)?;
                std::fs::rename(&new, path).map_err(failed)
            });
            if done.is_err() {
                // Report the first error, even if this cleanup fails.
                let _ = std::fs::remove_file(&new);
            }
            done?;
        }
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }

    /// Fails if a file no longer has the content `before`.
    fn check_unchanged(&self, path: &Path, before: Option<&str>) -> Result<(), CliError> {
        if self.read(path)?.as_deref() == before {
            return Ok(());
        }
        let message = message!("{path} was changed by another program", path = path.display());
        Err(CliError::coded(self.changed, message, msgid!("run the command again; it changed nothing")))
    }

    pub(crate) fn unreadable(&self, path: &Path, error: &std::io::Error) -> CliError {
        self.unreadable_because(path, &io_reason(error))
    }

    fn unreadable_because(&self, path: &Path, reason: &Message) -> CliError {
        CliError::coded(
            ErrorCode::FileUnreadable,
            message!("{path} cannot be read: {reason}", path = path.display(), reason),
            self.unreadable_hint,
        )
    }

    fn unwritable(&self, path: &Path, error: &std::io::Error) -> CliError {
        CliError::coded(
            ErrorCode::FileUnwritable,
            message!("{path} cannot be written: {reason}", path = path.display(), reason = io_reason(error)),
            self.unwritable_hint,
        )
    }
}

/// Writes a new file beside the old one, with the same owner and mode.
fn write_new_file(new: &Path, old: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(new)?;
    if let Ok(old) = old.metadata() {
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
            fchown(&file, Some(old.uid()), Some(old.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: EditRules = EditRules {
        limit: 1_000,
        changed: ErrorCode::ClientFileChanged,
        too_long_hint: msgid!("shorten it"),
        unreadable_hint: msgid!("choose another file"),
        unwritable_hint: msgid!("choose another file"),
    };

    #[test]
    fn a_file_that_was_changed_meanwhile_is_not_replaced() {
        let folder = std::env::temp_dir().join(format!("toolcell-edited-file-{}", std::process::id()));
        let path = folder.join("mcp.json");
        RULES.replace(&path, None, "first", 0o600).unwrap();
        for (before, after) in [(None, "mine"), (Some("else"), "mine"), (Some("else"), "")] {
            let refused = RULES.replace(&path, before, after, 0o600).unwrap_err();
            assert_eq!(refused.code(), "client-file-changed");
            assert_eq!(RULES.read(&path).unwrap().as_deref(), Some("first"));
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
        RULES.replace(&path, Some("first"), "second", 0o600).unwrap();
        RULES.replace(&path, Some("second"), "", 0o600).unwrap();
        assert_eq!(RULES.read(&path).unwrap(), None);
        std::fs::remove_dir(&folder).unwrap();
    }
}
