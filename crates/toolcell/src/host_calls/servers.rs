//! Calls of tools of MCP servers.
//!
//! Invariant: a tool is called only if the run is granted it, and only by a definition that a person trusted: one that
//! is new or has changed since is refused before anything is sent. What a server says of a tool's effects counts only
//! where the policy believes it, and then only what the trusted definition says.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blake3::Hash;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use toolcell_bridge::{
    Answer, Bridge, CallOrigin, Definition, Definitions, Login, LoginState, Logout, PendingAnswer, Question,
    QuestionSink, ServerConfig, search,
};
use toolcell_capabilities::Net;
use toolcell_dts::Detail;
use toolcell_host::{
    Completion, Effects, OperationError, ServerCallRequest, ServerDescribeRequest, ServerSearchRequest,
};
use toolcell_store::audit::{Action, AuditEvent};
use toolcell_store::{Store, TrustedDefinition};
use toolcell_tool::{ServerName, ServerToolName, ServersGrant};

use super::completions::{CompletionEvent, CompletionQueue};
use super::error::{Result, error_without_effects, to_output};
use super::questions::PendingQuestion;
use crate::admission::hook::{QuestionAnswer, ServerQuestion};
use crate::clock::Clock;

/// The number of tools that a search returns if the tool asks for no other number.
const DEFAULT_SEARCH_LIMIT: u32 = 20;
/// How long a search waits for a server.
const SEARCH_TIME: Duration = Duration::from_secs(5);
/// The maximum number of tools that a search returns.
const MAX_SEARCH_LIMIT: u32 = 100;
/// Who trusts definitions on first sight where the policy asks no person.
const TRUSTED_BY_POLICY: &str = "policy";

/// The servers of a toolbox.
pub(crate) struct Servers {
    bridge: Bridge,
    /// The servers that cannot be used, such as for lack of a secret, and why.
    broken: BTreeMap<ServerName, OperationError>,
    believed: Vec<ServerName>,
    trust: TrustConfig,
    /// The definitions that a toolbox without a store trusts.
    trusted: Mutex<BTreeMap<(ServerName, String), Hash>>,
}

/// What decides which definitions are trusted.
pub(super) struct TrustConfig {
    /// Where trusted definitions are kept.
    pub(super) store: Option<Arc<Store>>,
    /// Whether a server of which nothing is trusted is trusted on first sight.
    pub(super) on_first_sight: bool,
    pub(super) clock: Clock,
}

/// What is to be said about a server's tools compared with those that a person trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerReview {
    /// The server.
    pub server: ServerName,
    /// The tools that are not trusted yet.
    pub new: Vec<Definition>,
    /// The tools whose definitions have changed: before, and now.
    pub changed: Vec<(Definition, Definition)>,
    /// The trusted tools that the server no longer has.
    pub gone: Vec<String>,
    /// The trusted tools that are as they were.
    pub unchanged: Vec<Definition>,
    /// Names in code that several tools have; none of these is called.
    pub collisions: Vec<(String, Vec<String>)>,
}

