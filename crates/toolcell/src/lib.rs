//! Runs tools written by AI agents, each call in an isolated QuickJS-in-Wasm cell. This is the
//! crate that hosts embed.
//!
//! # The first tool
//!
//! A [`Toolbox`] holds a sandbox, a [`store`], and the rules that tools run under. A tool is source in TypeScript or
//! JavaScript with a function `execute`. [`Toolbox::create`] analyses it and stores it under the hash of its content;
//! [`Toolbox::run`] runs it in a fresh instance.
//!
//! ```
//! use serde_json::json;
//! use toolcell::{CreateTool, RunOptions, RunTool, Toolbox, ToolboxConfig};
//!
//! let folder = tempfile::tempdir()?;
//! let toolbox = Toolbox::open(folder.path(), ToolboxConfig::default())?;
//! let created = toolbox.create(&CreateTool {
//!     name: "average".to_owned(),
//!     description: "Averages numbers".to_owned(),
//!     code: "const execute = ({ xs }: { xs: number[] }) => xs.reduce((a, b) => a + b, 0) / xs.length".to_owned(),
//!     parameters: json!({ "xs": { "type": "array", "items": { "type": "number" }, "required": true } }),
//!     ..CreateTool::default()
//! })?;
//! assert!(created.findings.is_empty());
//!
//! let request = RunTool::with_params("average", &json!({ "xs": [1.5, 2.5, 4.25] }))?;
//! assert_eq!(toolbox.run(&request, &RunOptions::default())?.value_as::<f64>()?, 2.75);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Toolbox::exec`] runs a draft once and stores nothing. [`Toolbox::start`] runs a tool asynchronously, and
//! [`Toolbox::run_suspendable`] one that may be continued in another process.
//!
//! # When a tool fails
//!
//! What a tool does is data: a run that was started returns a [`RunResult`], whose report has an [`Outcome`]: it returned,
//! threw, or was stopped at a limit. What a caller does wrong is an error of the operation, such as [`RunError`]. Each
//! error has a stable [`ErrorCode`] (`code()`), a message in three languages ([`Localize`]), and a hint on what to do
//! next (`hint()`).
//!
//! ```
//! use toolcell::{Budget, CallContext, Draft, Outcome, Params, Precheck, SandboxConfig, Stop, Toolbox};
//!
//! let toolbox = Toolbox::new(&SandboxConfig::default())?;
//! let draft = Draft::from_bytes("spin.js", b"const execute = () => { for (;;) {} }")?;
//! let budget = Budget { fuel: 1_000_000, ..Budget::default() };
//! let report = toolbox.exec(&draft, &Params::default(), &budget, &CallContext::default(), Precheck::Off)?;
//! assert!(matches!(report.outcome, Outcome::Stopped(Stop::OutOfFuel { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a tool may do
//!
//! A cell has no capability that was not granted. A tool declares what it requests, a [`Policy`] grants it, and a person
//! approves the tool with these grants, unless the policy says that it runs without.
//!
//! - [`policy`]: files, layers and rules. [`ToolboxConfig::policy`] takes them.
//! - [`Hooks`] decide about each call before it runs ([`hook`]); an [`Approver`] asks a person.
//! - [`HostFunctions`] are lent to tools: [`HostFunction::new`].
//! - [`EffectApprover`] holds the side effects of a run until they are decided.
//!
//! # What is known about a tool
//!
//! - [`Toolbox::show`], [`Toolbox::list`] and [`Toolbox::search`]: what is stored.
//! - [`Toolbox::verify`]: examples, determinism and property testing; the result is a [`Proof`].
//! - [`Toolbox::reflect`]: whether a tool is worth making for a task, and which one.
//! - [`Toolbox::replay`] re-executes a run from its [`Receipt`]; [`Toolbox::profile`] attributes the fuel of a run to
//!   functions and lines.
//! - [`Toolbox::cost_report`], [`Toolbox::retirements`] and [`Toolbox::deprecate`]: what tools cost, and which ones to
//!   retire.
//! - [`export`], [`import`] and [`collect`] work on a whole store; [`copy_to_library`] and [`take_from_library`] move it.
//!
//! # Features
//!
//! All but `embedded` are on by default.
//!
//! | feature | what it adds |
//! |---|---|
//! | `jail` | calls in confined worker processes ([`SandboxConfig::jail`]) |
//! | `net` | HTTP requests of tools; without it, a run that is granted `net` or `secrets` is refused |
//! | `reflection` | [`Toolbox::reflect`] and [`Toolbox::search`] |
//! | `proof` | [`Toolbox::verify`], [`Toolbox::retire`], and the comparison of tools by what they do; needs `reflection` |
//! | `embedded` | the image [`ImageKind::Embedded`], for processes whose signal handlers belong to another program |
//!
//! # Reading the source
//!
//! `request` defines the inputs; `toolbox` is the façade, whose verbs delegate to
//! `operations`; these compose the `parts`: `admission` decides whether a call may run, with
//! [`policy`] and [`hook`]; `execution` is the only entry into the sandbox; `host_calls` serves the
//! calls that a tool makes to the host; `records` persists each attempt. `receipt` makes a run
//! reproducible, `verification` tests tools, and `presentation` renders results.
//!
//! Invariant: this crate composes the parts and adds no way around them. There is one path into the
//! sandbox, and each attempt to take it leaves one record.

