//! Where the servers are, and how a client signs in.
//!
//! Invariant: a password is sent to a server on this machine, or over TLS, unless the URL says `tls=disable`. No error text has one.

use std::fmt;
use std::time::Duration;

use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use rustls::ClientConfig;
use tokio::sync::watch;
use toolcell_i18n::{Message, message};

use super::NatsError;
use super::failure::{ServerFailure, describe, short};
use crate::tls::{client_config, is_loopback, is_untrusted};

/// The port of a server whose URL has none.
const PORT: u16 = 4222;
/// How long a connection to one server is waited for.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// How often an idle connection is checked. It is lost after two checks without an answer.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// How a client signs in to NATS servers. Credentials in a URL are used before these.
#[derive(Clone)]
#[non_exhaustive]
pub enum NatsCredentials {
    /// The content of a `.creds` file: a JWT and the seed of its key.
    File(String),
    /// A user and a password.
    Password {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A token.
    Token(String),
}

impl fmt::Debug for NatsCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::File(_) => "File",
            Self::Password { .. } => "Password",
            Self::Token(_) => "Token",
        };
        formatter.debug_tuple(kind).finish_non_exhaustive()
    }
}

/// The servers of a URL.
#[derive(Clone)]
pub(crate) struct NatsServers {
    addresses: Vec<ServerAddr>,
    requires_tls: bool,
    credentials: Option<NatsCredentials>,
    tls: Option<ClientConfig>,
}

/// What became of a connection after it was made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Health {
    /// Whether it has ended.
    pub(crate) is_lost: bool,
    /// What the server refused without saying which request it was.
    pub(crate) complaint: Option<String>,
}

impl Health {
    /// Waits until the connection has ended.
    pub(crate) async fn lost(health: &mut watch::Receiver<Self>) {
        // Without its sender, the task of the connection has ended.
        let _ = health.wait_for(|health| health.is_lost).await;
    }
}

impl NatsServers {
    /// Reads a URL such as `nats://HOST:PORT,HOST:PORT`.
    pub(crate) fn parse(url: &str, credentials: Option<&NatsCredentials>) -> Result<Self, NatsError> {
        let invalid = |reason| NatsError::Url { reason };
        let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| ["nats", "tls"].contains(scheme)) else {
            return Err(invalid(message!("it does not start with `nats://` or `tls://`")));
        };
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (sign_in, hosts) = match rest.rsplit_once('@') {
            Some((sign_in, hosts)) => (Some(sign_in), hosts),
            None => (None, rest),
        };
        let hosts = hosts.strip_suffix('/').unwrap_or(hosts);
        let mut is_plain = None;
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            is_plain = match parameter {
                "tls=disable" => Some(true),
                "tls=require" => Some(false),
                _ => return Err(invalid(message!("its parameter is neither `tls=disable` nor `tls=require`"))),
            };
        }
        if scheme == "tls" && is_plain == Some(true) {
            return Err(invalid(message!("`tls://` contradicts `tls=disable`")));
        }
        let mut addresses = Vec::new();
        let mut are_near = true;
        for host in hosts.split(',') {
            let address = parse_host(host).ok_or_else(|| match host {
                "" => invalid(message!("it names no host")),
                _ => invalid(message!("its hosts are not of the form HOST:PORT")),
            })?;
            are_near &= is_loopback(address.host());
            addresses.push(address);
        }
        // A server on this machine often has a certificate that is not signed.
        let requires_tls = scheme == "tls" || is_plain.map_or(!are_near, |is_plain| !is_plain);
        let credentials = match sign_in {
            Some(sign_in) => Some(
                parse_sign_in(sign_in)
                    .ok_or_else(|| invalid(message!("its user or password is not percent-encoded")))?,
            ),
            None => credentials.cloned(),
        };
        Ok(Self { addresses, requires_tls, credentials, tls: None })
    }

    /// Sets the root certificates, by which the certificates of servers are checked.
    pub(crate) fn with_tls(self) -> Result<Self, String> {
        let config = client_config()?;
        Ok(Self { tls: Some(config), ..self })
    }

    /// Connects to one of the servers.
    ///
    /// A connection that was lost is not used again, also if the library makes it again: what it still had to send arrives after its
    /// caller was told that it may not. Servers that others name are not used: the URL does not say that they are near.
    pub(crate) async fn open(&self) -> Result<(Client, watch::Receiver<Health>), ServerFailure> {
        let (tell, health) = watch::channel(Health::default());
        let mut options = ConnectOptions::new()
            .name("toolcell")
            .connection_timeout(CONNECT_LIMIT)
            .ping_interval(PING_INTERVAL)
            .request_timeout(None)
            .ignore_discovered_servers()
            .max_reconnects(self.addresses.len())
            .require_tls(self.requires_tls)
            .event_callback(move |event| {
                match event {
                    Event::Disconnected | Event::Closed => {
                        tell.send_modify(|health| health.is_lost = true);
                    }
                    Event::ServerError(error) => {
                        tell.send_modify(|health| health.complaint = Some(short(&error)));
                    }
                    _ => {}
                }
                std::future::ready(())
            });
        if let Some(tls) = &self.tls {
            options = options.tls_client_config(tls.clone());
        }
        options = match &self.credentials {
            Some(NatsCredentials::File(content)) => options.credentials(content).map_err(|_| ServerFailure {
                // The text of the library may quote the file.
                reason: message!("the credentials are not the content of a `.creds` file"),
                is_final: true,
            })?,
            Some(NatsCredentials::Password { user, password }) => {
                options.user_and_password(user.clone(), password.clone())
            }
            Some(NatsCredentials::Token(token)) => options.token(token.clone()),
            None => options,
        };
        let client = options.connect(self.addresses.as_slice()).await?;
        Ok((client, health))
    }
}

