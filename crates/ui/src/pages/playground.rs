//! The playground: write a tool, see what the analysis finds, run it, and save it with tests made of its runs.
//!
//! The page has no state on the server but the last flame graphs: a form holds everything, and each answer is the whole page. Code that
//! is run here is a draft: it gets what the policy grants to drafts, hooks decide about it, and its run is recorded.
//!
//! Invariant: an answer has all that the person typed; an error is shown beside it.

mod output;
mod parameters;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use toolcell::hook::CallerClaims;
use toolcell::{
    AnalysisError, CancelToken, CreateTool, Draft, Finding, Language, LimitOverrides, Params, RunCode, RunOptions,
    Schema, Severity, TYPE_DECLARATIONS, ToolMetadata, Toolbox, analyze,
};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Lang, Localize as _, Message, message, tr};

use self::output::{Ran, ran_markup};
use self::parameters::{Inputs, inputs_markup};
use super::{Live, Page, Section, failed, problem, query_of, refused_form};
use crate::access::Session;
use crate::app::{App, CancelOnDrop, Visit, describe_person, too_many_runs};
use crate::form::{Form, FormNames, FormRefusal};
use crate::markup::{prose, text};
use crate::source::PageError;

/// The fields of the form.
const FIELDS: FormNames = FormNames {
    required: &["action", "code"],
    optional: &[
        "schema",
        "parameters",
        "fuel",
        "timeout",
        "memory",
        "base",
        "name",
        "description",
        "tags",
        "capabilities",
        "replace",
    ],
    repeated: "example",
    prefix: Some("p."),
};
/// The maximum number of runs that are kept as examples, and the maximum size of each in bytes.
const MAX_EXAMPLES: usize = 100;
const MAX_EXAMPLE_BYTES: usize = 16 << 10;
/// The maximum number of findings shown.
const MAX_FINDINGS: usize = 200;
/// The file name of the code, which says that it may be TypeScript.
const FILE_NAME: &str = "playground.ts";
/// The policy of a flame graph that is opened by itself: its style is inside of it, and its script does not run.
const FLAME_GRAPH_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
/// The code of a new page.
const FIRST_CODE: &str = include_str!("playground/first.ts");
const FIRST_SCHEMA: &str = include_str!("playground/first.json");

/// What to begin with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PlaygroundQuery {
    /// A stored tool whose code is opened.
    tool: String,
}

/// What the person typed.
#[derive(Debug, Default)]
struct Sheet {
    code: String,
    schema: String,
    /// The parameters as JSON, for code without a schema.
    parameters: String,
    /// The parameters by their names, for code with a schema.
    inputs: Inputs,
    fuel: String,
    timeout: String,
    memory: String,
    name: String,
    description: String,
    tags: String,
    /// The capabilities that the tool requests, as JSON; empty for those that the code uses.
    capabilities: String,
    /// The identifier of the tool that the sheet began with, whose other declarations it keeps.
    base: String,
    replaces: bool,
    /// Runs that become examples of the tool: JSON texts.
    examples: Vec<String>,
    /// The number of examples of the tool that do not fit.
    left_out: usize,
}

/// What the analysis says about a sheet.
struct Checked {
    findings: Vec<Finding>,
    /// Why the code cannot be analysed.
    error: Option<AnalysisError>,
    /// Why it cannot run, though it can be analysed.
    refusal: Option<(Message, Message)>,
    schema: Result<Schema, (Message, Message)>,
}

/// What was done with a sheet.
enum Done {
    Nothing,
    Ran(Box<Ran>),
    Failed(PageError),
    NotSaved(PageError),
}

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    query: Result<Query<PlaygroundQuery>, QueryRejection>,
    visit: Visit,
) -> Response {
    let query = match query_of(query, &visit) {
        Ok(query) => query,
        Err(refusal) => return *refusal,
    };
    let loaded = app.with_toolbox(move |toolbox| {
        let sheet = if query.tool.is_empty() { Sheet::first() } else { Sheet::of_tool(toolbox, &query.tool)? };
        let checked = check(toolbox, &sheet);
        Ok((sheet, checked))
    });
    match loaded.await {
        Ok((sheet, checked)) => respond(&visit, &sheet, &checked, &Done::Nothing),
        Err(error) => failed(&visit, &error),
    }
}

