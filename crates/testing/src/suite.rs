//! Test files beside the tools: discovery and parsing.
//!
//! Invariant: a [`Suite`] can be run. All problems of a file are reported at once, each with its
//! line and column.

mod cases;
mod expected;
mod json;
mod mocks;
mod reader;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::DeValue;
use toolcell::{Draft, SOURCE_LIMIT};
use toolcell_i18n::{Message, message, msgid};

use crate::budget::{FuelBudget, model};
use crate::case::{Case, CaseLimits};
use crate::problem::{FilePosition, SuiteProblem};

use reader::{Fields, Reader};

/// The suffix of test file names.
pub const SUFFIX: &str = ".test.toml";
/// The extensions of tool files.
const SOURCE_EXTENSIONS: [&str; 4] = ["ts", "mts", "js", "mjs"];
/// The keys of a budget table.
const BUDGET_KEYS: &[&str] = &["model", "load_fuel", "load_measured", "memory", "time"];
/// The maximum depth of the search for test files in folders.
const MAX_FOLDER_DEPTH: usize = 16;
/// The maximum size of a test file in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A test file with its tool.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The path of the test file.
    pub path: PathBuf,
    /// The contents of the test file.
    pub text: String,
    /// The path of the tool's file.
    pub tool: PathBuf,
    /// The tool's source.
    pub draft: Draft,
    /// The position where the file names its tool, or the start.
    pub(crate) tool_place: FilePosition,
    /// Whether the file has a table of budgets.
    pub(crate) has_budgets: bool,
    /// The fuel budget for loading the tool.
    pub load_fuel: Option<FuelBudget>,
    /// The test cases.
    pub cases: Vec<Case>,
}

/// The purpose that a test file is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadPurpose {
    /// To run its tests.
    Run,
    /// To run its tests without checking budgets.
    RunWithoutBudgets,
    /// To update it: a test may have no expectation yet.
    Update,
    /// To measure its budgets again under this build's model.
    Rebase,
}

/// Finds the test files at these paths, including those in folders, in order.
///
/// # Errors
/// The system's error for a path that cannot be read.
pub fn find_suites(paths: &[PathBuf]) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut found = SuiteFinder::default();
    for path in paths {
        let kind = std::fs::metadata(path).map_err(|error| (path.clone(), error))?;
        if kind.is_dir() {
            found.walk(path, MAX_FOLDER_DEPTH)?;
        } else {
            found.add(path.clone());
        }
    }
    Ok(found.files)
}

/// The search state. Each file and folder is found once, however many paths or symlinks lead to it.
#[derive(Default)]
struct SuiteFinder {
    files: Vec<PathBuf>,
    visited: BTreeSet<(u64, u64, OsString)>,
}

impl SuiteFinder {
    fn walk(&mut self, folder: &Path, depth: usize) -> Result<(), (PathBuf, io::Error)> {
        let failed = |error| (folder.to_owned(), error);
        if !self.mark_visited(folder, OsStr::new("")) {
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
            } else if name.ends_with(SUFFIX) {
                self.add(path);
            }
        }
        Ok(())
    }

    fn add(&mut self, file: PathBuf) {
        let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        if self.mark_visited(folder, file.file_name().unwrap_or_default()) {
            self.files.push(file);
        }
    }

    /// Marks a name in a folder, or the folder itself, as visited. Returns whether it is new.
    fn mark_visited(&mut self, folder: &Path, name: &OsStr) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        // If the metadata cannot be read, reading the file reports the error.
        std::fs::metadata(folder).map_or(true, |it| self.visited.insert((it.dev(), it.ino(), name.to_owned())))
    }
}

impl Suite {
    /// Reads a test file in order to run it.
    ///
    /// # Errors
    /// All problems of the file: `file-unreadable`, `test-invalid`, `test-impossible`,
    /// `tool-missing`, `tool-refused`, `budget-model-missing`, `budget-model-mismatch`.
    pub fn read(path: &Path) -> Result<Self, Vec<SuiteProblem>> {
        Self::read_for(path, ReadPurpose::Run)
    }

    /// Reads a test file and ignores its budgets.
    ///
    /// # Errors
    /// As [`Suite::read`], without those of budgets.
    pub fn read_without_budgets(path: &Path) -> Result<Self, Vec<SuiteProblem>> {
        Self::read_for(path, ReadPurpose::RunWithoutBudgets)
    }

