//! Access tokens for a server over HTTP (OAuth 2.1; MCP 2026-07-28, basic/authorization).
//!
//! ```text
//! OAuth ─ access_token(): the current one; else a refresh (RFC 6749, section 6) or an exchange (section 4.4)
//!       └ login(): a Login, which ends with the browser's return (RFC 8252, section 7.3)
//! ```
//!
//! Invariant: tokens and client secrets are sent to the authorization server that issued them, and access tokens to the
//! server that they were issued for: its URL is kept with them. A server that names another authorization server than before
//! gets no token refreshed there. Each token is taken out of what the server says before it is used.

mod client;
mod http;
mod login;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ipnet::IpNet;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig, CredentialStore as _,
    InMemoryCredentialStore, OAuthClientConfig, OAuthHttpClient, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use toolcell_capabilities::Net;
use url::Url;

pub(crate) use client::{AuthenticatedClient, Authentication};
pub use login::Login;

use crate::error::cause_of;
use crate::redaction::Redaction;
use http::{IssuerHttp, OAuthHttp};

/// How long before its end a token is renewed, if it is valid for longer than twice that.
const RENEWAL_TIME: Duration = Duration::from_secs(30);

/// The time in which at most [`MAX_REFUSALS`] tokens are renewed because the server refuses them.
const REFUSAL_INTERVAL: Duration = Duration::from_mins(1);
/// The maximum number of renewals in [`REFUSAL_INTERVAL`]. A server that refuses a newly issued token uses all of them up.
const MAX_REFUSALS: usize = 8;

/// How access tokens are obtained.
#[derive(Clone)]
pub struct OAuthConfig {
    /// The grant type, and who this is to the authorization server.
    pub grant: GrantType,
    /// The identifier of the authorization server; `None` if the server may name any.
    pub issuer: Option<String>,
    /// The scopes that are requested; empty for those that the server asks for.
    pub scopes: Vec<String>,
    /// Where the tokens of a person are kept; `None` if they are not.
    pub storage: Option<Arc<dyn CredentialStorage>>,
}

/// The grant type (RFC 6749, section 1.3).
#[derive(Clone)]
pub enum GrantType {
    /// A person signs in.
    AuthorizationCode {
        /// The identifier and the secret of the client; `None` to register one (RFC 7591).
        client: Option<(String, Option<String>)>,
        /// The port of 127.0.0.1 to which the browser returns; `None` for any.
        redirect_port: Option<u16>,
    },
    /// This process acts for itself.
    ClientCredentials {
        /// The identifier of the client.
        id: String,
        /// The secret of the client.
        secret: String,
    },
}

/// Where the credentials of a server are kept between processes.
pub trait CredentialStorage: Send + Sync {
    /// Returns what was saved last.
    ///
    /// # Errors
    /// What went wrong.
    fn load(&self) -> Result<Option<String>, String>;

    /// Keeps credentials, in place of those that are kept.
    ///
    /// # Errors
    /// What went wrong.
    fn save(&self, text: &str) -> Result<(), String>;

    /// Deletes the credentials; whether there were any.
    ///
    /// # Errors
    /// What went wrong.
    fn delete(&self) -> Result<bool, String>;

    /// Keeps other processes from replacing the credentials until the result is dropped.
    ///
    /// # Errors
    /// What went wrong.
    fn lock(&self) -> Result<Box<dyn Send>, String>;
}

/// Why there is no access token.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// A person has to sign in.
    LoginRequired(String),
    /// The authorization server cannot be used now.
    Failed(String),
}

impl Failure {
    pub(crate) fn message(&self) -> &str {
        let (Self::LoginRequired(message) | Self::Failed(message)) = self;
        message
    }
}

/// Whether a person is signed in to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginState {
    /// No person has to sign in.
    NotNeeded,
    /// A person is signed in, as far as is known here: the server may say otherwise.
    SignedIn,
    /// A person has to sign in.
    Required,
}

/// What a sign-out did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logout {
    /// There were no tokens.
    NoTokens,
    /// The tokens are deleted and revoked.
    Revoked,
    /// The tokens are deleted, and valid until they expire.
    NotRevoked {
        /// Why they are not revoked.
        reason: String,
    },
}

