//! Runs: of stored tools, and of code that is not stored.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolcell::hook::{CallerClaims, HookContext};
use toolcell::{
    CallableTools, CancelToken, CodeResult, EffectApprover, Effects, FlowContext, Grants, HookContextResponse,
    HostFunctions, Json, Label, Lang, LimitOverrides, LogLineResponse, OnOverload, Params, PartialResultSink, Profile,
    Report, RunCode, RunOptions, RunResult, RunTool, ToolFailure, ToolName, Usage, ValueSide, WarningResponse,
};

use crate::effects::HostEffectApprover;
use crate::failure::Failure;
use crate::host::{AnsweredQuestions, FunctionDeclaration, Host, bind_functions};
use crate::session::Session;
use crate::threads::{MAX_DEPTH, Work};

/// The maximum number of answered questions of a call: it asks about the tool, and for its hooks.
const MAX_APPROVED: usize = 16;

/// The options of a run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct CallOptions {
    limits: RawLimits,
    /// The seed of `Math.random()`.
    seed: u64,
    /// What the caller claims about itself.
    caller: CallerClaims,
    /// Whether to issue a receipt.
    receipt: bool,
    /// Whether to take a fuel profile.
    profile: bool,
    /// Whether the host decides about the side effects of the run.
    has_effect_approver: bool,
    /// Functions that only this run may call.
    functions: Vec<FunctionDeclaration>,
    /// What code that is not stored is granted.
    grants: Option<Grants>,
    /// How many runs wait for this one, because a function that they call has started it.
    depth: u32,
    /// The questions that a person answered with yes, for this call.
    approved: Vec<Value>,
    /// The sources of all that the caller knows, for rules about flows; `None` for what the store remembers.
    labels: Option<Vec<String>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct RawLimits {
    fuel: Option<u64>,
    timeout_ms: Option<u64>,
    memory_mb: Option<u64>,
    output_bytes: Option<u64>,
    console_bytes: Option<u64>,
}

impl CallOptions {
    /// Parses options: a JSON object, or nothing for none.
    ///
    /// # Errors
    /// `request-invalid`
    pub fn parse(text: &str) -> Result<Self, Failure> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let options: Self = serde_json::from_str(text)
            .map_err(|error| Failure::request(format!("the options of the call are invalid: {error}")))?;
        if options.approved.len() > MAX_APPROVED {
            return Err(Failure::request(format!("`approved` has more than {MAX_APPROVED} questions")));
        }
        Ok(options)
    }
}

impl CallOptions {
    /// Returns the kind of work that the run is.
    #[must_use]
    pub fn work(&self) -> Work {
        Work::Run { depth: self.depth }
    }
}

/// How the host follows a run.
pub struct RunControl {
    /// Cancels the run.
    pub cancel: CancelToken,
    /// Receives partial results, as JSON text.
    pub on_update: Option<PartialResultSink>,
    /// Serves the functions and the approver of this run.
    pub host: Arc<dyn Host>,
}

/// A run that took place, whatever its outcome.
pub struct CompletedRun {
    ran: Ran,
    failure: Option<Failure>,
    profile: Option<Profile>,
    lang: Lang,
}

enum Ran {
    Tool(Box<RunResult>),
    Code(Box<CodeResult>),
}

impl Session {
    /// Runs a stored tool. `params` is a JSON object.
    ///
    /// # Errors
    /// As [`Toolbox::run`](toolcell::Toolbox::run): the tool did not run. A failure of the tool is part of the result.
    pub fn run(
        &self,
        tool: &str,
        params: &str,
        options: &CallOptions,
        control: RunControl,
    ) -> Result<CompletedRun, Failure> {
        let request = RunTool::new(tool, self.parse_params(params)?);
        let takes_profile = options.profile;
        let (options, cancel) = (self.run_options(options, &control)?, control.cancel);
        let ran = if takes_profile {
            self.toolbox.profile(&request, &options).map(|(ran, profile)| (ran, Some(profile)))
        } else {
            self.toolbox.run(&request, &options).map(|ran| (ran, None))
        };
        let (ran, profile) = ran.map_err(|error| Failure::from_run(&error, self.lang).unless_cancelled(&cancel))?;
        Ok(CompletedRun { profile, ..CompletedRun::of_tool(ran, self.lang) })
    }

