//! A granted folder with something around it that no tool may see.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolcell_capabilities::{Effects, Files, FilesConfig, FolderError, OperationError};
use toolcell_tool::{Access, FilesGrant, FolderName};

/// What is outside of the folder.
pub(crate) const OUTSIDE: &str = "what is outside";

/// `data`, which is granted, and `secret.txt` and `outside/f` beside it.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for folder in ["data", "data/sub", "outside"] {
            std::fs::create_dir(place.around(folder)).unwrap();
        }
        for file in ["secret.txt", "outside/f"] {
            std::fs::write(place.around(file), OUTSIDE).unwrap();
        }
        place
    }

    /// Where something beside the folder is.
    pub(crate) fn around(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Where something in the folder is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.around("data").join(name)
    }

    /// The folder, to be changed, with the usual quotas.
    pub(crate) fn grant(&self) -> FilesGrant {
        grant(&self.around("data"))
    }

    pub(crate) fn files(&self) -> Files {
        open(&[self.grant()]).unwrap()
    }

    /// A run that may write so much, and read so much.
    pub(crate) fn within(&self, bytes: u64, read_bytes: u64) -> Files {
        open(&[FilesGrant { bytes, read_bytes, ..self.grant() }]).unwrap()
    }

    pub(crate) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn has(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// All names in the folder, also those that no tool is shown.
    pub(crate) fn names(&self) -> Vec<String> {
        below(&self.around("data")).into_keys().collect()
    }

    /// What is outside is as it was.
    pub(crate) fn is_untouched_outside(&self) {
        let mut all = below(self.0.path());
        all.retain(|name, _| name != "data" && !name.starts_with("data/"));
        let expect = [("outside", ""), ("outside/f", OUTSIDE), ("secret.txt", OUTSIDE)];
        let expect = expect.map(|(name, content)| (name.to_owned(), content.as_bytes().to_vec()));
        assert_eq!(all, BTreeMap::from(expect));
    }
}

/// The folders of a run with nothing that is protected.
pub(crate) fn open(grants: &[FilesGrant]) -> Result<Files, FolderError> {
    Files::open(&FilesConfig { grants, ..FilesConfig::default() })
}

pub(crate) fn grant(path: &Path) -> FilesGrant {
    let name = FolderName::parse("data").unwrap();
    FilesGrant { access: Access::Write, ..FilesGrant::new(name, path.to_owned()) }
}

/// All that is below a folder, with the content of its files; no link is followed.
fn below(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (name, file_type) = (entry.file_name().to_string_lossy().into_owned(), entry.file_type().unwrap());
        let content = if file_type.is_file() { std::fs::read(entry.path()).unwrap() } else { Vec::new() };
        if file_type.is_dir() {
            all.extend(below(&entry.path()).into_iter().map(|(below, content)| (format!("{name}/{below}"), content)));
        }
        all.insert(name, content);
    }
    all
}

/// What was refused, before anything happened.
pub(crate) fn refused<T: std::fmt::Debug>(done: Result<T, OperationError>) -> &'static str {
    let failure = done.unwrap_err();
    assert_eq!(failure.effects, Effects::None, "{failure}");
    code_of(&failure)
}

/// The stable code of an error.
pub(crate) fn code_of(failure: &OperationError) -> &'static str {
    let Cow::Borrowed(code) = failure.code else { return "a code that is not stable" };
    code
}