/// The credentials of a server as they are kept.
#[derive(Serialize, Deserialize, Clone)]
struct Kept {
    /// The URL of the server that the tokens are for.
    url: String,
    /// The client secret that the authorization server issued when the client was registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    /// The identifier of the client, the tokens, their scopes and their issuer.
    credentials: StoredCredentials,
}

impl Kept {
    fn access_token(&self) -> Option<&str> {
        use oauth2::TokenResponse as _;
        self.credentials.token_response.as_ref().map(|tokens| tokens.access_token().secret().as_str())
    }

    fn refresh_token(&self) -> Option<&str> {
        use oauth2::TokenResponse as _;
        let tokens = self.credentials.token_response.as_ref()?;
        tokens.refresh_token().map(|token| token.secret().as_str())
    }

    /// Whether the access token can still be used, as far as its time is known.
    fn is_current(&self) -> bool {
        use oauth2::TokenResponse as _;
        let Some(tokens) = &self.credentials.token_response else { return false };
        let (Some(lifetime), Some(received)) = (tokens.expires_in(), self.credentials.token_received_at) else {
            return true;
        };
        let age = Duration::from_secs(now().saturating_sub(received));
        lifetime.saturating_sub(RENEWAL_TIME.min(lifetime / 2)) > age
    }
}

/// What talks to the authorization server, where it puts tokens, and what the server says of itself.
type Discovered = (AuthorizationManager, InMemoryCredentialStore, AuthorizationMetadata);

/// The access tokens of a server.
pub(crate) struct OAuth {
    url: Url,
    config: OAuthConfig,
    http: Arc<OAuthHttp>,
    redaction: Arc<Redaction>,
    /// The tokens that are used. The lock is held while they are renewed.
    current: Mutex<Current>,
}

/// The tokens that are used.
#[derive(Default)]
struct Current {
    kept: Option<Kept>,
    /// When tokens were renewed because the server had refused one, at most [`MAX_REFUSALS`] of them.
    refusals: Vec<Instant>,
}

impl OAuth {
    pub(crate) fn new(
        url: Url,
        config: OAuthConfig,
        net: Net,
        addresses: Vec<IpNet>,
        redaction: Arc<Redaction>,
    ) -> Self {
        Self { url, config, http: Arc::new(OAuthHttp::new(net, addresses)), redaction, current: Mutex::default() }
    }

    /// Returns the access token to send. `refused` is one that the server did not accept.
    pub(crate) async fn access_token(&self, refused: Option<&str>) -> Result<String, Failure> {
        let mut current = self.current.lock().await;
        if let Some(token) = usable(current.kept.as_ref(), refused) {
            return Ok(token.to_owned());
        }
        current.refusals.retain(|at| at.elapsed() < REFUSAL_INTERVAL);
        if refused.is_some() && current.refusals.len() >= MAX_REFUSALS {
            let kept = self.signed_in_meanwhile(refused)?;
            let token = kept.access_token().unwrap_or_default().to_owned();
            *current = Current { kept: Some(kept), refusals: Vec::new() };
            return Ok(token);
        }
        let renewed = match &self.config.grant {
            GrantType::ClientCredentials { id, secret } => self.exchange(id, secret).await?,
            GrantType::AuthorizationCode { client, .. } => self.restore(client.as_ref(), refused).await?,
        };
        self.keep_secret(&renewed)?;
        if refused.is_some() {
            current.refusals.push(Instant::now());
        }
        let token = renewed.access_token().map(str::to_owned);
        current.kept = Some(renewed);
        token.ok_or_else(|| Failure::Failed("the authorization server issued no access token".to_owned()))
    }

    /// Notes that the server refused a token that was issued because it had refused another one: it may refuse each.
    pub(super) async fn note_refused_anew(&self, token: &str) {
        let mut current = self.current.lock().await;
        // Of a token that was replaced meanwhile, it says nothing.
        if current.kept.as_ref().is_some_and(|kept| kept.access_token() == Some(token)) {
            current.refusals = vec![Instant::now(); MAX_REFUSALS];
        }
    }