#![cfg_attr(
    not(all(feature = "jail", feature = "net", feature = "proof", feature = "reflection")),
    expect(
        dead_code,
        reason = "with all features each item is used; which of them a part needs is not marked one by one"
    )
)]
#![cfg_attr(
    not(feature = "net"),
    expect(clippy::zero_sized_map_values, reason = "a build without requests has no bodies")
)]

mod request;

mod toolbox;

mod operations;
mod parts;

mod admission;
mod execution;
mod host_calls;
mod receipt;
mod records;
mod verification;

mod clock;
mod type_check;
mod vet;

mod presentation;

pub mod jail;

/// TypeScript declarations of what the code of a tool sees, and of what each grant adds.
pub const TYPE_DECLARATIONS: &str = include_str!("presentation/toolcell.d.ts");

pub use admission::hook;
pub use verification::proof;

pub use admission::grant_hints::missing_capability;
pub use admission::{DecisionStep, Denial, Permit};
pub use clock::now;
pub use execution::suspend::{
    CallbackTicket, ResumeRequest, RunSuspendError, SuspendedRun, SuspendedRunDetails, SuspendedRunInfo,
};
pub use execution::{RunOptions, SandboxConfig};
pub use hook::{
    ApprovalAnswer, ApprovalDuration, ApprovalPrompt, Approver, AwaitedAnswer, FlowAnswer, FlowQuestion, HeldBody,
    HookContext, HookVerdict, Hooks, QuestionAnswer, QuestionOutcome, Revision, ServerQuestion,
};
#[cfg(feature = "servers")]
pub use host_calls::ServerReview;
pub use host_calls::{
    BodyEnd, Effect, EffectApprover, EffectDecision, EffectLog, FlowContext, GrantOpenError, HeldEffect, ReceivedBody,
    SecretSource,
};
pub use host_calls::{FunctionError, FunctionFailure, FunctionReply, FunctionResponder, HostFunction, HostFunctions};
pub use operations::adopt::{AdoptError, AdoptedTool, Adoption};
pub use operations::approvals::{ApprovalError, ApprovalResult, PendingTool};
pub use operations::async_run::RunHandle;
pub use operations::call_graph::{CallGraph, GraphCaller};
pub use operations::cost_report::{CostReportLine, CostTotals};
pub use operations::create::{CreateError, CreateResult};
pub use operations::decide::{DEFAULT_DECISION_TIMEOUT, DecideOptions};
pub use operations::delete::DeleteError;
pub use operations::deprecate::{DeprecateError, DeprecateResult};
pub use operations::exchange::{
    ExportSelection, collect, copy_to_library, export, import, repair, repair_adopting, score_tool, take_from_library,
};
pub use operations::exec::{CodeResult, ExecError, ExecOptions, Precheck};
pub use operations::flows::{DeclassificationState, FlowExplanation, HeldFlow};
pub use operations::list::{ListToolsError, ToolList};
pub use operations::lookup::{FindToolError, Suggestion};
pub use operations::plans::PlanError;
pub use operations::profile::{
    FuelModel, FunctionFuel, LineFuel, Profile, ProfileDelta, ProfileDifference, ProfileError, StackFuel, Unattributed,
};
#[cfg(feature = "reflection")]
pub use operations::reflect::{ReflectError, ReflectOnTask, ReflectResponse, ReflectResult};
#[cfg(feature = "proof")]
pub use operations::retire::{RetireError, RetireReason, Retirement};
pub use operations::review::{ReviewAction, ReviewDecision, ReviewError};
pub use operations::run::{
    ContentItem, Deprecation, Explanation, RunError, RunResult, SourceLine, ToolContent, ToolFailure, ValueError,
};
pub use operations::runs::{ListRuns, ListedRun, RunEnd, RunList};
#[cfg(feature = "reflection")]
pub use operations::search::{Hit, SearchError};
#[cfg(feature = "servers")]
pub use operations::servers::{ServerError, ServerLogin, ServerLoginState, ServerLogout};
pub use operations::show::{ApprovalState, ShowError, ToolDetails};
pub use operations::suspend::RunOutcome;
#[cfg(feature = "proof")]
pub use operations::verify::{VerifyError, VerifyOptions, VerifyProgress, VerifyResult};
pub use presentation::approval_prompt::{
    PromptTooLong, describe_capabilities, escape_control_chars, escape_for_display, is_hidden_char, single_line,
    single_line_for_display,
};
pub use presentation::messages::{deleted_text, deprecated_text};
pub use presentation::response::{
    CreateResponse, DeleteResponse, DeprecationResponse, EquivalentToolResponse, ExamplesResponse, FindingResponse,
    HookContextResponse, ListResponse, LogLineResponse, NamedToolResponse, ParameterResponse, RunResponse,
    ToolResponse, UsageResponse, WarningResponse,
};
pub use proof::{Counterexample, ExampleComparison, Proof};
pub use receipt::{
    Receipt, ReceiptError, ReceiptKey, ReplayDifference, ReplayError, ReplayOptions, ReplayResult, VersionPolicy,
};
pub use records::{ContentDigest, ResourceUse, RunRecord};
pub use request::{
    CreateTool, DeleteTool, ListTools, RequestError, RetireTools, RunCode, RunTool, VerifyTool, read_request, to_params,
};
pub use toolbox::{Toolbox, ToolboxConfig, ToolboxError};
pub use toolcell_analysis::{
    Analysis, AnalysisError, Capabilities, Capability, CapabilityDiff, CapabilityNeed, Diagnostic, EntryPoint, Finding,
    Location, QualityAssessment, SafetyAnalysisResult, Script, Severity, SyntaxToken, TokenKind, analyze, rule_docs,
    rule_names, syntax_tokens,
};
#[cfg(feature = "servers")]
pub use toolcell_bridge::{Definition as ServerToolDefinition, end_programs as end_server_programs};
pub use toolcell_capabilities::{ProtectedPath, Roots};
pub use toolcell_dts::Detail;
pub use toolcell_error::ErrorCode;
pub use toolcell_flows as flows;
pub use toolcell_flows::Label;
pub use toolcell_host::{
    Budget, CallContext, CallDeadline, CallError, CancelToken, ClockReading, Completion, ENGINE_VERSION, Effects,
    FuelScope, GUEST_DIGEST, Grant, HostCall, HostCallDriver, HostCalls, HostRequest, ImageKind, Interruption, Json,
    JsonError, Level, LogLine, NoHostCalls, Notifier, OnOverload, OperationError, OperationOutput, Outcome, Params,
    PartialResultSink, ProfileSlot, Remaining, Report, ResumeError, StartError, Stop, Thrown, TimerRequest, Timers,
    Usage, ValueSide, WaitOutcome, WaitResult, WallClock, Warning, pagemap_scan,
};
pub use toolcell_i18n::{Lang, Localize, Message};
pub use toolcell_policy as policy;
pub use toolcell_policy::{LimitOverrides, Policy, PolicyFile};
#[cfg(feature = "reflection")]
pub use toolcell_reflection as reflection;
pub use toolcell_schema::{
    Args, FieldKind, FormContent, FormError, FormField, FormOption, ParamProblem, Parameter, ParamsError, QuestionForm,
    Schema, SchemaError, signature,
};
pub use toolcell_store as store;
pub use toolcell_tool::{
    Access, CallableTools, Draft, DraftError, Example, Expectation, FilesGrant, GrantError, Grants, HostPattern,
    IdPrefix, KvGrant, Language, Method, NameError, NetGrant, NetRequest, Postconditions, SOURCE_LIMIT, Scheme,
    SecretGrant, SecretName, ServerName, ServerToolName, ServerTools, ServersGrant, Status, ToolId, ToolMetadata,
    ToolName, ToolSpec,
};
pub use type_check::{TypeCheckRequest, TypeChecker, TypeCheckerProgram};
pub use verification::EquivalentTool;
pub use vet::{Refusal, VettedTool, vet};
