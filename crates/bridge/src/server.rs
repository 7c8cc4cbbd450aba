//! A server: its connection, which is made on first use and made anew when it ended, and its tools.
//!
//! Invariant: one connection at a time. What a call may have done before its connection ended is said, and it is not
//! tried again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, CustomResult, InputRequests, InputRequiredResult, InputResponses,
    ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use toolcell_capabilities::Net;
use toolcell_protocol::{Effects, OperationError};

use crate::connection::{Connection, HttpAuth, OpenError, ServerAddress, ServerConfig};
use crate::definitions::{Definition, Definitions};
use crate::error::{error, shortened};
use crate::oauth::{Authentication, GrantType, Login, LoginState, Logout, OAuth};
use crate::questions::{self, Asker, CallInFlight, CallOrigin};
use crate::redaction::Redaction;
use crate::result::{self, CallResult};

/// How long a list of tools is taken for true at most, if the server says nothing.
const LIST_LIFETIME: Duration = Duration::from_mins(5);
/// How long a list of tools is taken for true at least: the server may not have it asked for with every call.
const MIN_LIST_LIFETIME: Duration = Duration::from_secs(1);
/// How long a server that could not be reached is not tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// The maximum number of times that a call is sent, because the server asks for input (MCP 2026-07-28).
const MAX_ROUNDS: u32 = 10;
/// The maximum number of requests for input in one result.
const MAX_INPUT_REQUESTS: usize = 32;
/// How long a server that asks for nothing but another request waits for it, times the number of requests so far.
const ROUND_DELAY: Duration = Duration::from_millis(50);

pub(crate) struct Server {
    config: ServerConfig,
    net: Option<Net>,
    authentication: Authentication,
    redaction: Arc<Redaction>,
    /// Who asks the user something.
    asker: Arc<Asker>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    /// The tools, and until when they are taken for true.
    tools: Option<(Arc<Definitions>, Instant)>,
    /// The last failure to connect.
    failed: Option<(OperationError, Instant)>,
}

impl State {
    /// Returns the connection and the tools, if neither has to be made anew.
    fn ready(&self) -> Option<(Arc<Connection>, Arc<Definitions>)> {
        let connection = self.connection.as_ref().filter(|connection| connection.is_open())?;
        let (tools, _) = self.tools.as_ref().filter(|(_, until)| Instant::now() < *until)?;
        (!connection.has_list_change()).then(|| (Arc::clone(connection), Arc::clone(tools)))
    }
}

impl Server {
    pub(crate) fn new(mut config: ServerConfig, net: Option<Net>) -> Result<Self, OperationError> {
        let redaction = Redaction::new(std::mem::take(&mut config.secrets)).map_err(|failed| {
            error("server-unreachable", Effects::None, format!("the server `{}` is not started: {failed}", config.name))
        })?;
        let redaction = Arc::new(redaction);
        let authentication = match &config.transport {
            ServerAddress::Http { auth: HttpAuth::Bearer(token), .. } => Authentication::Bearer(token.as_str().into()),
            ServerAddress::Http { url, auth: HttpAuth::OAuth(oauth), addresses } => match &net {
                Some(net) => {
                    let (net, addresses, redaction) = (net.clone(), addresses.clone(), Arc::clone(&redaction));
                    Authentication::OAuth(Arc::new(OAuth::new(url.clone(), oauth.clone(), net, addresses, redaction)))
                }
                // Such a server is not reached at all.
                None => Authentication::None,
            },
            ServerAddress::Http { auth: HttpAuth::None, .. } | ServerAddress::Program(_) => Authentication::None,
        };
        let asker = Arc::new(Asker {
            server: config.name.clone(),
            redaction: Arc::clone(&redaction),
            quarantine: config.timeout,
        });
        Ok(Self { config, net, authentication, redaction, asker, state: Mutex::default() })
    }

