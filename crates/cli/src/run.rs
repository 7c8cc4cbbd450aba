//! `run`: runs a stored tool.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolcell::{
    Approver, CancelToken, DeprecationResponse, EffectApprover, EffectDecision, EffectLog, Explanation,
    HookContextResponse, Lang, Outcome, Params, PartialResultSink, Report, RunError, RunOptions, RunOutcome, RunResult,
    RunTool, Schema, Toolbox, single_line,
};

use crate::answer::CommandResponse;
use crate::args::RunArgs;
use crate::command_error::CommandError;
use crate::error::CliError;
use crate::exit::Exit;
use crate::held_effects::{self, ContentDetail, EffectPlan, PlanOptions};
use crate::input;
use crate::policy_files::PolicyFiles;
use crate::progress::Progress;
use crate::prompt::TerminalApprover;
use crate::receipt;
use crate::table::{Column, Fit, Overflow, Table, terminal_width};
use crate::{Streams, exec, resume, toolbox};

pub(crate) fn run(
    args: &RunArgs,
    rules: &PolicyFiles,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, CliError> {
    let given = parse_param_words(&args.params, streams)?;
    let toolbox = toolbox::open_existing(dir, args.sandbox.config()?, rules)?;
    let request = RunTool::new(&args.tool, given.resolve(&args.tool, &toolbox)?);
    // Fail before any effect if the receipt cannot be written.
    let file = args.receipt.as_deref().map(receipt::ReceiptFile::create).transpose()?;
    let progress = streams.errors_are_terminal.then(|| Progress::start(&args.tool));
    let otherwise = if args.plan.suspend { EffectDecision::Defer } else { EffectDecision::Refuse };
    let content = if args.plan.show_content { ContentDetail::Full } else { ContentDetail::SizeOnly };
    let of = PlanOptions { approved: &args.plan.approve, fallback: otherwise, content };
    let plan = args.plan.is_enabled().then(|| EffectPlan::new(&of, &toolbox, lang, streams, cancel, progress.as_ref()));
    let plan = plan.transpose()?;
    let options = RunOptions {
        caller: "cli".to_owned(),
        effect_approver: plan.clone().map(|plan| plan as Arc<dyn EffectApprover>),
        limits: args.limits.overrides(),
        seed: args.seed,
        receipt: file.is_some(),
        tokens_saved: args.tokens_saved,
        cancel: Some(cancel.clone()),
        partial: progress.as_ref().map(partial_sink),
        approver: streams.is_interactive().then(|| terminal_approver(lang, cancel, progress.as_ref())),
        ..RunOptions::default()
    };
    if args.explain {
        let explanation = toolbox.explain(&request, &options);
        end_progress(progress.as_ref());
        return print_explanation(explanation, json, lang, streams);
    }
    let mut state = if args.plan.suspend {
        toolbox.run_suspendable(&request, &options)
    } else {
        toolbox.run(&request, &options).map(|ran| RunOutcome::Finished(Box::new(ran)))
    };
    end_progress(progress.as_ref());
    if let Err(RunError::Denied(_)) = &state
        && cancel.is_cancelled()
    {
        return Err(state
            .map_or_else(|error| CliError::Command(CommandError::RunInterrupted(error)), |_| CliError::Interrupted));
    }
    let shape = match (json, args.text) {
        (true, _) => OutputFormat::Json,
        (false, true) => OutputFormat::Text,
        (false, false) => OutputFormat::Plain,
    };
    if let (Some(file), Ok(RunOutcome::Finished(ran))) = (file, &mut state)
        && let Some(receipt) = ran.receipt.take()
    {
        file.write(&receipt, lang, streams)?;
    }
    resume::print_outcome(state, &toolbox, plan.as_deref(), shape, lang, streams)
}

/// The output format of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// One JSON object.
    Json,
    /// The text that a model would receive.
    Text,
    /// The result on standard output, and everything else on standard error.
    Plain,
}

/// Prints a finished run and its held effects.
pub(crate) fn print_finished(
    ran: RunResult,
    plan: Option<&EffectPlan>,
    all: Option<String>,
    shape: OutputFormat,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let exit = Exit::from_outcome(&ran.report.outcome);
    match shape {
        OutputFormat::Json => {
            let held = plan.map(EffectPlan::lines);
            let text =
                serde_json::to_string(&RunOutput { plan: held, plan_digest: all, ..RunOutput::from_result(ran) })
                    .map_err(std::io::Error::from)?;
            writeln!(streams.output, "{text}")?;
            streams.output.flush()?;
            return Ok(exit);
        }
        OutputFormat::Text => {
            exec::print_logs_and_warnings(&ran.report, lang, streams)?;
            let text = streams.escape_for_output(&ran.to_text(lang));
            writeln!(streams.output, "{text}")?;
        }
        OutputFormat::Plain => print_plain(ran, lang, streams)?,
    }
    streams.output.flush()?;
    if let Some(plan) = plan {
        held_effects::print(plan, all.as_deref(), lang, streams)?;
    }
    Ok(exit)
}

