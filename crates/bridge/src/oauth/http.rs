//! Requests to authorization servers.
//!
//! Invariant: they are encrypted, or stay on this machine; they reach no private address that the policy does not list;
//! no redirect is followed; an answer is bounded in size and time.

use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest};
use toolcell_capabilities::Net;
use url::{Host, Url};

/// The maximum size of an answer in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// The time in which a request has to be answered.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct OAuthHttp {
    net: Net,
    addresses: Vec<IpNet>,
}

impl OAuthHttp {
    pub(super) fn new(net: Net, addresses: Vec<IpNet>) -> Self {
        Self { net, addresses }
    }

    fn check_host(&self, url: &Url) -> Result<(), String> {
        let next = "to allow it, add it to `addresses` in `[servers.NAME]`";
        Net::check_host(url, &self.addresses).map_err(|why| format!("{why}; {next}"))
    }

    /// Revokes a token (RFC 7009, section 2.1). A client with a secret authenticates in the header or in the form (RFC 6749,
    /// section 2.3.1).
    pub(super) async fn revoke(
        &self,
        endpoint: &str,
        token: &str,
        (client, secret): (&str, Option<&str>),
        in_header: bool,
    ) -> Result<(), String> {
        check_url(endpoint)?;
        let url = Url::parse(endpoint).map_err(|error| error.to_string())?;
        self.check_host(&url)?;
        let http = self.net.client(url.scheme(), self.addresses.clone()).await.map_err(|error| error.message)?;
        let header = secret.filter(|_| in_header);
        let fields = [("token", Some(token)), ("client_id", Some(client)), ("client_secret", secret)];
        let fields = if header.is_some() { &fields[..1] } else { &fields[..] };
        let fields = fields.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let mut request = http.post(url).header("content-type", "application/x-www-form-urlencoded").body(form);
        if let Some(secret) = header {
            request = request.basic_auth(form_encoded(client), Some(form_encoded(secret)));
        }
        let answered = request.timeout(TIMEOUT).send().await.map_err(|error| error.without_url().to_string())?;
        if answered.status().is_success() { Ok(()) } else { Err(format!("HTTP {}", answered.status())) }
    }

    async fn perform(&self, request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let request = reqwest::Request::try_from(request.request)?;
        check_url(request.url().as_str())?;
        self.check_host(request.url())?;
        let client = self.net.client(request.url().scheme(), self.addresses.clone()).await;
        let client = client.map_err(|error| error.message)?;
        let mut answer = client.execute(request).await?;
        let mut built = http::Response::builder().status(answer.status());
        // The library would follow a redirect by itself.
        for (name, value) in answer.headers().iter().filter(|(name, _)| **name != http::header::LOCATION) {
            built = built.header(name, value);
        }
        let mut body = Vec::new();
        // The server is asked for its challenge, and may answer with a stream that does not end.
        let kind = answer.headers().get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Ok(built.body(body)?);
        }
        while let Some(piece) = answer.chunk().await? {
            if piece.len() > MAX_ANSWER_BYTES - body.len() {
                return Err(format!("the answer has more than {} KiB", MAX_ANSWER_BYTES >> 10).into());
            }
            body.extend_from_slice(&piece);
        }
        Ok(built.body(body)?)
    }
}

/// Asks an authorization server for its metadata (RFC 8414, section 3), and nothing else: the library would ask for the page at
/// its identifier first.
pub(super) struct IssuerHttp {
    pub(super) http: Arc<OAuthHttp>,
    pub(super) issuer: String,
}

impl OAuthHttpClient for IssuerHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        let path = request.request.uri().path();
        if path.starts_with("/.well-known/oauth-protected-resource") {
            let names = serde_json::json!({ "resource": self.issuer, "authorization_servers": [self.issuer] });
            let answer = http::Response::builder().header(http::header::CONTENT_TYPE, "application/json");
            return Box::pin(async move { Ok(answer.body(names.to_string().into_bytes())?) });
        }
        if !path.contains("/.well-known/") {
            return Box::pin(async { Ok(http::Response::builder().status(404).body(Vec::new())?) });
        }
        self.http.execute(request)
    }
}

impl OAuthHttpClient for OAuthHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let timeout = || format!("the authorization server did not answer within {} s", TIMEOUT.as_secs());
            tokio::time::timeout(TIMEOUT, self.perform(request)).await.map_err(|_| timeout())?
        })
    }
}

/// Checks that what is sent to an endpoint is encrypted, or does not leave this machine.
pub(super) fn check_url(text: &str) -> Result<(), String> {
    let url = Url::parse(text).map_err(|error| format!("`{text}`: {error}"))?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let has_user = !url.username().is_empty() || url.password().is_some();
    if !has_user && (url.scheme() == "https" || url.scheme() == "http" && is_local) {
        Ok(())
    } else {
        Err(format!("`{url}` is not a URL of an authorization server: `https://…`, without a user name"))
    }
}

/// Encodes a text as a form does.
fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_encrypted_or_local() {
        for good in ["https://auth.example/x", "http://127.0.0.1:9/token", "http://localhost/a", "http://[::1]:1/"] {
            check_url(good).unwrap();
        }
        for bad in [
            "http://auth.example/token",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "http://127.0.0.1.evil/",
            "https://accounts.example@evil/",
            "x",
        ] {
            check_url(bad).unwrap_err();
        }
    }
}
