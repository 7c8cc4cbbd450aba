//! `run`: runs a tool that is kept.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolcell::{
    CancelToken, Choice, ContextBody, DeprecationBody, Done, Explanation, Lang, Outcome, Params, PartialSink, Person,
    Planner, Ran, Report, RunError, RunOptions, RunState, RunTool, Schema, Toolbox, line,
};

use crate::answer::Answer;
use crate::args::RunArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::operation::Operation;
use crate::person::AtTerminal;
use crate::plan::{self, Content, Plan, PlanOptions};
use crate::progress::Progress;
use crate::receipt;
use crate::rules::Rules;
use crate::table::{Column, Fit, Table, TooLong, width};
use crate::{Streams, exec, open, sleep};

pub(crate) fn run(
    args: &RunArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    let given = given(&args.params, streams)?;
    let toolbox = open::existing(dir, args.sandbox.config(), rules)?;
    let request = RunTool::of(&args.tool, given.params(&args.tool, &toolbox)?);
    // Where it cannot be written is known before anything happens.
    let file = args.receipt.as_deref().map(receipt::Place::reserve).transpose()?;
    let progress = streams.errors_are_terminal.then(|| Progress::start(&args.tool));
    let otherwise = if args.plan.sleep { Choice::Later } else { Choice::Refuse };
    let content = if args.plan.show_content { Content::Shown } else { Content::Sized };
    let of = PlanOptions { approved: &args.plan.approve, otherwise, content };
    let plan = args.plan.holds().then(|| Plan::new(&of, &toolbox, lang, streams, cancel, progress.as_ref()));
    let plan = plan.transpose()?;
    let options = RunOptions {
        caller: "cli".to_owned(),
        plan: plan.clone().map(|plan| plan as Arc<dyn Planner>),
        limits: args.limits.wanted(),
        seed: args.seed,
        receipt: file.is_some(),
        tokens_saved: args.tokens_saved,
        cancel: Some(cancel.clone()),
        partial: progress.as_ref().map(partial),
        person: streams.somebody_is_there().then(|| person(lang, cancel, progress.as_ref())),
        ..RunOptions::default()
    };
    if args.explain {
        let explanation = toolbox.explain(&request, &options);
        end(progress.as_ref());
        return print_explanation(explanation, json, lang, streams);
    }
    let mut state = if args.plan.sleep {
        toolbox.run_or_sleep(&request, &options)
    } else {
        toolbox.run(&request, &options).map(|ran| RunState::Ended(Box::new(ran)))
    };
    end(progress.as_ref());
    if let Err(RunError::Denied(_)) = &state
        && cancel.is_cancelled()
    {
        return Err(
            state.map_or_else(|error| Failure::Operation(Operation::Interrupted(error)), |_| Failure::Interrupted)
        );
    }
    let shape = match (json, args.text) {
        (true, _) => Shape::Json,
        (false, true) => Shape::Text,
        (false, false) => Shape::Plain,
    };
    if let (Some(file), Ok(RunState::Ended(ran))) = (file, &mut state)
        && let Some(receipt) = ran.receipt.take()
    {
        file.keep(&receipt, lang, streams)?;
    }
    sleep::print(state, &toolbox, plan.as_deref(), shape, lang, streams)
}

/// How a run is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One JSON object.
    Json,
    /// As a model is told of it.
    Text,
    /// The result, and everything else aside.
    Plain,
}

/// Prints a run that took place, and what was held of it.
pub(crate) fn finish(
    ran: Ran,
    plan: Option<&Plan>,
    all: Option<String>,
    shape: Shape,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let exit = Exit::of(&ran.report.outcome);
    match shape {
        Shape::Json => {
            let held = plan.map(Plan::lines);
            let text = serde_json::to_string(&Body { plan: held, plan_digest: all, ..Body::of(ran) })
                .map_err(std::io::Error::from)?;
            writeln!(streams.output, "{text}")?;
            streams.output.flush()?;
            return Ok(exit);
        }
        Shape::Text => {
            exec::print_aside(&ran.report, lang, streams)?;
            let text = streams.shown(&ran.to_text(lang));
            writeln!(streams.output, "{text}")?;
        }
        Shape::Plain => print(ran, lang, streams)?,
    }
    streams.output.flush()?;
    if let Some(plan) = plan {
        plan::print(plan, all.as_deref(), lang, streams)?;
    }
    Ok(exit)
}

