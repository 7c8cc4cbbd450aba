//! Toolcell runs the tools that an agent writes while it works, each call in a sealed cell. This is the crate that
//! hosts embed.
//!
//! A [`Toolbox`] holds a sandbox, a [`store`], and the rules under which tools run: a [`Policy`], [`Gates`], and what people
//! approved. [`Toolbox::create`], [`Toolbox::run`], [`Toolbox::list`] and [`Toolbox::delete`] are the operations of the
//! contract, each with a typed answer that has a text in Japanese, English and Chinese; [`Toolbox::start`] is a run for hosts that wait
//! without a thread. [`Toolbox::exec`] runs a draft once and stores nothing. [`Toolbox::search`] finds tools by what they are
//! about, [`Toolbox::ledger`] says what they cost and gave, [`Toolbox::retirements`] which of them are of no use any more, and
//! [`Toolbox::deprecate`] what is to be used in place of one. [`Toolbox::replay`] does a run again, from its [`Receipt`], and [`Toolbox::profile`] says where its fuel goes. [`export`], [`import`] and [`collect`] are what is done with a
//! store as a whole.
//!
//! Reading order: `request` is what is asked for; `create`, `run`, `list`, `delete` are the verbs; `permit` decides,
//! with [`policy`] and [`gate`]; `cell` is the way into the sandbox; `operations` is what the host does
//! for a tool that waits; `record` is what is kept, and `receipt` what can be done again.
//!
//! Invariant: this crate strings the parts together and adds no way around them. There is one road to the sandbox, and
//! each attempt to take it leaves one record.

mod request;

mod toolbox;

mod create;
mod delete;
mod deprecate;
mod exec;
mod ledger;
mod list;
mod profile;
mod reflect;
mod retire;
mod run;
mod running;
mod search;
mod show;
mod sleep;
mod verify;

mod alike;
mod approve;
mod body;
mod cache;
mod cell;
mod cells;
mod claim;
mod find;
mod function;
pub mod gate;
pub mod jail;
mod keeper;
mod operations;
mod params;
mod permit;
mod plans;
pub mod policy;
pub mod proof;
mod receipt;
mod record;
mod review;
mod text;
mod told;
mod turn_away;
mod ungranted;
mod vet;

mod exchange;

pub use alike::Alike;
pub use approve::{ApprovalError, Decided, Pending};
pub use body::{
    AlikeBody, ContextBody, CreatedBody, DeletedBody, DeprecationBody, FindingBody, ListedBody, LogBody, NamedBody,
    ParameterBody, RanBody, ToolBody, UsageBody, WarningBody,
};
pub use cells::SandboxConfig;
pub use create::{CreateError, Created};
pub use delete::DeleteError;
pub use deprecate::{DeprecateError, Deprecated};
pub use exchange::{Bundle, collect, export, import, judge, repair, repair_adopting};
pub use exec::{ExecError, Precheck};
pub use find::{FindToolError, Instead};
pub use function::{Function, FunctionError, FunctionFailed, FunctionReply, Functions};
pub use gate::{Answer, Context, Gates, Person, Question, Revision, Verdict, Waiting};
pub use ledger::{LedgerLine, Sums};
pub use list::{ListToolsError, Listed};
pub use operations::{BodyEnd, Choice, Done, Effect, Held, HeldBody, Planner, ReachError, Received, SecretSource};
pub use params::{Args, ParamProblem, Parameter, ParamsError, Schema, SchemaError};
pub use permit::{Denial, Permit, Step};
pub use plans::PlanError;
pub use policy::{Policy, PolicyFile, Wanted};
pub use profile::{
    Change, FuelModel, FunctionFuel, LineFuel, Outside, Profile, ProfileDifference, ProfileError, StackFuel,
};
pub use proof::{Counterexample, Proof};
pub use receipt::{Difference, OtherVersion, Receipt, ReceiptError, ReceiptKey, ReplayError, ReplayOptions, Replayed};
pub use record::{RunRecord, Size, Used};
pub use reflect::{ReflectError, ReflectOnTask, Reflected, ReflectedBody};
pub use request::{CreateTool, DeleteTool, ListTools, RequestError, RetireTools, RunTool, read_request};
pub use retire::{Reason, RetireError, Retirement};
pub use run::{Deprecation, Explanation, Failed, Ran, RunError, RunOptions};
pub use running::Running;
pub use search::{Hit, SearchError};
pub use show::{ShowError, Shown, Standing};
pub use sleep::{Asleep, ResumeRun, RunState, SleepError, Sleeper, Ticket};
pub use text::{deleted_text, deprecated_text};
pub use told::{QuestionTooLong, capabilities, fact, line, unmasked, visible};
pub use toolbox::{Toolbox, ToolboxConfig, ToolboxError, now};
pub use toolcell_analysis::{
    Analysis, Capabilities, Capability, Comparison, Finding, Location, Need, Problem, QualityAssessment, Rejection,
    SafetyAnalysisResult, Severity, Shape, analyze, page, rule_names,
};
pub use toolcell_capabilities::{Protected, Roots};
pub use toolcell_host::{
    Bell, Budget, CallError, CancelToken, ENGINE_VERSION, Effects, Ended, FuelCovers, GUEST_DIGEST, Grant,
    Interruption, Json, JsonError, Kind, Left, Level, LogLine, NoOperations, Operation, OperationAnswer,
    OperationFailure, Operations, OperationsOfCall, Outcome, Params, PartialSink, Place, ProfileSlot, Reading,
    RealClock, Report, Rest, Run, StartError, Stop, Thrown, Timers, Until, Usage, Waited, WakeError, Warning, WhenFull,
    pagemap_scan,
};
pub use toolcell_reflection as reflection;
pub use toolcell_store as store;
pub use toolcell_tool::{
    Access, Callees, Claims, Draft, DraftError, Example, Expectation, FilesGrant, GrantError, HostPattern, IdPrefix,
    KvGrant, Lang, Language, Method, NameError, NetGrant, NetRequest, Notes, SOURCE_LIMIT, Scheme, SecretGrant,
    SecretName, Status, ToolId, ToolName, ToolSpec, headline,
};
pub use verify::{Proved, Tried, VerifyError, VerifyOptions};
pub use vet::{Refusal, VettedTool, vet};
