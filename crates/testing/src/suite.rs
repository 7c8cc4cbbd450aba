//! Files of tests beside the tools: where they are, and what is in one.
//!
//! Invariant: a [`Suite`] can be run. All that is wrong with a file is told at once, each thing with its line and column.

mod answers;
mod cases;
mod expected;
mod json;
mod reader;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::DeValue;
use toolcell::{Draft, SOURCE_LIMIT};

use crate::budget::{FuelBudget, model};
use crate::case::{Case, Limits};
use crate::problem::{Place, Problem};

use reader::{Fields, Reader};

/// How the name of a file of tests ends.
pub const ENDING: &str = ".test.toml";
/// How the name of a tool's file ends.
const SOURCES: [&str; 4] = ["ts", "mts", "js", "mjs"];
/// What a table of budgets can say.
const BUDGET_KEYS: &[&str] = &["model", "load_fuel", "load_measured", "memory", "time"];
/// How deep folders are looked through.
const FOLDERS: usize = 16;
/// The longest file of tests, in bytes.
const LIMIT: u64 = 16 << 20;

/// A file of tests, with the tool that they are of.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// The file of the tool.
    pub tool: PathBuf,
    /// The tool.
    pub draft: Draft,
    /// Where the tool is named, or the beginning.
    pub(crate) tool_place: Place,
    /// Whether budgets are kept: the file has a table of them.
    pub(crate) has_budgets: bool,
    /// What loading the tool may cost.
    pub load_fuel: Option<FuelBudget>,
    /// The tests.
    pub cases: Vec<Case>,
}

/// What a file is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be run.
    Run,
    /// To be run whatever its budgets say.
    RunWithoutBudgets,
    /// To be finished: a test may expect nothing yet.
    Update,
    /// To get budgets of this build.
    Rebase,
}

/// The files of tests that paths name, folders standing for those in them, in order.
///
/// # Errors
/// What the system says of a path that cannot be looked at.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut found = Found::default();
    for path in paths {
        let kind = std::fs::metadata(path).map_err(|error| (path.clone(), error))?;
        if kind.is_dir() {
            found.walk(path, FOLDERS)?;
        } else {
            found.add(path.clone());
        }
    }
    Ok(found.files)
}

/// What was found so far. However many ways lead to a folder or a file, links among them, it is found once.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    seen: BTreeSet<(u64, u64, OsString)>,
}

impl Found {
    fn walk(&mut self, folder: &Path, depth: usize) -> Result<(), (PathBuf, io::Error)> {
        let failed = |error| (folder.to_owned(), error);
        if !self.is_new(folder, OsStr::new("")) {
            return Ok(());
        }
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            entries.push(entry.map_err(failed)?.path());
        }
        entries.sort();
        for path in entries {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if path.is_dir() {
                if depth > 0 && !name.starts_with('.') && name != "node_modules" {
                    self.walk(&path, depth - 1)?;
                }
            } else if name.ends_with(ENDING) {
                self.add(path);
            }
        }
        Ok(())
    }

    fn add(&mut self, file: PathBuf) {
        let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        if self.is_new(folder, file.file_name().unwrap_or_default()) {
            self.files.push(file);
        }
    }

    /// Whether this is the first time that a name in a folder, or the folder itself, is met.
    fn is_new(&mut self, folder: &Path, name: &OsStr) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        // What cannot be looked at is told by whoever reads it.
        std::fs::metadata(folder).map_or(true, |it| self.seen.insert((it.dev(), it.ino(), name.to_owned())))
    }
}

impl Suite {
    /// Reads a file of tests, to be run.
    ///
    /// # Errors
    /// All that is wrong with it: `file-unreadable`, `test-invalid`, `test-impossible`, `tool-missing`, `budget-model-missing`,
    /// `budget-model-mismatch`.
    pub fn read(path: &Path) -> Result<Self, Vec<Problem>> {
        Self::read_for(path, Purpose::Run)
    }