    /// Runs code once and stores nothing. The functions of the run are granted to it.
    ///
    /// # Errors
    /// As [`Toolbox::run_code`](toolcell::Toolbox::run_code).
    pub fn run_code(
        &self,
        code: &str,
        params: &str,
        options: &CallOptions,
        control: RunControl,
    ) -> Result<CompletedRun, Failure> {
        let request = RunCode { code: code.to_owned(), parameters: self.parse_params(params)?, timeout_ms: None };
        let takes_profile = options.profile;
        let (options, cancel) = (self.code_options(options, &control)?, control.cancel);
        let ran = if takes_profile {
            self.toolbox.profile_code(&request, &options).map(|(ran, profile)| (ran, Some(profile)))
        } else {
            self.toolbox.run_code(&request, &options).map(|ran| (ran, None))
        };
        let (ran, profile) = ran.map_err(|error| Failure::from_code(&error, self.lang).unless_cancelled(&cancel))?;
        Ok(CompletedRun { profile, ..CompletedRun::of_code(ran, self.lang) })
    }

    /// Returns the options of a run of code, which is granted the functions of the run.
    pub(crate) fn code_options(&self, options: &CallOptions, control: &RunControl) -> Result<RunOptions, Failure> {
        let grants = options.grants.clone().unwrap_or_else(|| self.toolbox.policy().draft_grants());
        let options = self.run_options(options, control)?;
        Ok(RunOptions { code_grants: Some(with_functions(grants, &options.functions)), ..options })
    }

    pub(crate) fn parse_params(&self, params: &str) -> Result<Params, Failure> {
        Params::parse(params).map_err(|error| Failure::from_error(&error, error.code(), "", self.lang))
    }

    pub(crate) fn run_options(&self, options: &CallOptions, control: &RunControl) -> Result<RunOptions, Failure> {
        let host = &control.host;
        let own = options.functions.iter().cloned().map(|one| one.check(self.lang)).collect::<Result<Vec<_>, _>>()?;
        let on_overload = match options.depth {
            0 => OnOverload::Wait,
            1..=MAX_DEPTH => OnOverload::Nested,
            _ => return Err(Failure::too_deep(MAX_DEPTH)),
        };
        let RawLimits { fuel, timeout_ms, memory_mb, output_bytes, console_bytes } = options.limits;
        Ok(RunOptions {
            caller: self.caller.clone(),
            claims: options.caller.clone(),
            limits: LimitOverrides { fuel, timeout_ms, memory_mb, output_bytes, console_bytes, operations: None },
            seed: options.seed,
            cancel: Some(control.cancel.clone()),
            partial: control.on_update.clone(),
            approver: AnsweredQuestions::approver(
                &options.approved,
                self.toolbox.policy(),
                self.lang,
                self.approver(host),
            ),
            effect_approver: options.has_effect_approver.then(|| {
                Arc::new(HostEffectApprover { host: Arc::clone(host), lang: self.lang }) as Arc<dyn EffectApprover>
            }),
            functions: bind_functions(self.functions.iter().chain(&own), host, self.lang)?,
            receipt: options.receipt,
            context: match &options.labels {
                Some(labels) => FlowContext::parse(labels.iter().map(String::as_str)),
                None => FlowContext::Remembered,
            },
            on_overload,
            ..RunOptions::default()
        })
    }
}

/// Adds the functions of a run to the grants of its code.
fn with_functions(grants: Grants, functions: &HostFunctions) -> Grants {
    let CallableTools::Named(named) = &grants.tools else { return grants };
    let functions = functions.names().filter_map(|name| ToolName::parse(name).ok());
    let tools = CallableTools::from_names(named.iter().cloned().chain(functions));
    Grants { tools, ..grants }
}

impl CompletedRun {
    pub(crate) fn of_tool(ran: RunResult, lang: Lang) -> Self {
        Self::new(Ran::Tool(Box::new(ran)), lang)
    }

    pub(crate) fn of_code(ran: CodeResult, lang: Lang) -> Self {
        Self::new(Ran::Code(Box::new(ran)), lang)
    }

    fn new(ran: Ran, lang: Lang) -> Self {
        let failure = match &ran {
            Ran::Tool(ran) => ran.value().err().map(|failure| Failure::from_tool(&failure, ran.effects, lang)),
            Ran::Code(ran) => ran.value().err().map(|failure| Failure::from_tool(&failure, ran.effects, lang)),
        };
        Self { ran, failure, profile: None, lang }
    }

