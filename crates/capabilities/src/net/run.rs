//! The requests of one run.
//!
//! Invariant: each hop passes the same gates in the same order: the grants, the secrets, the caps, the address. What an earlier
//! hop did stays done, whatever becomes of a later one.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::failure::{Effects, Failure};
use crate::net::client::Clients;
use crate::net::fault::{self, type_error};
use crate::net::grants::{Granted, origin};
use crate::net::hop::{Author, Hop};
use crate::net::redact::Redactor;
use crate::net::redirect;
use crate::net::request::{Asked, Request};
use crate::net::response::{From, Response};
use crate::net::secret::Secrets;
use crate::net::turns::{Turn, Turns};
use crate::net::{RunNet, Shared};

/// What one run makes its requests by. It is shared by all of them, and they may be under way at once.
pub struct NetRun {
    shared: Arc<Shared>,
    run: String,
    granted: Granted,
    secrets: Secrets,
    /// Made for the first request. None if the values are too long to be looked for, in which case no request is made.
    redactor: OnceLock<Option<Arc<Redactor>>>,
    clients: Clients,
    turns: Turns,
}

/// A request that was answered.
struct Sent {
    answer: reqwest::Response,
    /// How much of its answer may be read.
    limit: u64,
    turn: Turn,
}

impl NetRun {
    pub(super) fn new(shared: Arc<Shared>, run: RunNet) -> Self {
        let RunNet { tool, run, grants, secrets } = run;
        let secrets = Secrets::new(secrets);
        let granted = Granted::new(tool, grants);
        Self {
            shared,
            run,
            granted,
            secrets,
            redactor: OnceLock::new(),
            clients: Clients::new(),
            turns: Turns::default(),
        }
    }

    /// Makes a request, and waits for the head of its answer. Dropping the future ends the request.
    ///
    /// While 16 requests to an origin are under way, the next one waits for one of them, for 2 ms at most.
    ///
    /// The number of the operation makes the idempotency key of a request that changes something. There is no time limit but
    /// for the connection: the run has a deadline.
    ///
    /// # Errors
    /// `net-url`, `net-header`, `net-body`: that is no request. `net-not-granted`, `net-address`, `secret-not-granted`,
    /// `secret-misplaced`: it is not granted. `net-too-many-calls`, `net-rate`, `net-request-too-large`: it is too much.
    /// `net-unreachable`, `net-tls`, `net-broken`, `net-redirect`: there was no answer, or one that leads nowhere.
    pub async fn fetch(&self, id: u32, request: Request) -> Result<Response, Failure> {
        let redactor = self.redactor.get_or_init(|| Redactor::new(&self.secrets).ok().map(Arc::new));
        let Some(redactor) = redactor else {
            return Err(type_error("secret-not-granted", "the secrets of this run are too long; grant fewer of them"));
        };
        let fetched = self.follow(id, request, redactor).await;
        if let Err(failure) = &fetched {
            tracing::debug!(code = failure.code, effects = ?failure.effects, "a request failed");
        }
        fetched.map_err(|failure| Failure { message: redactor.text(&failure.message), ..failure })
    }

    async fn follow(&self, id: u32, request: Request, redactor: &Arc<Redactor>) -> Result<Response, Failure> {
        let asked = Asked::parse(request)?;
        let redirect = asked.redirect;
        let mut hop = Hop::first(asked, &self.run, id);
        let mut done = Effects::None;
        for _ in 0..=redirect::MOST {
            let known = |failure: Failure| {
                let effects = failure.effects.max(done);
                failure.with(effects)
            };
            let sent = self.send(&hop).await.map_err(known)?;
            done = Effects::Committed;
            let next = redirect::next(&hop, &sent.answer, redirect, &self.secrets, redactor);
            let Some(next) = next.map_err(|failure| failure.with(done))? else {
                return Ok(answered(hop, sent, redactor));
            };
            hop = next;
        }
        let message = format!("{} redirects more than {} times; ask elsewhere", origin(&hop.url), redirect::MOST);
        Err(type_error("net-redirect", message).with(done))
    }

    /// Sends one request.
    async fn send(&self, hop: &Hop) -> Result<Sent, Failure> {
        let allowed = self.granted.allow(&hop.url, hop.method)?;
        let request = hop.fill(&self.secrets)?;
        let body = request.body().and_then(reqwest::Body::as_bytes).map_or(0, <[u8]>::len);
        let client = self.clients.reaching(allowed.reach.clone(), &self.shared).await?;
        let turn = self.turns.wait(allowed.origin()).await;
        let limit = self.granted.admit(&allowed, body as u64, &self.shared.rates)?;
        let answer = client.execute(request).await;
        let answer = answer.map_err(|error| fault::unanswered(&error, &origin(&hop.url)))?;
        Ok(Sent { answer, limit, turn })
    }
}

fn answered(hop: Hop, sent: Sent, redactor: &Arc<Redactor>) -> Response {
    let Sent { answer, limit, turn } = sent;
    let from = From { origin: origin(&hop.url), redirected: hop.author == Author::Server, url: hop.url, limit, turn };
    Response::new(answer, from, redactor)
}

impl fmt::Debug for NetRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetRun").field("run", &self.run).finish_non_exhaustive()
    }
}