pub(crate) fn partial(progress: &Arc<Progress>) -> PartialSink {
    let progress = Arc::clone(progress);
    Arc::new(move |json: &str| progress.say(json))
}

pub(crate) fn person(lang: Lang, cancel: &CancelToken, progress: Option<&Arc<Progress>>) -> Arc<dyn Person> {
    Arc::new(AtTerminal { lang, cancel: cancel.clone(), progress: progress.cloned() })
}

pub(crate) fn end(progress: Option<&Arc<Progress>>) {
    if let Some(progress) = progress {
        progress.end();
    }
}

/// What was typed for parameters.
pub(crate) struct Given {
    params: Params,
    /// What `KEY=VALUE` adds.
    added: Vec<Added>,
}

struct Added {
    key: String,
    text: String,
    form: Form,
}

/// How a value was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As the tool declares it.
    Declared,
    /// As JSON.
    Json,
}

pub(crate) fn given(words: &[String], streams: &mut Streams<'_>) -> Result<Given, Failure> {
    let wrong = |message| Failure::Typed {
        message,
        hint: "parameters are one JSON object, @FILE or -, and KEY=VALUE for those that are said by themselves",
    };
    let (mut params, mut added) = (None, Vec::<Added>::new());
    for word in words {
        let is_whole = word == "-" || word.starts_with(['{', '[', '@']);
        match word.split_once('=').filter(|_| !is_whole) {
            None if params.is_some() => {
                return Err(wrong(format!("`{}` comes after other parameters", line(word))));
            }
            None => params = Some(input::params(word, streams)?),
            Some((key, text)) => {
                let (key, form) = key.strip_suffix(':').map_or((key, Form::Declared), |key| (key, Form::Json));
                if key.is_empty() || added.iter().any(|known| known.key == key) {
                    return Err(wrong(format!("`{}` has no key, or one that was there before", line(word))));
                }
                added.push(Added { key: key.to_owned(), text: text.to_owned(), form });
            }
        }
    }
    Ok(Given { params: params.unwrap_or_default(), added })
}

impl Given {
    /// All of it. What is typed by itself counts more.
    pub(crate) fn params(self, tool: &str, toolbox: &Toolbox) -> Result<Params, Failure> {
        if self.added.is_empty() {
            return Ok(self.params);
        }
        let texts =
            if self.added.iter().any(|added| added.form == Form::Declared) { texts(tool, toolbox) } else { Vec::new() };
        let mut all: Map<String, Value> = serde_json::from_str(self.params.as_str()).map_err(std::io::Error::from)?;
        for Added { key, text, form } in self.added {
            let value = match (form, serde_json::from_str(&text)) {
                (Form::Json, Err(error)) => {
                    let message = format!("the value of `{}` is no JSON: {error}", line(&key));
                    return Err(Failure::Typed { message, hint: "KEY=VALUE takes text as well" });
                }
                (Form::Declared, Ok(_)) if texts.contains(&key) => Value::String(text),
                (_, Ok(value)) => value,
                (Form::Declared, Err(_)) => Value::String(text),
            };
            all.insert(key, value);
        }
        Ok(Params::parse(Value::Object(all).to_string())?)
    }
}