    /// Returns the connection and the tools that it offers.
    async fn connect(&self) -> Result<(Arc<Connection>, Arc<Definitions>), OperationError> {
        let mut state = self.state.lock().await;
        let open = state.connection.take().filter(|connection| connection.is_open());
        let connection = match open {
            Some(connection) => connection,
            None => {
                state.tools = None;
                if let Some((failure, at)) = &state.failed
                    && at.elapsed() < RETRY_AFTER
                {
                    return Err(failure.clone());
                }
                let redactor = self.redaction.redactor();
                match Connection::open(&self.config, &self.authentication, self.net.as_ref(), &redactor, &self.asker)
                    .await
                {
                    Ok(connection) => Arc::new(connection),
                    Err(failure) => {
                        let failure = self.not_open(failure);
                        state.failed = Some((failure.clone(), Instant::now()));
                        return Err(failure);
                    }
                }
            }
        };
        state.connection = Some(Arc::clone(&connection));
        state.failed = None;
        let known = state.tools.take().filter(|(_, until)| Instant::now() < *until);
        let tools = match known.filter(|_| !connection.take_list_change()) {
            Some((tools, until)) => {
                state.tools = Some((Arc::clone(&tools), until));
                tools
            }
            None => {
                let redactor = self.redaction.redactor();
                let listed = connection.list(Instant::now() + self.config.timeout, &redactor).await;
                let (listed, lifetime) = listed.map_err(|why| {
                    state.connection = None;
                    match connection.take_refusal() {
                        Some(refusal) => self.unauthorized(&refusal),
                        None => self.failed(&why, Effects::None),
                    }
                })?;
                let redacted = listed.iter().filter_map(|tool| self.redact_definition(tool));
                let tools = Arc::new(Definitions::new(redacted));
                let lifetime = lifetime.unwrap_or(LIST_LIFETIME).clamp(MIN_LIST_LIFETIME, LIST_LIFETIME);
                state.tools = Some((Arc::clone(&tools), Instant::now() + lifetime));
                tools
            }
        };
        Ok((connection, tools))
    }

    pub(crate) async fn definitions(self: &Arc<Self>) -> Result<Arc<Definitions>, OperationError> {
        Ok(self.connected().await?.1)
    }