impl ServerReview {
    /// Returns a digest of all definitions as they are now, 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        let all = self.new.iter().chain(self.changed.iter().map(|(_, now)| now)).chain(&self.unchanged);
        let mut digests: Vec<Hash> = all.map(|tool| tool.digest(&self.server)).collect();
        digests.sort_unstable_by_key(|digest| *digest.as_bytes());
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 review of a server");
        for digest in digests {
            hasher.update(digest.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Whether all tools are trusted as they are.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }
}

/// Which definitions of a server are trusted.
enum Trust {
    /// All: the first call trusts them.
    Any,
    Digests(HashSet<Hash>),
}

impl Trust {
    fn covers(&self, server: &ServerName, tool: &Definition) -> bool {
        match self {
            Self::Any => true,
            Self::Digests(digests) => digests.contains(&tool.digest(server)),
        }
    }
}

/// What a run may call.
#[derive(Clone)]
pub(super) struct ServerAccess {
    pub(super) servers: Result<Arc<Servers>>,
    pub(super) grants: Arc<ServersGrant>,
    /// The name of the tool, for messages.
    pub(super) tool: Arc<str>,
    /// The number of the run, which the tools that it calls share.
    pub(super) run: u64,
}

/// The questions that a server asks during a call.
struct CallQuestions {
    /// The host call.
    id: u32,
    /// The name of the tool that makes it.
    tool: Arc<str>,
    queue: Arc<CompletionQueue>,
}

impl QuestionSink for CallQuestions {
    fn ask(&self, question: Question) -> PendingAnswer {
        let Question { server, tools, message, form } = question;
        let question = ServerQuestion::new(server, tools, self.tool.to_string(), message, form);
        let (reply, answer) = oneshot::channel();
        self.queue.push_question(PendingQuestion { id: self.id, question, reply });
        Box::pin(async move { answer.await.ok().map(to_bridge_answer) })
    }
}

fn to_bridge_answer(answer: QuestionAnswer) -> Answer {
    match answer {
        QuestionAnswer::Accept(content) => Answer::Accept(content),
        QuestionAnswer::Decline => Answer::Decline,
        QuestionAnswer::Cancel => Answer::Cancel,
        QuestionAnswer::NotAsked { reason } => Answer::NotAsked(reason.to_string()),
        QuestionAnswer::Unanswered { reason } => Answer::Unanswered(reason.to_string()),
    }
}

/// A call that runs in the background. Dropping it cancels it.
pub(super) struct RunningServerCall(AbortHandle);

impl Drop for RunningServerCall {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whether a call may be one of a tool that does more than read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MayWrite {
    Yes,
    /// The plan of the run did not hold the call, because its tool only reads.
    No,
}

/// A host call on servers.
pub(super) enum ServerOperation {
    /// A call; and whether only a tool that reads may be called, because the plan did not hold it.
    Call(ServerCallRequest, MayWrite),
    Search(ServerSearchRequest),
    Describe(ServerDescribeRequest),
}

impl Servers {
    /// Creates the servers that can be used. `broken` are those that cannot, and why.
    pub(super) fn new(
        configs: Vec<ServerConfig>,
        broken: BTreeMap<ServerName, OperationError>,
        net: Option<&Net>,
        trust: TrustConfig,
    ) -> Result<Self> {
        let believed = configs.iter().filter(|config| config.believes_hints);
        let believed = believed.map(|config| config.name.clone()).collect();
        Ok(Self { bridge: Bridge::new(configs, net)?, broken, believed, trust, trusted: Mutex::default() })
    }

    async fn definitions(&self, server: &ServerName) -> Result<Arc<Definitions>> {
        match self.broken.get(server) {
            Some(failure) => Err(failure.clone()),
            None => self.bridge.definitions(server).await,
        }
    }

    /// Starts a sign-in to a server.
    pub(crate) async fn login(&self, server: &ServerName) -> Result<Login> {
        match self.broken.get(server) {
            Some(failure) => Err(failure.clone()),
            None => self.bridge.login(server).await,
        }
    }

    /// Deletes the tokens of a server, and has them revoked.
    pub(crate) async fn logout(&self, server: &ServerName) -> Result<Logout> {
        match self.broken.get(server) {
            Some(failure) => Err(failure.clone()),
            None => self.bridge.logout(server).await,
        }
    }

    /// Whether a person is signed in to a server.
    pub(crate) fn login_state(&self, server: &ServerName) -> Result<LoginState> {
        match self.broken.get(server) {
            Some(failure) => Err(failure.clone()),
            None => self.bridge.login_state(server),
        }
    }

    /// Compares what a server says about its tools with what was trusted.
    pub(crate) async fn review(&self, server: &ServerName) -> Result<ServerReview> {
        let now = self.definitions(server).await?;
        let mut trusted: BTreeMap<String, TrustedDefinition> =
            self.trusted_tools(server)?.into_iter().map(|tool| (tool.tool.clone(), tool)).collect();
        let (mut new, mut changed, mut unchanged) = (Vec::new(), Vec::new(), Vec::new());
        for (_, tool) in now.iter() {
            let tool = Definition::clone(tool);
            match trusted.remove(&tool.name) {
                None => new.push(tool),
                Some(before) if before.digest == tool.digest(server) => unchanged.push(tool),
                Some(before) => changed.push((parse_definition(&before)?, tool)),
            }
        }
        let gone = trusted.into_keys().collect();
        let collisions = now.collisions().map(|(name, tools)| (name.to_string(), tools.to_vec())).collect();
        Ok(ServerReview { server: server.clone(), new, changed, gone, unchanged, collisions })
    }

