//! The files and folders that no tool may change, whatever it is granted, because they decide what
//! tools may do.
//!
//! Invariant: all protected paths are named here. A folder around a file that a policy, a hook or
//! the toolbox itself depends on is not granted for writing.

use std::path::Path;

use toolcell_capabilities::{ProtectedPath, Roots, folder_refusal};
use toolcell_i18n::{message, msgid};
use toolcell_policy::{PolicyError, ServerTransport};

use super::resources::{ResourceContext, Resources};
use crate::admission::hook::{ProgramFiles, search_path};
#[cfg(feature = "jail")]
use crate::jail::Program;

impl Resources {
    /// Returns the paths that no tool may change. The programs of hooks are looked up each time.
    pub(super) fn protected_paths(&self, context: ResourceContext<'_>) -> Vec<ProtectedPath> {
        let ResourceContext { store, admission, .. } = context;
        let (policy, hooks) = (admission.policy(), admission.hooks());
        let mut all = self.protected.clone();
        if let Some(store) = store {
            all.push(ProtectedPath::hidden(msgid!("the store"), store.path()));
        }
        for (layer, path) in policy.files() {
            all.push(ProtectedPath::file(message!("the policy of the {layer}", layer), path));
        }
        for (hook, command) in policy.hooks().iter().filter_map(|hook| Some((hook, hook.command()?))) {
            let files = ProgramFiles::for_command(&command.command, &command.folder);
            protect_program(&mut all, &hook.name, files, &command.folder);
        }
        for (name, files, folder) in hooks.programs() {
            protect_program(&mut all, name, files, folder);
        }
        for server in policy.servers() {
            if let ServerTransport::Command { command, folder, .. } = &server.transport {
                let what = message!("the program of the server `{server}`", server = server.name);
                let files = ProgramFiles::for_command(command, folder).files;
                all.extend(files.into_iter().map(|file| ProtectedPath::file(what.clone(), file)));
            }
        }
        if let Some(compiler) = policy.type_compiler() {
            let what = message!("the program that checks types");
            let files = ProgramFiles::for_command(&compiler.command, &compiler.folder).files;
            all.extend(files.into_iter().map(|file| ProtectedPath::file(what.clone(), file)));
        }
        let starts_programs = !policy.hooks().is_empty() || !policy.servers().is_empty();
        if starts_programs || policy.type_compiler().is_some() || hooks.programs().next().is_some() {
            let entries = search_path().into_iter();
            all.extend(
                entries.map(|entry| {
                    ProtectedPath::file(msgid!("a folder in which programs are looked up (`PATH`)"), entry)
                }),
            );
        }
        // The path of a deleted program is unknown; then nothing starts it either.
        all.extend(
            std::env::current_exe().ok().map(|path| ProtectedPath::file(msgid!("the program that runs tools"), path)),
        );
        #[cfg(feature = "jail")]
        if let Some(Program::Other(path)) = context.worker_program {
            all.push(ProtectedPath::file(msgid!("the program that runs tools"), path));
        }
        if let Roots::File(path) = &self.roots {
            all.push(ProtectedPath::file(msgid!("the trusted root certificates"), path));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Refuses a policy that grants access to a protected path.
    pub(crate) fn check_granted_folders(&self, context: ResourceContext<'_>) -> Result<(), PolicyError> {
        let policy = context.admission.policy();
        if policy.grants_no_folder() {
            return Ok(());
        }
        let protected = self.protected_paths(context);
        policy.check_folders(|path, access| folder_refusal(path, access, &protected))
    }
}

/// Protects the files of a hook and the folders around them, because a script may read what is
/// beside it.
fn protect_program(all: &mut Vec<ProtectedPath>, hook: &str, files: ProgramFiles, folder: &Path) {
    let what = message!("the program of the hook `{hook}`", hook);
    // The folder of a project's policy is the project itself, so only the files in it are
    // protected.
    let project = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let path_entries = search_path();
    for file in files.files {
        if let Some(beside) = file.parent() {
            let real = beside.canonicalize().unwrap_or_else(|_| beside.to_owned());
            let is_searched = path_entries.iter().any(|entry| entry == beside);
            if !project.starts_with(&real) && !is_searched {
                all.push(ProtectedPath::folder(message!("the folder of the hook `{hook}`", hook), beside));
            }
        }
        all.push(ProtectedPath::file(what.clone(), file));
    }
    for named in files.folders {
        let real = named.canonicalize().unwrap_or_else(|_| named.clone());
        let part = message!("an argument of the hook `{hook}`", hook);
        let is_project = project.starts_with(&real);
        all.push(if is_project { ProtectedPath::file(part, named) } else { ProtectedPath::folder(part, named) });
    }
}
