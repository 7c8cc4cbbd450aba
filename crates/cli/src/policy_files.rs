//! Finds and reads the policy files of the user and of the project.
//!
//! Invariant: a file that exists but cannot be read or parsed is an error, never treated as
//! missing. The project's file is searched upwards, up to the home directory or the file system
//! boundary. If a trusted file is gone or changed, no tool runs until the user trusts or untrusts
//! it.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy as _;
use etcetera::base_strategy::Xdg;
use toolcell::hook::{HookEvent, HookTrust};
use toolcell::policy::{Layer, Origin, Overrides};
use toolcell::{HookVerdict, Hooks, Lang, Policy, PolicyFile, ProtectedPath};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message, msgid};

use crate::args::PolicyArgs;
use crate::error::CliError;
use crate::input;
use crate::trust_list::{TrustList, TrustedFile, check_programs};

/// The name of a policy file.
pub(crate) const FILE_NAME: &str = "toolcell.toml";
/// Maximum number of bytes read of a policy file. It is above the parser's own limit, which rejects
/// the file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The policy in effect, and the files it comes from.
pub(crate) struct PolicyFiles {
    pub(crate) user: Option<PolicyFile>,
    pub(crate) project: Option<PolicyFile>,
    policy: Policy,
    trust_list: TrustList,
    /// Where the project's file is searched, nearest folder first.
    search_folders: Vec<PathBuf>,
    user_path: Option<PathBuf>,
}

impl PolicyFiles {
    /// Finds and reads the policy files in effect.
    pub(crate) fn find(places: &PolicyArgs) -> Result<Self, CliError> {
        Self::with_user_file(places, user_file(places)?)
    }

    /// Finds and reads the project's file in effect, beside this file of the user.
    pub(crate) fn with_user_file(places: &PolicyArgs, user: Option<PolicyFile>) -> Result<Self, CliError> {
        let project = project_file(places)?;
        // A file that would be both counts as the user's.
        let project =
            project.filter(|project| !user.as_ref().is_some_and(|user| is_same_file(user.path(), project.path())));
        // Options override the files.
        let typed = Overrides { approval: places.approval, ..Overrides::default() };
        let policy = Policy::from_layers(user.iter().chain(&project).cloned())?.with_overrides(&typed);
        let (trusted, folders) = (TrustList::locate(places), folders_upwards(places)?);
        Ok(Self { user, project, policy, trust_list: trusted, search_folders: folders, user_path: user_path(places) })
    }

    /// Returns the combined policy.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the language that the policy sets, if any.
    pub(crate) fn language(&self) -> Option<Lang> {
        self.policy.language()
    }

    /// Returns the hooks of all files. Hooks of an untrusted project file deny every run.
    pub(crate) fn hooks(&self) -> Result<Hooks, CliError> {
        let mut hooks = Hooks::default();
        let trusted = self.trust_list.read()?;
        hooks.add_policy(&self.policy, |hook| {
            let Origin::File { path, .. } = &hook.origin else { return HookTrust::Untrusted };
            let Some(file) = trusted.iter().find(|file| file.matches(&hook.file_hash, path)) else {
                return HookTrust::Untrusted;
            };
            // A tool is approved, instead of covered by the trust in the file.
            let Some(command) = hook.command() else { return HookTrust::Trusted };
            let (command, folder, known) = (command.command.clone(), command.folder.clone(), file.programs.clone());
            let path = Arc::clone(path);
            HookTrust::TrustedWhile(Arc::new(move || check_programs(&command, &folder, &known, &path)))
        })?;
        if let Some(reason) = self.find_trust_problem(&trusted) {
            hooks.before("trusted-policy", move |_: &HookEvent| HookVerdict::deny_with(reason.clone()));
        }
        Ok(hooks)
    }

    /// Returns a text that differs if another policy, or another trust in its hooks, is in effect.
    pub(crate) fn stamp(&self) -> Result<String, CliError> {
        let files = self.user.iter().chain(&self.project).map(|file| (file.path(), file.hash().to_string()));
        let trusted = self.trust_list.read()?;
        let problem = self.find_trust_problem(&trusted).map(|problem| problem.to_string());
        Ok(format!("{:?} {trusted:?} {problem:?}", files.collect::<Vec<_>>()))
    }

    /// Returns why a project file that the user trusted is no longer in effect as it was, if that
    /// is so.
    pub(crate) fn trust_problem(&self) -> Result<Option<Message>, CliError> {
        Ok(self.find_trust_problem(&self.trust_list.read()?))
    }

    fn find_trust_problem(&self, trusted: &[TrustedFile]) -> Option<Message> {
        let holds = self.project.as_ref();
        let mut in_front = None;
        for path in self.search_folders.iter().map(|folder| folder.join(FILE_NAME)) {
            let known = trusted.iter().find(|file| file.path == path);
            let (file, shown) = (holds.filter(|file| file.path() == path), path.display());
            match (known, file) {
                (Some(known), Some(file)) if known.matches(&file.hash(), &path) => return None,
                (Some(_), Some(_)) => {
                    return Some(message!(
                        "{path} has changed since it was trusted; review it, then run: toolcell config trust {path}",
                        path = shown
                    ));
                }
                (Some(_), None) if path.symlink_metadata().is_err() => {
                    return Some(message!(
                        "{path} is trusted, but does not exist; restore it, or revoke the trust: toolcell config \
                         untrust {path}",
                        path = shown
                    ));
                }
                (Some(_), None) => {
                    let front: &Path = in_front?;
                    return Some(message!(
                        "{front} shadows {path}, which is trusted; review it, then run: toolcell config trust {front}",
                        front = front.display(),
                        path = shown
                    ));
                }
                (None, Some(file)) => in_front = Some(file.path()),
                (None, None) => {}
            }
        }
        None
    }