    /// As [`connect`](Self::connect), which goes on when the call that needs it is cancelled: the next one finds the server
    /// ready.
    async fn connected(self: &Arc<Self>) -> Result<(Arc<Connection>, Arc<Definitions>), OperationError> {
        // Most calls find it ready, and need no task for that.
        if let Ok(state) = self.state.try_lock()
            && let Some(ready) = state.ready()
        {
            return Ok(ready);
        }
        let server = Arc::clone(self);
        let connecting = tokio::spawn(async move { server.connect().await });
        connecting.await.unwrap_or_else(|_| Err(self.failed("it was ended", Effects::None)))
    }

    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &Arc<Definition>,
        input: Value,
        origin: CallOrigin,
    ) -> Result<CallResult, OperationError> {
        let input = result::check_input(&self.config.name, tool, input)?;
        let (connection, tools) = self.connected().await?;
        let current = tool.code_name().and_then(|name| tools.find(&self.config.name, &name).ok().cloned());
        if current.is_none_or(|current| !Arc::ptr_eq(&current, tool) && current != *tool) {
            let message = format!("the definition of `{}.{}` has changed just now", self.config.name, tool.name);
            return Err(error("server-tool-changed", Effects::None, message));
        }
        let mut params = CallToolRequestParams::new(tool.name.clone());
        if let Value::Object(input) = input {
            params = params.with_arguments(input);
        }
        let effects = if self.reads(tool) { Effects::None } else { Effects::Started };
        let mut call = connection.calls().begin(origin, &tool.name);
        let answered = call.within(self.config.timeout, self.perform(&connection, &call, params)).await;
        if answered.is_some() {
            call.complete();
        }
        let result = match answered {
            Some(Ok(answer)) => result::read(&self.config.name, tool, answer, effects, &self.redaction.redactor()),
            // The server did not take the call, or passes on an error of a request that its tool made.
            Some(Err(CallFailure::Service(ServiceError::McpError(refusal)))) if is_refusal(refusal.code.0) => {
                let message = format!("`{}.{}`: {}", self.config.name, tool.name, refusal.message);
                let message = shortened(&self.redact(&message));
                Err(error("server-tool-failed", effects, message))
            }
            Some(Err(CallFailure::Service(failure))) => {
                if !matches!(failure, ServiceError::McpError(_)) {
                    self.forget(&connection).await;
                }
                match connection.take_refusal() {
                    // It may be that of another message.
                    Some(refusal) => Err(OperationError { effects, ..self.unauthorized(&refusal) }),
                    None => {
                        let why = connection.why(&failure, &self.redaction.redactor()).await;
                        Err(self.failed(&why, effects))
                    }
                }
            }
            Some(Err(CallFailure::Refused(why))) => Err(self.failed(&why, effects)),
            None => {
                // The server may hang: the next call gets another connection.
                self.forget(&connection).await;
                let why = format!("it did not answer within {} ms", self.config.timeout.as_millis());
                Err(self.failed(&why, effects))
            }
        };
        result.map_err(|mut failure| {
            if let Some(why) = call.unanswered() {
                let asked = "the server asked the user for input, which it did not get";
                failure.message = format!("{}; {asked}: {why}", failure.message);
            }
            failure
        })
    }

    /// Sends a call, and again with what the server asks for in between.
    async fn perform(
        &self,
        connection: &Connection,
        call: &Arc<CallInFlight>,
        mut params: CallToolRequestParams,
    ) -> Result<CallToolResult, CallFailure> {
        for round in 0..MAX_ROUNDS {
            let (asked, state) = match connection.send_call(params.clone()).await? {
                ServerResult::CallToolResult(answer) => return Ok(answer),
                ServerResult::InputRequiredResult(InputRequiredResult { input_requests, request_state, .. }) => {
                    (to_values(input_requests.unwrap_or_default()), request_state)
                }
                // One that the library does not know, such as a question with a nested schema.
                ServerResult::CustomResult(CustomResult(answer)) if answer["resultType"] == "input_required" => {
                    let asked = answer["inputRequests"].as_object().cloned().unwrap_or_default();
                    (asked.into_iter().collect(), answer["requestState"].as_str().map(str::to_owned))
                }
                _ => return Err(ServiceError::UnexpectedResponse.into()),
            };
            if asked.len() > MAX_INPUT_REQUESTS {
                let why = format!("it asks for {} inputs at once, the limit is {MAX_INPUT_REQUESTS}", asked.len());
                return Err(CallFailure::Refused(why));
            }
            if asked.is_empty() {
                if state.is_none() {
                    return Err(ServiceError::UnexpectedResponse.into());
                }
                tokio::time::sleep(ROUND_DELAY * (round + 1)).await;
            }
            let mut answers = InputResponses::new();
            for (key, request) in asked {
                answers.insert(key, self.answer(call, &request).await?);
            }
            params.input_responses = (!answers.is_empty()).then_some(answers);
            params.request_state = state;
        }
        Err(CallFailure::Refused(format!("it asked for more input {MAX_ROUNDS} times, which is the limit")))
    }

    /// Answers a request for input.
    async fn answer(&self, call: &Arc<CallInFlight>, request: &Value) -> Result<Value, CallFailure> {
        match request["method"].as_str() {
            Some(questions::METHOD) => {
                let answer = self.asker.ask_for(call, &request["params"]).await;
                Ok(serde_json::to_value(answer).unwrap_or_default())
            }
            Some("roots/list") => Ok(json!({ "roots": [] })),
            other => {
                let what: String = other.unwrap_or_default().chars().take(64).collect();
                Err(CallFailure::Refused(format!("it asks for `{what}`, which it does not get")))
            }
        }
    }

    /// Lets calls that follow use another connection than this one; those that use it go on.
    async fn forget(&self, connection: &Arc<Connection>) {
        let mut state = self.state.lock().await;
        if state.connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            state.connection = None;
        }
    }

    /// Whether a tool has no side effects, as far as the policy believes the server.
    fn reads(&self, tool: &Definition) -> bool {
        self.config.believes_hints && tool.claims_to_read()
    }

    fn failed(&self, why: &str, effects: Effects) -> OperationError {
        let message = format!("the server `{}` failed: {why}", self.config.name);
        error("server-failed", effects, shortened(&self.redact(&message)))
    }

    fn not_open(&self, why: OpenError) -> OperationError {
        match why {
            OpenError::Unauthorized(why) => self.unauthorized(&why),
            OpenError::Unreachable(why) => {
                let message = format!("the server `{}` cannot be reached: {why}", self.config.name);
                error("server-unreachable", Effects::None, shortened(&self.redact(&message)))
            }
        }
    }

    /// Returns the error for a server that refuses this side.
    fn unauthorized(&self, why: &str) -> OperationError {
        let name = &self.config.name;
        let next = match &self.config.transport {
            ServerAddress::Http { auth: HttpAuth::OAuth(config), .. } => match config.grant {
                GrantType::AuthorizationCode { .. } => format!("sign in with `toolcell servers login {name}`"),
                GrantType::ClientCredentials { .. } => "check the client and its scopes in the policy".to_owned(),
            },
            ServerAddress::Http { auth: HttpAuth::Bearer(_), .. } => "check the secret of its `bearer`".to_owned(),
            _ => format!("set `auth` in `[servers.{name}]` of the policy"),
        };
        let message = format!("the server `{name}` cannot be used: {why}; {next}");
        error("server-unauthorized", Effects::None, shortened(&self.redact(&message)))
    }

    fn redact(&self, text: &str) -> String {
        self.redaction.redactor().redact_text(text)
    }

    /// Starts a sign-in.
    pub(crate) async fn login(&self) -> Result<Login, OperationError> {
        let login = self.oauth()?.login().await;
        login.map_err(|failure| self.failed(failure.message(), Effects::None))
    }

    /// Deletes the tokens of the server, and has them revoked; as [`OAuth::logout`].
    pub(crate) async fn logout(&self) -> Result<Logout, OperationError> {
        let outcome = self.oauth()?.logout().await.map_err(|why| self.failed(&why, Effects::None))?;
        // A session may go on without its token.
        self.state.lock().await.connection = None;
        Ok(match outcome {
            Logout::NotRevoked { reason } => Logout::NotRevoked { reason: shortened(&self.redact(&reason)) },
            other => other,
        })
    }

    pub(crate) fn login_state(&self) -> Result<LoginState, OperationError> {
        match &self.authentication {
            Authentication::OAuth(oauth) => oauth.state().map_err(|why| self.failed(&why, Effects::None)),
            Authentication::None | Authentication::Bearer(_) => Ok(LoginState::NotNeeded),
        }
    }

    fn oauth(&self) -> Result<&Arc<OAuth>, OperationError> {
        let why = || self.failed("nobody signs in to it: `auth` in the policy is not `oauth`", Effects::None);
        match &self.authentication {
            Authentication::OAuth(oauth) => Ok(oauth),
            Authentication::None | Authentication::Bearer(_) => Err(why()),
        }
    }

    /// Takes the secrets of the server out of a definition; `None` if that is not possible.
    fn redact_definition(&self, tool: &Definition) -> Option<Definition> {
        let Definition { name, description, input, output, hints, .. } = tool;
        let all = Value::from_iter([
            ("name", Value::from(name.as_str())),
            ("description", Value::from(description.as_str())),
            ("input", input.clone()),
            ("output", output.clone().unwrap_or_default()),
            ("hints", hints.clone()),
        ]);
        let mut redacted = result::redact(&self.redaction.redactor(), all)?;
        let text = |key: &str| redacted[key].as_str().map(str::to_owned).unwrap_or_default();
        let (name, description) = (text("name"), text("description"));
        let output = output.as_ref().map(|_| redacted["output"].take());
        Some(Definition::new(name, description, redacted["input"].take(), output, redacted["hints"].take()))
    }
}

/// Why a call has no result.
enum CallFailure {
    /// The connection failed, or the server answered with an error.
    Service(ServiceError),
    /// The server wants what it does not get.
    Refused(String),
}

impl From<ServiceError> for CallFailure {
    fn from(error: ServiceError) -> Self {
        Self::Service(error)
    }
}

fn to_values(requests: InputRequests) -> Vec<(String, Value)> {
    requests.into_iter().map(|(key, request)| (key, serde_json::to_value(request).unwrap_or_default())).collect()
}

/// Whether an error code of JSON-RPC says that the request was not performed: invalid request, method or parameters.
fn is_refusal(code: i32) -> bool {
    matches!(code, -32602..=-32600)
}
