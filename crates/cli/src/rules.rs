//! The rules that hold here: the policy files of the user and of the project, found and read.
//!
//! Invariant: a file that is there and cannot be read or understood is an error, and not as good as none. A project's
//! file is looked for upwards, and not beyond the home directory or the file system. One that somebody trusted does not go away
//! unnoticed: nothing runs until they say that it may.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy as _;
use etcetera::base_strategy::Xdg;
use toolcell::gate::{GateCall, Trust};
use toolcell::policy::{Layer, Origin, Overrides};
use toolcell::{Gates, Lang, Policy, PolicyFile, Protected, Verdict};

use crate::args::PolicyArgs;
use crate::failure::Failure;
use crate::input;
use crate::trusted::{Trusted, TrustedFile, unchanged};

/// The name of a policy file.
pub(crate) const FILE: &str = "toolcell.toml";
/// More than a policy file may have, in bytes: what is longer is refused as too long.
const READ_LIMIT: u64 = 1 << 20;

/// The policy, and what it was made of.
pub(crate) struct Rules {
    pub(crate) user: Option<PolicyFile>,
    pub(crate) project: Option<PolicyFile>,
    policy: Policy,
    trusted: Trusted,
    /// Where a project's file is looked for, the nearest first.
    folders: Vec<PathBuf>,
    user_path: Option<PathBuf>,
}

impl Rules {
    /// Finds and reads what holds here.
    pub(crate) fn find(places: &PolicyArgs) -> Result<Self, Failure> {
        let (user, project) = (user_file(places)?, project_file(places)?);
        // A folder that is both is the user's.
        let project = project.filter(|project| !user.as_ref().is_some_and(|user| same(user.path(), project.path())));
        // What is typed counts before the files.
        let typed = Overrides { approval: places.approval, ..Overrides::default() };
        let policy = Policy::layered(user.iter().chain(&project).cloned())?.with(&typed);
        let (trusted, folders) = (Trusted::at(places), folders_upwards(places)?);
        Ok(Self { user, project, policy, trusted, folders, user_path: user_path(places) })
    }

    /// What they come to.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The language that they say.
    pub(crate) fn language(&self) -> Option<Lang> {
        self.policy.language()
    }

    /// The gates of all files. Those of a project that nobody trusted deny.
    pub(crate) fn gates(&self) -> Result<Gates, Failure> {
        let mut gates = Gates::default();
        let trusted = self.trusted.read()?;
        gates.add_policy(&self.policy, |gate| {
            let Origin::File { path, .. } = &gate.origin else { return Trust::No };
            let Some(file) = trusted.iter().find(|file| file.is(&gate.file_hash, path)) else { return Trust::No };
            let (command, folder, known) = (gate.command.clone(), gate.folder.clone(), file.programs.clone());
            let path = Arc::clone(path);
            Trust::AsLongAs(Arc::new(move || unchanged(&command, &folder, &known, &path)))
        })?;
        if let Some(reason) = self.lost(&trusted) {
            gates.before("trusted-policy", move |_: &GateCall| Verdict::deny(reason.clone()));
        }
        Ok(gates)
    }

    /// What has become of a project's file that somebody trusted, where it does not hold any longer as it was.
    pub(crate) fn lost_trust(&self) -> Result<Option<String>, Failure> {
        Ok(self.lost(&self.trusted.read()?))
    }

    fn lost(&self, trusted: &[TrustedFile]) -> Option<String> {
        let holds = self.project.as_ref();
        let mut in_front = None;
        for path in self.folders.iter().map(|folder| folder.join(FILE)) {
            let known = trusted.iter().find(|file| file.path == path);
            let (file, shown) = (holds.filter(|file| file.path() == path), path.display());
            match (known, file) {
                (Some(known), Some(file)) if known.is(&file.hash(), &path) => return None,
                (Some(_), Some(_)) => {
                    let next = format!("look at it, and then: toolcell config trust {shown}");
                    return Some(format!("{shown} has changed since it was trusted; {next}"));
                }
                (Some(_), None) if path.symlink_metadata().is_err() => {
                    let next = format!("put it back, or say that it may go: toolcell config untrust {shown}");
                    return Some(format!("{shown} was trusted, and it is gone; {next}"));
                }
                (Some(_), None) => {
                    let front: &Path = in_front?;
                    let front = front.display();
                    let next = format!("look at it, and then: toolcell config trust {front}");
                    return Some(format!("{front} stands in front of {shown}, which is trusted; {next}"));
                }
                (None, Some(file)) => in_front = Some(file.path()),
                (None, None) => {}
            }
        }
        None
    }

