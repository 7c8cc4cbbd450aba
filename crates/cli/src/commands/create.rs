//! `create`: creates a tool from a source and its metadata, and stores it.
//!
//! Options override the fields of a request, and those override the file beside the source.

use std::path::Path;

use serde_json::{Map, Value};
use toolcell::policy::ApprovalMode;
use toolcell::{CreateResult, CreateTool, DraftError, Toolbox, read_request, single_line};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Lang, Localize as _, Message, message, tr};

use crate::args::CreateArgs;
use crate::commands::CLI_CALLER;
use crate::context::Context;
use crate::error::{CliError, CommandError};
use crate::exit::Exit;
use crate::input;
use crate::streams::Streams;

/// Maximum size of a request, in bytes: room for a source with every character escaped, and its
/// metadata.
const MAX_REQUEST_BYTES: u64 = 4 << 20;
/// The request fields that the JSON file beside a source may set.
const SIDECAR_FIELDS: [&str; 10] = [
    "name",
    "description",
    "parameters",
    "tags",
    "capabilities",
    "generated_from",
    "examples",
    "returns",
    "idempotent",
    "cost",
];

pub(crate) fn run(args: &CreateArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let mut request = build_request(args, &mut context.streams)?;
    apply_options(&mut request, args, &mut context.streams)?;
    CLI_CALLER.clone_into(&mut request.caller);
    let toolbox = context.open_toolbox(args.sandbox.config()?)?;
    let created = toolbox.create(&request).map_err(|error| match error.code() {
        ErrorCode::RequestInvalid if request.description.trim().is_empty() => {
            CliError::Command(CommandError::CreateUndescribed(error))
        }
        // The position is one in the source, not in a request file.
        _ if is_request_file(&args.file) => error.into(),
        _ => CliError::from(error).in_source(&args.file, &request.code),
    })?;
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let text = serde_json::to_string(&created.response()).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        let text = streams.escape_for_output(&created.to_text(lang));
        writeln!(streams.output, "{text}")?;
        print_notes(&created, &toolbox, lang, streams)?;
    }
    Ok(Exit::Done)
}

/// Whether a file is a request rather than a source.
fn is_request_file(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "json")
}

/// Builds the request from a request file, or from a source and the file beside it.
fn build_request(args: &CreateArgs, streams: &mut Streams<'_>) -> Result<CreateTool, CliError> {
    let path = Path::new(&args.file);
    if args.file == "-" {
        let text = input::read_text_argument("-", MAX_REQUEST_BYTES, streams)?;
        let is_request =
            text.trim_start().starts_with('{') && serde_json::from_str::<Map<String, Value>>(&text).is_ok();
        return if is_request { parse_request(&text) } else { Ok(CreateTool { code: text, ..CreateTool::default() }) };
    }
    if is_request_file(&args.file) {
        return parse_request(&input::read_file(path, MAX_REQUEST_BYTES)?);
    }
    let code = input::decode_utf8(input::read_source(&args.file, streams)?, &args.file)?;
    if code.trim().is_empty() {
        return Err(DraftError::Empty.into());
    }
    let beside = path.with_extension("json");
    let mut request = if beside.exists() { read_sidecar(&beside)? } else { CreateTool::default() };
    if request.name.is_empty() {
        request.name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    }
    Ok(CreateTool { code, ..request })
}

/// Reads the JSON file beside a source.
fn read_sidecar(path: &Path) -> Result<CreateTool, CliError> {
    let wrong = |reason: Message| {
        CliError::usage(
            message!("{path}: {reason}", path = path.display(), reason),
            message!("the file beside a source must be a JSON object with request fields such as `description`"),
        )
    };
    let text = input::read_file(path, MAX_REQUEST_BYTES)?;
    let fields: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| wrong(Message::verbatim(error.to_string())))?;
    if let Some(field) = fields.keys().find(|key| !SIDECAR_FIELDS.contains(&key.as_str())) {
        let known = SIDECAR_FIELDS.join(", ");
        return Err(wrong(message!(
            "the field `{field}` is unknown; the fields are {known}",
            field = single_line(field),
            known
        )));
    }
    read_request(&Value::Object(fields).to_string()).map_err(|error| wrong(error.localize()))
}