pub(crate) fn partial_sink(progress: &Arc<Progress>) -> PartialResultSink {
    let progress = Arc::clone(progress);
    Arc::new(move |json: &str| progress.set_message(json))
}

pub(crate) fn terminal_approver(
    lang: Lang,
    cancel: &CancelToken,
    progress: Option<&Arc<Progress>>,
) -> Arc<dyn Approver> {
    Arc::new(TerminalApprover { lang, cancel: cancel.clone(), progress: progress.cloned() })
}

pub(crate) fn end_progress(progress: Option<&Arc<Progress>>) {
    if let Some(progress) = progress {
        progress.finish();
    }
}

/// The parameters as typed.
pub(crate) struct ParamWords {
    params: Params,
    /// Parameters given as `KEY=VALUE`, in order.
    key_values: Vec<KeyValue>,
}

struct KeyValue {
    key: String,
    text: String,
    syntax: ValueSyntax,
}

/// How the value of a `KEY=VALUE` is parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueSyntax {
    /// `KEY=VALUE`: text if the tool declares a string or the value is not JSON, else JSON.
    Declared,
    /// `KEY:=JSON`: always JSON.
    Json,
}

pub(crate) fn parse_param_words(words: &[String], streams: &mut Streams<'_>) -> Result<ParamWords, CliError> {
    let wrong = |message| CliError::Usage {
        message,
        hint: "pass one JSON object, @FILE or -, followed by any number of KEY=VALUE",
    };
    let (mut params, mut added) = (None, Vec::<KeyValue>::new());
    for word in words {
        let is_whole = word == "-" || word.starts_with(['{', '[', '@']);
        match word.split_once('=').filter(|_| !is_whole) {
            None if params.is_some() => {
                return Err(wrong(format!("`{}` is neither KEY=VALUE nor the first word", single_line(word))));
            }
            None => params = Some(input::read_params(word, streams)?),
            Some((key, text)) => {
                let (key, form) =
                    key.strip_suffix(':').map_or((key, ValueSyntax::Declared), |key| (key, ValueSyntax::Json));
                if key.is_empty() || added.iter().any(|known| known.key == key) {
                    return Err(wrong(format!("`{}` has an empty or duplicate key", single_line(word))));
                }
                added.push(KeyValue { key: key.to_owned(), text: text.to_owned(), syntax: form });
            }
        }
    }
    Ok(ParamWords { params: params.unwrap_or_default(), key_values: added })
}

impl ParamWords {
    /// Merges the parameters; `KEY=VALUE` overrides the JSON object.
    pub(crate) fn resolve(self, tool: &str, toolbox: &Toolbox) -> Result<Params, CliError> {
        if self.key_values.is_empty() {
            return Ok(self.params);
        }
        let texts = if self.key_values.iter().any(|added| added.syntax == ValueSyntax::Declared) {
            string_parameters(tool, toolbox)
        } else {
            Vec::new()
        };
        let mut all: Map<String, Value> = serde_json::from_str(self.params.as_str()).map_err(std::io::Error::from)?;
        for KeyValue { key, text, syntax: form } in self.key_values {
            let value = match (form, serde_json::from_str(&text)) {
                (ValueSyntax::Json, Err(error)) => {
                    let message = format!("the value of `{}` is not valid JSON: {error}", single_line(&key));
                    return Err(CliError::Usage { message, hint: "use KEY=VALUE to pass text" });
                }
                (ValueSyntax::Declared, Ok(_)) if texts.contains(&key) => Value::String(text),
                (_, Ok(value)) => value,
                (ValueSyntax::Declared, Err(_)) => Value::String(text),
            };
            all.insert(key, value);
        }
        Ok(Params::parse(Value::Object(all).to_string())?)
    }
}

/// Returns the parameters that the tool declares as strings. An unknown tool is reported later, by
/// the run itself.
fn string_parameters(tool: &str, toolbox: &Toolbox) -> Vec<String> {
    let schema = || {
        let entry = toolbox.find(tool).ok()?;
        let spec = toolbox.store()?.spec(&entry).ok()?;
        Schema::compile(spec.parameters()).ok()
    };
    let Some(schema) = schema() else { return Vec::new() };
    let is_text = |kind: &str| kind.split(" | ").all(|one| matches!(one, "string" | "null"));
    let texts = schema.parameters().iter().filter(|parameter| is_text(&parameter.kind));
    texts.map(|parameter| parameter.name.clone()).collect()
}

