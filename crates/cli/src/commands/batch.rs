//! `batch`: a JSON-lines server on standard input, in one process.
//!
//! Invariant: every line gets exactly one response, in order, whatever its content; no request ends
//! the process.

use std::io::{BufRead, BufReader, Read};

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcell::{
    CallContext, CancelToken, Draft, ExecError, ExecOptions, Lang, LimitOverrides, Params, Precheck, ReflectError,
    ReflectOnTask, Report, Toolbox, analyze, read_request,
};
use toolcell_error::ErrorCode;

use crate::args::SandboxArgs;
use crate::commands::CLI_CALLER;
use crate::commands::analysis_response::AnalysisResponse;
use crate::commands::reflect::ReflectionOutput;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::response::{CommandResponse, ErrorResponse};

/// Maximum length of a request line, in bytes. A longer line is skipped and refused.
const MAX_LINE_BYTES: u64 = 128 << 20;

/// A request line. The names with underscores are those of earlier versions, and of the contract.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Request {
    id: Option<Box<RawValue>>,
    op: String,
    source: Option<String>,
    lang: Option<String>,
    params: Option<Box<RawValue>>,
    #[serde(alias = "params_json")]
    params_json: Option<String>,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    seed: u64,
    analysis: Option<String>,
    #[serde(alias = "task_description")]
    task_description: Option<Box<RawValue>>,
    #[serde(alias = "last_tool_result")]
    last_tool_result: Option<Box<RawValue>>,
    #[serde(alias = "failed_attempts")]
    failed_attempts: Option<Box<RawValue>>,
    history: Option<Box<RawValue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Limits {
    fuel: Option<u64>,
    #[serde(alias = "timeout_ms")]
    timeout_ms: Option<u64>,
    #[serde(alias = "memory_mb")]
    memory_mb: Option<u64>,
    #[serde(alias = "output_bytes")]
    output_bytes: Option<u64>,
    #[serde(alias = "console_bytes")]
    console_bytes: Option<u64>,
}

impl Limits {
    fn overrides(&self) -> LimitOverrides {
        let Self { fuel, timeout_ms, memory_mb, output_bytes, console_bytes } = *self;
        LimitOverrides { fuel, timeout_ms, memory_mb, output_bytes, console_bytes, operations: None }
    }
}

/// The identifier of a request that could not be parsed otherwise.
#[derive(Debug, Deserialize)]
struct IdOnly {
    id: Option<Box<RawValue>>,
}

pub(crate) fn run(args: SandboxArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_toolbox_for_drafts(args.config()?)?;
    let Context { ref mut streams, lang, ref cancel, .. } = *context;
    let mut input = BufReader::with_capacity(64 << 10, &mut *streams.input);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(Exit::Done);
        }
        if line.ends_with(b"\n") {
            line.pop();
        } else if read as u64 > MAX_LINE_BYTES {
            skip_line(&mut input)?;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = if line.len() as u64 > MAX_LINE_BYTES {
            error_response(None, ErrorCode::RequestInvalid, &format!("the line is longer than {MAX_LINE_BYTES} bytes"))
        } else {
            respond(&toolbox, &line, lang, cancel)
        };
        writeln!(streams.output, "{}", answer.to_json())?;
        streams.output.flush()?;
        if cancel.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
    }
}

/// Skips the rest of a line that is too long.
fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(());
        }
        let (skipped, ended) = match chunk.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (chunk.len(), false),
        };
        input.consume(skipped);
        if ended {
            return Ok(());
        }
    }
}

/// Handles one line and returns its response.
fn respond(toolbox: &Toolbox, line: &[u8], lang: Lang, cancel: &CancelToken) -> CommandResponse {
    let Ok(text) = std::str::from_utf8(line) else {
        return error_response(None, ErrorCode::RequestInvalid, "the line is not UTF-8");
    };
    let request: Request = match serde_json::from_str(text) {
        Ok(request) => request,
        Err(error) => {
            let id = serde_json::from_str(text).ok().and_then(|IdOnly { id }| id);
            return error_response(id, ErrorCode::RequestInvalid, &format!("the line is not a valid request: {error}"));
        }
    };
    let id = request.id.clone();
    match request.op.as_str() {
        "run" => match run_request(toolbox, request, cancel) {
            Ok(report) => CommandResponse::from_report(Some(id_or_null(id)), report),
            Err(BatchError::Failure(failure)) => {
                CommandResponse::for_error(Some(id_or_null(id)), failure.to_response())
            }
            Err(BatchError::Request(message)) => error_response(id, ErrorCode::RequestInvalid, &message),
        },
        "analyze" => match analyze_request(&request) {
            Ok(answer) => answer,
            Err(BatchError::Failure(failure)) => {
                CommandResponse::for_error(Some(id_or_null(id)), failure.to_response())
            }
            Err(BatchError::Request(message)) => error_response(id, ErrorCode::RequestInvalid, &message),
        },
        "reflect" => match reflect_request(toolbox, request, lang) {
            Ok(answer) => answer,
            Err(BatchError::Failure(failure)) => {
                CommandResponse::for_error(Some(id_or_null(id)), failure.to_response())
            }
            Err(BatchError::Request(message)) => error_response(id, ErrorCode::RequestInvalid, &message),
        },
        other => error_response(
            id,
            ErrorCode::RequestInvalid,
            &format!("unknown op `{other}`, expected `run`, `analyze` or `reflect`"),
        ),
    }
}