    /// Returns the tokens of a person who has signed in, in another process, since the server refused this token.
    fn signed_in_meanwhile(&self, refused: Option<&str>) -> Result<Kept, Failure> {
        let kept = match self.config.grant {
            GrantType::AuthorizationCode { .. } => self.load().map_err(Failure::Failed)?,
            GrantType::ClientCredentials { .. } => None,
        };
        let kept = kept.filter(|kept| self.check_kept(kept).is_ok() && usable(Some(kept), refused).is_some());
        let kept = kept.ok_or_else(|| {
            let why = "the server refuses newly issued tokens, too; another one is requested after a minute";
            Failure::Failed(why.to_owned())
        })?;
        self.keep_secret(&kept)?;
        Ok(kept)
    }

    /// Whether a person is signed in.
    pub(crate) fn state(&self) -> Result<LoginState, String> {
        if matches!(self.config.grant, GrantType::ClientCredentials { .. }) {
            return Ok(LoginState::NotNeeded);
        }
        let can_be_used =
            |kept: &Kept| self.check_kept(kept).is_ok() && (kept.is_current() || kept.refresh_token().is_some());
        let kept = self.load()?.filter(can_be_used);
        Ok(if kept.is_some() { LoginState::SignedIn } else { LoginState::Required })
    }

    /// Checks that tokens are of the client and of the authorization server that the policy names.
    fn check_kept(&self, kept: &Kept) -> Result<(), Failure> {
        if let GrantType::AuthorizationCode { client: Some((id, _)), .. } = &self.config.grant
            && *id != kept.credentials.client_id
        {
            return Err(Failure::LoginRequired("the sign-in was for another `client_id`".to_owned()));
        }
        let Some(issuer) = &kept.credentials.issuer else {
            return Err(Failure::LoginRequired("it is not known who issued the tokens".to_owned()));
        };
        if self.config.issuer.as_ref().is_some_and(|wanted| wanted != issuer) {
            return Err(Failure::LoginRequired("the sign-in was at another `issuer`".to_owned()));
        }
        Ok(())
    }

    /// Returns the tokens that are kept, if they can be used; else gets others for the refresh token.
    async fn restore(&self, client: Option<&(String, Option<String>)>, refused: Option<&str>) -> Result<Kept, Failure> {
        let kept = self.load().map_err(Failure::Failed)?;
        let Some(kept) = kept else {
            return Err(Failure::LoginRequired("nobody has signed in".to_owned()));
        };
        self.check_kept(&kept)?;
        if usable(Some(&kept), refused).is_some() {
            return Ok(kept);
        }
        if kept.refresh_token().is_none() {
            let why = "the sign-in has expired, and the authorization server issued no refresh token";
            return Err(Failure::LoginRequired(why.to_owned()));
        }
        // Another process may have got new tokens in the meantime: this refresh token would be used a second time.
        let _lock = self.lock_storage().await.map_err(Failure::Failed)?;
        let Some(kept) = self.load().map_err(Failure::Failed)? else {
            return Err(Failure::LoginRequired("nobody is signed in any more".to_owned()));
        };
        if usable(Some(&kept), refused).is_some() {
            return Ok(kept);
        }
        let refreshed = self.refresh(client, kept).await?;
        // The old refresh token may be used up: the new ones serve this process at least.
        if let Err(why) = self.save(&refreshed) {
            tracing::warn!(why, "refreshed tokens of a server cannot be kept");
        }
        Ok(refreshed)
    }

