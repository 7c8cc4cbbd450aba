//! Sets up the MCP servers of the policy, with the values of their secrets.
//!
//! Invariant: a server that cannot be set up, such as for lack of a secret, does not keep the others from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::runtime::Handle;
use toolcell_bridge::{
    CredentialStorage, GrantType, HttpAuth, OAuthConfig, Program, ServerAddress, ServerConfig, unknown_server,
};
use toolcell_capabilities::Secret;
use toolcell_policy::{
    ApprovalMode, OAuth, OAuthGrant, Policy, ServerAuth, ServerDefinition, ServerHints, ServerTransport,
};
use toolcell_store::Store;
use toolcell_tool::{SecretName, ServerName, ServersGrant};

use super::error::{Result, error_without_effects};
use super::questions::QuestionRoute;
use super::resources::{ResourceContext, Resources};
use super::servers::{ServerAccess, Servers, TrustConfig};

impl Resources {
    /// Returns the servers, which are set up on first use; none is started.
    pub(crate) fn servers(&self, context: ResourceContext<'_>) -> Result<Arc<Servers>> {
        if let Some(servers) = self.servers.get() {
            return Ok(Arc::clone(servers));
        }
        let made = Arc::new(self.set_up_servers(context)?);
        Ok(Arc::clone(self.servers.get_or_init(|| made)))
    }

    fn set_up_servers(&self, context: ResourceContext<'_>) -> Result<Servers> {
        let policy = context.admission.policy();
        let (mut configs, mut broken) = (Vec::new(), BTreeMap::new());
        for server in policy.servers() {
            match config_of(self, server, context.store) {
                Ok(config) => configs.push(config),
                Err(failure) => drop(broken.insert(server.name.clone(), failure)),
            }
        }
        let on_first_sight = asks_no_person(policy);
        let trust = TrustConfig { store: context.store.cloned(), on_first_sight, clock: self.clock };
        Servers::new(configs, broken, self.net_client().ok(), trust)
    }

    /// Runs a task that asks servers, on the runtime of host calls, and waits for it.
    pub(crate) fn wait_for_servers<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        wait_on(&self.background_handle()?, task)
    }

    /// Returns what runs host calls.
    pub(crate) fn background_handle(&self) -> Result<Handle> {
        self.background.handle().map_err(|error| error_without_effects("Error", "operation-failed", error.to_string()))
    }

    /// Returns what a run may call; `None` if that is nothing.
    pub(super) fn open_servers(
        &self,
        context: ResourceContext<'_>,
        grants: &ServersGrant,
        (tool, questions): (&str, &Arc<QuestionRoute>),
    ) -> Option<ServerAccess> {
        if grants.is_empty() {
            return None;
        }
        // A run that calls none does not need them.
        let servers = self.servers(context);
        Some(ServerAccess { servers, grants: Arc::new(grants.clone()), tool: tool.into(), run: questions.run })
    }
}

/// Runs a task on a runtime, and waits for it.
pub(crate) fn wait_on<T: Send + 'static>(
    runtime: &Handle,
    task: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let (send, receive) = std::sync::mpsc::channel();
    drop(runtime.spawn(async move { send.send(task.await) }));
    let ended = |_| error_without_effects("Error", "operation-failed", "the task was ended".to_owned());
    receive.recv().map_err(ended)?
}

/// Whether the policy has tools run without asking a person.
fn asks_no_person(policy: &Policy) -> bool {
    policy.approval().0 == ApprovalMode::Auto
}

