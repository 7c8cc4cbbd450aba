//! What a model is offered, and its calls by name: what adapters of agent frameworks are built on.
//!
//! Invariant: a call fails as a value, whatever a model or a tool does. What a person approved is
//! compared with what would run.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolcell::hook::CallerClaims;
use toolcell::{ApprovalPrompt, Lang, Message, Params, RunCode, RunOptions, RunTool, VerifyTool, read_request};
use toolcell_error::ErrorCode;
use toolcell_model_tools::{
    BuiltinTool, CallFailure, Content, ResultShape, ToCallFailure, ToolDefinition, ToolResult, code_result,
    create_result, delete_result, error_result, find_published_tool, list_result, mismatch_result, published_tools,
    reflect_result, run_failure, run_result, unknown_tool_message, verify_result,
};

use crate::failure::Failure;
use crate::host::call_prompt_json;
use crate::run::{CallOptions, CompletedRun, RunControl};
use crate::session::Session;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DefinitionsParams {
    /// The names of the operations; all where nothing is said.
    operations: Option<Vec<String>>,
    /// The maximum number of approved tools.
    published: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionsParams {
    name: String,
    /// The JSON of the arguments: a text, as in a call, because a model may nest it beyond what is read here.
    arguments: String,
    /// What the caller claims about itself, as in the call.
    #[serde(default)]
    caller: CallerClaims,
}

/// The result of a call by a model.
pub struct CalledTool {
    result: ToolResult,
    failure: Option<Failure>,
    run: Option<CompletedRun>,
}

impl CalledTool {
    fn new(result: ToolResult) -> Self {
        Self { result, failure: None, run: None }
    }

    fn failed(failure: Failure, call: CallFailure, lang: Lang) -> Box<Self> {
        Box::new(Self { result: error_result(call, lang), failure: Some(failure), run: None })
    }

    /// Returns the run, if the call was one and took place.
    #[must_use]
    pub fn run(&self) -> Option<&CompletedRun> {
        self.run.as_ref()
    }

    /// Takes the run.
    #[must_use]
    pub fn take_run(&mut self) -> Option<CompletedRun> {
        self.run.take()
    }

    /// Returns the result as a JSON object: `text`, `isError`, `structured`, `images`, `error`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let images = self.result.content.iter().filter_map(|content| match content {
            Content::Image { mime_type, data } => Some(json!({"mimeType": mime_type, "data": data})),
            _ => None,
        });
        let answer = json!({
            "text": self.result.to_text(),
            "isError": self.result.is_error,
            "structured": self.result.structured,
            "images": images.collect::<Vec<_>>(),
            "error": self.failure,
        });
        answer.to_string()
    }
}

/// Builds the error of an operation for a program and for a model.
macro_rules! failed {
    ($session:expr) => {
        |error| {
            let failure = Failure::from_error(&error, error.code(), error.hint(), $session.lang);
            CalledTool::failed(failure, error.to_call_failure($session.lang), $session.lang)
        }
    };
}

impl Session {
    /// Defines the tools of a model: the operations, then approved tools.
    pub(crate) fn definitions(&self, request: DefinitionsParams) -> Result<Value, Failure> {
        let operations = match request.operations {
            None => BuiltinTool::ALL.to_vec(),
            Some(names) => names.iter().map(|name| parse_operation(name)).collect::<Result<_, _>>()?,
        };
        // Without a store there is code that is not stored, and nothing else.
        let has_store = self.toolbox.store().is_some();
        let operations = operations.into_iter().filter(|operation| has_store || *operation == BuiltinTool::RunCode);
        let operations = operations.map(|operation| operation.definition(self.toolbox.policy()));
        let published = if has_store { published_tools(&self.toolbox, request.published) } else { Ok(Vec::new()) };
        let published =
            published.map_err(|fault| Failure::from_error(&fault, fault.code(), fault.hint(), self.lang))?;
        let tools = operations.chain(published.into_iter().map(|tool| tool.definition));
        Ok(json!({ "tools": tools.map(|tool| definition_json(&tool)).collect::<Vec<_>>() }))
    }