    /// Returns the trusted definitions of a server; those that code cannot call are left out.
    pub(crate) fn trusted(&self, server: &ServerName) -> Result<Vec<Definition>> {
        let trusted = self.trusted_tools(server)?;
        let definitions = trusted.iter().map(parse_definition).collect::<Result<Vec<Definition>>>()?;
        Ok(definitions.into_iter().filter(|tool| tool.code_name().is_some()).collect())
    }

    /// Trusts the tools of a server as a review showed them.
    pub(crate) fn trust(&self, review: &ServerReview, by: &str) -> Result<()> {
        let all = review.new.iter().chain(review.changed.iter().map(|(_, now)| now)).chain(&review.unchanged);
        self.replace_trusted(&review.server, all, by)
    }

    fn replace_trusted<'d>(
        &self,
        server: &ServerName,
        tools: impl IntoIterator<Item = &'d Definition>,
        by: &str,
    ) -> Result<()> {
        let Some(store) = &self.trust.store else {
            let mut trusted = self.trusted.lock().unwrap_or_else(PoisonError::into_inner);
            trusted.retain(|(known, _), _| known != server);
            trusted.extend(tools.into_iter().map(|tool| ((server.clone(), tool.name.clone()), tool.digest(server))));
            return Ok(());
        };
        let rows: Vec<TrustedDefinition> = tools
            .into_iter()
            .map(|tool| TrustedDefinition {
                tool: tool.name.clone(),
                digest: tool.digest(server),
                form: serde_json::to_string(tool).unwrap_or_default(),
            })
            .collect();
        let now: Timestamp = (self.trust.clock)();
        let mut event = AuditEvent::new(Action::TrustServer, now);
        event.details.decided_by = Some(by.to_owned());
        store.with_audit(event).trust_server_tools(server, &rows, by, now).map_err(|fault| store_error(&fault))
    }

    fn trusted_tools(&self, server: &ServerName) -> Result<Vec<TrustedDefinition>> {
        match &self.trust.store {
            Some(store) => store.trusted_definitions().trusted(server).map_err(|fault| store_error(&fault)),
            None => Ok(Vec::new()),
        }
    }

    fn trusted_digest(&self, server: &ServerName, tool: &str) -> Result<Option<Hash>> {
        match &self.trust.store {
            Some(store) => store.trusted_definitions().digest(server, tool).map_err(|fault| store_error(&fault)),
            None => {
                let trusted = self.trusted.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(trusted.get(&(server.clone(), tool.to_owned())).copied())
            }
        }
    }

    /// Refuses a definition that is not trusted.
    fn check_trusted(&self, server: &ServerName, tool: &Definition, all: &Definitions) -> Result<()> {
        let digest = tool.digest(server);
        let name = format!("{server}.{}", tool.name);
        match self.trusted_digest(server, &tool.name)? {
            Some(trusted) if trusted == digest => Ok(()),
            Some(_) => Err(error_without_effects(
                "NotAllowedError",
                "server-tool-changed",
                format!(
                    "the server has changed the definition of `{name}` since it was trusted; `toolcell servers diff {server}` \
                     shows how, and `toolcell servers trust {server}` trusts it"
                ),
            )),
            None if self.trust.on_first_sight && self.is_unknown(server)? => {
                self.replace_trusted(server, all.iter().map(|(_, tool)| &**tool), TRUSTED_BY_POLICY)
            }
            None => Err(error_without_effects(
                "NotAllowedError",
                "server-tool-new",
                format!(
                    "the definition of `{name}` is not trusted yet; `toolcell servers diff {server}` shows it, and \
                     `toolcell servers trust {server}` trusts it"
                ),
            )),
        }
    }

    /// Whether nothing of a server is trusted.
    fn is_unknown(&self, server: &ServerName) -> Result<bool> {
        match &self.trust.store {
            Some(_) => Ok(self.trusted_tools(server)?.is_empty()),
            None => {
                let trusted = self.trusted.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(!trusted.keys().any(|(known, _)| known == server))
            }
        }
    }

    /// Returns which definitions of a server may be shown and called.
    fn trust_of(&self, server: &ServerName) -> Result<Trust> {
        if self.trust.on_first_sight && self.is_unknown(server)? {
            return Ok(Trust::Any);
        }
        let stored = self.trusted_tools(server)?.into_iter().map(|tool| tool.digest);
        let trusted = self.trusted.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = trusted.iter().filter(|((known, _), _)| known == server).map(|(_, digest)| *digest);
        Ok(Trust::Digests(stored.chain(kept).collect()))
    }

