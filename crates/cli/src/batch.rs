//! `batch`: one JSON request a line in, one answer a line out, in one process.
//!
//! Invariant: every line gets exactly one answer, in the order of the lines, whatever is on it; no request ends the
//! process.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcell::{
    CancelToken, Draft, ExecError, Lang, Params, Precheck, ReflectError, ReflectOnTask, Report, Run, Toolbox, Wanted,
    analyze, read_request,
};

use crate::Streams;
use crate::answer::{Answer, ErrorBody};
use crate::args::SandboxArgs;
use crate::check::AnalysisBody;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rules::Rules;
use crate::{input, open, reflect};

/// The longest line, in bytes. What is longer is read past and refused.
const LINE_LIMIT: u64 = 128 << 20;

/// One line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    id: Option<Box<RawValue>>,
    op: String,
    source: Option<String>,
    lang: Option<String>,
    params: Option<Box<RawValue>>,
    params_json: Option<String>,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    seed: u64,
    analysis: Option<String>,
    task_description: Option<Box<RawValue>>,
    last_tool_result: Option<Box<RawValue>>,
    failed_attempts: Option<Box<RawValue>>,
    history: Option<Box<RawValue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    fuel: Option<u64>,
    timeout_ms: Option<u64>,
    memory_mb: Option<u64>,
    output_bytes: Option<u64>,
    console_bytes: Option<u64>,
}

impl Limits {
    fn wanted(&self) -> Wanted {
        let Self { fuel, timeout_ms, memory_mb, output_bytes, console_bytes } = *self;
        Wanted { fuel, timeout_ms, memory_mb, output_bytes, console_bytes, operations: None }
    }
}

/// As much of a line as can be understood where the rest cannot.
#[derive(Debug, Deserialize)]
struct JustId {
    id: Option<Box<RawValue>>,
}

pub(crate) fn run(
    args: SandboxArgs,
    rules: &Rules,
    dir: Option<&Path>,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    let toolbox = open::for_drafts(dir, args.config(), rules)?;
    let mut input = BufReader::with_capacity(64 << 10, &mut *streams.input);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(LINE_LIMIT + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(Exit::Done);
        }
        if line.ends_with(b"\n") {
            line.pop();
        } else if read as u64 > LINE_LIMIT {
            skip_line(&mut input)?;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = if line.len() as u64 > LINE_LIMIT {
            refused(None, "request-invalid", format!("the line is longer than {LINE_LIMIT} bytes"))
        } else {
            answer(&toolbox, &line, lang, cancel)
        };
        writeln!(streams.output, "{}", answer.to_json())?;
        streams.output.flush()?;
        if cancel.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
    }
}

/// Reads up to the end of a line that is too long to keep.
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

/// The answer to one line.
fn answer(toolbox: &Toolbox, line: &[u8], lang: Lang, cancel: &CancelToken) -> Answer {
    let Ok(text) = std::str::from_utf8(line) else {
        return refused(None, "request-invalid", "the line is not UTF-8".to_owned());
    };
    let request: Request = match serde_json::from_str(text) {
        Ok(request) => request,
        Err(error) => {
            let id = serde_json::from_str(text).ok().and_then(|JustId { id }| id);
            return refused(id, "request-invalid", format!("the line is no request: {error}"));
        }
    };
    let id = request.id.clone();
    match request.op.as_str() {
        "run" => match run_request(toolbox, request, cancel) {
            Ok(report) => Answer::of(Some(id_or_null(id)), report),
            Err(Refusal::Failure(failure)) => Answer::refused(Some(id_or_null(id)), failure.body()),
            Err(Refusal::Request(message)) => refused(id, "request-invalid", message),
        },
        "analyze" => match analyze_request(&request) {
            Ok(answer) => answer,
            Err(Refusal::Failure(failure)) => Answer::refused(Some(id_or_null(id)), failure.body()),
            Err(Refusal::Request(message)) => refused(id, "request-invalid", message),
        },
        "reflect" => match reflect_request(toolbox, request, lang) {
            Ok(answer) => answer,
            Err(Refusal::Failure(failure)) => Answer::refused(Some(id_or_null(id)), failure.body()),
            Err(Refusal::Request(message)) => refused(id, "request-invalid", message),
        },
        other => {
            refused(id, "request-invalid", format!("unknown op `{other}`, there are `run`, `analyze` and `reflect`"))
        }
    }
}