/// Checks, runs or saves what the form holds.
pub(crate) async fn submit(State(app): State<Arc<App>>, visit: Visit, body: Bytes) -> Response {
    let form = match Form::parse(&visit, &body, &FIELDS) {
        Ok(form) => form,
        Err(refusal) => return refused_form(&visit, refusal),
    };
    let mut sheet = Sheet::from_form(&form);
    let action = form.one("action").to_owned();
    if !matches!(&*action, "check" | "run" | "save") {
        return refused_form(&visit, FormRefusal::Incomplete);
    }
    // A run that may not begin is an error beside what was typed; a check waits for the one before.
    let run_permit = if action == "run" { app.site.runs.try_acquire().ok() } else { None };
    let _check_permit = if action == "check" { app.site.checks.acquire().await.ok() } else { None };
    let may_run = run_permit.is_some();
    let ending = app.site.cancel.clone();
    let cancel = CancelOnDrop(CancelToken::with_poll(move || ending.is_cancelled()));
    let (token, shared) = (cancel.0.clone(), Arc::clone(&app));
    let session = visit.session.clone();
    let worked = app.with_toolbox(move |toolbox| {
        let checked = check(toolbox, &sheet);
        let done = match &*action {
            "run" if !may_run => Done::Failed(too_many_runs()),
            "run" => run(toolbox, &shared, &mut sheet, &checked, token, &session),
            "save" => match save(toolbox, &session, &sheet) {
                Ok(id) => return Ok(Err(id)),
                Err(error) => Done::NotSaved(error),
            },
            _ => Done::Nothing,
        };
        Ok(Ok((sheet, checked, done)))
    });
    let worked = worked.await;
    drop((cancel, run_permit));
    match worked {
        Ok(Ok((sheet, checked, done))) => respond(&visit, &sheet, &checked, &done),
        Ok(Err(id)) => {
            app.feed.check_now();
            Redirect::to(&format!("{}tools/{id}", visit.base)).into_response()
        }
        Err(error) => failed(&visit, &error),
    }
}

/// Serves the type declarations of a cell, from which the editor completes names.
pub(crate) async fn declarations() -> Response {
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], TYPE_DECLARATIONS).into_response()
}

/// Serves the flame graph of a run.
pub(crate) async fn flame_graph(State(app): State<Arc<App>>, Path(name): Path<String>, visit: Visit) -> Response {
    let found = name.strip_suffix(".svg").and_then(|id| app.flame_graphs.find(id));
    let Some(drawn) = found else {
        let hint = message!("the page keeps the last ones only: run it again");
        return problem(&visit, StatusCode::NOT_FOUND, &message!("there is no such flame graph"), &hint);
    };
    ([(CONTENT_TYPE, "image/svg+xml"), (CONTENT_SECURITY_POLICY, FLAME_GRAPH_POLICY)], drawn).into_response()
}

impl Sheet {
    /// The sheet of a new page.
    fn first() -> Self {
        Self { code: FIRST_CODE.to_owned(), schema: FIRST_SCHEMA.trim_end().to_owned(), ..Self::default() }
    }

    /// The sheet of a stored tool.
    fn of_tool(toolbox: &Toolbox, tool: &str) -> Result<Self, PageError> {
        let details = toolbox.show(tool, None)?;
        let (spec, notes) = (&details.spec, &details.notes);
        let (schema, asked) = (spec.parameters(), spec.capabilities());
        let texts = notes.examples().iter().filter_map(|example| serde_json::to_string(example).ok());
        let examples: Vec<String> =
            texts.filter(|example| example.len() <= MAX_EXAMPLE_BYTES).take(MAX_EXAMPLES).collect();
        Ok(Self {
            code: spec.source().to_owned(),
            schema: if schema.is_null() { String::new() } else { format!("{schema:#}") },
            name: details.entry.name.to_string(),
            description: notes.description().to_owned(),
            tags: notes.tags().join(", "),
            capabilities: if asked.is_null() { String::new() } else { asked.to_string() },
            base: details.entry.id.to_string(),
            replaces: true,
            left_out: notes.examples().len() - examples.len(),
            examples,
            ..Self::default()
        })
    }

