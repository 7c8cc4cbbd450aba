//! `reflect`: suggests whether to create a tool for a task, or an existing one to use.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use toolcell::reflection::ProposalKind;
use toolcell::{Lang, ReflectOnTask, ReflectResponse, ReflectResult, read_request};
use toolcell_i18n::{Message, message, msgid};

use crate::args::{ReflectArgs, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::streams::Streams;

/// Maximum size of a text or a history, in bytes.
const MAX_INPUT_BYTES: u64 = 128 << 20;

/// The JSON output: a reflection and its text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReflectionOutput<'a> {
    #[serde(flatten)]
    reflected: ReflectResponse<'a>,
    reason: String,
    text: String,
}

impl<'a> ReflectionOutput<'a> {
    pub(crate) fn from_result(reflected: &'a ReflectResult, lang: Lang) -> Self {
        Self { reason: reflected.reason(lang), text: reflected.to_text(lang), reflected: reflected.body() }
    }
}

pub(crate) fn run(args: &ReflectArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let request = build_request(args, &mut context.streams)?;
    let toolbox = context.open_toolbox_for_drafts(SandboxArgs::single_call_config())?;
    let reflected = toolbox.reflect(&request)?;
    let Context { ref mut streams, format, lang, .. } = *context;
    if args.proposal {
        let Some(proposal) = &reflected.proposal else {
            let note = message!("no tool is recommended: {reason}", reason = reflected.reason(lang));
            streams.print_note(&note, lang)?;
            return Ok(Exit::NotFound);
        };
        let text = serde_json::to_string_pretty(proposal).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
        if proposal.kind == ProposalKind::Skeleton {
            streams
                .print_note(&message!("this is a skeleton: write the body of `execute` before it is of use"), lang)?;
        }
    } else if format.is_json() {
        let text =
            serde_json::to_string(&ReflectionOutput::from_result(&reflected, lang)).map_err(std::io::Error::from)?;
        writeln!(streams.output, "{text}")?;
    } else {
        let text = streams.escape_for_output(&reflected.to_text(lang));
        writeln!(streams.output, "{text}")?;
    }
    Ok(Exit::Done)
}

fn build_request(args: &ReflectArgs, streams: &mut Streams<'_>) -> Result<ReflectOnTask, CliError> {
    let from_input = [Some(&args.task), args.result.as_ref(), args.history.as_ref()];
    if from_input.into_iter().flatten().filter(|word| *word == "-").count() > 1 {
        return Err(CliError::StdinUsedTwice);
    }
    let mut fields = Map::new();
    fields
        .insert("task_description".to_owned(), input::read_text_argument(&args.task, MAX_INPUT_BYTES, streams)?.into());
    let result =
        args.result.as_ref().map(|word| input::read_text_argument(word, MAX_INPUT_BYTES, streams)).transpose()?;
    fields.insert("last_tool_result".to_owned(), result.unwrap_or_default().into());
    if let Some(count) = &args.failed_attempts {
        let number = serde_json::from_str(count).ok().filter(Value::is_number);
        fields.insert("failed_attempts".to_owned(), number.unwrap_or_else(|| Value::String(count.clone())));
    }
    if let Some(word) = &args.history {
        fields.insert("history".to_owned(), read_history(word, streams)?);
    }
    read_request(&Value::Object(fields).to_string()).map_err(|error| toolcell::ReflectError::from(error).into())
}

/// Reads a history: a JSON list, or one operation per line.
fn read_history(word: &str, streams: &mut Streams<'_>) -> Result<Value, CliError> {
    let path = word.strip_prefix('@').unwrap_or(word);
    let text = if word == "-" {
        input::read_text_argument(word, MAX_INPUT_BYTES, streams)?
    } else {
        input::read_file(Path::new(path), MAX_INPUT_BYTES)?
    };
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(&text).map_err(|error| history_error(&Message::verbatim(error.to_string())));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let each = lines.map(|(at, line)| {
        serde_json::from_str(line)
            .map_err(|error| history_error(&message!("line {line}: {error}", line = at + 1, error)))
    });
    each.collect::<Result<Vec<Value>, _>>().map(Value::Array)
}

fn history_error(reason: &Message) -> CliError {
    CliError::usage(
        message!("the history is not a list of operations: {reason}", reason),
        msgid!(
            "pass a JSON list, or JSON lines, of {\"name\": …, \"arguments\": {…}, \"outcome\": \"ok\"} or \"grep TODO \
             a.ts\""
        ),
    )
}