impl From<ConnectError> for ServerFailure {
    fn from(error: ConnectError) -> Self {
        // To try again does not help where the sign-in or the certificate of the server is refused.
        let is_final =
            matches!(error.kind(), ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication)
                || is_untrusted(&error);
        Self { reason: Message::verbatim(describe(&error)), is_final }
    }
}

/// Reads `HOST`, `HOST:PORT` or `[IPV6]:PORT`.
fn parse_host(host: &str) -> Option<ServerAddr> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']')?;
            address.parse::<std::net::Ipv6Addr>().ok()?;
            (format!("[{address}]"), rest.strip_prefix(':').or(rest.is_empty().then_some(""))?)
        }
        None => {
            let (name, port) = host.split_once(':').unwrap_or((host, ""));
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_name) {
                return None;
            }
            (name.to_owned(), port)
        }
    };
    let port: u16 = if port.is_empty() { PORT } else { port.parse().ok().filter(|port| *port > 0)? };
    format!("nats://{name}:{port}").parse().ok()
}

/// Reads `USER:PASSWORD` or `TOKEN`.
fn parse_sign_in(text: &str) -> Option<NatsCredentials> {
    Some(match text.split_once(':') {
        Some((user, password)) => {
            NatsCredentials::Password { user: percent_decode(user)?, password: percent_decode(password)? }
        }
        None => NatsCredentials::Token(percent_decode(text)?),
    })
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        if *first == b'%' {
            let (digits, others) = rest.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = others;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(url: &str) -> NatsError {
        NatsServers::parse(url, None).map(drop).unwrap_err()
    }

    #[test]
    fn a_url_that_cannot_be_right_is_refused_without_a_connection() {
        for (url, reason) in [
            ("postgres://localhost", "it does not start with `nats://` or `tls://`"),
            ("localhost:4222", "it does not start with `nats://` or `tls://`"),
            ("nats://", "it names no host"),
            ("nats://a@", "it names no host"),
            ("nats://localhost,", "it names no host"),
            ("nats://local host", "its hosts are not of the form HOST:PORT"),
            ("nats://localhost:0", "its hosts are not of the form HOST:PORT"),
            ("nats://localhost:99999", "its hosts are not of the form HOST:PORT"),
            ("nats://[::1", "its hosts are not of the form HOST:PORT"),
            ("nats://::1", "its hosts are not of the form HOST:PORT"),
            ("nats://localhost/path", "its hosts are not of the form HOST:PORT"),
            ("nats://localhost?tls=never", "its parameter is neither `tls=disable` nor `tls=require`"),
            ("tls://localhost?tls=disable", "`tls://` contradicts `tls=disable`"),
            ("nats://a:%zz@localhost", "its user or password is not percent-encoded"),
        ] {
            let error = error_of(url);
            assert_eq!(error.to_string(), format!("the URL of the NATS server is invalid: {reason}"), "{url}");
            assert_eq!(error.code(), toolcell_error::ErrorCode::RequestInvalid);
        }
    }

    #[test]
    fn no_error_shows_a_password() {
        for url in [
            "http://user:hunter2@localhost",
            "nats://user:hunter2@local host",
            "nats://user:hunter2@localhost:port",
            "nats://user:hunter2@localhost?hunter2",
            "nats://user:hunter2%zz@localhost",
            "nats://user:hunter2",
            "nats://user:hunter2@",
        ] {
            let error = error_of(url);
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
        let credentials = NatsCredentials::Password { user: "a".to_owned(), password: "hunter2".to_owned() };
        assert!(!format!("{credentials:?}").contains("hunter2"));
    }

    #[test]
    fn a_server_on_another_machine_is_reached_over_tls() {
        for (url, expected) in [
            ("nats://localhost", false),
            ("nats://127.0.0.1:4223", false),
            ("nats://[::1]:4223", false),
            ("tls://localhost", true),
            ("nats://localhost?tls=require", true),
            ("nats://nats.example", true),
            ("nats://localhost,10.0.0.1", true),
            ("tls://nats.example:4222,nats.example:4223", true),
            ("nats://nats.example?tls=disable", false),
            ("nats://localhost.example", true),
        ] {
            assert_eq!(NatsServers::parse(url, None).unwrap().requires_tls, expected, "{url}");
        }
    }

    #[test]
    fn a_url_has_several_hosts_and_credentials() {
        let servers = NatsServers::parse("nats://us%40er:p%3Aa:ss@a,b:5000,[::1]:5001/?tls=disable", None).unwrap();
        let hosts: Vec<_> = servers.addresses.iter().map(|address| (address.host(), address.port())).collect();
        assert_eq!(hosts, [("a", 4222), ("b", 5000), ("::1", 5001)]);
        assert!(servers.addresses.iter().all(|address| !address.has_user_pass()));
        let Some(NatsCredentials::Password { user, password }) = servers.credentials else { panic!("no password") };
        assert_eq!((&*user, &*password), ("us@er", "p:a:ss"));
        let given = NatsCredentials::Token("given".to_owned());
        for (url, expected) in [("nats://localhost", "given"), ("nats://own@localhost", "own")] {
            let servers = NatsServers::parse(url, Some(&given)).unwrap();
            assert!(matches!(servers.credentials, Some(NatsCredentials::Token(token)) if token == expected), "{url}");
        }
    }
}
