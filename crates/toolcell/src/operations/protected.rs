//! What no tool may change, whatever it is granted: what decides what tools may do.
//!
//! Invariant: all of it is named here. Where something is that a policy, a hook or the toolbox itself leans on, a folder around it
//! is not granted for writing.

use std::path::Path;

use toolcell_capabilities::{Protected, Roots};
use toolcell_jail::Program;

use crate::gate::{ProgramFiles, search_path};
use crate::policy::PolicyError;
use crate::toolbox::Toolbox;

impl Toolbox {
    /// What no tool may change, as it is now: hooks are looked for anew each time.
    pub(crate) fn protected(&self) -> Vec<Protected> {
        let mut all = self.protected.clone();
        if let Some(store) = &self.store {
            all.push(Protected::hidden("the store", store.path()));
        }
        for (layer, path) in self.policy.files() {
            all.push(Protected::file(format!("the policy of the {layer}"), path));
        }
        for gate in self.policy.gates() {
            let files = ProgramFiles::of(&gate.command, &gate.folder);
            take_program(&mut all, &gate.name, files, &gate.folder);
        }
        for (name, files, folder) in self.gates.programs() {
            take_program(&mut all, name, files, folder);
        }
        if !self.policy.gates().is_empty() || self.gates.programs().next().is_some() {
            let entries = search_path().into_iter();
            all.extend(entries.map(|entry| Protected::file("a folder in which hooks look for programs", entry)));
        }
        // Where it is cannot be told of a program that was deleted; then nobody starts it either.
        all.extend(std::env::current_exe().ok().map(|path| Protected::file("the program that runs tools", path)));
        if let Some(Program::Other(path)) = self.sandbox.program() {
            all.push(Protected::file("the program that runs tools", path));
        }
        if let Roots::File(path) = &self.roots {
            all.push(Protected::file("the certificates that are trusted", path));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Refuses a policy that grants a folder which it may not.
    pub(crate) fn check_folders(&self) -> Result<(), PolicyError> {
        if self.policy.grants_no_folder() {
            return Ok(());
        }
        self.policy.protects(&self.protected())
    }
}

/// The files of a hook, and the folders of these files: a script reads what is beside it.
fn take_program(all: &mut Vec<Protected>, gate: &str, files: ProgramFiles, folder: &Path) {
    let what = format!("the program of the hook `{gate}`");
    // The folder of a policy is that of a whole project; of it the files are protected alone.
    let project = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let path_entries = search_path();
    for file in files.files {
        if let Some(beside) = file.parent() {
            let real = beside.canonicalize().unwrap_or_else(|_| beside.to_owned());
            let is_searched = path_entries.iter().any(|entry| entry == beside);
            if !project.starts_with(&real) && !is_searched {
                all.push(Protected::folder(format!("the folder of the hook `{gate}`"), beside));
            }
        }
        all.push(Protected::file(what.clone(), file));
    }
    for named in files.folders {
        let real = named.canonicalize().unwrap_or_else(|_| named.clone());
        let part = format!("an argument of the hook `{gate}`");
        let is_project = project.starts_with(&real);
        all.push(if is_project { Protected::file(part, named) } else { Protected::folder(part, named) });
    }
}
