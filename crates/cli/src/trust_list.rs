//! The list of trusted project files, whose hooks may run. Each line is a hash and a path; below
//! it, indented by two spaces, are those of the programs that the file's hooks run. Only its owner
//! can write it.
//!
//! Invariant: trust is bound to the content and the path of a file, and to the content of the
//! programs that it names. A change to any of them, or a move (which would change what relative
//! commands mean), ends it. A list that other users could have written is rejected. A list of
//! format 1 names no programs, so no hook runs by it.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use toolcell::hook::ProgramFiles;
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message, msgid};

use crate::args::PolicyArgs;
use crate::error::CliError;
use crate::fs::write_error;
use crate::input;

/// Maximum size of the list, in bytes.
const MAX_LIST_BYTES: u64 = 16 << 20;
/// The first line of a list. A reader of format 1 takes it for an entry that never matches.
const FORMAT_HEADER: &str = "# toolcell trusted, format 2";

/// The location of the list.
pub(crate) struct TrustList {
    path: Option<PathBuf>,
}

/// A trusted policy file.
#[derive(Debug, Clone)]
pub(crate) struct TrustedFile {
    pub(crate) hash: String,
    pub(crate) path: PathBuf,
    /// The programs of its hooks when it was trusted.
    pub(crate) programs: Vec<TrustedProgram>,
}

/// A program that hooks run, as it was when it was trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustedProgram {
    pub(crate) hash: String,
    pub(crate) path: PathBuf,
}

impl TrustedProgram {
    /// Hashes a file's current content.
    pub(crate) fn from_file(path: &Path) -> std::io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(toolcell::hook::open_regular_file(path)?)?;
        Ok(Self { hash: hasher.finalize().to_hex().to_string(), path: path.to_owned() })
    }
}

