//! `create`: makes a tool of a source and of what is said about it, and keeps it.
//!
//! What is typed counts more than what a request says, and that more than the file beside a source.

use std::path::Path;

use serde_json::{Map, Value};
use toolcell::policy::ApprovalMode;
use toolcell::{CreateTool, Created, Lang, Toolbox, line, read_request};

use crate::args::CreateArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::operation::Operation;
use crate::rules::Rules;
use crate::{Streams, input, open};

/// The longest request, in bytes: a source, each of whose characters may be escaped, and what is said about it.
const REQUEST_LIMIT: u64 = 4 << 20;
/// What a file beside a source may say.
const BESIDE: [&str; 10] = [
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

pub(crate) fn run(
    args: &CreateArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let mut request = request(args, streams)?;
    overrule(&mut request, args, streams)?;
    let toolbox = open::toolbox(dir, args.sandbox.config(), rules)?;
    let created = toolbox.create(&request).map_err(|error| match error.code() {
        "request-invalid" if request.description.trim().is_empty() => Failure::Operation(Operation::Undescribed(error)),
        _ => error.into(),
    })?;
    if json {
        let text = serde_json::to_string(&created.body()).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        let text = streams.shown(&created.to_text(lang));
        writeln!(streams.output, "{text}")?;
        say_what_follows(&created, &toolbox, streams)?;
    }
    Ok(Exit::Done)
}

/// The request that is in a file, or that a source is.
fn request(args: &CreateArgs, streams: &mut Streams<'_>) -> Result<CreateTool, Failure> {
    let path = Path::new(&args.file);
    if args.file == "-" {
        let text = input::said("-", REQUEST_LIMIT, streams)?;
        let is_request =
            text.trim_start().starts_with('{') && serde_json::from_str::<Map<String, Value>>(&text).is_ok();
        return if is_request { parsed(&text) } else { Ok(CreateTool { code: text, ..CreateTool::default() }) };
    }
    if path.extension().is_some_and(|ending| ending == "json") {
        return parsed(&input::file(path, REQUEST_LIMIT)?);
    }
    let code = input::text(input::source(&args.file, streams)?, &args.file)?;
    let beside = path.with_extension("json");
    let mut request = if beside.exists() { said_beside(&beside)? } else { CreateTool::default() };
    if request.name.is_empty() {
        request.name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    }
    Ok(CreateTool { code, ..request })
}

/// What the file beside a source says. What it says beyond that is for others.
fn said_beside(path: &Path) -> Result<CreateTool, Failure> {
    let wrong = |what: String| Failure::Typed {
        message: format!("{}: {what}", path.display()),
        hint: "the file beside a source is a JSON object with fields of a request, such as `description`",
    };
    let text = input::file(path, REQUEST_LIMIT)?;
    let mut said: Map<String, Value> = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    said.retain(|key, _| BESIDE.contains(&key.as_str()));
    read_request(&Value::Object(said).to_string()).map_err(|error| wrong(error.to_string()))
}

/// Takes what was typed for what was read.
fn overrule(request: &mut CreateTool, args: &CreateArgs, streams: &mut Streams<'_>) -> Result<(), Failure> {
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
            return Err(Failure::OneInput);
        }
        request.parameters = value("--parameters", &input::said(word, REQUEST_LIMIT, streams)?)?;
    }
    if !args.example.is_empty() {
        request.examples = args.example.iter().map(|word| json("--example", word)).collect::<Result<_, _>>()?;
    }
    if let Some(schema) = &args.returns {
        request.returns = Some(json("--returns", schema)?);
    }
    request.idempotent = args.idempotent.clone().or_else(|| request.idempotent.take());
    request.cost = args.cost.or(request.cost);
    request.replace |= args.replace;
    Ok(())
}

/// JSON as it was typed, or of `@FILE`.
fn json(option: &str, word: &str) -> Result<Value, Failure> {
    match word.strip_prefix('@') {
        Some(path) => value(option, &input::file(Path::new(path), REQUEST_LIMIT)?),
        None => value(option, word),
    }
}

fn value(option: &str, text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Typed {
        message: format!("{option} is no JSON: {error}"),
        hint: "quote it for the shell, as in '{\"n\": {\"type\": \"number\"}}', or hand it in as @FILE",
    })
}

fn parsed(text: &str) -> Result<CreateTool, Failure> {
    read_request(text).map_err(|error| toolcell::CreateError::from(error).into())
}

/// What whoever made a tool should know before running it.
fn say_what_follows(created: &Created, toolbox: &Toolbox, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let id = created.id.short();
    for (name, id) in &created.identical_to {
        writeln!(streams.errors, "note: `{name}` ({}) has the same source", id.short())?;
    }
    for toolcell::Alike { entry, inputs, .. } in &created.alike {
        let (name, id) = (&entry.name, entry.id.short());
        writeln!(streams.errors, "note: `{name}` ({id}) gives the same answers to {inputs} inputs")?;
    }
    if let Some(replaced) = created.replaced {
        let back = created.version.saturating_sub(1).max(1);
        writeln!(
            streams.errors,
            "note: it replaces {}: `toolcell rollback {} {back}` goes back",
            replaced.short(),
            created.name
        )?;
    }
    let Some(why) = &created.needs_approval else { return Ok(()) };
    let why = line(why);
    if toolbox.policy().approval().0 == ApprovalMode::Never {
        writeln!(streams.errors, "note: it does not run, unless somebody approves it: {why}")?;
    } else {
        writeln!(streams.errors, "note: somebody has to approve it before it runs: {why}")?;
    }
    writeln!(
        streams.errors,
        "hint: look at it with `toolcell show {id}`, and approve it with `toolcell approvals grant {id}`"
    )
}