    fn from_form(form: &Form) -> Self {
        // Browsers send line ends as a carriage return and a line feed.
        let one = |name: &str| form.one(name).replace("\r\n", "\n");
        let examples = form.many.iter().filter(|example| example.len() <= MAX_EXAMPLE_BYTES).take(MAX_EXAMPLES);
        Self {
            code: one("code"),
            schema: one("schema"),
            parameters: one("parameters"),
            inputs: Inputs(
                form.prefixed.iter().map(|(name, typed)| (name.clone(), typed.replace("\r\n", "\n"))).collect(),
            ),
            fuel: one("fuel"),
            timeout: one("timeout"),
            memory: one("memory"),
            name: one("name"),
            description: one("description"),
            tags: one("tags"),
            capabilities: one("capabilities"),
            base: one("base"),
            replaces: !form.one("replace").is_empty(),
            left_out: form.many.len() - examples.clone().count(),
            examples: examples.cloned().collect(),
        }
    }

    fn limits(&self) -> Result<LimitOverrides, PageError> {
        let number = |name: &'static str, text: &str| match text.trim() {
            "" => Ok(None),
            text => text.replace(['_', ' '], "").parse().map(Some).map_err(|_| PageError {
                code: ErrorCode::LimitInvalid,
                message: message!("the limit `{name}` is not a whole number", name),
                hint: message!("write digits, or leave it empty for the limit of the policy"),
            }),
        };
        Ok(LimitOverrides {
            fuel: number("fuel", &self.fuel)?,
            timeout_ms: number("timeout", &self.timeout)?,
            memory_mb: number("memory", &self.memory)?,
            ..LimitOverrides::default()
        })
    }

    /// Keeps a run as an example in place of one with the same parameters, unless it is too large or one too many.
    fn add_example(&mut self, example: &Value) {
        let parameters = |text: &String| serde_json::from_str::<Value>(text).ok()?.get("parameters").cloned();
        let text = example.to_string();
        if text.len() > MAX_EXAMPLE_BYTES {
            return;
        }
        let known = self.examples.iter().position(|known| parameters(known).as_ref() == example.get("parameters"));
        match known {
            Some(at) => self.examples[at] = text,
            None if self.examples.len() < MAX_EXAMPLES => self.examples.push(text),
            None => {}
        }
    }
}

/// Analyses a sheet.
fn check(toolbox: &Toolbox, sheet: &Sheet) -> Checked {
    let schema = parse_json(&sheet.schema)
        .and_then(|declared| Schema::compile(&declared).map_err(|error| (error.localize(), error.hint().into())));
    let draft = match Draft::from_bytes(FILE_NAME, sheet.code.as_bytes()) {
        Ok(draft) => draft,
        Err(error) => {
            let refusal = Some((error.localize(), error.hint().into()));
            return Checked { findings: Vec::new(), error: None, refusal, schema };
        }
    };
    match analyze(draft.source(), Language::Unknown, None) {
        Ok(analysis) => {
            let mut findings = analysis.findings;
            findings.extend(toolbox.type_errors(&draft));
            findings.sort_by_key(|finding| (finding.location.line, finding.location.column));
            let refusal = match (&analysis.script, analysis.entry_point) {
                (Err(error), _) => Some((error.localize(), error.hint().into())),
                (Ok(_), None) => Some((
                    message!("the code defines no tool"),
                    message!("export a function `execute`: `export function execute(params) { … }`"),
                )),
                (Ok(_), Some(_)) => None,
            };
            Checked { findings, error: None, refusal, schema }
        }
        Err(error) => Checked { findings: Vec::new(), error: Some(error), refusal: None, schema },
    }
}

