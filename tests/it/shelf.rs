//! The fixture of store tests: a store in a temporary folder, with a manual clock. Example:
//! `StoreFixture::new().tool("sum", "const execute = ({ a, b }) => a + b")`; each step takes one
//! second.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::store::{
    Durability, Entry, FindError, FsckReport, HistoryEntry, HistoryError, HistoryScope, ImportError, ImportReport,
    NewTool, OnConflict, RepairMode, Scores, Settings, Store, ToolRef, UsageEvent, VersionCommit, fsck,
};
use toolcell::{Draft, ExportSelection, ToolId, ToolMetadata, ToolName, ToolSpec};

/// A store with a manual clock.
pub(crate) struct StoreFixture {
    folder: TempDir,
    settings: Settings,
    store: Option<Store>,
    seconds: Cell<i64>,
}

/// A tool that is not stored yet.
#[derive(Clone)]
pub(crate) struct ToolFixture {
    pub(crate) spec: ToolSpec,
    pub(crate) notes: ToolMetadata,
    pub(crate) scores: Scores,
}

pub(crate) fn name(text: &str) -> ToolName {
    ToolName::parse(text).unwrap()
}

pub(crate) fn reference(text: &str) -> ToolRef {
    ToolRef::parse(text).unwrap()
}

/// Returns a script that returns a number.
pub(crate) fn returns(number: u64) -> String {
    format!("const execute = () => {number}")
}

/// Creates a tool with this name and source and default metadata.
pub(crate) fn sample_tool(tool: &str, source: &str) -> ToolFixture {
    sample_tool_with(tool, source, Value::Null, Value::Null)
}

pub(crate) fn sample_tool_with(tool: &str, source: &str, parameters: Value, capabilities: Value) -> ToolFixture {
    let draft = Draft::from_bytes(tool, source.as_bytes()).unwrap();
    let spec = ToolSpec::new(name(tool), &draft, parameters, capabilities).unwrap();
    ToolFixture { spec, notes: ToolMetadata::default(), scores: Scores { safety: 1.0, quality: 0.9 } }
}

impl ToolFixture {
    pub(crate) fn tags(mut self, tags: &[&str]) -> Self {
        self.notes = self.notes.with_tags(tags.iter().copied()).unwrap();
        self
    }

    pub(crate) fn described(mut self, description: &str) -> Self {
        self.notes = ToolMetadata::new(description).unwrap().with_tags(self.notes.tags().to_vec()).unwrap();
        self
    }

    pub(crate) fn scores(mut self, safety: f64, quality: f64) -> Self {
        self.scores = Scores { safety, quality };
        self
    }

    pub(crate) fn id(&self) -> ToolId {
        self.spec.id()
    }
}

impl StoreFixture {
    /// Creates an empty store that keeps objects only in their files, so that a damaged object is
    /// lost.
    pub(crate) fn new() -> Self {
        Self::with_settings(Settings { durability: Durability::Unsynced, ..Settings::default() })
    }