    /// Returns the questions that a person has to answer before a call would run.
    pub(crate) fn questions(&self, request: &QuestionsParams) -> Value {
        let arguments = request.arguments.as_str();
        let options =
            RunOptions { caller: self.caller.clone(), claims: request.caller.clone(), ..RunOptions::default() };
        let prompts = match BuiltinTool::from_name(&request.name) {
            Some(BuiltinTool::Run) => read_request(arguments).ok().map(|run| self.run_prompts(&run, &options)),
            Some(BuiltinTool::RunCode) => {
                read_request(arguments).ok().and_then(|run| self.toolbox.code_prompts(&run, &options).ok())
            }
            Some(_) => None,
            None => self.published_run(&request.name, arguments).map(|(run, _)| self.run_prompts(&run, &options)),
        };
        // What is malformed, or refused by whatever a person answers, has no question: the call says why.
        let questions = prompts.unwrap_or_default();
        let questions = questions.iter().map(|prompt| call_prompt_json(prompt, self.lang));
        json!({ "questions": questions.collect::<Vec<_>>() })
    }

    fn run_prompts(&self, run: &RunTool, options: &RunOptions) -> Vec<ApprovalPrompt> {
        let explained = self.toolbox.explain(run, options);
        if explained.admitted.is_ok() { explained.prompts } else { Vec::new() }
    }

    /// Calls what [`Session::call`] `definitions` offers, by name. `arguments` is a JSON object.
    ///
    /// # Errors
    /// `request-invalid`: the options are malformed. Whatever else fails is part of the result.
    pub fn call_tool(
        &self,
        name: &str,
        arguments: &str,
        options: &CallOptions,
        control: RunControl,
    ) -> Result<CalledTool, Failure> {
        let done = match BuiltinTool::from_name(name) {
            Some(BuiltinTool::Run) => match self.parse_call::<RunTool>(name, arguments) {
                Ok(run) => Ok(self.run_for_model(&run, ResultShape::Envelope, options, control)?),
                Err(failed) => Err(failed),
            },
            Some(BuiltinTool::RunCode) => match self.parse_call::<RunCode>(name, arguments) {
                Ok(run) => Ok(self.run_code_for_model(&run, options, control)?),
                Err(failed) => Err(failed),
            },
            Some(operation) => self.operate(operation, arguments, control),
            None => match self.published_run(name, arguments) {
                Some((run, shape)) => Ok(self.run_for_model(&run, shape, options, control)?),
                None => Err(self.unknown_tool(name)),
            },
        };
        Ok(done.unwrap_or_else(|failed| *failed))
    }

    fn operate(
        &self,
        operation: BuiltinTool,
        arguments: &str,
        control: RunControl,
    ) -> Result<CalledTool, Box<CalledTool>> {
        let (toolbox, name, lang) = (&self.toolbox, operation.name(), self.lang);
        let result = match operation {
            BuiltinTool::Create => {
                let created = toolbox.create(&self.parse_call(name, arguments)?).map_err(failed!(self))?;
                create_result(&created, lang)
            }
            BuiltinTool::List => {
                let listed = toolbox.list(&self.parse_call(name, arguments)?).map_err(failed!(self))?;
                list_result(&listed, toolbox, lang)
            }
            BuiltinTool::Delete => {
                let deleted = toolbox.delete(&self.parse_call(name, arguments)?).map_err(failed!(self))?;
                delete_result(&deleted, lang)
            }
            BuiltinTool::Reflect => {
                let reflected = toolbox.reflect(&self.parse_call(name, arguments)?).map_err(failed!(self))?;
                reflect_result(&reflected, toolbox, lang)
            }
            BuiltinTool::Verify | BuiltinTool::Run | BuiltinTool::RunCode => {
                let request: VerifyTool = self.parse_call(name, arguments)?;
                let called = request.tool_name.as_deref().or(request.tool_id.as_deref()).unwrap_or_default();
                let options = toolcell::VerifyOptions {
                    caller: self.caller.clone(),
                    cancel: Some(control.cancel),
                    ..toolcell::VerifyOptions::default()
                };
                verify_result(&toolbox.verify(called, &options).map_err(failed!(self))?, lang)
            }
        };
        Ok(CalledTool::new(result))
    }