    fn believes(&self, server: &ServerName) -> bool {
        self.believed.contains(server)
    }
}

impl ServerAccess {
    /// Whether a call must be held in a run whose effects are. `request` need not be granted.
    pub(super) fn must_be_held(&self, request: &ServerCallRequest) -> bool {
        !self.is_known_to_read(request).unwrap_or_default()
    }

    /// Whether the trusted definition of a tool says that it reads, and the policy believes it.
    fn is_known_to_read(&self, request: &ServerCallRequest) -> Option<bool> {
        let (server, _) = self.grants.get(&request.server)?;
        let servers = self.servers.as_ref().ok()?;
        if !servers.believes(server) {
            return Some(false);
        }
        let name = ServerToolName::parse(&request.tool).ok()?;
        let trusted = servers.trusted_tools(server).ok()?;
        let definitions = trusted.iter().filter_map(|tool| parse_definition(tool).ok());
        let named: Vec<Definition> = definitions.filter(|tool| tool.code_name().as_ref() == Some(&name)).collect();
        // A name of several tools is refused later. Of a tool that is not trusted, nothing is known.
        Some(!named.is_empty() && named.iter().all(Definition::claims_to_read))
    }

    /// Starts a host call, whose result goes to the queue.
    pub(super) fn start(
        &self,
        background: &Handle,
        id: u32,
        operation: ServerOperation,
        queue: Arc<CompletionQueue>,
    ) -> RunningServerCall {
        let access = self.clone();
        let task = background.spawn(async move {
            let event = match operation {
                ServerOperation::Call(request, may_write) => {
                    let (tool, queue) = (Arc::clone(&access.tool), Arc::clone(&queue));
                    let questions = Arc::new(CallQuestions { id, tool, queue });
                    access.call(questions, request, may_write).await
                }
                ServerOperation::Search(request) => {
                    CompletionEvent::Finished(Completion { id, result: access.search(&request).await })
                }
                ServerOperation::Describe(request) => {
                    CompletionEvent::Finished(Completion { id, result: access.describe(&request).await })
                }
            };
            queue.push(event);
        });
        RunningServerCall(task.abort_handle())
    }

    async fn call(
        &self,
        questions: Arc<CallQuestions>,
        request: ServerCallRequest,
        may_write: MayWrite,
    ) -> CompletionEvent {
        let ServerCallRequest { server, tool, input, .. } = request;
        let id = questions.id;
        let origin = CallOrigin { run: self.run, questions };
        match self.perform((&server, &tool), input.get(), may_write, origin).await {
            Ok((value, reads)) => CompletionEvent::WithEffects {
                completion: Completion { id, result: to_output(&value) },
                effects: Effects::Committed,
                world_effects: if reads { Effects::None } else { Effects::Committed },
            },
            Err(failure) => CompletionEvent::Finished(Completion { id, result: Err(failure) }),
        }
    }

    /// Calls a tool, and returns its result and whether it only read.
    async fn perform(
        &self,
        (server, tool): (&str, &str),
        input: &str,
        may_write: MayWrite,
        origin: CallOrigin,
    ) -> Result<(Value, bool)> {
        let servers = self.servers.as_ref().map_err(Clone::clone)?;
        let (server, definitions, definition) = self.find(server, tool).await?;
        servers.check_trusted(server, &definition, &definitions)?;
        if may_write == MayWrite::No && !self.reads(server, &definition) {
            let message = format!("`{server}.{tool}` no longer only reads: its definition was trusted anew just now");
            return Err(error_without_effects("NotAllowedError", "server-tool-changed", message));
        }
        let wrong =
            |error: serde_json::Error| error_without_effects("TypeError", "operation-invalid", error.to_string());
        let input = serde_json::from_str(input).map_err(wrong)?;
        let result = servers.bridge.call(server, &definition, input, origin).await?;
        Ok((result.value, self.reads(server, &definition)))
    }

