//! One check: the files of a request, as one program of TypeScript.

use std::collections::BTreeSet;
use std::sync::Arc;

use tsr_arena::Counters;
use tsr_ast::Diagnostic;
use tsr_compiler::diagnostic_writer::{DiagnosticWriter, FormattingOptions};
use tsr_compiler::{Program, ProgramOptions};
use tsr_core::{CompilerOptions, ModuleDetectionKind, ModuleKind, ModuleResolutionKind, ScriptTarget, Tristate};
use tsr_embed::{FileCache, ProgramFile, Session};
use tsr_jsstring::JsString;
use tsr_tsoptions::ParsedCommandLine;

use crate::host::{self, Host};
use crate::protocol::{
    CheckRequest, DiagnosticCategory, LIBRARIES, MAX_DIAGNOSTICS, MAX_FILES, TypeDiagnostic, TypedFile,
    sanitize_message,
};

/// Bytes of the name of a file.
const MAX_NAME_BYTES: usize = 64;
/// The ending of a file of declarations.
const DECLARATIONS: &str = ".d.ts";

/// An error that prevents a check.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// There are more files than [`MAX_FILES`].
    #[error("the request has {0} files, the limit is {MAX_FILES}")]
    TooManyFiles(usize),
    /// A file has a name that names of files do not have.
    #[error("`{}` is not a name of a file: at most {MAX_NAME_BYTES} of `A-Z a-z 0-9 . _ -`, with the ending `.ts`", .0.escape_debug())]
    BadName(String),
    /// Two files have one name.
    #[error("two files have the name `{0}`")]
    SameName(String),
    /// The compiler refuses the program, or cannot check what its port lacks.
    #[error("the checker failed: {0}")]
    Compiler(#[from] tsr_compiler::Error),
}

/// The compiler, with its parsed libraries.
pub(crate) struct Checker {
    cache: FileCache,
    counters: Counters,
    /// The cache refers to files weakly, so this keeps the libraries in it.
    _libraries: Arc<Program>,
}

impl Checker {
    /// Parses the libraries.
    pub(crate) fn new() -> Result<Self, CheckError> {
        let (mut cache, counters) = (FileCache::new(), Counters::new());
        let file = TypedFile { name: "empty.ts".to_owned(), text: String::new() };
        let libraries = Arc::new(Program::load(program_options(&[file]), &mut cache, &counters)?);
        Ok(Self { cache, counters, _libraries: libraries })
    }

    /// Checks the files of a request.
    pub(crate) fn check(&mut self, request: &CheckRequest) -> Result<Vec<TypeDiagnostic>, CheckError> {
        validate(&request.files)?;
        let session = Session::load(program_options(&request.files), &mut self.cache, &self.counters)?;
        let program = session.program();
        let sources: Vec<&ProgramFile> =
            request.files.iter().filter_map(|file| program.file(host::path(&file.name).as_bytes())).collect();
        let mut diagnostics = Vec::new();
        for source in &sources {
            diagnostics.extend(program.syntactic_diagnostics(Some(source))?);
        }
        // What is not parsed has no types worth a message.
        if diagnostics.is_empty() {
            diagnostics.extend_from_slice(program.program_diagnostics()?);
            let mut operation = session.operation().map_err(tsr_compiler::Error::from)?;
            for source in &sources {
                diagnostics.extend(program.semantic_diagnostics_with_checker(&mut operation, source)?);
            }
        }
        diagnostics.sort_by_key(|diagnostic| {
            let file = sources.iter().position(|source| Some(source.source()) == diagnostic.file);
            (file, diagnostic.loc.pos())
        });
        let mut writer = DiagnosticWriter::new(program, FormattingOptions::default());
        let mut found: Vec<TypeDiagnostic> = Vec::new();
        for diagnostic in &diagnostics {
            let described = describe(&mut writer, diagnostic)?;
            if found.last() != Some(&described) {
                found.push(described);
            }
            if found.len() == MAX_DIAGNOSTICS {
                break;
            }
        }
        Ok(found)
    }
}

/// Accepts files whose names are paths of nothing but themselves.
fn validate(files: &[TypedFile]) -> Result<(), CheckError> {
    if files.len() > MAX_FILES {
        return Err(CheckError::TooManyFiles(files.len()));
    }
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let mut names = BTreeSet::new();
    for TypedFile { name, .. } in files {
        let stem = name.strip_suffix(DECLARATIONS).or_else(|| name.strip_suffix(".ts")).unwrap_or_default();
        if stem.trim_matches('.').is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_of_name) {
            return Err(CheckError::BadName(name.chars().take(MAX_NAME_BYTES).collect()));
        }
        if !names.insert(name) {
            return Err(CheckError::SameName(name.clone()));
        }
    }
    Ok(())
}

fn program_options(files: &[TypedFile]) -> ProgramOptions {
    let options = CompilerOptions {
        lib: Some(LIBRARIES.map(|name| JsString::from_bytes(format!("lib.{name}.d.ts").into_bytes())).to_vec()),
        target: ScriptTarget::ES2025,
        module: ModuleKind::ESNEXT,
        module_resolution: ModuleResolutionKind::BUNDLER,
        allow_importing_ts_extensions: Tristate::TRUE,
        // Of its own declarations a file may have any name, as it does when it runs.
        module_detection: ModuleDetectionKind::FORCE,
        no_emit: Tristate::TRUE,
        strict: Tristate::TRUE,
        skip_lib_check: Tristate::TRUE,
        types: Some(Vec::new()),
        // A confined process starts no thread.
        single_threaded: Tristate::TRUE,
        ..CompilerOptions::default()
    };
    let names = files.iter().map(|file| host::path(&file.name)).collect();
    ProgramOptions {
        config: ParsedCommandLine::new(options, names),
        host: Arc::new(Host::new(files)),
        current_directory: JsString::from_bytes(b"/".as_slice()),
        default_library_path: JsString::from_bytes(tsr_bundled::LIB_PATH),
        skip_module_resolution: false,
        single_threaded: Tristate::TRUE,
    }
}

fn describe(writer: &mut DiagnosticWriter<'_>, diagnostic: &Diagnostic) -> Result<TypeDiagnostic, CheckError> {
    let category = match diagnostic.category {
        0 => DiagnosticCategory::Warning,
        1 => DiagnosticCategory::Error,
        2 => DiagnosticCategory::Suggestion,
        _ => DiagnosticCategory::Message,
    };
    let text = writer.flatten(diagnostic, b"\n")?;
    let message = sanitize_message(&String::from_utf8_lossy(&text));
    let mut found = TypeDiagnostic { file: None, line: 0, column: 0, code: diagnostic.code, message, category };
    if let Some(file) = writer.file(diagnostic)? {
        let (line, column) = file.line_and_character(diagnostic.loc.pos())?;
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        found.file = Some(String::from_utf8_lossy(file.name()).trim_start_matches('/').to_owned());
        (found.line, found.column) = (number(line), number(column));
    }
    Ok(found)
}
