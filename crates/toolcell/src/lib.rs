//! Runs tools written by AI agents, each call in an isolated QuickJS-in-Wasm cell. This is the
//! crate that hosts embed.
//!
//! A [`Toolbox`] holds a sandbox, a [`store`], and the rules that tools run under: a [`Policy`],
//! [`Hooks`], and the approvals given by people. [`Toolbox::create`], [`Toolbox::run`],
//! [`Toolbox::list`] and [`Toolbox::delete`] are the operations of the contract; each returns a
//! typed result with a text in Japanese, English and Chinese. [`Toolbox::start`] runs a tool
//! asynchronously. [`Toolbox::exec`] runs a draft once and stores nothing. [`Toolbox::search`]
//! finds tools by topic, [`Toolbox::cost_report`] reports their costs and savings,
//! [`Toolbox::retirements`] proposes tools to retire, and [`Toolbox::deprecate`] marks a tool as
//! deprecated and names its successor. [`Toolbox::replay`] re-executes a run from its [`Receipt`],
//! and [`Toolbox::profile`] attributes the fuel of a run to functions and lines. [`export`],
//! [`import`] and [`collect`] work on a whole store.
//!
//! Reading order: `request` defines the inputs; `toolbox` is the façade, whose verbs delegate to
//! `operations`; these compose the `parts`: `admission` decides whether a call may run, with
//! [`policy`] and [`hook`]; `execution` is the only entry into the sandbox; `host_calls` serves the
//! calls that a tool makes to the host; `records` persists each attempt. `receipt` makes a run
//! reproducible, `verification` tests tools, and `presentation` renders results.
//!
//! Invariant: this crate composes the parts and adds no way around them. There is one path into the
//! sandbox, and each attempt to take it leaves one record.

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
pub use execution::suspend::{CallbackTicket, ResumeRequest, RunSuspendError, SuspendedRun, SuspendedRunInfo};
pub use execution::{RunOptions, SandboxConfig};
pub use hook::{
    ApprovalAnswer, ApprovalDuration, ApprovalPrompt, Approver, AwaitedAnswer, HookContext, HookVerdict, Hooks,
    Revision,
};
pub use host_calls::{
    BodyEnd, Effect, EffectApprover, EffectDecision, EffectLog, GrantOpenError, HeldBody, HeldEffect, ReceivedBody,
    SecretSource,
};
pub use host_calls::{FunctionError, FunctionFailure, FunctionReply, HostFunction, HostFunctions};
pub use operations::approvals::{ApprovalError, ApprovalResult, PendingTool};
pub use operations::async_run::RunHandle;
pub use operations::cost_report::{CostReportLine, CostTotals};
pub use operations::create::{CreateError, CreateResult};
pub use operations::delete::DeleteError;
pub use operations::deprecate::{DeprecateError, DeprecateResult};
pub use operations::exchange::{ExportSelection, collect, export, import, repair, repair_adopting, score_tool};
pub use operations::exec::{CodeResult, ExecError, ExecOptions, Precheck};
pub use operations::list::{ListToolsError, ToolList};
pub use operations::lookup::{FindToolError, Suggestion};
pub use operations::plans::PlanError;
pub use operations::profile::{
    FuelModel, FunctionFuel, LineFuel, Profile, ProfileDelta, ProfileDifference, ProfileError, StackFuel, Unattributed,
};
pub use operations::reflect::{ReflectError, ReflectOnTask, ReflectResponse, ReflectResult};
pub use operations::retire::{RetireError, RetireReason, Retirement};
pub use operations::run::{Deprecation, Explanation, RunError, RunResult, SourceLine, ToolFailure, ValueError};
pub use operations::search::{Hit, SearchError};
pub use operations::show::{ApprovalState, ShowError, ToolDetails};
pub use operations::suspend::RunOutcome;
pub use operations::verify::{VerifyError, VerifyOptions, VerifyProgress, VerifyResult};
pub use presentation::approval_prompt::{
    PromptTooLong, describe_capabilities, escape_control_chars, escape_for_display, single_line,
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
    Location, QualityAssessment, SafetyAnalysisResult, Severity, analyze, rule_docs, rule_names,
};
pub use toolcell_capabilities::{ProtectedPath, Roots};
pub use toolcell_error::ErrorCode;
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
pub use toolcell_reflection as reflection;
pub use toolcell_schema::{Args, ParamProblem, Parameter, ParamsError, Schema, SchemaError, signature};
pub use toolcell_store as store;
pub use toolcell_tool::{
    Access, CallableTools, Draft, DraftError, Example, Expectation, FilesGrant, GrantError, HostPattern, IdPrefix,
    KvGrant, Language, Method, NameError, NetGrant, NetRequest, Postconditions, SOURCE_LIMIT, Scheme, SecretGrant,
    SecretName, Status, ToolId, ToolMetadata, ToolName, ToolSpec,
};
pub use verification::equivalence::EquivalentTool;
pub use vet::{Refusal, VettedTool, vet};