    /// Reads one whose budgets count for nothing.
    ///
    /// # Errors
    /// As [`Suite::read`], without those of budgets.
    pub fn read_without_budgets(path: &Path) -> Result<Self, Vec<Problem>> {
        Self::read_for(path, Purpose::RunWithoutBudgets)
    }

    /// Reads one in which tests may expect nothing yet: [`update`](crate::update) says what they do.
    ///
    /// # Errors
    /// As [`Suite::read`].
    pub fn read_unfinished(path: &Path) -> Result<Self, Vec<Problem>> {
        Self::read_for(path, Purpose::Update)
    }

    /// Reads one whose budgets may be of another model: [`rebase`](crate::rebase) measures them anew.
    ///
    /// # Errors
    /// As [`Suite::read`], without those of models.
    pub fn read_outdated(path: &Path) -> Result<Self, Vec<Problem>> {
        Self::read_for(path, Purpose::Rebase)
    }

    /// The name of the tool's file.
    pub(crate) fn tool_name(&self) -> &str {
        self.draft.name()
    }

    fn read_for(path: &Path, purpose: Purpose) -> Result<Self, Vec<Problem>> {
        let text = text_of(path, LIMIT).map_err(|reason| {
            let hint = "name a file of tests that can be read".to_owned();
            let message = format!("the file cannot be read: {reason}");
            vec![Problem { code: "file-unreadable", path: path.to_owned(), place: Place::BEGINNING, message, hint }]
        })?;
        let mut reader = Reader::new(path, &text, purpose);
        let suite = reader.table().and_then(|fields| suite_of(&mut reader, fields));
        let problems = reader.problems();
        match suite {
            Some(suite) if problems.is_empty() => Ok(suite),
            _ => Err(problems),
        }
    }
}

/// What a file says.
fn suite_of<'t>(reader: &mut Reader<'t>, mut fields: Fields<'t>) -> Option<Suite> {
    let tool = tool_of(reader, &mut fields);
    let budget = fields.take("budget").and_then(|value| reader.fields(value, "budget", BUDGET_KEYS));
    let mut ceilings = Limits::default();
    let (said, load_fuel) = match budget {
        Some(mut budget) => {
            let at = budget.span.clone();
            let said = budget.take("model").and_then(|value| reader.text(value, "budget.model"));
            let load_fuel = reader.budget(&mut budget, "load_fuel", "load_measured");
            ceilings = cases::limits(reader, &mut budget);
            reader.finish(budget);
            (Some((said, at)), load_fuel)
        }
        None => (None, None),
    };
    let mut cases = cases_of(reader, &mut fields);
    for case in &mut cases {
        case.limits.memory = case.limits.memory.or(ceilings.memory);
        case.limits.time = case.limits.time.or(ceilings.time);
    }
    let whole = fields.span.clone();
    reader.finish(fields);
    let has_budgets = said.is_some();
    let counted = load_fuel.or(cases.iter().find_map(|case| case.fuel));
    if let Some(counted) = counted {
        check_model(reader, said, counted);
    }
    if cases.is_empty() && reader.is_clean() {
        reader.invalid(&whole, "there is no test in this file".to_owned(), "write one: [[case]]");
    }
    let (tool, draft, tool_place) = tool?;
    let (path, text) = (reader.path.to_owned(), reader.text.to_owned());
    Some(Suite { path, text, tool, draft, tool_place, has_budgets, load_fuel, cases })
}

/// Refuses budgets that were counted under another model.
fn check_model(reader: &mut Reader<'_>, said: Option<(Option<Spanned<String>>, Range<usize>)>, counted: FuelBudget) {
    if !matches!(reader.purpose, Purpose::Run | Purpose::Update) {
        return;
    }
    let here = model();
    let hint = format!("measure it anew: toolcell budget rebase {}", reader.path.display());
    match said.and_then(|(said, _)| said) {
        Some(said) if *said.get_ref() == here => {}
        Some(said) => {
            let place = reader.place(&said.span());
            let message = format!("the budgets are of the model `{}`, this build counts as `{here}`", said.get_ref());
            reader.say("budget-model-mismatch", place, message, hint);
        }
        None if reader.purpose == Purpose::Update => {}
        None => {
            let message = format!("a budget says under which model it was counted: [budget] model = \"{here}\"");
            reader.say("budget-model-missing", counted.place, message, hint);
        }
    }
}