/// Parses a JSON text; an empty one is `null`.
fn parse_json(text: &str) -> Result<Value, (Message, Message)> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|error| {
        (message!("the text is not JSON: {error}", error), message!("write an object of parameters, or a JSON Schema"))
    })
}

/// Runs the code of a sheet, and keeps the run as an example.
fn run(
    toolbox: &Toolbox,
    app: &App,
    sheet: &mut Sheet,
    checked: &Checked,
    cancel: CancelToken,
    session: &Session,
) -> Done {
    match try_run(toolbox, app, sheet, checked, cancel, session) {
        Ok(ran) => {
            if let Some(example) = ran.example() {
                sheet.add_example(&example);
            }
            Done::Ran(Box::new(ran))
        }
        Err(error) => Done::Failed(error),
    }
}

fn try_run(
    toolbox: &Toolbox,
    app: &App,
    sheet: &Sheet,
    checked: &Checked,
    cancel: CancelToken,
    session: &Session,
) -> Result<Ran, PageError> {
    let invalid = |(message, hint): &(Message, Message)| PageError {
        code: ErrorCode::ParametersInvalid,
        message: message.clone(),
        hint: hint.clone(),
    };
    let schema = checked.schema.as_ref().map_err(invalid)?;
    let given = if schema.parameters().is_empty() {
        let text = if sheet.parameters.trim().is_empty() { "{}" } else { &sheet.parameters };
        Params::parse(text)?
    } else {
        sheet.inputs.to_params(schema.parameters())?
    };
    let parameters = schema.check(given)?.params().clone();
    let request = RunCode { code: sheet.code.clone(), parameters: parameters.clone(), ..RunCode::default() };
    let options = RunOptions {
        caller: session.caller.clone(),
        claims: CallerClaims { client: Some(describe_person(&session.person, "")), ..CallerClaims::default() },
        limits: sheet.limits()?,
        cancel: Some(cancel),
        ..RunOptions::default()
    };
    let (result, profile) = toolbox.profile_code(&request, &options)?;
    let flame_graph = profile.flame_graph_image().ok().and_then(|drawn| app.flame_graphs.keep(drawn));
    Ok(Ran { parameters, result, profile, flame_graph })
}

/// Saves a sheet as a tool, and returns its identifier.
fn save(toolbox: &Toolbox, session: &Session, sheet: &Sheet) -> Result<String, PageError> {
    let invalid = |(message, hint)| PageError { code: ErrorCode::ParametersInvalid, message, hint };
    let example = |text: &String| {
        serde_json::from_str(text).map_err(|error| {
            invalid((
                message!("an example is not JSON: {error}", error),
                message!("run the code again, and save it then"),
            ))
        })
    };
    let base = if sheet.base.is_empty() { None } else { Some(toolbox.show(&sheet.base, None)?) };
    let notes = base.as_ref().map(|base| &base.notes);
    let conditions = notes.map(ToolMetadata::postconditions);
    let request = CreateTool {
        name: sheet.name.trim().to_owned(),
        description: sheet.description.trim().to_owned(),
        code: sheet.code.clone(),
        parameters: parse_json(&sheet.schema).map_err(invalid)?,
        tags: sheet
            .tags
            .split([',', '，', '、'])
            .map(str::trim)
            .filter(|tag| !tag.is_empty())
            .map(str::to_owned)
            .collect(),
        generated_from: notes.and_then(ToolMetadata::generated_from).map(str::to_owned),
        capabilities: parse_json(&sheet.capabilities).map_err(|(message, _)| {
            invalid((
                message,
                message!("write a list of names, such as `[\"net\", \"timers\"]`, or an object with resources"),
            ))
        })?,
        examples: sheet.examples.iter().map(example).collect::<Result<_, _>>()?,
        returns: conditions.and_then(|conditions| conditions.returns.clone()),
        idempotent: conditions.and_then(|conditions| conditions.idempotent.clone()),
        cost: notes.and_then(ToolMetadata::cost),
        replace: sheet.replaces,
        caller: session.caller.clone(),
        ..CreateTool::default()
    };
    Ok(toolbox.create(&request)?.id.to_string())
}