/// Returns the configuration of a server, with the values of its secrets.
fn config_of(resources: &Resources, server: &ServerDefinition, store: Option<&Arc<Store>>) -> Result<ServerConfig> {
    let wrong = |why: String| {
        let message = format!("the server `{}` is not started: {why}", server.name);
        error_without_effects("Error", "server-unreachable", message)
    };
    let mut secrets = Vec::new();
    for name in server.secrets() {
        let Some(value) = (resources.secrets)(name) else {
            return Err(wrong(format!(
                "the secret `{name}` is not set; set `TOOLCELL_SECRET_{name}` in the environment"
            )));
        };
        let secret = Secret::parse(value.clone()).map_err(|error| wrong(format!("the secret `{name}`: {error}")))?;
        secrets.push((name.to_string(), secret, value));
    }
    let value = |wanted: &SecretName| {
        let found = secrets.iter().find(|(name, ..)| name == wanted.as_str());
        found.map(|(.., value)| value.clone()).ok_or_else(|| wrong(format!("the secret `{wanted}` is not set")))
    };
    let transport = match &server.transport {
        ServerTransport::Command { command, folder, environment } => {
            let filled = environment.iter().map(|(name, text)| Ok((name.clone(), text.fill(value)?)));
            let environment = filled.collect::<Result<_>>()?;
            ServerAddress::Program(Program { command: command.clone(), folder: folder.clone(), environment })
        }
        ServerTransport::Http { url, auth, addresses } => ServerAddress::Http {
            url: url.clone(),
            auth: match auth {
                None => HttpAuth::None,
                Some(ServerAuth::Bearer(secret)) => HttpAuth::Bearer(value(secret)?),
                Some(ServerAuth::OAuth(oauth)) => {
                    let storage = store.map(|store| KeptCredentials::new(store, &server.name));
                    HttpAuth::OAuth(oauth_config(oauth, storage, value)?)
                }
            },
            addresses: addresses.iter().copied().collect(),
        },
    };
    Ok(ServerConfig {
        name: server.name.clone(),
        transport,
        secrets: secrets.into_iter().map(|(name, secret, _)| (name, secret)).collect(),
        timeout: server.timeout,
        believes_hints: server.hints == ServerHints::Believe,
    })
}

/// Returns how access tokens are obtained, with the value of the client secret.
fn oauth_config(
    oauth: &OAuth,
    storage: Option<Arc<dyn CredentialStorage>>,
    value: impl Fn(&SecretName) -> Result<String>,
) -> Result<OAuthConfig> {
    let grant = match &oauth.grant {
        OAuthGrant::AuthorizationCode { client, redirect_port } => {
            let client = client.as_ref().map(|client| {
                let secret = client.secret.as_ref().map(&value).transpose()?;
                Ok((client.id.clone(), secret))
            });
            GrantType::AuthorizationCode { client: client.transpose()?, redirect_port: *redirect_port }
        }
        OAuthGrant::ClientCredentials { id, secret } => {
            GrantType::ClientCredentials { id: id.clone(), secret: value(secret)? }
        }
    };
    Ok(OAuthConfig { grant, issuer: oauth.issuer.clone(), scopes: oauth.scopes.clone(), storage })
}

/// The credentials of a server in a store.
struct KeptCredentials {
    store: Arc<Store>,
    server: ServerName,
}

impl KeptCredentials {
    #[expect(clippy::new_ret_no_self, reason = "the bridge knows the trait alone")]
    fn new(store: &Arc<Store>, server: &ServerName) -> Arc<dyn CredentialStorage> {
        Arc::new(Self { store: Arc::clone(store), server: server.clone() })
    }
}

impl CredentialStorage for KeptCredentials {
    fn load(&self) -> std::result::Result<Option<String>, String> {
        self.store.server_credentials().read(&self.server).map_err(|fault| fault.to_string())
    }

    fn save(&self, text: &str) -> std::result::Result<(), String> {
        self.store.server_credentials().replace(&self.server, text).map_err(|fault| fault.to_string())
    }

    fn delete(&self) -> std::result::Result<bool, String> {
        self.store.server_credentials().delete(&self.server).map_err(|fault| fault.to_string())
    }

    fn lock(&self) -> std::result::Result<Box<dyn Send>, String> {
        let lock = self.store.server_credentials().lock(&self.server).map_err(|fault| fault.to_string())?;
        Ok(Box::new(lock))
    }
}

/// Returns the error for a server that is not configured.
pub(crate) fn check_known(policy: &Policy, name: &str) -> Result<ServerName> {
    let known = policy.servers().iter().find(|server| server.name.as_str() == name);
    known.map(|server| server.name.clone()).ok_or_else(|| unknown_server(name))
}
