//! The sentence that tests of the store are written in: a store in a folder of its own, with a clock that a test moves.
//! `shelf.tool("sum", "const execute = ({ a, b }) => a + b")` puts a tool there, and each step is a second later.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::store::{
    Durability, Entry, FindError, Health, History, ImportError, Imported, Mending, NameStepError, Past, Registration,
    Scores, Settings, Step, Store, ToolRef, UsageEvent, WhenTaken, fsck,
};
use toolcell::{Bundle, Draft, Notes, ToolId, ToolName, ToolSpec};

/// A store, and what time it is there.
pub(crate) struct Shelf {
    folder: TempDir,
    settings: Settings,
    store: Option<Store>,
    seconds: Cell<i64>,
}

/// A tool that is not stored yet.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) spec: ToolSpec,
    pub(crate) notes: Notes,
    pub(crate) scores: Scores,
}

pub(crate) fn name(text: &str) -> ToolName {
    ToolName::parse(text).unwrap()
}

pub(crate) fn reference(text: &str) -> ToolRef {
    ToolRef::parse(text).unwrap()
}

/// A script that returns a number.
pub(crate) fn returns(number: u64) -> String {
    format!("const execute = () => {number}")
}

/// A tool with this name and source, and nothing else said about it.
pub(crate) fn made(tool: &str, source: &str) -> Made {
    made_with(tool, source, Value::Null, Value::Null)
}

pub(crate) fn made_with(tool: &str, source: &str, parameters: Value, capabilities: Value) -> Made {
    let draft = Draft::from_bytes(tool, source.as_bytes()).unwrap();
    let spec = ToolSpec::new(name(tool), &draft, parameters, capabilities).unwrap();
    Made { spec, notes: Notes::default(), scores: Scores { safety: 1.0, quality: 0.9 } }
}

impl Made {
    pub(crate) fn tags(mut self, tags: &[&str]) -> Self {
        self.notes = self.notes.with_tags(tags.iter().copied()).unwrap();
        self
    }

    pub(crate) fn described(mut self, description: &str) -> Self {
        self.notes = Notes::new(description).unwrap().with_tags(self.notes.tags().to_vec()).unwrap();
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

impl Shelf {
    /// An empty store. Objects are in their files alone, so that a damaged one is lost.
    pub(crate) fn new() -> Self {
        Self::kept(Settings { durability: Durability::Unsynced, ..Settings::default() })
    }

    /// An empty store that is kept so.
    pub(crate) fn kept(settings: Settings) -> Self {
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

    /// A copy of the files, which nobody has open.
    pub(crate) fn copy(&self) -> Self {
        assert!(self.store.is_none(), "somebody may be writing");
        let folder = tempfile::tempdir().unwrap();
        copy(self.path(), folder.path());
        Self { folder, settings: self.settings.clone(), store: None, seconds: self.seconds.clone() }
    }

    /// Sets the clock.
    pub(crate) fn at(&self, seconds: i64) -> &Self {
        self.seconds.set(seconds);
        self
    }

    /// What time it is; a second later each time.
    pub(crate) fn now(&self) -> Timestamp {
        let seconds = self.seconds.get();
        self.seconds.set(seconds + 1);
        Timestamp::from_second(seconds).unwrap()
    }

    pub(crate) fn put(&self, made: &Made, when_taken: WhenTaken) -> Result<Step, NameStepError> {
        let Made { spec, notes, scores } = made;
        self.store().put(&Registration { spec, notes, scores: *scores, at: self.now() }, when_taken)
    }

    /// Puts a tool under a free name.
    pub(crate) fn tool(&self, tool: &str, source: &str) -> ToolId {
        self.put(&made(tool, source), WhenTaken::Refuse).unwrap().id
    }

    /// Puts a tool under a name, whatever that leads to.
    pub(crate) fn replace(&self, tool: &str, source: &str) -> ToolId {
        self.put(&made(tool, source), WhenTaken::Replace).unwrap().id
    }

    pub(crate) fn delete(&self, tool: &str) -> Result<Step, NameStepError> {
        self.store().delete(&reference(tool), self.now())
    }

    pub(crate) fn undelete(&self, tool: &str) -> Result<Step, NameStepError> {
        self.store().undelete(&reference(tool), self.now())
    }

    pub(crate) fn roll_back(&self, tool: &str, number: u64) -> Result<Step, NameStepError> {
        self.store().roll_back(&name(tool), number, self.now())
    }

    pub(crate) fn find(&self, tool: &str) -> Result<Entry, FindError> {
        self.store().find(&reference(tool))
    }

    /// Where a name leads: a source, or what is wrong.
    pub(crate) fn source(&self, tool: &str) -> String {
        match self.find(tool) {
            Ok(entry) => self
                .store()
                .spec(&entry)
                .map_or_else(|fault| format!("{}: {fault}", fault.code()), |spec| spec.source().to_owned()),
            Err(error) => error.code().to_owned(),
        }
    }

    /// The history of a name as a sentence: `created dt_0123…, deleted dt_0123…`.
    pub(crate) fn history(&self, tool: &str) -> String {
        let past = self.store().history(&name(tool)).unwrap();
        let step = |past: &Past| format!("{} {} at {}", past.event.name(), past.id.short(), past.at.as_second());
        past.iter().map(step).collect::<Vec<_>>().join(", ")
    }

    /// What is known of names: where each leads, and its history.
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

    /// Everything in one file.
    pub(crate) fn export(&self, history: History) -> Vec<u8> {
        let mut bundle = Vec::new();
        toolcell::export(self.store(), Bundle::All, history, &mut bundle, self.now()).unwrap();
        bundle
    }

    /// Takes in a bundle under free names.
    pub(crate) fn import(&self, bundle: &[u8]) -> Result<Imported, ImportError> {
        self.import_with(bundle, WhenTaken::Refuse)
    }

    pub(crate) fn import_with(&self, bundle: &[u8], when_taken: WhenTaken) -> Result<Imported, ImportError> {
        toolcell::import(self.store(), bundle, when_taken, self.now())
    }

    pub(crate) fn look(&self) -> Health {
        fsck(self.path(), Mending::Look).unwrap()
    }

    pub(crate) fn repair(&self) -> Health {
        assert!(self.store.is_none(), "nobody may have the store open");
        fsck(self.path(), Mending::Repair).unwrap()
    }

    /// The file of an object.
    pub(crate) fn object(&self, hash: &str) -> PathBuf {
        self.path().join("objects").join(&hash[..2]).join(&hash[2..])
    }

    /// The file of a source.
    pub(crate) fn source_object(&self, source: &str) -> PathBuf {
        self.object(blake3::hash(source.as_bytes()).to_hex().as_str())
    }

    /// The file of a step in the history of a name.
    pub(crate) fn version_object(&self, tool: &str, event: &str) -> PathBuf {
        let (tool, event) = (json!(tool), json!(event));
        let is_it = |path: &PathBuf| {
            let version: Option<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).ok();
            version.is_some_and(|version| version["name"] == tool && version["event"] == event)
        };
        self.objects().into_iter().find(is_it).unwrap()
    }

    /// The files of all objects, in order.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        files_below(&self.path().join("objects"))
    }

    /// How many files are in the quarantine.
    pub(crate) fn quarantined(&self) -> Vec<PathBuf> {
        files_below(&self.path().join("quarantine"))
    }
}

/// The files in a folder and in those in it, in order.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

/// Writes a file anew, also one that is read-only.
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