    fn report(&self) -> &Report {
        match &self.ran {
            Ran::Tool(ran) => &ran.report,
            Ran::Code(ran) => &ran.report,
        }
    }

    fn label(&self) -> Option<&Label> {
        match &self.ran {
            Ran::Tool(ran) => ran.label.as_ref(),
            Ran::Code(ran) => ran.label.as_ref(),
        }
    }

    fn is_suppressed(&self) -> bool {
        match &self.ran {
            Ran::Tool(ran) => ran.output_suppressed,
            Ran::Code(ran) => ran.output_suppressed,
        }
    }

    fn context(&self) -> &[HookContext] {
        match &self.ran {
            Ran::Tool(ran) => &ran.context,
            Ran::Code(ran) => &ran.context,
        }
    }

    /// Returns the value: JSON text, or `None` for `undefined` and for a tool that failed.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        let value: Result<Option<&Json>, ToolFailure> = match &self.ran {
            Ran::Tool(ran) => ran.value(),
            Ran::Code(ran) => ran.value(),
        };
        value.ok().flatten().map(Json::as_str)
    }

    /// Returns how the tool failed, if it did.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Returns what the run used.
    #[must_use]
    pub fn usage(&self) -> &Usage {
        &self.report().usage
    }

    /// Returns the extent to which the run changed external state.
    #[must_use]
    pub fn effects(&self) -> Effects {
        match &self.ran {
            Ran::Tool(ran) => ran.effects,
            Ran::Code(ran) => ran.effects,
        }
    }

    /// Returns the identifier and the name of the tool; `None` for code that is not stored.
    #[must_use]
    pub fn tool(&self) -> Option<(String, &str)> {
        match &self.ran {
            Ran::Tool(ran) => Some((ran.tool.to_string(), ran.name.as_str())),
            Ran::Code(_) => None,
        }
    }

    /// Returns what a model reads.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.ran {
            Ran::Tool(ran) => ran.to_text(self.lang),
            Ran::Code(ran) => match (&self.failure, ran.value()) {
                (Some(failure), _) => failure.message.clone(),
                (None, Ok(Some(value))) if !ran.output_suppressed => value.as_str().to_owned(),
                _ => String::new(),
            },
        }
    }

    /// Returns the rest as a JSON object: `logs`, `warnings`, `context`, `suppressed`, `record`,
    /// `unrecorded`, `revisedBy`, `deprecated`, `receipt`, `profile`, `labels`.
    #[must_use]
    pub fn details(&self) -> String {
        let report = self.report();
        let logs: Vec<_> = report.logs.iter().cloned().map(LogLineResponse::from).collect();
        let is_shown = |place: ValueSide| !self.is_suppressed() || place == ValueSide::Params;
        let warnings = report.warnings.iter().filter(|warning| is_shown(warning.place)).cloned();
        let context: Vec<_> = self.context().iter().cloned().map(HookContextResponse::from).collect();
        let mut details = Map::from_iter([
            ("logs".to_owned(), json!(logs)),
            ("warnings".to_owned(), json!(warnings.map(WarningResponse::from).collect::<Vec<_>>())),
            ("context".to_owned(), json!(context)),
            ("suppressed".to_owned(), self.is_suppressed().into()),
        ]);
        let mut put = |key: &str, value: Option<Value>| details.extend(value.map(|value| (key.to_owned(), value)));
        put("labels", self.label().map(|label| json!(label.to_texts())));
        put("profile", self.profile.as_ref().map(|profile| json!(profile)));
        match &self.ran {
            Ran::Tool(ran) => {
                put("record", ran.record.map(|hash| hash.to_string().into()));
                put("unrecorded", ran.unrecorded.as_ref().map(|why| why.to_text(self.lang).into()));
                put("revisedBy", ran.revised_by.clone().map(Value::from));
                let successor = ran.deprecated.as_ref().map(|deprecated| &deprecated.successor);
                put("deprecated", successor.map(|name| json!({"successor": name.as_ref().map(ToolName::as_str)})));
                put("receipt", ran.receipt.as_ref().map(|receipt| receipt.to_text().into()));
            }
            Ran::Code(ran) => put("record", ran.record.map(|hash| hash.to_string().into())),
        }
        Value::Object(details).to_string()
    }
}