    /// Reads a test file in which tests may have no expectation yet. [`update`](crate::update())
    /// fills them in.
    ///
    /// # Errors
    /// As [`Suite::read`].
    pub fn read_unfinished(path: &Path) -> Result<Self, Vec<SuiteProblem>> {
        Self::read_for(path, ReadPurpose::Update)
    }

    /// Reads a test file whose budgets may be of another model. [`rebase`](crate::rebase) measures
    /// them again.
    ///
    /// # Errors
    /// As [`Suite::read`], without those of models.
    pub fn read_outdated(path: &Path) -> Result<Self, Vec<SuiteProblem>> {
        Self::read_for(path, ReadPurpose::Rebase)
    }

    /// Returns the file name of the tool.
    pub(crate) fn tool_name(&self) -> &str {
        self.draft.name()
    }

    fn read_for(path: &Path, purpose: ReadPurpose) -> Result<Self, Vec<SuiteProblem>> {
        let text = read_text(path, MAX_FILE_BYTES).map_err(|reason| {
            let hint = message!("name a readable test file");
            let message = message!("the file cannot be read: {reason}", reason);
            vec![SuiteProblem { code: "file-unreadable", path: path.into(), place: FilePosition::START, message, hint }]
        })?;
        let mut reader = Reader::new(path, &text, purpose);
        let suite = reader.table().and_then(|fields| parse_suite(&mut reader, fields));
        let problems = reader.into_problems();
        match suite {
            Some(suite) if problems.is_empty() => Ok(suite),
            _ => Err(problems),
        }
    }
}

/// Parses the contents of a test file.
fn parse_suite<'t>(reader: &mut Reader<'t>, mut fields: Fields<'t>) -> Option<Suite> {
    let tool = find_tool(reader, &mut fields);
    let budget = fields.take("budget").and_then(|value| reader.fields(value, "budget", BUDGET_KEYS));
    let mut ceilings = CaseLimits::default();
    let (budget_model, load_fuel) = match budget {
        Some(mut budget) => {
            let at = budget.span.clone();
            let budget_model = budget.take("model").and_then(|value| reader.text(value, "budget.model"));
            let load_fuel = reader.budget(&mut budget, "load_fuel", "load_measured");
            ceilings = cases::parse_limits(reader, &mut budget);
            reader.reject_unknown(budget);
            (Some((budget_model, at)), load_fuel)
        }
        None => (None, None),
    };
    let mut cases = parse_cases(reader, &mut fields);
    for case in &mut cases {
        case.limits.memory = case.limits.memory.or(ceilings.memory);
        case.limits.time = case.limits.time.or(ceilings.time);
    }
    let whole = fields.span.clone();
    reader.reject_unknown(fields);
    let has_budgets = budget_model.is_some();
    let counted = load_fuel.or(cases.iter().find_map(|case| case.fuel));
    if let Some(counted) = counted {
        check_model(reader, budget_model, counted);
    }
    if cases.is_empty() && reader.has_no_problems() {
        reader.invalid(&whole, message!("this file has no tests"), message!("add one: [[case]]"));
    }
    let (tool, draft, tool_place) = tool?;
    let (path, text) = (reader.path.to_owned(), reader.text.to_owned());
    Some(Suite { path, text, tool, draft, tool_place, has_budgets, load_fuel, cases })
}

/// Reports budgets that were measured under another model.
fn check_model(
    reader: &mut Reader<'_>,
    budget_model: Option<(Option<Spanned<String>>, Range<usize>)>,
    counted: FuelBudget,
) {
    if !matches!(reader.purpose, ReadPurpose::Run | ReadPurpose::Update) {
        return;
    }
    let here = model();
    let hint = message!("measure it again: toolcell budget rebase {path}", path = reader.path.display());
    match budget_model.and_then(|(budget_model, _)| budget_model) {
        Some(budget_model) if *budget_model.get_ref() == here => {}
        Some(budget_model) => {
            let place = reader.position(&budget_model.span());
            let there = budget_model.get_ref();
            let message =
                message!("the budgets were measured with the model `{there}`, this build uses `{here}`", there, here,);
            reader.report("budget-model-mismatch", place, message, hint);
        }
        None if reader.purpose == ReadPurpose::Update => {}
        None => {
            let message = message!("the budgets do not name their model: add [budget] model = \"{here}\"", here);
            reader.report("budget-model-missing", counted.place, message, hint);
        }
    }
}