    fn run_for_model(
        &self,
        request: &RunTool,
        shape: ResultShape,
        options: &CallOptions,
        control: RunControl,
    ) -> Result<CalledTool, Failure> {
        let lang = self.lang;
        let (options, cancel) = (self.run_options(options, &control)?, control.cancel);
        let ran = match self.toolbox.run(request, &options) {
            Ok(ran) => ran,
            Err(error) => {
                let failure = Failure::from_run(&error, lang).unless_cancelled(&cancel);
                return Ok(*CalledTool::failed(failure, run_failure(&error, lang), lang));
            }
        };
        let problem = if shape == ResultShape::Envelope { None } else { self.toolbox.result_problem(&ran) };
        let result = match &problem {
            Some(problem) => mismatch_result(&ran, problem, lang),
            None => run_result(&ran, shape, None, lang),
        };
        let mismatch = problem.map(|problem| Failure::mismatch(&problem, ran.effects, lang));
        let run = CompletedRun::of_tool(ran, lang);
        Ok(CalledTool { result, failure: mismatch.or_else(|| run.failure().cloned()), run: Some(run) })
    }

    fn run_code_for_model(
        &self,
        request: &RunCode,
        options: &CallOptions,
        control: RunControl,
    ) -> Result<CalledTool, Failure> {
        let lang = self.lang;
        let (options, cancel) = (self.code_options(options, &control)?, control.cancel);
        let ran = match self.toolbox.run_code(request, &options) {
            Ok(ran) => ran,
            Err(error) => {
                let failure = Failure::from_code(&error, lang).unless_cancelled(&cancel);
                return Ok(*CalledTool::failed(failure, error.to_call_failure(lang), lang));
            }
        };
        let result = code_result(&ran, None, lang);
        let run = CompletedRun::of_code(ran, lang);
        Ok(CalledTool { result, failure: run.failure().cloned(), run: Some(run) })
    }

    /// Returns the run that a call of an approved tool is.
    fn published_run(&self, name: &str, arguments: &str) -> Option<(RunTool, ResultShape)> {
        self.toolbox.store()?;
        let published = find_published_tool(&self.toolbox, name, usize::MAX).ok().flatten()?;
        let parameters = Params::parse(arguments).ok()?;
        let run = RunTool { tool_name: Some(published.stored_name), parameters, ..RunTool::default() };
        Some((run, published.shape))
    }

    /// Parses the arguments of a call. Arguments that do not parse are recorded.
    fn parse_call<T: DeserializeOwned>(&self, operation: &str, arguments: &str) -> Result<T, Box<CalledTool>> {
        read_request(arguments).map_err(|error| {
            self.record_rejected(Some(operation), None, error.code(), error.to_string());
            let failure = Failure::from_error(&error, error.code(), error.hint(), self.lang);
            CalledTool::failed(
                failure,
                CallFailure::for_server(error.code(), &error, error.hint(), self.lang),
                self.lang,
            )
        })
    }

    fn unknown_tool(&self, name: &str) -> Box<CalledTool> {
        let text = unknown_tool_message(name, BuiltinTool::ALL.into_iter());
        self.record_rejected(None, Some(name), ErrorCode::ToolUnknown, text.clone());
        let hint = "call a tool that is offered";
        let failure = Failure::refused(ErrorCode::ToolUnknown, text.clone(), hint);
        let call = CallFailure::for_server(ErrorCode::ToolUnknown, &Message::verbatim(text), hint, self.lang);
        CalledTool::failed(failure, call, self.lang)
    }

    fn record_rejected(&self, operation: Option<&str>, tool: Option<&str>, code: ErrorCode, message: String) {
        if let Err(fault) = self.toolbox.record_rejected(operation, tool, code, message) {
            tracing::warn!(code = fault.code().as_str(), "a rejected request could not be recorded: {fault}");
        }
    }
}

fn parse_operation(name: &str) -> Result<BuiltinTool, Failure> {
    BuiltinTool::from_name(name)
        .ok_or_else(|| Failure::request(unknown_tool_message(name, BuiltinTool::ALL.into_iter())))
}

fn definition_json(tool: &ToolDefinition) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title.as_ref().unwrap_or(&tool.name),
        "description": tool.description,
        "inputSchema": *tool.input_schema,
        "outputSchema": *tool.output_schema,
        "readOnly": tool.hints.read_only,
        "destructive": tool.hints.destructive,
        "idempotent": tool.hints.idempotent,
        "openWorld": tool.hints.open_world,
        "tool": tool.stored_tool,
    })
}