fn respond(visit: &Visit, sheet: &Sheet, checked: &Checked, done: &Done) -> Response {
    let (title, body) = (tr!(visit.lang, "Playground").to_owned(), to_markup(visit, sheet, checked, done));
    let page = Page { title, section: Some(Section::Playground), live: Live::Off, body };
    page.to_response(visit, StatusCode::OK)
}

fn to_markup(visit: &Visit, sheet: &Sheet, checked: &Checked, done: &Done) -> Markup {
    let lang = visit.lang;
    html! {
        h1 { (tr!(lang, "Playground")) }
        form.playground #playground method="post" action="playground" {
            input type="hidden" name="form_token" value=(visit.session.form_token);
            // Enter in a field runs the code, and does not save it.
            button.default name="action" value="run" tabindex="-1" aria-hidden="true" {}
            label for="code" { (tr!(lang, "Code")) }
            textarea #code name="code" rows="18" spellcheck="false" autocapitalize="off"
                data-declarations="playground/toolcell.d.ts" data-help=(tr!(lang, "Escape and then Tab leaves the editor. Ctrl-Enter runs the code."))
            // A parser drops the first line feed of a text area.
            { "\n" (sheet.code) }
            section #checked aria-live="polite" aria-label=(tr!(lang, "findings")) { (checked.to_markup(lang)) }
            details #schema open[checked.schema.is_err()] {
                summary { (tr!(lang, "Schema of the parameters")) }
                p.quiet #schema-help { (tr!(lang, "An object of parameters by name, or a JSON Schema. The fields below are made of it.")) }
                textarea #schema-text name="schema" rows="6" spellcheck="false" autocapitalize="off" aria-label=(tr!(lang, "Schema of the parameters")) aria-describedby="schema-help" { "\n" (sheet.schema) }
                @if let Err((message, hint)) = &checked.schema { (problem_markup(message, hint, lang)) }
            }
            (inputs_markup(checked.schema.as_ref().ok().map(Schema::parameters), &sheet.inputs, &sheet.parameters, lang))
            (limits_markup(sheet, lang))
            div.forms {
                button.primary name="action" value="run" { (tr!(lang, "Run")) }
                button name="action" value="check" { (tr!(lang, "Check")) }
                button #cancel type="button" hidden { (tr!(lang, "Cancel")) }
            }
            section #output aria-live="polite" aria-label=(tr!(lang, "result")) {
                @match done {
                    Done::Ran(ran) => (ran_markup(ran, lang)),
                    Done::Failed(error) => (problem_markup(&error.message, &error.hint, lang)),
                    Done::Nothing | Done::NotSaved(_) => {},
                }
            }
            (save_markup(visit, sheet, done))
        }
    }
}

impl Checked {
    fn to_markup(&self, lang: Lang) -> Markup {
        html! {
            @if let Some(error) = &self.error {
                @if error.diagnostics().is_empty() { (problem_markup(&error.localize(), &error.hint().into(), lang)) }
                ul.findings {
                    @for diagnostic in error.diagnostics() {
                        li.finding.severity-critical data-line=(diagnostic.location.line) data-column=(diagnostic.location.column) data-severity="critical" {
                            span.quiet { (tr!(lang, "line {line}", line = diagnostic.location.line)) } " "
                            (text(&diagnostic.message.to_text(lang)))
                        }
                    }
                }
            }
            @if let Some((message, hint)) = &self.refusal { (problem_markup(message, hint, lang)) }
            @if !self.findings.is_empty() {
                ul.findings { @for finding in self.findings.iter().take(MAX_FINDINGS) { (finding_markup(finding, lang)) } }
                @if self.findings.len() > MAX_FINDINGS { p.quiet { (tr!(lang, "and {count} more", count = self.findings.len() - MAX_FINDINGS)) } }
            } @else if self.error.is_none() && self.refusal.is_none() {
                p.quiet { (tr!(lang, "The analysis has no findings.")) }
            }
        }
    }
}