/// Finds the tool of a test file: the one that it names, or the one beside it.
fn find_tool<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>) -> Option<(PathBuf, Draft, FilePosition)> {
    const HINT: &str = msgid!("put the tool beside its tests, or name it: tool = \"average.ts\"");
    let named = fields.take("tool").and_then(|value| reader.text(value, "tool"));
    let place = named.as_ref().map_or(FilePosition::START, |named| reader.position(&named.span()));
    let tool = if let Some(named) = named {
        reader.sibling_path(named.get_ref())
    } else {
        let name = reader.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned();
        let there: Vec<PathBuf> = SOURCE_EXTENSIONS
            .iter()
            .map(|ending| reader.sibling_path(&format!("{stem}.{ending}")))
            .filter(|path| path.is_file())
            .collect();
        match there.as_slice() {
            [one] => one.clone(),
            [] => {
                let message = message!("there is no tool beside it: {stem}.ts, .mts, .js or .mjs", stem);
                reader.report("tool-missing", place, message, HINT.into());
                return None;
            }
            [..] => {
                let message = message!("there is more than one tool named {stem} beside it", stem);
                reader.report("tool-missing", place, message, HINT.into());
                return None;
            }
        }
    };
    // One byte more than allowed, so that an oversized draft is detected.
    let bytes = match read_bytes(&tool, SOURCE_LIMIT as u64 + 1) {
        Ok(bytes) => bytes,
        Err(reason) => {
            let message = message!("the tool {path} cannot be read: {reason}", path = tool.display(), reason);
            reader.report("tool-missing", place, message, HINT.into());
            return None;
        }
    };
    let name = tool.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match Draft::from_bytes(&name, &bytes) {
        Ok(draft) => Some((tool, draft, place)),
        Err(error) => {
            let message = message!("{path}: {error}", path = tool.display(), error);
            reader.report("tool-refused", place, message, error.hint().into());
            None
        }
    }
}

fn parse_cases<'t>(reader: &mut Reader<'t>, fields: &mut Fields<'t>) -> Vec<Case> {
    let Some(value) = fields.take("case") else { return Vec::new() };
    let span = value.span();
    let DeValue::Array(items) = value.into_inner() else {
        reader.invalid(&span, message!("`case` must be a list of tests"), message!("write each test as [[case]]"));
        return Vec::new();
    };
    let mut names: BTreeMap<String, FilePosition> = BTreeMap::new();
    let mut cases = Vec::new();
    for item in items {
        let span = item.span();
        let Some(fields) = reader.fields(item, "case", cases::KEYS) else { continue };
        let case = cases::parse_case(reader, fields);
        let has_name = !case.name.is_empty();
        if let Some(before) = names.insert(case.name.clone(), case.place).filter(|_| has_name) {
            let message =
                message!("there is already a test `{name}`, in line {line}", name = case.name, line = before.line,);
            reader.invalid(&span, message, message!("give each test of a file a unique name"));
        }
        cases.push(case);
    }
    cases
}

/// Reads a text file of at most `most` bytes.
fn read_text(path: &Path, most: u64) -> Result<String, Message> {
    let bytes = read_bytes(path, most + 1)?;
    if bytes.len() as u64 > most {
        return Err(message!("it is longer than {most} bytes", most));
    }
    String::from_utf8(bytes)
        .map_err(|error| error.utf8_error().valid_up_to() + 1)
        .map_err(|number| message!("it is not UTF-8: byte {number} is invalid", number))
}

#[expect(clippy::disallowed_types, reason = "tests are files beside the tools")]
fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, Message> {
    use io::Read as _;
    // Reading a pipe would block, and a device has no end.
    match std::fs::metadata(path) {
        Ok(kind) if kind.is_dir() => return Err(message!("it is a folder")),
        Ok(kind) if !kind.is_file() => return Err(message!("it is not a regular file")),
        _ => {}
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(message!("there is no such file")),
        Err(error) => Err(Message::verbatim(error.to_string())),
    }
}

#[cfg(test)]
mod tests;