    /// Creates an empty store with these settings.
    pub(crate) fn with_settings(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Some(Store::open(folder.path(), &settings).unwrap());
        Self { folder, settings, store, seconds: Cell::new(1_000) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn dir(&self) -> &str {
        self.path().to_str().unwrap()
    }

    pub(crate) fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub(crate) fn close(&mut self) {
        self.store = None;
    }

    pub(crate) fn reopen(&mut self) {
        self.close();
        self.store = Some(Store::open_existing(self.folder.path(), &self.settings).unwrap());
    }

    /// Copies the files of the closed store.
    pub(crate) fn copy(&self) -> Self {
        assert!(self.store.is_none(), "somebody may be writing");
        let folder = tempfile::tempdir().unwrap();
        copy(self.path(), folder.path());
        Self { folder, settings: self.settings.clone(), store: None, seconds: self.seconds.clone() }
    }

    /// Sets the clock, in seconds.
    pub(crate) fn set_clock(&self, seconds: i64) -> &Self {
        self.seconds.set(seconds);
        self
    }

    /// Returns the time, and advances it by a second.
    pub(crate) fn now(&self) -> Timestamp {
        let seconds = self.seconds.get();
        self.seconds.set(seconds + 1);
        Timestamp::from_second(seconds).unwrap()
    }

    pub(crate) fn insert(&self, made: &ToolFixture, when_taken: OnConflict) -> Result<VersionCommit, HistoryError> {
        let ToolFixture { spec, notes, scores } = made;
        self.store().insert(&NewTool { spec, metadata: notes, scores: *scores, at: self.now() }, when_taken)
    }

    /// Inserts a tool under a free name.
    pub(crate) fn tool(&self, tool: &str, source: &str) -> ToolId {
        self.insert(&sample_tool(tool, source), OnConflict::Refuse).unwrap().id
    }

    /// Inserts a tool, replacing the one of the same name.
    pub(crate) fn replace(&self, tool: &str, source: &str) -> ToolId {
        self.insert(&sample_tool(tool, source), OnConflict::Replace).unwrap().id
    }

    pub(crate) fn delete(&self, tool: &str) -> Result<VersionCommit, HistoryError> {
        self.store().delete(&reference(tool), self.now())
    }

    pub(crate) fn undelete(&self, tool: &str) -> Result<VersionCommit, HistoryError> {
        self.store().undelete(&reference(tool), self.now())
    }

    pub(crate) fn roll_back(&self, tool: &str, number: u64) -> Result<VersionCommit, HistoryError> {
        self.store().roll_back(&name(tool), number, self.now())
    }

    pub(crate) fn find(&self, tool: &str) -> Result<Entry, FindError> {
        self.store().find(&reference(tool))
    }

    /// Returns the source that a name resolves to, or the error code.
    pub(crate) fn source(&self, tool: &str) -> String {
        match self.find(tool) {
            Ok(entry) => self
                .store()
                .spec(&entry)
                .map_or_else(|fault| format!("{}: {fault}", fault.code()), |spec| spec.source().to_owned()),
            Err(error) => error.code().to_owned(),
        }
    }

    /// Returns the history of a name as text: `created dt_0123… at 1000, deleted dt_0123… at 1001`.
    pub(crate) fn history(&self, tool: &str) -> String {
        let past = self.store().history(&name(tool)).unwrap();
        let step =
            |past: &HistoryEntry| format!("{} {} at {}", past.event.name(), past.id.short(), past.at.as_second());
        past.iter().map(step).collect::<Vec<_>>().join(", ")
    }

    /// Returns the source and the history of each name.
    pub(crate) fn state<'a>(&self, tools: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        tools.into_iter().map(|tool| format!("{tool}: {} ← {}", self.source(tool), self.history(tool))).collect()
    }

    /// Records a run of a tool.
    pub(crate) fn run(&self, tool: ToolId, failure: Option<&str>, fuel: u64, micros: u64) {
        let failure = failure.map(str::to_owned);
        let duration = std::time::Duration::from_micros(micros);
        self.store()
            .record_usage(UsageEvent { tool, at: self.now(), failure, fuel, duration, tokens_saved: None })
            .unwrap();
    }

    /// Exports all tools to a bundle.
    pub(crate) fn export(&self, history: HistoryScope) -> Vec<u8> {
        let mut bundle = Vec::new();
        toolcell::export(self.store(), ExportSelection::All, history, &mut bundle, self.now()).unwrap();
        bundle
    }

    /// Imports a bundle; the names must be free.
    pub(crate) fn import(&self, bundle: &[u8]) -> Result<ImportReport, ImportError> {
        self.import_with(bundle, OnConflict::Refuse)
    }

    pub(crate) fn import_with(&self, bundle: &[u8], when_taken: OnConflict) -> Result<ImportReport, ImportError> {
        toolcell::import(self.store(), bundle, when_taken, self.now())
    }

    pub(crate) fn check(&self) -> FsckReport {
        fsck(self.path(), RepairMode::Check).unwrap()
    }

    pub(crate) fn repair(&self) -> FsckReport {
        assert!(self.store.is_none(), "nobody may have the store open");
        fsck(self.path(), RepairMode::Repair).unwrap()
    }

    /// Returns the path of an object.
    pub(crate) fn object(&self, hash: &str) -> PathBuf {
        self.path().join("objects").join(&hash[..2]).join(&hash[2..])
    }

    /// Returns the path of a source's object.
    pub(crate) fn source_object(&self, source: &str) -> PathBuf {
        self.object(blake3::hash(source.as_bytes()).to_hex().as_str())
    }

    /// Returns the path of the object of a step in a name's history.
    pub(crate) fn version_object(&self, tool: &str, event: &str) -> PathBuf {
        let (tool, event) = (json!(tool), json!(event));
        let is_it = |path: &PathBuf| {
            let version: Option<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).ok();
            version.is_some_and(|version| version["name"] == tool && version["event"] == event)
        };
        self.objects().into_iter().find(is_it).unwrap()
    }

    /// Returns the paths of all objects, sorted.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        files_below(&self.path().join("objects"))
    }

    /// Returns the paths of all quarantined files, sorted.
    pub(crate) fn quarantined(&self) -> Vec<PathBuf> {
        files_below(&self.path().join("quarantine"))
    }
}

/// Returns the files in a folder and its subfolders, sorted.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

/// Replaces a file, even a read-only one.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}

fn copy(from: &Path, to: &Path) {
    for file in files_below(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(file, target).unwrap();
    }
}