    async fn refresh(&self, client: Option<&(String, Option<String>)>, kept: Kept) -> Result<Kept, Failure> {
        self.keep_secret(&kept)?;
        let (mut manager, memory, _) = self.manager(kept.credentials.issuer.as_deref()).await?;
        let secret = client.and_then(|(_, secret)| secret.clone()).or_else(|| kept.client_secret.clone());
        let mut config = OAuthClientConfig::new(kept.credentials.client_id.clone(), self.url.as_str());
        config.client_secret = secret;
        manager.configure_client(config).map_err(|error| failed(&error))?;
        memory.save(kept.credentials.clone()).await.map_err(|error| failed(&error))?;
        match manager.refresh_token().await {
            Ok(_) => {}
            Err(error @ (AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_))) => {
                return Err(Failure::LoginRequired(format!("the sign-in has ended: {}", text_of(&error))));
            }
            Err(error) => return Err(failed(&error)),
        }
        self.obtained(&memory, kept.client_secret).await
    }

    /// Gets an access token for the client itself.
    async fn exchange(&self, id: &str, secret: &str) -> Result<Kept, Failure> {
        let (mut manager, memory, _) = self.manager(None).await?;
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: id.to_owned(),
            client_secret: secret.to_owned(),
            scopes: self.config.scopes.clone(),
            resource: Some(self.url.to_string()),
        };
        manager.validate_client_credentials_metadata(&config).map_err(|error| failed(&error))?;
        manager.configure_client_credentials(&config).map_err(|error| failed(&error))?;
        manager.exchange_client_credentials(&config).await.map_err(|error| failed(&error))?;
        self.obtained(&memory, None).await
    }

    /// Keeps what the authorization server issued for a person who signed in.
    async fn sign_in(&self, memory: &InMemoryCredentialStore, client_secret: Option<String>) -> Result<(), Failure> {
        let kept = self.obtained(memory, client_secret).await?;
        let mut current = self.current.lock().await;
        let _lock = self.lock_storage().await.map_err(Failure::Failed)?;
        self.save(&kept).map_err(Failure::Failed)?;
        *current = Current { kept: Some(kept), refusals: Vec::new() };
        Ok(())
    }

    /// Has the authorization server revoke the tokens (RFC 7009).
    async fn revoke(&self, kept: &Kept) -> Result<(), Failure> {
        self.keep_secret(kept)?;
        let (_, _, metadata) = self.manager(kept.credentials.issuer.as_deref()).await?;
        let endpoint = metadata.additional_fields.get("revocation_endpoint").and_then(serde_json::Value::as_str);
        let endpoint = endpoint.ok_or_else(|| Failure::Failed("the authorization server revokes none".to_owned()))?;
        let Some(token) = kept.refresh_token().or(kept.access_token()) else { return Ok(()) };
        let secret = match &self.config.grant {
            GrantType::AuthorizationCode { client: Some((_, secret)), .. } => secret.as_deref(),
            _ => kept.client_secret.as_deref(),
        };
        let client = (kept.credentials.client_id.as_str(), secret);
        let basic = takes_basic(&metadata);
        self.http.revoke(endpoint, token, client, basic).await.map_err(Failure::Failed)
    }

    /// Returns what the authorization server issued.
    async fn obtained(&self, memory: &InMemoryCredentialStore, client_secret: Option<String>) -> Result<Kept, Failure> {
        let credentials = memory.load().await.map_err(|error| failed(&error))?;
        let credentials =
            credentials.ok_or_else(|| Failure::Failed("the authorization server issued no token".to_owned()))?;
        let kept = Kept { url: self.url.to_string(), client_secret, credentials };
        self.keep_secret(&kept)?;
        Ok(kept)
    }

    /// Finds the authorization server. `issuer` is the one that issued the tokens that are kept.
    async fn manager(&self, issuer: Option<&str>) -> Result<Discovered, Failure> {
        let (mut manager, found) = self.discover(&self.url, Arc::clone(&self.http) as _).await?;
        let Some(named) = found.issuer else {
            return Err(Failure::Failed("the metadata of the authorization server has no `issuer`".to_owned()));
        };
        let wanted = self.config.issuer.as_deref().or(issuer).unwrap_or(&named);
        if named != wanted {
            let why = format!("the server names the authorization server `{named}`, and it must be `{wanted}`");
            // Tokens of another server may be had by signing in there; a policy that names one is obeyed.
            return Err(match self.config.issuer {
                Some(_) => Failure::Failed(why),
                None => Failure::LoginRequired(why),
            });
        }
        // What the server names may only claim to be of that issuer: the issuer itself says where its endpoints are.
        let url = Url::parse(wanted).map_err(|error| Failure::Failed(format!("`{wanted}`: {error}")))?;
        let issuer_http = IssuerHttp { http: Arc::clone(&self.http), issuer: wanted.to_owned() };
        let (_, metadata) = self.discover(&url, Arc::new(issuer_http)).await?;
        if metadata.issuer.as_deref() != Some(wanted) {
            return Err(Failure::Failed(format!("`{wanted}` is not an authorization server")));
        }
        for endpoint in [&metadata.authorization_endpoint, &metadata.token_endpoint] {
            http::check_url(endpoint).map_err(Failure::Failed)?;
        }
        manager.set_metadata(metadata.clone());
        let memory = InMemoryCredentialStore::new();
        manager.set_credential_store(memory.clone());
        Ok((manager, memory, metadata))
    }

    async fn discover(
        &self,
        url: &Url,
        http: Arc<dyn OAuthHttpClient>,
    ) -> Result<(AuthorizationManager, AuthorizationMetadata), Failure> {
        let manager = AuthorizationManager::new_with_oauth_http_client(url.clone(), http);
        let manager = manager.await.map_err(|error| failed(&error))?;
        let found = manager.resolve_metadata().await.map_err(|error| failed(&error))?;
        if !found.source.is_discovered() {
            return Err(Failure::Failed(format!("`{url}` names no authorization server (RFC 9728, RFC 8414)")));
        }
        Ok((manager, found.metadata))
    }

    /// Keeps other processes from replacing what is kept.
    async fn lock_storage(&self) -> Result<Option<Box<dyn Send>>, String> {
        let storage = self.config.storage.clone();
        let locking = tokio::task::spawn_blocking(move || storage.map(|storage| storage.lock()).transpose());
        locking.await.map_err(|error| error.to_string())?
    }

    fn load(&self) -> Result<Option<Kept>, String> {
        let Some(storage) = &self.config.storage else { return Ok(None) };
        let Some(text) = storage.load()? else { return Ok(None) };
        let kept: Kept = serde_json::from_str(&text)
            .map_err(|_| "the credentials that are kept cannot be read; sign in again".to_owned())?;
        // Tokens of another URL are not for this server.
        Ok(Some(kept).filter(|kept| kept.url == self.url.as_str()))
    }

    fn save(&self, kept: &Kept) -> Result<(), String> {
        let Some(storage) = &self.config.storage else { return Ok(()) };
        storage.save(&serde_json::to_string(kept).map_err(|error| error.to_string())?)
    }

    /// Takes what is secret out of a text.
    fn redact(&self, text: &str) -> String {
        self.redaction.redactor().redact_text(text)
    }

    fn keep_secret(&self, kept: &Kept) -> Result<(), Failure> {
        let tokens = [kept.access_token(), kept.refresh_token(), kept.client_secret.as_deref()];
        tokens.into_iter().flatten().try_for_each(|token| self.redaction.add(token)).map_err(Failure::Failed)
    }
}