/// Overrides fields of the request with the options.
fn apply_options(request: &mut CreateTool, args: &CreateArgs, streams: &mut Streams<'_>) -> Result<(), CliError> {
    request.name = args.name.clone().unwrap_or_else(|| std::mem::take(&mut request.name));
    request.description = args.description.clone().unwrap_or_else(|| std::mem::take(&mut request.description));
    if let Some(tags) = &args.tags {
        request.tags = tags.iter().filter(|tag| !tag.is_empty()).cloned().collect();
    }
    if let Some(capabilities) = &args.capabilities {
        let named = capabilities.iter().filter(|name| !name.is_empty());
        request.capabilities = named.map(|name| Value::String(name.clone())).collect();
    }
    if let Some(task) = &args.generated_from {
        request.generated_from = Some(task.clone());
    }
    if let Some(word) = &args.parameters {
        if word == "-" && args.file == "-" {
            return Err(CliError::StdinUsedTwice);
        }
        request.parameters = parse_json("--parameters", &input::read_text_argument(word, MAX_REQUEST_BYTES, streams)?)?;
    }
    if !args.example.is_empty() {
        request.examples =
            args.example.iter().map(|word| parse_json_option("--example", word)).collect::<Result<_, _>>()?;
    }
    if let Some(schema) = &args.returns {
        request.returns = Some(parse_json_option("--returns", schema)?);
    }
    request.idempotent = args.idempotent.clone().or_else(|| request.idempotent.take());
    request.cost = args.cost.or(request.cost);
    request.replace |= args.replace;
    Ok(())
}

/// Parses an option's JSON value, given inline or as `@FILE`.
fn parse_json_option(option: &str, word: &str) -> Result<Value, CliError> {
    match word.strip_prefix('@') {
        Some(path) => parse_json(option, &input::read_file(Path::new(path), MAX_REQUEST_BYTES)?),
        None => parse_json(option, word),
    }
}

fn parse_json(option: &str, text: &str) -> Result<Value, CliError> {
    serde_json::from_str(text).map_err(|error| {
        CliError::usage(
            message!("{option} is not valid JSON: {error}", option, error),
            message!("quote the value for the shell, as in '{\"n\": {\"type\": \"number\"}}', or pass it as @FILE"),
        )
    })
}

fn parse_request(text: &str) -> Result<CreateTool, CliError> {
    read_request(text).map_err(|error| toolcell::CreateError::from(error).into())
}

/// Prints notes on the new tool: duplicates, the replaced version, and whether it needs approval.
fn print_notes(
    created: &CreateResult,
    toolbox: &Toolbox,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    for finding in created.findings.iter().filter(|finding| finding.rule.name() == "type-error") {
        let (line, column) = (finding.location.line, finding.location.column);
        streams.print_note(&Message::verbatim(format!("{line}:{column}: {}", finding.message)), lang)?;
    }
    for (name, id) in &created.identical_to {
        streams.print_note(&message!("`{name}` ({id}) has the same source", name, id = id.short()), lang)?;
    }
    for toolcell::EquivalentTool { entry, inputs, .. } in &created.equivalent {
        let (name, id) = (&entry.name, entry.id.short());
        let text = message!("`{name}` ({id}) returns the same results for {inputs} inputs", name, id, inputs);
        streams.print_note(&text, lang)?;
    }
    if let Some(replaced) = created.replaced {
        let text = message!(
            "the new version replaces {id}: undo with `toolcell rollback {name} {version}`",
            id = replaced.short(),
            name = created.name,
            version = created.version.saturating_sub(1).max(1)
        );
        streams.print_note(&text, lang)?;
    }
    let Some(reason) = &created.needs_approval else { return Ok(()) };
    let text = if toolbox.policy().approval().0 == ApprovalMode::Never {
        tr!(lang, "the tool cannot run without approval: {reason}", reason)
    } else {
        tr!(lang, "the tool needs approval before its first run: {reason}", reason)
    };
    streams.print_labelled(tr!(lang, "note"), &single_line(&text), lang)?;
    let id = created.id.short();
    let question = toolbox.approval_prompt(&created.id.to_string()).ok();
    let words = question.and_then(|question| Some(question.tool_approval?.missing_words())).unwrap_or_default();
    let next = if words.is_empty() {
        message!("review it with `toolcell show {id}`, and approve it with `toolcell approvals grant {id}`", id)
    } else {
        message!(
            "review it with `toolcell show {id}`; `toolcell grant {id} {words}` grants what it lacks, and approves it",
            id,
            words
        )
    };
    streams.print_hint(&next, lang)
}
