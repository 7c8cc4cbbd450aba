//! `reflect`: says whether a tool is worth making, and which one; or which one there is already.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use toolcell::{Lang, ReflectOnTask, Reflected, ReflectedBody, read_request};

use crate::args::{ReflectArgs, SandboxArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rules::Rules;
use crate::{Streams, input, open};

/// The longest text or history that is read, in bytes.
const LIMIT: u64 = 128 << 20;

/// A reflection, and its text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body<'a> {
    #[serde(flatten)]
    reflected: ReflectedBody<'a>,
    reason: String,
    text: String,
}

impl<'a> Body<'a> {
    pub(crate) fn of(reflected: &'a Reflected, lang: Lang) -> Self {
        Self { reason: reflected.reason(lang), text: reflected.to_text(lang), reflected: reflected.body() }
    }
}

pub(crate) fn run(
    args: &ReflectArgs,
    rules: &Rules,
    dir: Option<&Path>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let request = request(args, streams)?;
    let toolbox = open::for_drafts(dir, SandboxArgs::one_call(), rules)?;
    let reflected = toolbox.reflect(&request)?;
    if args.proposal {
        let Some(proposal) = &reflected.proposal else {
            writeln!(streams.errors, "note: no tool is to be made: {}", streams.shown(&reflected.reason(lang)))?;
            return Ok(Exit::NotFound);
        };
        let text = serde_json::to_string_pretty(proposal).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else if json {
        let text = serde_json::to_string(&Body::of(&reflected, lang)).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        let text = streams.shown(&reflected.to_text(lang));
        writeln!(streams.output, "{text}")?;
    }
    Ok(Exit::Done)
}

fn request(args: &ReflectArgs, streams: &mut Streams<'_>) -> Result<ReflectOnTask, Failure> {
    let from_input = [Some(&args.task), args.result.as_ref(), args.history.as_ref()];
    if from_input.into_iter().flatten().filter(|word| *word == "-").count() > 1 {
        return Err(Failure::OneInput);
    }
    let mut fields = Map::new();
    fields.insert("task_description".to_owned(), input::said(&args.task, LIMIT, streams)?.into());
    let result = args.result.as_ref().map(|word| input::said(word, LIMIT, streams)).transpose()?;
    fields.insert("last_tool_result".to_owned(), result.unwrap_or_default().into());
    if let Some(count) = &args.failed_attempts {
        let number = serde_json::from_str(count).ok().filter(Value::is_number);
        fields.insert("failed_attempts".to_owned(), number.unwrap_or_else(|| Value::String(count.clone())));
    }
    if let Some(word) = &args.history {
        fields.insert("history".to_owned(), history(word, streams)?);
    }
    read_request(&Value::Object(fields).to_string()).map_err(|error| toolcell::ReflectError::from(error).into())
}

/// A JSON list, or one operation a line.
fn history(word: &str, streams: &mut Streams<'_>) -> Result<Value, Failure> {
    let path = word.strip_prefix('@').unwrap_or(word);
    let text = if word == "-" { input::said(word, LIMIT, streams)? } else { input::file(Path::new(path), LIMIT)? };
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let each =
        lines.map(|(at, line)| serde_json::from_str(line).map_err(|error| wrong(&format!("line {}: {error}", at + 1))));
    each.collect::<Result<Vec<Value>, _>>().map(Value::Array)
}

fn wrong(what: &str) -> Failure {
    Failure::Typed {
        message: format!("the history is no list of operations: {what}"),
        hint: "it is a JSON list, or a line each, of {\"name\": …, \"arguments\": {…}, \"outcome\": \"ok\"} or of \"grep TODO a.ts\"",
    }
}