/// Why a request was not run.
enum Refusal {
    Failure(Failure),
    Request(String),
}

impl<E: Into<Failure>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Failure(error.into())
    }
}

fn run_request(toolbox: &Toolbox, request: Request, cancel: &CancelToken) -> Result<Report, Refusal> {
    let Some(source) = &request.source else {
        return Err(Refusal::Request("`run` needs `source`".to_owned()));
    };
    if let Some(lang) = request.lang.as_deref().filter(|lang| !matches!(*lang, "js" | "ts")) {
        return Err(Refusal::Request(format!("unknown lang `{lang}`, there is `js` and `ts`")));
    }
    if let Some(analysis) = request.analysis.as_deref().filter(|analysis| !matches!(*analysis, "on" | "off")) {
        return Err(Refusal::Request(format!("unknown analysis `{analysis}`, there is `on` and `off`")));
    }
    let params = match (request.params, request.params_json) {
        (Some(_), Some(_)) => {
            return Err(Refusal::Request("give `params` or `params_json`, not both".to_owned()));
        }
        (Some(params), None) => params.get().to_owned(),
        (None, Some(params)) => params,
        (None, None) => "{}".to_owned(),
    };
    let draft = Draft::from_bytes(name_for(request.lang.as_deref()), source.as_bytes())?;
    let params = Params::parse(params)?;
    let budget = toolbox.policy().budget(&request.limits.wanted()).map_err(ExecError::from)?;
    let run = Run { seed: request.seed, started_at: input::now(), cancel: Some(cancel), ..Run::default() };
    let precheck = if request.analysis.as_deref() == Some("off") { Precheck::Off } else { Precheck::Critical };
    Ok(toolbox.exec(&draft, &params, &budget, &run, precheck)?)
}

/// What a source is called in stack traces; its ending says what it is written in.
fn name_for(lang: Option<&str>) -> &'static str {
    match lang {
        Some("ts") => "tool.ts",
        Some("js") => "tool.js",
        _ => "tool",
    }
}

fn analyze_request(request: &Request) -> Result<Answer, Refusal> {
    let Some(source) = &request.source else {
        return Err(Refusal::Request("`analyze` needs `source`".to_owned()));
    };
    if let Some(lang) = request.lang.as_deref().filter(|lang| !matches!(*lang, "js" | "ts")) {
        return Err(Refusal::Request(format!("unknown lang `{lang}`, there is `js` and `ts`")));
    }
    let draft = Draft::from_bytes(name_for(request.lang.as_deref()), source.as_bytes())?;
    let analysis = analyze(draft.source(), draft.language(), None).map_err(ExecError::Source)?;
    let body = serde_json::value::to_raw_value(&AnalysisBody::of(&analysis));
    let body = body.map_err(|error| Refusal::Request(error.to_string()))?;
    Ok(Answer::analyzed(Some(id_or_null(request.id.clone())), &body))
}

/// The fields of a reflection are those of the operation; the language is that of the process, or `lang` says another one.
fn reflect_request(toolbox: &Toolbox, request: Request, lang: Lang) -> Result<Answer, Refusal> {
    let lang = match request.lang.as_deref() {
        None => lang,
        Some(name) => Lang::ALL
            .into_iter()
            .find(|known| known.name() == name)
            .ok_or_else(|| Refusal::Request(format!("unknown lang `{name}`, there are `en`, `ja` and `zh`")))?,
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
    let body = serde_json::value::to_raw_value(&reflect::Body::of(&reflected, lang));
    let body = body.map_err(|error| Refusal::Request(error.to_string()))?;
    Ok(Answer::reflected(Some(id_or_null(request.id)), &body))
}

fn refused(id: Option<Box<RawValue>>, code: &'static str, message: String) -> Answer {
    Answer::refused(Some(id_or_null(id)), ErrorBody::refusal(code, message, None))
}

/// An answer always has an id, so that whoever reads it need not ask.
fn id_or_null(id: Option<Box<RawValue>>) -> Box<RawValue> {
    id.unwrap_or_else(|| RawValue::NULL.to_owned())
}