/// Checks that every file that a command runs is on the list, with the same content. The error is
/// the message for the user.
pub(crate) fn check_programs(
    command: &[String],
    folder: &Path,
    known: &[TrustedProgram],
    policy: &Path,
) -> Result<(), Message> {
    let policy = policy.display();
    for path in ProgramFiles::for_command(command, folder).files {
        let shown = path.display();
        let now = TrustedProgram::from_file(&path)
            .map_err(|error| message!("`{path}` cannot be read: {reason}", path = shown, reason = error))?;
        match known.iter().find(|known| known.path == path) {
            None => {
                return Err(message!(
                    "`{path}` was not covered when {policy} was trusted; review it, then run: toolcell config trust \
                     {policy}",
                    path = shown,
                    policy
                ));
            }
            Some(known) if *known != now => {
                return Err(message!(
                    "`{path}` has changed since {policy} was trusted; review it, then run: toolcell config trust \
                     {policy}",
                    path = shown,
                    policy
                ));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

impl TrustedFile {
    /// Whether this entry is for a file of that content and path.
    pub(crate) fn matches(&self, hash: &impl ToString, path: &Path) -> bool {
        self.hash == hash.to_string() && self.path == path
    }
}

impl TrustList {
    /// Locates the list: the file given with `--trusted`, else the user's.
    pub(crate) fn locate(places: &PolicyArgs) -> Self {
        let in_state = || Some(etcetera::base_strategy::Xdg::new().ok()?.state_dir()?.join("toolcell/trusted"));
        Self { path: places.trusted.clone().or_else(in_state) }
    }

    /// Reads the list.
    pub(crate) fn read(&self) -> Result<Vec<TrustedFile>, CliError> {
        let Some(path) = &self.path else { return Ok(Vec::new()) };
        let failed = |error| CliError::File { path: path.display().to_string(), error };
        let file = match std::fs::File::open(path) {
            // If the user may not even enter the folder, it belongs to another user: nothing is
            // trusted.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
                ) =>
            {
                return Ok(Vec::new());
            }
            other => other.map_err(failed)?,
        };
        let metadata = file.metadata().map_err(failed)?;
        let owner = rustix::process::geteuid().as_raw();
        if metadata.uid() != owner || metadata.mode() & 0o022 != 0 {
            return Err(CliError::coded(
                ErrorCode::TrustUnsafe,
                message!("{path} is writable by other users, or not owned by you", path = path.display()),
                msgid!("review it, then restrict it: chown, chmod 600"),
            ));
        }
        // Reading one byte past the limit detects a list that is too long; a truncated list would
        // have another meaning.
        let bytes = input::read_up_to(file, MAX_LIST_BYTES + 1).map_err(failed)?;
        if bytes.len() as u64 > MAX_LIST_BYTES {
            let message =
                message!("{from} is longer than {limit} bytes", from = path.display(), limit = MAX_LIST_BYTES);
            return Err(CliError::usage(message, msgid!("remove entries that no longer need trust")));
        }
        let Ok(text) = String::from_utf8(bytes) else {
            let message = message!("{path} is not UTF-8", path = path.display());
            return Err(CliError::usage(message, msgid!("repair it, or delete it and trust the files again")));
        };
        let mut files: Vec<TrustedFile> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let of_program = line.strip_prefix("  ");
            let Some((hash, path)) = of_program.unwrap_or(line).split_once(' ') else { continue };
            let (hash, path) = (hash.to_owned(), PathBuf::from(path));
            match (of_program, files.last_mut()) {
                (Some(_), Some(file)) => file.programs.push(TrustedProgram { hash, path }),
                (Some(_), None) => {}
                (None, _) => files.push(TrustedFile { hash, path, programs: Vec::new() }),
            }
        }
        Ok(files)
    }

    /// Returns the path of the list.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Trusts a file in its current state, with the programs of its hooks. Trust in an earlier
    /// state of it ends.
    pub(crate) fn add(&self, file: TrustedFile) -> Result<(), CliError> {
        let is_plain = |path: &&Path| path.to_str().is_some_and(|path| !path.chars().any(char::is_control));
        let mut paths = std::iter::once(&*file.path).chain(file.programs.iter().map(|program| &*program.path));
        if let Some(path) = paths.find(|path| !is_plain(path)) {
            let message = message!("{path} cannot be trusted: the path is not printable UTF-8", path = path.display());
            return Err(CliError::coded(
                ErrorCode::Usage,
                message,
                msgid!("move the project to a folder with a printable UTF-8 name"),
            ));
        }
        let mut files = self.read()?;
        files.retain(|known| known.path != file.path);
        files.push(file);
        self.write(&files)
    }

    /// Revokes the trust in a file, and returns whether it was trusted.
    pub(crate) fn remove(&self, path: &Path) -> Result<bool, CliError> {
        let mut files = self.read()?;
        let before = files.len();
        files.retain(|file| file.path != path);
        if files.len() < before {
            self.write(&files)?;
        }
        Ok(files.len() < before)
    }

    /// Replaces the list atomically.
    fn write(&self, files: &[TrustedFile]) -> Result<(), CliError> {
        let Some(path) = &self.path else { return Err(CliError::NoHome) };
        let failed = write_error(path);
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(&failed)?;
        }
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(&failed)?;
        writeln!(file, "{FORMAT_HEADER}").map_err(&failed)?;
        for TrustedFile { hash, path, programs } in files {
            writeln!(file, "{hash} {}", path.display()).map_err(&failed)?;
            for TrustedProgram { hash, path } in programs {
                writeln!(file, "  {hash} {}", path.display()).map_err(&failed)?;
            }
        }
        file.sync_all().and_then(|()| std::fs::rename(&new, path)).map_err(failed)
    }
}

/// Makes a path independent of the current folder: resolves symlinks in its folder, and keeps its
/// last component.
pub(crate) fn stable_path(path: &Path) -> Result<PathBuf, CliError> {
    let failed = |error| CliError::File { path: path.display().to_string(), error };
    let whole = std::path::absolute(path).map_err(failed)?;
    match (whole.parent(), whole.file_name()) {
        (Some(folder), Some(name)) => match folder.canonicalize() {
            Ok(folder) => Ok(folder.join(name)),
            // A file that is gone can still be untrusted.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(whole),
            Err(error) => Err(failed(error)),
        },
        _ => Ok(whole),
    }
}