    /// Returns the paths that tools may not write beyond the files in effect and their hooks: the
    /// user's policy file, even if missing, the list of trusted files, and all files and programs
    /// on that list.
    pub(crate) fn protected_paths(&self) -> Result<Vec<ProtectedPath>, CliError> {
        let mut all = Vec::new();
        all.extend(self.user_path.iter().map(|path| ProtectedPath::file(msgid!("the user's policy file"), path)));
        all.extend(self.trust_list.path().map(|path| ProtectedPath::file(msgid!("the list of trusted files"), path)));
        for file in self.trust_list.read()? {
            all.extend(
                file.programs
                    .iter()
                    .map(|program| ProtectedPath::file(msgid!("a trusted hook program"), &program.path)),
            );
            all.push(ProtectedPath::file(msgid!("a trusted policy file"), &file.path));
        }
        Ok(all)
    }

    /// Whether the hooks of the project's file may run; `None` if it has none.
    pub(crate) fn is_project_trusted(&self) -> Result<Option<bool>, CliError> {
        let Some(file) = self.project.as_ref().filter(|file| !file.hooks().is_empty()) else { return Ok(None) };
        Ok(Some(self.trust_list.read()?.iter().any(|known| known.matches(&file.hash(), file.path()))))
    }
}

/// Returns the path of the user's policy file, which need not exist.
pub(crate) fn user_path(places: &PolicyArgs) -> Option<PathBuf> {
    let in_home = || Some(Xdg::new().ok()?.config_dir().join("toolcell").join(FILE_NAME));
    // Relative folders in the file must not depend on the current folder.
    let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    places.config.as_ref().map(whole).or_else(in_home)
}

fn user_file(places: &PolicyArgs) -> Result<Option<PolicyFile>, CliError> {
    let Some(path) = user_path(places) else { return Ok(None) };
    match read(Layer::User, &path) {
        Err(CliError::File { error, .. }) if places.config.is_none() && is_missing(&error) => Ok(None),
        other => other.map(Some),
    }
}

fn project_file(places: &PolicyArgs) -> Result<Option<PolicyFile>, CliError> {
    let Some(path) = project_path(places)? else { return Ok(None) };
    // Reading a pipe or a device could block forever.
    let failed = |error| CliError::File { path: path.display().to_string(), error };
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(CliError::coded(
            ErrorCode::FileUnreadable,
            message!("{path}: {reason}", path = path.display(), reason = message!("is not a file")),
            msgid!("use a readable file, or `-` for standard input"),
        ));
    }
    read(Layer::Project, &path).map(Some)
}

/// Returns the nearest project file in the folder and its ancestors.
pub(crate) fn project_path(places: &PolicyArgs) -> Result<Option<PathBuf>, CliError> {
    for folder in folders_upwards(places)? {
        let path = folder.join(FILE_NAME);
        match path.symlink_metadata() {
            Ok(_) => return Ok(Some(path)),
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(CliError::File { path: path.display().to_string(), error }),
        }
    }
    Ok(None)
}

/// Returns the folders to search for a project file, nearest first.
fn folders_upwards(places: &PolicyArgs) -> Result<Vec<PathBuf>, CliError> {
    if places.no_project {
        return Ok(Vec::new());
    }
    let here = places.project.clone().unwrap_or_else(|| PathBuf::from("."));
    let failed = |error| CliError::File { path: here.display().to_string(), error };
    let start = match here.canonicalize() {
        // A deleted current folder has no ancestors to search.
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

/// Reads and parses a policy file.
pub(crate) fn read(layer: Layer, path: &Path) -> Result<PolicyFile, CliError> {
    let failed = |error| CliError::File { path: path.display().to_string(), error };
    let bytes = File::open(path).and_then(|file| input::read_up_to(file, MAX_FILE_BYTES)).map_err(failed)?;
    parse(layer, &bytes, path)
}

/// Parses a policy file read from a stream.
pub(crate) fn read_from(layer: Layer, from: impl std::io::Read, name: &Path) -> Result<PolicyFile, CliError> {
    parse(layer, &input::read_up_to(from, MAX_FILE_BYTES)?, name)
}

fn parse(layer: Layer, bytes: &[u8], path: &Path) -> Result<PolicyFile, CliError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message =
            message!("{path}: invalid UTF-8 at byte {position}", path = path.display(), position = error.valid_up_to());
        CliError::coded(ErrorCode::PolicyInvalid, message, msgid!("save the file as UTF-8"))
    })?;
    Ok(PolicyFile::parse(layer, text, path)?)
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Whether two paths resolve to the same file.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