    /// What no tool may change of what these rules lean on, beside the files that hold here and their gates: where the user's file is
    /// or would be, the list of trusted files, and what stands in it.
    pub(crate) fn protected(&self) -> Result<Vec<Protected>, Failure> {
        let mut all = Vec::new();
        all.extend(self.user_path.iter().map(|path| Protected::file("the policy of the user", path)));
        all.extend(self.trusted.path().map(|path| Protected::file("the list of trusted files", path)));
        for file in self.trusted.read()? {
            all.extend(file.programs.iter().map(|program| Protected::file("a program that is trusted", &program.path)));
            all.push(Protected::file("a policy that is trusted", &file.path));
        }
        Ok(all)
    }

    /// Whether the gates of the project's file may run; nothing where it has none.
    pub(crate) fn trusts_project(&self) -> Result<Option<bool>, Failure> {
        let Some(file) = self.project.as_ref().filter(|file| !file.gates().is_empty()) else { return Ok(None) };
        Ok(Some(self.trusted.read()?.iter().any(|known| known.is(&file.hash(), file.path()))))
    }
}

/// Where the user's file is, or would be.
pub(crate) fn user_path(places: &PolicyArgs) -> Option<PathBuf> {
    let in_home = || Some(Xdg::new().ok()?.config_dir().join("toolcell").join(FILE));
    // What the file says of folders holds wherever somebody stands.
    let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    places.config.as_ref().map(whole).or_else(in_home)
}

fn user_file(places: &PolicyArgs) -> Result<Option<PolicyFile>, Failure> {
    let Some(path) = user_path(places) else { return Ok(None) };
    match read(Layer::User, &path) {
        Err(Failure::File { error, .. }) if places.config.is_none() && is_missing(&error) => Ok(None),
        other => other.map(Some),
    }
}

fn project_file(places: &PolicyArgs) -> Result<Option<PolicyFile>, Failure> {
    let Some(path) = project_path(places)? else { return Ok(None) };
    // What is no file, such as a pipe, could be waited for without end.
    let failed = |error| Failure::File { path: path.display().to_string(), error };
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(failed(std::io::Error::other("is not a file")));
    }
    read(Layer::Project, &path).map(Some)
}

/// The nearest file upwards.
pub(crate) fn project_path(places: &PolicyArgs) -> Result<Option<PathBuf>, Failure> {
    for folder in folders_upwards(places)? {
        let path = folder.join(FILE);
        match path.symlink_metadata() {
            Ok(_) => return Ok(Some(path)),
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(Failure::File { path: path.display().to_string(), error }),
        }
    }
    Ok(None)
}

/// The folders in which a project's file is looked for, the nearest first.
fn folders_upwards(places: &PolicyArgs) -> Result<Vec<PathBuf>, Failure> {
    if places.no_project {
        return Ok(Vec::new());
    }
    let here = places.project.clone().unwrap_or_else(|| PathBuf::from("."));
    let failed = |error| Failure::File { path: here.display().to_string(), error };
    let start = match here.canonicalize() {
        // A folder that was deleted has nothing above it.
        Err(error) if places.project.is_none() && is_missing(&error) => return Ok(Vec::new()),
        other => other.map_err(failed)?,
    };
    let file_system = start.metadata().map_err(failed)?.dev();
    let home = etcetera::home_dir().ok().and_then(|home| home.canonicalize().ok());
    let mut folders = Vec::new();
    for folder in start.ancestors() {
        if folder.metadata().map_err(failed)?.dev() != file_system {
            break;
        }
        folders.push(folder.to_owned());
        if home.as_deref() == Some(folder) {
            break;
        }
    }
    Ok(folders)
}

/// Reads a policy file.
pub(crate) fn read(layer: Layer, path: &Path) -> Result<PolicyFile, Failure> {
    let failed = |error| Failure::File { path: path.display().to_string(), error };
    let bytes = File::open(path).and_then(|file| input::read(file, READ_LIMIT)).map_err(failed)?;
    parse(layer, &bytes, path)
}

/// Reads a policy file from somewhere.
pub(crate) fn read_from(layer: Layer, from: impl std::io::Read, name: &Path) -> Result<PolicyFile, Failure> {
    parse(layer, &input::read(from, READ_LIMIT)?, name)
}

fn parse(layer: Layer, bytes: &[u8], path: &Path) -> Result<PolicyFile, Failure> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("{}: it is not UTF-8 at byte {}", path.display(), error.valid_up_to());
        Failure::said("policy-invalid", message, "save the file as UTF-8")
    })?;
    Ok(PolicyFile::parse(layer, text, path)?)
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Whether two paths lead to one file.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