/// Whether the authorization server takes client secrets in the header alone when it revokes (RFC 8414, section 2).
fn takes_basic(metadata: &AuthorizationMetadata) -> bool {
    let methods = ["revocation_endpoint_auth_methods_supported", "token_endpoint_auth_methods_supported"];
    let mut methods = methods.into_iter().filter_map(|name| metadata.additional_fields.get(name)?.as_array());
    let takes = |methods: &[serde_json::Value], wanted: &str| methods.iter().any(|method| method == wanted);
    // Where nothing is said, it is the header.
    methods.next().is_none_or(|all| takes(all, "client_secret_basic") && !takes(all, "client_secret_post"))
}

/// Returns the access token, if it is neither expired nor refused.
fn usable<'k>(kept: Option<&'k Kept>, refused: Option<&str>) -> Option<&'k str> {
    kept.filter(|kept| kept.is_current())?.access_token().filter(|token| Some(*token) != refused)
}

fn failed(error: &AuthError) -> Failure {
    Failure::Failed(text_of(error))
}

/// Returns an error and its causes, which may contain text of the authorization server.
fn text_of(error: &AuthError) -> String {
    cause_of(error)
}

/// Returns the time in seconds since 1970: tokens expire by the clock of the machine, whatever that of a run says.
#[expect(clippy::disallowed_methods, reason = "tokens expire by the clock of the machine")]
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
