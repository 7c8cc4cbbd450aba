//! Opens the resources that a run is granted, before it starts.
//!
//! Invariant: a run does not start if one of its grants cannot be opened. What cannot be checked is
//! refused.

use std::sync::{Arc, Mutex};

use toolcell_capabilities::{Files, FilesConfig, FolderError};
#[cfg(feature = "net")]
use toolcell_capabilities::{RootsError, SecretError};
use toolcell_flows::FlowAction;
use toolcell_host::HostCalls;
#[cfg(feature = "net")]
use toolcell_i18n::msgid;
use toolcell_i18n::{Message, message};
use toolcell_policy::Origin;
use toolcell_store::Fault;
use toolcell_tool::{Grants, SecretName, ToolId, ToolName};

use super::effects::EffectRecorder;
use super::flows::{FlowStart, FlowTracker, RunFlow};
use super::functions::{HostFunction, HostFunctions};
use super::held::EffectApprover;
use super::nested::{NestedCalls, NestingContext};
use super::questions::QuestionRoute;
use super::resources::{ResourceContext, Resources};
use super::{KvAccess, RunEnvironment, SessionRequest, cell_grants};
use crate::admission::hook::{Approver, FlowAnswer};

/// A granted resource cannot be opened.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[coded(no_hint)]
pub enum GrantOpenError {
    /// A folder cannot be opened.
    #[error(transparent)]
    #[coded(transparent)]
    Folder(#[from] FolderError),
    /// The root certificates cannot be read.
    #[cfg(feature = "net")]
    #[error(transparent)]
    #[coded(transparent)]
    Roots(#[from] RootsError),
    /// A granted secret is missing.
    #[error("the secret `{name}` is granted but not set")]
    #[code(SecretMissing)]
    SecretMissing {
        /// The name of the secret.
        name: SecretName,
    },
    /// A secret cannot be used in a request.
    #[cfg(feature = "net")]
    #[error("the secret `{name}` cannot be used: {source}")]
    #[code(SecretInvalid)]
    SecretInvalid {
        /// The name of the secret.
        name: SecretName,
        /// Why it cannot be used.
        source: SecretError,
    },
    /// Requests or secrets are granted, and this build cannot send any.
    #[error("requests are granted, and this build has no network access")]
    #[code(NetUnsupported)]
    NoNetwork,
    /// MCP servers are granted, and this build cannot call any.
    #[error("MCP servers are granted, and this build cannot call any")]
    #[code(ServersUnsupported)]
    NoServers,
    /// Where the data of earlier runs came from cannot be read.
    #[error(transparent)]
    #[coded(transparent)]
    Flows(#[from] Fault),
    /// A rule about flows does not let the caller run the tool.
    #[error(
        "the caller was told of {from}, and the policy's `flows[{rule}]` ({origin}) does not let that go to `tool:{name}`"
    )]
    #[code(FlowRefused)]
    Flow {
        /// The tool.
        name: ToolName,
        /// What the caller was told of.
        from: String,
        /// The number of the rule, from 0.
        rule: usize,
        /// The position of the rule.
        origin: Origin,
    },
    /// A rule about flows has a person decide whether the caller may run the tool, and no person let it.
    #[error(
        "the caller was told of {from}, and the policy's `flows[{rule}]` ({origin}) needs a person's approval \
         for `tool:{name}`: {reason}"
    )]
    #[code(FlowRefused)]
    FlowNotApproved {
        /// The tool.
        name: ToolName,
        /// What the caller was told of.
        from: String,
        /// The number of the rule, from 0.
        rule: usize,
        /// The position of the rule.
        origin: Origin,
        /// Why it is not approved.
        reason: Message,
    },
    /// A key-value space is granted, and the toolbox has no store.
    #[error("a key-value space needs a store, and this toolbox has none")]
    #[code(KvNoStore)]
    NoStore,
}