/// Prints the result to standard output, and everything else to standard error.
fn print_plain(ran: RunResult, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let suppressed = ran.output_suppressed;
    let (word, held_back) = match lang {
        Lang::En => ("note", "a hook suppressed the output"),
        Lang::Ja => ("補足", "出力はフックにより非表示です"),
        Lang::Zh => ("备注", "输出已被钩子隐藏"),
    };
    let deprecated = ran.deprecated.as_ref().map(|deprecation| deprecation.to_text(&ran.name, lang));
    let unrecorded = ran.unrecorded.clone();
    let (report, context) = visible_result(ran);
    exec::print_text(&report, lang, streams)?;
    if let Some(why) = unrecorded {
        let (warning, what) = match lang {
            Lang::En => ("warning", "this run was not fully recorded"),
            Lang::Ja => ("警告", "この実行は正しく記録されていません"),
            Lang::Zh => ("警告", "此次运行未被正常记录"),
        };
        let colon = lang.colon();
        writeln!(streams.errors, "{warning}{colon}{what}{colon}{}", toolcell::escape_control_chars(&why))?;
    }
    if let Some(text) = deprecated {
        writeln!(streams.errors, "{word}: {text}")?;
    }
    for HookContextResponse { hook, text } in context {
        let (hook, text) = (single_line(&hook), single_line(&text));
        match lang {
            Lang::En | Lang::Ja => writeln!(streams.errors, "{word} ({hook}): {text}")?,
            Lang::Zh => writeln!(streams.errors, "{word}（{hook}）：{text}")?,
        }
    }
    if suppressed {
        writeln!(streams.errors, "{word}{}{held_back}", lang.colon())?;
    }
    Ok(())
}

/// Splits a result into the report, without output that a hook suppressed, and the context that
/// hooks added.
pub(crate) fn visible_result(ran: RunResult) -> (Report, Vec<HookContextResponse>) {
    let RunResult { mut report, context, output_suppressed: suppressed, .. } = ran;
    if suppressed && matches!(report.outcome, Outcome::Returned(_)) {
        report.outcome = Outcome::Returned(None);
    }
    (report, context.into_iter().map(HookContextResponse::from).collect())
}

/// The JSON output of a run.
#[derive(Serialize)]
struct RunOutput {
    tool: String,
    name: String,
    #[serde(flatten)]
    answer: CommandResponse,
    record: Option<String>,
    /// Why the run is not recorded, or not completely yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    unrecorded: Option<String>,
    context: Vec<HookContextResponse>,
    suppressed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    revised_by: Option<String>,
    /// The effects of the run outside the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<EffectLog>,
    /// The held effects, in a run with a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<held_effects::PlanLine>>,
    /// The digest that approves all remaining held effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_digest: Option<String>,
    /// The deprecation of the tool, with its successor.
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<DeprecationResponse>,
}

impl RunOutput {
    fn from_result(mut ran: RunResult) -> Self {
        let (tool, name, suppressed) = (ran.tool.to_string(), ran.name.to_string(), ran.output_suppressed);
        let (record, revised_by) = (ran.record.map(|hash| hash.to_string()), ran.revised_by.take());
        let (done, effects, unrecorded) = (ran.effect_log.take(), ran.effects, ran.unrecorded.take());
        let deprecated = ran.deprecated.as_ref().map(DeprecationResponse::from);
        let (report, context) = visible_result(ran);
        let answer = CommandResponse::from_report(None, report).with_effects(effects);
        Self {
            tool,
            name,
            answer,
            record,
            unrecorded,
            context,
            suppressed,
            revised_by,
            done,
            plan: None,
            plan_digest: None,
            deprecated,
        }
    }
}

/// Prints the steps of an admission decision, and its result.
fn print_explanation(
    explanation: Explanation,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let Explanation { steps, admitted } = explanation;
    let asks = admitted.is_ok() && steps.iter().any(|step| step.verdict == "ask");
    if json {
        let refused = admitted.map_err(CliError::from).err();
        let exit = refused.as_ref().map_or(Exit::Done, CliError::exit);
        let error = refused.map(|failure| failure.to_response());
        let text = json!({"steps": steps, "admitted": error.is_none(), "asks": asks, "error": error});
        writeln!(streams.output, "{text}")?;
        return Ok(exit);
    }
    let titles = match lang {
        Lang::En => ["stage", "verdict", "rule", "reason"],
        Lang::Ja => ["段階", "判定", "規則", "理由"],
        Lang::Zh => ["阶段", "判定", "规则", "原因"],
    };
    let fits = [Fit::Whole, Fit::Whole, Fit::Text(16), Fit::Text(24)];
    let columns = titles.into_iter().zip(fits).map(|(title, fit)| Column { title, fit, drop_order: 0 });
    let mut table = Table::new(columns.collect());
    for step in steps {
        table.add_row([step.stage.to_owned(), step.verdict, step.rule, step.reason]);
    }
    if streams.output_is_terminal {
        for line in table.fit(terminal_width(), Overflow::Wrap).lines {
            writeln!(streams.output, "{}", line.trim_end())?;
        }
    } else {
        write!(streams.output, "{}", table.to_tsv())?;
    }
    admitted?;
    let end = match (asks, lang) {
        (false, Lang::En) => "the call would run",
        (false, Lang::Ja) => "実行されます",
        (false, Lang::Zh) => "可以执行",
        (true, Lang::En) => "the call would need approval first",
        (true, Lang::Ja) => "先に承認が求められます",
        (true, Lang::Zh) => "执行前会先请求批准",
    };
    writeln!(streams.output, "{end}")?;
    Ok(Exit::Done)
}