/// The parameters that a tool declares as texts. Where there is no such tool, running it says so.
fn texts(tool: &str, toolbox: &Toolbox) -> Vec<String> {
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

/// The result on standard output, everything else on standard error.
fn print(ran: Ran, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let suppressed = ran.suppressed;
    let (word, held_back) = match lang {
        Lang::En => ("note", "a gate keeps the output back"),
        Lang::Ja => ("補足", "出力はフックにより非表示です"),
        Lang::Zh => ("备注", "输出已被钩子隐藏"),
    };
    let deprecated = ran.deprecated.as_ref().map(|deprecation| deprecation.to_text(&ran.name, lang));
    let unrecorded = ran.unrecorded.clone();
    let (report, context) = seen(ran);
    exec::print_text(&report, lang, streams)?;
    if let Some(why) = unrecorded {
        let (warning, what) = match lang {
            Lang::En => ("warning", "this run is not recorded as it should be"),
            Lang::Ja => ("警告", "この実行は正しく記録されていません"),
            Lang::Zh => ("警告", "此次运行未被正常记录"),
        };
        let colon = lang.colon();
        writeln!(streams.errors, "{warning}{colon}{what}{colon}{}", toolcell::visible(&why))?;
    }
    if let Some(text) = deprecated {
        writeln!(streams.errors, "{word}: {text}")?;
    }
    for ContextBody { gate, text } in context {
        let (gate, text) = (line(&gate), line(&text));
        match lang {
            Lang::En | Lang::Ja => writeln!(streams.errors, "{word} ({gate}): {text}")?,
            Lang::Zh => writeln!(streams.errors, "{word}（{gate}）：{text}")?,
        }
    }
    if suppressed {
        writeln!(streams.errors, "{word}{}{held_back}", lang.colon())?;
    }
    Ok(())
}

/// The report without what a gate suppresses, and what gates add.
pub(crate) fn seen(ran: Ran) -> (Report, Vec<ContextBody>) {
    let Ran { mut report, context, suppressed, .. } = ran;
    if suppressed && matches!(report.outcome, Outcome::Returned(_)) {
        report.outcome = Outcome::Returned(None);
    }
    (report, context.into_iter().map(ContextBody::from).collect())
}

/// A run, in JSON.
#[derive(Serialize)]
struct Body {
    tool: String,
    name: String,
    #[serde(flatten)]
    answer: Answer,
    record: Option<String>,
    /// Why it is not recorded, or not completely yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    unrecorded: Option<String>,
    context: Vec<ContextBody>,
    suppressed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    revised_by: Option<String>,
    /// What was done for it outside of its cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<Done>,
    /// What was held, where a plan was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<plan::Line>>,
    /// The digest under which all of that can be approved which was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_digest: Option<String>,
    /// What is to be used in its place, where it is deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<DeprecationBody>,
}

impl Body {
    fn of(mut ran: Ran) -> Self {
        let (tool, name, suppressed) = (ran.tool.to_string(), ran.name.to_string(), ran.suppressed);
        let (record, revised_by) = (ran.record.map(|hash| hash.to_string()), ran.revised_by.take());
        let (done, effects, unrecorded) = (ran.done.take(), ran.effects, ran.unrecorded.take());
        let deprecated = ran.deprecated.as_ref().map(DeprecationBody::from);
        let (report, context) = seen(ran);
        let answer = Answer::of(None, report).with_effects(effects);
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

/// The steps of a decision, and what comes of it.
fn print_explanation(
    explanation: Explanation,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let Explanation { steps, admitted } = explanation;
    let asks = admitted.is_ok() && steps.iter().any(|step| step.verdict == "ask");
    if json {
        let refused = admitted.map_err(Failure::from).err();
        let exit = refused.as_ref().map_or(Exit::Done, Failure::exit);
        let error = refused.map(|failure| failure.body());
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
    let columns = titles.into_iter().zip(fits).map(|(title, fit)| Column { title, fit, spare: 0 });
    let mut table = Table::new(columns.collect());
    for step in steps {
        table.row([step.stage.to_owned(), step.verdict, step.rule, step.reason]);
    }
    if streams.output_is_terminal {
        for line in table.fitted(width(), TooLong::Wrap).lines {
            writeln!(streams.output, "{}", line.trim_end())?;
        }
    } else {
        write!(streams.output, "{}", table.with_tabs())?;
    }
    admitted?;
    let end = match (asks, lang) {
        (false, Lang::En) => "it would run",
        (false, Lang::Ja) => "実行されます",
        (false, Lang::Zh) => "可以执行",
        (true, Lang::En) => "somebody would be asked first",
        (true, Lang::Ja) => "先に承認が求められます",
        (true, Lang::Zh) => "执行前会先请求批准",
    };
    writeln!(streams.output, "{end}")?;
    Ok(Exit::Done)
}