fn finding_markup(finding: &Finding, lang: Lang) -> Markup {
    let (line, severity) = (finding.location.line, finding.severity);
    html! {
        li.finding.{ "severity-" (severity.name()) } data-line=(line) data-column=(finding.location.column) data-severity=(severity.name()) {
            span.quiet { (tr!(lang, "line {line}", line)) } " "
            strong { (severity.localize().to_text(lang)) } " "
            (text(&finding.message.to_text(lang)))
            @if severity >= Severity::Medium && !finding.suggestion.is_empty() { " · " (prose(lang.translate(finding.suggestion))) }
            " " span.rule { (finding.rule.name()) }
        }
    }
}

/// Shows an error of the code, of the schema or of a run.
fn problem_markup(message: &Message, hint: &Message, lang: Lang) -> Markup {
    let hint = hint.to_text(lang);
    html! {
        div.notice.alarm { p { (prose(&message.to_text(lang))) } @if !hint.is_empty() { p { (prose(&hint)) } } }
    }
}

fn limits_markup(sheet: &Sheet, lang: Lang) -> Markup {
    let fields = [
        ("fuel", tr!(lang, "fuel, in units"), &sheet.fuel),
        ("timeout", tr!(lang, "time, in milliseconds"), &sheet.timeout),
        ("memory", tr!(lang, "memory, in MiB"), &sheet.memory),
    ];
    html! {
        fieldset #limits {
            legend { (tr!(lang, "Limits")) }
            @for (name, label, value) in fields {
                div.field {
                    label for={ "limit-" (name) } { (label) }
                    input id={ "limit-" (name) } name=(name) value=(value) inputmode="numeric" maxlength="20" autocomplete="off" placeholder=(tr!(lang, "as the policy says"));
                }
            }
        }
    }
}

fn save_markup(visit: &Visit, sheet: &Sheet, done: &Done) -> Markup {
    let lang = visit.lang;
    html! {
        section.decision #save aria-labelledby="save-title" {
            h2 #save-title { (tr!(lang, "Save as a tool")) }
            // The page begins elsewhere: the focus leads to what is wrong.
            @if let Done::NotSaved(error) = done { div role="alert" tabindex="-1" autofocus { (problem_markup(&error.message, &error.hint, lang)) } }
            div.field {
                label for="name" { (tr!(lang, "Name")) }
                input #name name="name" value=(sheet.name) maxlength="64" autocomplete="off" spellcheck="false";
            }
            div.field {
                label for="description" { (tr!(lang, "Description")) }
                input #description name="description" value=(sheet.description) maxlength="2000" autocomplete="off";
            }
            div.field {
                label for="tags" { (tr!(lang, "Tags, separated by commas")) }
                input #tags name="tags" value=(sheet.tags) maxlength="500" autocomplete="off";
            }
            div.field {
                label for="capabilities" { (tr!(lang, "Capabilities that it asks for, as JSON; empty for those that the code uses")) }
                input #capabilities name="capabilities" value=(sheet.capabilities) maxlength="4000" autocomplete="off" spellcheck="false";
            }
            @if !sheet.base.is_empty() { input type="hidden" name="base" value=(sheet.base); }
            fieldset.offers {
                legend { (tr!(lang, "Tests: runs that are kept as examples")) }
                @if sheet.examples.is_empty() { p.quiet { (tr!(lang, "Run the code: each run is offered here.")) } }
                @for example in &sheet.examples {
                    label { input type="checkbox" name="example" value=(example) checked; span { code { (text(example)) } } }
                }
                @if sheet.left_out > 0 { p.notice { (tr!(lang, "Examples that are too large or too many to be kept here: {count}", count = sheet.left_out)) } }
            }
            div.forms {
                label.check { input type="checkbox" name="replace" value="yes" checked[sheet.replaces]; span { (tr!(lang, "as a new version, if the name is taken")) } }
                button name="action" value="save" disabled[visit.is_read_only()] { (tr!(lang, "Save as a tool")) }
            }
        }
    }
}