impl GrantOpenError {
    /// Returns the message for a tool whose call of another tool fails for this reason. It does not
    /// reveal paths of this machine.
    pub(crate) fn message_for_tool(&self) -> String {
        match self {
            Self::Folder(error) => error.message_for_tool(),
            #[cfg(feature = "net")]
            Self::Roots(_) => "the trusted root certificates cannot be read".to_owned(),
            #[cfg(feature = "net")]
            Self::SecretInvalid { .. } => self.to_string(),
            Self::Flow { rule, .. } => format!("the policy's `flows[{rule}]` refuses it"),
            Self::FlowNotApproved { rule, .. } => {
                format!("the policy's `flows[{rule}]` needs a person's approval for it")
            }
            Self::Flows(_) => "where the data of earlier runs came from cannot be read".to_owned(),
            Self::SecretMissing { .. } | Self::NoNetwork | Self::NoStore | Self::NoServers => self.to_string(),
        }
    }

    /// Returns a hint on what to do next.
    #[must_use]
    pub fn hint(&self) -> Message {
        match self {
            Self::Folder(error) => error.hint().into(),
            #[cfg(feature = "net")]
            Self::Roots(error) => error.hint().unwrap_or(msgid!("this is a bug in Toolcell")).into(),
            Self::SecretMissing { name } => {
                message!("set `TOOLCELL_SECRET_{name}` in the environment, or revoke the grant", name)
            }
            #[cfg(feature = "net")]
            Self::SecretInvalid { .. } => message!("a secret is one line of 8 to 8192 bytes; set it again"),
            Self::NoNetwork => {
                message!("revoke the grants `net` and `secrets`, or build Toolcell with the feature `net`")
            }
            Self::FlowNotApproved { .. } => message!(
                "run it at a terminal, or through an MCP client in a session; or have a person clear the caller's context with \
                 `toolcell flows clear`"
            ),
            Self::Flow { .. } => message!(
                "look at `toolcell flows`; a person may clear the caller's context with `toolcell flows clear`"
            ),
            Self::Flows(fault) => fault.hint().into(),
            Self::NoStore => message!("open the toolbox with a store"),
            Self::NoServers => message!("revoke the grant `servers`, or build Toolcell with the feature `servers`"),
        }
    }
}

/// A run whose grants are opened.
pub(crate) struct OpenRequest<'a, 'r> {
    /// The grants.
    pub(crate) grants: &'r Grants,
    /// The identifier of the tool.
    pub(crate) tool: ToolId,
    /// The name of the tool.
    pub(crate) name: &'r str,
    /// The parameters as JSON text: shown to the user, who decides whether it may run.
    pub(crate) params: &'r str,
    /// The call identifier that the tool sees.
    pub(crate) call_id: &'r str,
    /// Decides about held effects, if the caller asked for that.
    pub(crate) effect_approver: Option<&'a dyn EffectApprover>,
    /// Who answers questions that come up during the run; for a run that a tool called, that is decided by the caller.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// The functions that only this run may call.
    pub(crate) functions: &'a HostFunctions,
    /// Runs the stored tools that the tool calls.
    pub(crate) nested: Box<dyn NestedCalls + 'a>,
    /// The position in the chain of nested calls.
    pub(crate) nesting: NestingContext<'r>,
    /// What the flows of the run start with.
    pub(crate) flow: FlowStart<'r>,
}