    /// Returns a tool that is granted.
    async fn find(&self, server: &str, tool: &str) -> Result<(&ServerName, Arc<Definitions>, Arc<Definition>)> {
        let Some((server, tools)) = self.grants.get(server) else { return Err(self.not_granted(server, tool)) };
        let name = ServerToolName::parse(tool)
            .map_err(|error| error_without_effects("TypeError", "operation-invalid", error.to_string()))?;
        // A grant of no tool of this name is known without the server.
        if !tools.allows(&name, true) {
            return Err(self.not_granted(server.as_str(), name.as_str()));
        }
        let definitions = self.servers.as_ref().map_err(Clone::clone)?.definitions(server).await?;
        let unknown = |message| error_without_effects("TypeError", "server-tool-unknown", message);
        let definition = Arc::clone(definitions.find(server, &name).map_err(unknown)?);
        if !tools.allows(&name, self.reads(server, &definition)) {
            return Err(self.not_granted(server.as_str(), name.as_str()));
        }
        Ok((server, definitions, definition))
    }

    fn reads(&self, server: &ServerName, tool: &Definition) -> bool {
        self.servers.as_ref().is_ok_and(|servers| servers.believes(server)) && tool.claims_to_read()
    }

    fn not_granted(&self, server: &str, tool: &str) -> OperationError {
        let called: String = format!("{server}.{tool}").chars().take(128).collect();
        let message = format!(
            "`{}` is not allowed to call `{called}`; `toolcell grant {} servers={called}` would grant it if the tool requests it",
            self.tool, self.tool,
        );
        error_without_effects("NotAllowedError", "servers-not-granted", message)
    }

    async fn search(&self, request: &ServerSearchRequest) -> Result {
        let limit = request.limit.unwrap_or(DEFAULT_SEARCH_LIMIT).min(MAX_SEARCH_LIMIT) as usize;
        let servers = self.servers.as_ref().map_err(Clone::clone)?;
        let mut asked = Vec::new();
        for server in self.grants.names() {
            let (servers, server) = (Arc::clone(servers), server.clone());
            let task = async move {
                let definitions = servers.definitions(&server).await?;
                let trusted = servers.trust_of(&server)?;
                Ok((server, definitions, trusted))
            };
            // At once: a server that hangs does not hide the others.
            asked.push(tokio::spawn(tokio::time::timeout(SEARCH_TIME, task)));
        }
        let (mut known, mut failures) = (Vec::new(), Vec::new());
        for task in asked {
            match task.await {
                Ok(Ok(Ok(found))) => known.push(found),
                Ok(Ok(Err(failure))) => failures.push(failure),
                Ok(Err(_)) | Err(_) => {
                    let message = "the servers did not list their tools in time";
                    failures.push(error_without_effects("TimeoutError", "server-unreachable", message));
                }
            }
        }
        // One server that fails does not hide the others.
        if known.is_empty()
            && let Some(failure) = failures.pop()
        {
            return Err(failure);
        }
        let granted = known.iter().flat_map(|(server, definitions, trusted)| {
            let tools = self.grants.get(server.as_str()).map(|(_, tools)| tools);
            definitions.iter().filter_map(move |(name, tool)| {
                let allowed = tools.is_some_and(|tools| tools.allows(name, self.reads(server, tool)));
                (allowed && trusted.covers(server, tool)).then_some((server, name, tool))
            })
        });
        let found = search(granted, &request.query, limit);
        let lines: Vec<Value> = found
            .iter()
            .map(|found| json!({ "name": format!("{}.{}", found.server, found.name), "summary": found.tool.summary() }))
            .collect();
        to_output(&lines)
    }

    async fn describe(&self, request: &ServerDescribeRequest) -> Result {
        let Some((server, tool)) = request.tool.split_once('.') else {
            let message = "the name of a server's tool is `server.tool`";
            return Err(error_without_effects("TypeError", "operation-invalid", message));
        };
        let servers = self.servers.as_ref().map_err(Clone::clone)?;
        let (server, definitions, definition) = self.find(server, tool).await?;
        // What a server says of a tool may be meant for the model that reads it.
        servers.check_trusted(server, &definition, &definitions)?;
        to_output(&definition.declaration(Detail::Full))
    }
}

fn parse_definition(trusted: &TrustedDefinition) -> Result<Definition> {
    serde_json::from_str(&trusted.form).map_err(|error| {
        let message = format!("the trusted definition of `{}` in the store cannot be read: {error}", trusted.tool);
        error_without_effects("Error", "operation-failed", message)
    })
}

fn store_error(fault: &toolcell_store::Fault) -> OperationError {
    let message = format!("the trusted definitions cannot be read or written: {fault}");
    error_without_effects("Error", "operation-failed", message)
}