/// The tool that a file is about: the one it names, or the one beside it.
fn tool_of<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>) -> Option<(PathBuf, Draft, Place)> {
    const HINT: &str = "put the tool beside its tests, or name it: tool = \"average.ts\"";
    let named = fields.take("tool").and_then(|value| reader.text(value, "tool"));
    let place = named.as_ref().map_or(Place::BEGINNING, |named| reader.place(&named.span()));
    let tool = if let Some(named) = named {
        reader.beside(named.get_ref())
    } else {
        let name = reader.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.strip_suffix(ENDING).unwrap_or(&name).to_owned();
        let there: Vec<PathBuf> = SOURCES
            .iter()
            .map(|ending| reader.beside(&format!("{stem}.{ending}")))
            .filter(|path| path.is_file())
            .collect();
        match there.as_slice() {
            [one] => one.clone(),
            [] => {
                let message = format!("there is no tool beside it: {stem}.ts, .mts, .js or .mjs");
                reader.say("tool-missing", place, message, HINT.to_owned());
                return None;
            }
            [..] => {
                let message = format!("there is more than one tool beside it that is called {stem}");
                reader.say("tool-missing", place, message, HINT.to_owned());
                return None;
            }
        }
    };
    // One byte more than allowed tells a draft that is too large.
    let bytes = match bytes_of(&tool, SOURCE_LIMIT as u64 + 1) {
        Ok(bytes) => bytes,
        Err(reason) => {
            let message = format!("the tool {} cannot be read: {reason}", tool.display());
            reader.say("tool-missing", place, message, HINT.to_owned());
            return None;
        }
    };
    let name = tool.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match Draft::from_bytes(&name, &bytes) {
        Ok(draft) => Some((tool, draft, place)),
        Err(error) => {
            reader.say("tool-refused", place, format!("{}: {error}", tool.display()), error.hint().to_owned());
            None
        }
    }
}

fn cases_of<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>) -> Vec<Case> {
    let Some(value) = fields.take("case") else { return Vec::new() };
    let span = value.span();
    let DeValue::Array(items) = value.into_inner() else {
        reader.invalid(&span, "`case` is a list of tests".to_owned(), "write each test as [[case]]");
        return Vec::new();
    };
    let mut names: BTreeMap<String, Place> = BTreeMap::new();
    let mut cases = Vec::new();
    for item in items {
        let span = item.span();
        let Some(fields) = reader.fields(item, "case", cases::KEYS) else { continue };
        let case = cases::case(reader, fields);
        let has_name = !case.name.is_empty();
        if let Some(before) = names.insert(case.name.clone(), case.place).filter(|_| has_name) {
            let message = format!("there is a test `{}` already, in line {}", case.name, before.line);
            reader.invalid(&span, message, "give each test of a file a name of its own");
        }
        cases.push(case);
    }
    cases
}

/// The text of a file, no longer than so many bytes.
fn text_of(path: &Path, most: u64) -> Result<String, String> {
    let bytes = bytes_of(path, most + 1)?;
    if bytes.len() as u64 > most {
        return Err(format!("it is longer than {most} bytes"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8: byte {} is no character", error.utf8_error().valid_up_to() + 1))
}

#[expect(clippy::disallowed_types, reason = "tests are files beside the tools")]
fn bytes_of(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    use io::Read as _;
    // A pipe would be waited for, and a device has no end.
    match std::fs::metadata(path) {
        Ok(kind) if kind.is_dir() => return Err("it is a folder".to_owned()),
        Ok(kind) if !kind.is_file() => return Err("it is no plain file".to_owned()),
        _ => {}
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("there is no such file".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