impl Resources {
    /// Opens the grants of one run of a tool. A nested run also counts against the quotas of its
    /// caller.
    pub(crate) fn open_grants<'a>(
        &'a self,
        context: ResourceContext<'_>,
        request: OpenRequest<'a, '_>,
    ) -> Result<RunEnvironment<'a>, GrantOpenError> {
        let OpenRequest {
            grants,
            tool: id,
            name,
            params,
            call_id: run,
            effect_approver,
            approver,
            functions,
            nested,
            nesting,
            flow,
        } = request;
        let NestingContext { caller: within, plan } = nesting;
        if cfg!(not(feature = "servers")) && !grants.servers.is_empty() {
            return Err(GrantOpenError::NoServers);
        }
        let tool = id.to_string();
        let caller = within.map(|within| within.environment);
        let meters = caller.map(|caller| caller.meters.clone()).unwrap_or_default();
        let session = SessionRequest {
            policy: context.admission.policy(),
            grants,
            tool: &tool,
            run,
            meters: &meters,
            caller: caller.and_then(|caller| caller.net.clone()),
        };
        let net = self.open_net(session)?;
        let files = if grants.files.is_empty() {
            None
        } else {
            let (meters, caller) = (meters.clone(), caller.and_then(|caller| caller.files.as_deref()));
            let (grants, protected) = (&*grants.files, &*self.protected_paths(context));
            Some(Arc::new(Files::open(&FilesConfig { tool: &tool, grants, protected, meters, caller })?))
        };
        let space = grants.kv.as_ref().map(|grant| {
            let store = context.store.cloned().ok_or(GrantOpenError::NoStore)?;
            Ok::<_, GrantOpenError>(KvAccess { store, grant: Arc::new(grant.clone()), now: self.clock })
        });
        let questions = caller.map_or_else(|| QuestionRoute::new(approver), |caller| Arc::clone(&caller.questions));
        let policy = context.admission.policy();
        let effects = EffectRecorder::default();
        let flows = if policy.flows().rules().is_empty() {
            None
        } else {
            let flows = caller.and_then(|caller| caller.flows.as_ref());
            let tracker = FlowTracker::start(policy, context.store, (id, grants), flows, &flow)?;
            if within.is_none()
                && flow.resumed.is_none()
                && let Some(decided) = tracker.decide_run()
            {
                let answer = check_run(&decided, |decided| questions.decide(&decided.to_question(id, params)))?;
                effects.record_run_question(answer.outcome());
            }
            Some(tracker)
        };
        Ok(RunEnvironment {
            resources: self,
            functions,
            nested,
            effect_approver,
            id,
            name: name.to_owned(),
            depth: within.map_or(0, |within| within.depth),
            plan,
            meters,
            call_id: run.to_owned(),
            all_grants: grants.clone(),
            cell_grants: cell_grants(grants),
            net,
            files,
            kv: space.transpose()?,
            servers: self.open_servers(context, &grants.servers, (name, &questions)),
            questions,
            flows,
            kept: caller.map(|caller| Arc::clone(&caller.kept)).unwrap_or_default(),
            effects,
            pending: Mutex::default(),
        })
    }
}

/// Has a person decide about a run where the rules say so, and returns an error if it may not begin.
fn check_run(flow: &RunFlow, ask: impl FnOnce(&RunFlow) -> FlowAnswer) -> Result<FlowAnswer, GrantOpenError> {
    let reason = match flow.action {
        FlowAction::Deny => None,
        FlowAction::Ask => match ask(flow) {
            FlowAnswer::Approve => return Ok(FlowAnswer::Approve),
            FlowAnswer::Refuse { feedback: None } => Some(message!("the user refused")),
            FlowAnswer::Refuse { feedback: Some(feedback) } => Some(message!("the user refused: {feedback}", feedback)),
            FlowAnswer::NotAsked { reason } | FlowAnswer::Unanswered { reason } => Some(reason),
        },
    };
    let (name, from, rule, origin) = (flow.name.clone(), flow.sources(), flow.rule, flow.origin.clone());
    Err(match reason {
        None => GrantOpenError::Flow { name, from, rule, origin },
        Some(reason) => GrantOpenError::FlowNotApproved { name, from, rule, origin, reason },
    })
}

impl RunEnvironment<'_> {
    /// Returns the host function with this name.
    pub(super) fn function(&self, name: &ToolName) -> Option<&HostFunction> {
        self.resources.functions.get(name).or_else(|| self.functions.get(name))
    }

    /// Whether the tool may use timers. A tool that makes requests may too, because it sets
    /// timeouts on them.
    pub(super) fn can_wait(&self) -> bool {
        use toolcell_host::Grant;
        self.grants().iter().any(|grant| matches!(grant, Grant::Timers | Grant::Net))
    }
}