/// The reason that a request was not run.
enum BatchError {
    Failure(CliError),
    Request(String),
}

impl<E: Into<CliError>> From<E> for BatchError {
    fn from(error: E) -> Self {
        Self::Failure(error.into())
    }
}

fn run_request(toolbox: &Toolbox, request: Request, cancel: &CancelToken) -> Result<Report, BatchError> {
    let Some(source) = &request.source else {
        return Err(BatchError::Request("`run` requires `source`".to_owned()));
    };
    if let Some(lang) = request.lang.as_deref().filter(|lang| !matches!(*lang, "js" | "ts")) {
        return Err(BatchError::Request(format!("unknown lang `{lang}`, expected `js` or `ts`")));
    }
    if let Some(analysis) = request.analysis.as_deref().filter(|analysis| !matches!(*analysis, "on" | "off")) {
        return Err(BatchError::Request(format!("unknown analysis `{analysis}`, expected `on` or `off`")));
    }
    let params = match (request.params, request.params_json) {
        (Some(_), Some(_)) => {
            return Err(BatchError::Request("`params` and `paramsJson` are mutually exclusive".to_owned()));
        }
        (Some(params), None) => params.get().to_owned(),
        (None, Some(params)) => params,
        (None, None) => "{}".to_owned(),
    };
    let draft = Draft::from_bytes(source_name(request.lang.as_deref()), source.as_bytes())?;
    let params = Params::parse(params)?;
    let budget = toolbox.policy().budget(&request.limits.overrides()).map_err(ExecError::from)?;
    let run =
        CallContext { seed: request.seed, started_at: input::now(), cancel: Some(cancel), ..CallContext::default() };
    let precheck = if request.analysis.as_deref() == Some("off") { Precheck::Off } else { Precheck::Critical };
    let options = ExecOptions {
        precheck,
        grants: toolbox.policy().draft_grants(),
        caller: Some(CLI_CALLER.to_owned()),
        // A line of a batch has no terminal of its own.
        approver: None,
    };
    Ok(toolbox.exec(&draft, &params, &budget, &run, options)?)
}

/// Returns the source's file name in stack traces; its extension selects the language.
fn source_name(lang: Option<&str>) -> &'static str {
    match lang {
        Some("ts") => "tool.ts",
        Some("js") => "tool.js",
        _ => "tool",
    }
}

fn analyze_request(request: &Request) -> Result<CommandResponse, BatchError> {
    let Some(source) = &request.source else {
        return Err(BatchError::Request("`analyze` requires `source`".to_owned()));
    };
    if let Some(lang) = request.lang.as_deref().filter(|lang| !matches!(*lang, "js" | "ts")) {
        return Err(BatchError::Request(format!("unknown lang `{lang}`, expected `js` or `ts`")));
    }
    let draft = Draft::from_bytes(source_name(request.lang.as_deref()), source.as_bytes())?;
    let analysis = analyze(draft.source(), draft.language(), None).map_err(ExecError::Source)?;
    let body = serde_json::value::to_raw_value(&AnalysisResponse::from_analysis(&analysis));
    let body = body.map_err(|error| BatchError::Request(error.to_string()))?;
    Ok(CommandResponse::from_analysis(Some(id_or_null(request.id.clone())), &body))
}

/// Handles a `reflect` request. Its fields are those of the `tool_reflection` operation; `lang`
/// overrides the language of the process.
fn reflect_request(toolbox: &Toolbox, request: Request, lang: Lang) -> Result<CommandResponse, BatchError> {
    let lang = match request.lang.as_deref() {
        None => lang,
        Some(name) => Lang::ALL
            .into_iter()
            .find(|known| known.name() == name)
            .ok_or_else(|| BatchError::Request(format!("unknown lang `{name}`, expected `en`, `ja` or `zh`")))?,
    };
    let fields = [
        ("task_description", request.task_description),
        ("last_tool_result", request.last_tool_result),
        ("failed_attempts", request.failed_attempts),
        ("history", request.history),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?.get())));
    let text = format!("{{{}}}", fields.collect::<Vec<_>>().join(","));
    let reflect: ReflectOnTask = read_request(&text).map_err(ReflectError::from)?;
    let reflected = toolbox.reflect(&reflect)?;
    let body = serde_json::value::to_raw_value(&ReflectionOutput::from_result(&reflected, lang));
    let body = body.map_err(|error| BatchError::Request(error.to_string()))?;
    Ok(CommandResponse::from_reflection(Some(id_or_null(request.id)), &body))
}

fn error_response(id: Option<Box<RawValue>>, code: ErrorCode, message: &str) -> CommandResponse {
    CommandResponse::for_error(Some(id_or_null(id)), ErrorResponse::new(code, message, None))
}

/// Returns the identifier, or `null`, so that every response has an `id` field.
fn id_or_null(id: Option<Box<RawValue>>) -> Box<RawValue> {
    id.unwrap_or_else(|| RawValue::NULL.to_owned())
}
