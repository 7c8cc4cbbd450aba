//! Host calls: the operations that the host performs for a tool while the tool waits, as far as its
//! grants allow.
//!
//! ```text
//! request of the tool → driver → completion queue → the tool continues
//! driver: timers in place, HTTP on the runtime, files and key-value pairs on blocking threads
//! ```
//!
//! Reading order: `resources` is what grants give access to; `open` opens the grants of a run, and `net` those for
//! requests (`no_net` in a build without the feature `net`);
//! `driver` drives its host calls, of which `fetch`, `files`, `kv`, `functions` and `tools` are the
//! kinds; `held` keeps side effects until they are decided; `questions` passes on what servers ask the user; `kept` keeps results that a run passes on unread; `effects` is the log; `nested` is how a
//! tool calls another stored tool; `flows` follows where the data of a run came from.
//!
//! Invariant: a host call is started once and completes once. The host calls of a run end with the
//! run, and the effects of each are known.

mod completions;
mod driver;
mod effects;
mod error;
#[cfg(feature = "net")]
mod fetch;
mod files;
mod flows;
mod functions;
mod held;
mod kept;
mod kv;
mod nested;
#[cfg(feature = "net")]
mod net;
#[cfg(not(feature = "net"))]
mod no_net;
#[cfg(not(feature = "servers"))]
mod no_servers;
mod open;
mod pending;
mod protected;
mod questions;
mod resources;
mod runtime;
#[cfg(feature = "servers")]
mod server_setup;
#[cfg(feature = "servers")]
mod servers;
mod tools;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
#[cfg(feature = "net")]
use toolcell_capabilities::NetSession;
use toolcell_capabilities::{Files, Meters};
use toolcell_host::{Grant, HostCallDriver, HostCalls};
use toolcell_policy::Policy;
use toolcell_store::Store;
use toolcell_tool::{Grants, KvGrant, ToolId};

pub use effects::{BodyEnd, Effect, EffectLog, ReceivedBody};
pub use flows::FlowContext;
pub use functions::{FunctionError, FunctionFailure, FunctionReply, FunctionResponder, HostFunction, HostFunctions};
pub use held::{EffectApprover, EffectDecision, HeldEffect};
pub use open::GrantOpenError;
pub use resources::SecretSource;
#[cfg(feature = "servers")]
pub use servers::ServerReview;

pub(crate) use effects::EffectRecorder;
pub(crate) use flows::{DeclassifiedTool, FlowStart, FlowTracker};
pub(crate) use functions::FunctionCallError;
pub(crate) use held::{ChainHead, DeferAll, PlanChain};
pub(crate) use nested::{CallerContext, NestedCalls, NestedResult, NestingContext};
pub(crate) use open::OpenRequest;
pub(crate) use pending::{PendingCallback, PendingHostCalls, PlanPosition};
pub(crate) use questions::QuestionRoute;
pub(crate) use resources::{ResourceContext, Resources, ResourcesConfig};
#[cfg(feature = "servers")]
pub(crate) use server_setup::{check_known, wait_on};
pub(crate) use tools::{function_output, tool_output};

use driver::HostCallRunner;
#[cfg(feature = "net")]
use fetch::{BodyReader, start_request};
use kept::KeptResults;
#[cfg(not(feature = "net"))]
use no_net::{BodyReader, NetSession, start_request};
#[cfg(not(feature = "servers"))]
use no_servers::{MayWrite, RunningServerCall, ServerAccess, ServerOperation};
#[cfg(feature = "servers")]
use servers::{MayWrite, RunningServerCall, ServerAccess, ServerOperation, Servers};

/// The environment of one run: its grants, the resources opened for them, and its records.
pub(crate) struct RunEnvironment<'a> {
    /// The resources of the toolbox.
    resources: &'a Resources,
    /// The functions that only this run may call.
    functions: &'a HostFunctions,
    /// Runs the stored tools that the tool calls.
    nested: Box<dyn NestedCalls + 'a>,
    /// Decides about held effects, if the caller asked for that.
    effect_approver: Option<&'a dyn EffectApprover>,
    /// The identifier of the tool.
    id: ToolId,
    /// The name of the tool.
    name: String,
    /// The number of calling tools above this run in the call chain.
    depth: u32,
    /// The plan shared by the whole call chain, if effects are held.
    pub(crate) plan: Option<Arc<PlanChain>>,
    /// The quotas used by all runs of the call chain.
    meters: Meters,
    /// The call identifier that the tool sees.
    pub(crate) call_id: String,
    /// All grants of the tool.
    all_grants: Grants,
    /// The grants that are visible in the tool's cell.
    cell_grants: Vec<Grant>,
    net: Option<Arc<NetSession>>,
    files: Option<Arc<Files>>,
    kv: Option<KvAccess>,
    servers: Option<ServerAccess>,
    /// Who is asked what servers want to know, for the whole chain of calls.
    questions: Arc<QuestionRoute>,
    /// Where the data came from that the run was handed, if the policy has rules about that.
    flows: Option<FlowTracker>,
    /// The results that the chain of calls keeps.
    kept: Arc<KeptResults>,
    /// The effects of the run's host calls.
    pub(crate) effects: EffectRecorder,
    /// The host calls that are pending when the run is resumed or suspended.
    pending: Mutex<PendingHostCalls>,
}

/// The network session to open for a run.
struct SessionRequest<'a> {
    policy: &'a Policy,
    grants: &'a Grants,
    /// The identifier of the tool.
    tool: &'a str,
    /// The call identifier.
    run: &'a str,
    meters: &'a Meters,
    /// The session of the calling run, if this run is nested.
    caller: Option<Arc<NetSession>>,
}

/// Access to a granted key-value space.
#[derive(Clone)]
struct KvAccess {
    store: Arc<Store>,
    grant: Arc<KvGrant>,
    now: fn() -> Timestamp,
}

impl HostCalls for RunEnvironment<'_> {
    fn grants(&self) -> Vec<Grant> {
        self.cell_grants.clone()
    }

    fn start(&self) -> Box<dyn HostCallDriver + '_> {
        Box::new(HostCallRunner::new(self))
    }
}

impl RunEnvironment<'_> {
    /// Returns the host calls that are pending while the run is suspended.
    pub(crate) fn pending(&self) -> MutexGuard<'_, PendingHostCalls> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the grants that are visible in a cell.
fn cell_grants(grants: &Grants) -> Vec<Grant> {
    let servers = || grants.servers.names().map(ToString::to_string).collect();
    let secrets = || grants.secrets.iter().map(|secret| secret.name.to_string()).collect();
    [
        (grants.timers, Grant::Timers),
        (!grants.net.is_empty(), Grant::Net),
        (grants.kv.is_some(), Grant::Kv),
        (!grants.files.is_empty(), Grant::Files),
        (!grants.secrets.is_empty(), Grant::Secrets { names: secrets() }),
        (!grants.tools.is_empty(), Grant::Tools),
        (!grants.servers.is_empty(), Grant::Servers { names: servers() }),
    ]
    .into_iter()
    .filter_map(|(granted, grant)| granted.then_some(grant))
    .collect()
}
