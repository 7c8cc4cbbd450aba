//! The list of project files whose gates may run: a hash and a path a line, and below of it, with two spaces in front, those of the
//! programs that the gates run. Only its user writes it.
//!
//! Invariant: a file is trusted as it is and where it is, with the programs that it names as they are. A change to one of them, or
//! another place (from which its commands would be others), is another file. A list that somebody else could have written counts
//! for nothing. A list of format 1 has no programs, so that nothing runs by it.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use toolcell::gate::ProgramFiles;

use crate::args::PolicyArgs;
use crate::failure::Failure;
use crate::input;
use crate::output::unwritable;

/// The longest list, in bytes.
const LIMIT: u64 = 16 << 20;
/// The first line of a list. Readers of format 1 take it for a file that is never looked for.
const FORMAT: &str = "# toolcell trusted, format 2";

/// Where the list is.
pub(crate) struct Trusted {
    path: Option<PathBuf>,
}

/// A file that is trusted.
#[derive(Clone)]
pub(crate) struct TrustedFile {
    pub(crate) hash: String,
    pub(crate) path: PathBuf,
    /// The programs of its gates, as they were then.
    pub(crate) programs: Vec<TrustedProgram>,
}

/// A file that gates run, as it was when somebody trusted it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TrustedProgram {
    pub(crate) hash: String,
    pub(crate) path: PathBuf,
}

impl TrustedProgram {
    /// A file as it is now.
    pub(crate) fn now(path: &Path) -> std::io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(toolcell::gate::open_regular_file(path)?)?;
        Ok(Self { hash: hasher.finalize().to_hex().to_string(), path: path.to_owned() })
    }
}

/// Why a command is not the one that was trusted with a policy file, if it is not: each file that it runs has to be one of those, as
/// it was.
pub(crate) fn unchanged(
    command: &[String],
    folder: &Path,
    known: &[TrustedProgram],
    policy: &Path,
) -> Result<(), String> {
    let policy = policy.display();
    let next = format!("look at it, and then: toolcell config trust {policy}");
    for path in ProgramFiles::of(command, folder).files {
        let shown = path.display();
        let now = TrustedProgram::now(&path).map_err(|error| format!("`{shown}` cannot be read: {error}"))?;
        match known.iter().find(|known| known.path == path) {
            None => return Err(format!("`{shown}` was not covered when {policy} was trusted; {next}")),
            Some(known) if *known != now => {
                return Err(format!("`{shown}` has changed since {policy} was trusted; {next}"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

impl TrustedFile {
    /// Whether it is this one.
    pub(crate) fn is(&self, hash: &impl ToString, path: &Path) -> bool {
        self.hash == hash.to_string() && self.path == path
    }
}

impl Trusted {
    /// The list that is asked for, else that of the user.
    pub(crate) fn at(places: &PolicyArgs) -> Self {
        let in_state = || Some(etcetera::base_strategy::Xdg::new().ok()?.state_dir()?.join("toolcell/trusted"));
        Self { path: places.trusted.clone().or_else(in_state) }
    }

    /// All that is trusted.
    pub(crate) fn read(&self) -> Result<Vec<TrustedFile>, Failure> {
        let Some(path) = &self.path else { return Ok(Vec::new()) };
        let failed = |error| Failure::File { path: path.display().to_string(), error };
        let file = match std::fs::File::open(path) {
            // A list in a folder that this user may not even look into is another user's: nothing here is trusted.
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
            let message = format!("{} can be written by others", path.display());
            return Err(Failure::said("trust-unsafe", message, "look through it, and make it yours: chmod 600"));
        }
        // One byte more than allowed tells a list that is too long: a part of it would be another list.
        let bytes = input::read(file, LIMIT + 1).map_err(failed)?;
        if bytes.len() as u64 > LIMIT {
            let message = format!("{} is longer than {LIMIT} bytes", path.display());
            return Err(Failure::Typed { message, hint: "take out of it what need not be trusted any longer" });
        }
        let Ok(text) = String::from_utf8(bytes) else {
            let message = format!("{} is no text in UTF-8", path.display());
            return Err(Failure::Typed { message, hint: "mend it, or delete it and trust anew what is to be trusted" });
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

    /// Where it is.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Trusts a file as it is, with the programs of its gates as they are. Another state of it is not trusted any longer.
    pub(crate) fn add(&self, file: TrustedFile) -> Result<(), Failure> {
        let is_plain = |path: &&Path| path.to_str().is_some_and(|path| !path.chars().any(char::is_control));
        let mut paths = std::iter::once(&*file.path).chain(file.programs.iter().map(|program| &*program.path));
        if let Some(path) = paths.find(|path| !is_plain(path)) {
            let message = format!("{} cannot be listed: its path is not plain text", path.display());
            return Err(Failure::said("usage", message, "move the project to a folder with a plain name"));
        }
        let mut files = self.read()?;
        files.retain(|known| known.path != file.path);
        files.push(file);
        self.write(&files)
    }

    /// Trusts a file no longer, and says whether it was trusted.
    pub(crate) fn remove(&self, path: &Path) -> Result<bool, Failure> {
        let mut files = self.read()?;
        let before = files.len();
        files.retain(|file| file.path != path);
        if files.len() < before {
            self.write(&files)?;
        }
        Ok(files.len() < before)
    }

    /// Writes the list beside the old one, and puts it in its place.
    fn write(&self, files: &[TrustedFile]) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Err(Failure::NoHome) };
        let failed = unwritable(path);
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(&failed)?;
        }
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(&failed)?;
        writeln!(file, "{FORMAT}").map_err(&failed)?;
        for TrustedFile { hash, path, programs } in files {
            writeln!(file, "{hash} {}", path.display()).map_err(&failed)?;
            for TrustedProgram { hash, path } in programs {
                writeln!(file, "  {hash} {}", path.display()).map_err(&failed)?;
            }
        }
        file.sync_all().and_then(|()| std::fs::rename(&new, path)).map_err(failed)
    }
}

/// A path that stays the same wherever it is said from: its folder's real one, and the name in it.
pub(crate) fn settled(path: &Path) -> Result<PathBuf, Failure> {
    let failed = |error| Failure::File { path: path.display().to_string(), error };
    let whole = std::path::absolute(path).map_err(failed)?;
    match (whole.parent(), whole.file_name()) {
        (Some(folder), Some(name)) => match folder.canonicalize() {
            Ok(folder) => Ok(folder.join(name)),
            // What is gone can be untrusted all the same.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(whole),
            Err(error) => Err(failed(error)),
        },
        _ => Ok(whole),
    }
}
