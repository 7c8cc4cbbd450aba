//! The requests of one run.
//!
//! Invariant: each hop passes the same gates in the same order: the grants, the secrets, the caps, the address. What an earlier
//! hop did stays done, whatever becomes of a later one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::StatusCode;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, HeaderValue};

use crate::failure::{Effects, Failure};
use crate::net::client::{Clients, Unpacks};
use crate::net::fault::{self, type_error};
use crate::net::grants::{Granted, origin};
use crate::net::hop::{Author, Hop};
use crate::net::redact::Redactor;
use crate::net::redirect::{self, Next};
use crate::net::request::{Asked, Request};
use crate::net::response::{From, Response, Shown};
use crate::net::secret::Secrets;
use crate::net::turns::{Turn, Turns};
use crate::net::unpack::{self, Unpacking};
use crate::net::{RunNet, Shared, field};

/// What one run makes its requests by. It is shared by all of them, and they may be under way at once.
pub struct NetRun {
    shared: Arc<Shared>,
    run: String,
    granted: Arc<Granted>,
    secrets: Secrets,
    /// What finds the secrets that are looked for together, made when it is needed first.
    redactors: Mutex<BTreeMap<Vec<usize>, Arc<Redactor>>>,
    clients: Clients,
    turns: Turns,
}

/// A request that was answered.
struct Sent {
    answer: reqwest::Response,
    /// How much of its answer may be read.
    limit: u64,
    turn: Turn,
    unpacking: Unpacking,
}

impl NetRun {
    pub(super) fn new(shared: Arc<Shared>, run: RunNet) -> Self {
        let RunNet { tool, run, grants, secrets, other_secrets, meters, caller } = run;
        let secrets = Secrets::new(secrets, other_secrets);
        let meter = meters.of(&tool);
        let granted = Arc::new(Granted::new(tool, grants, meter, caller.map(|caller| Arc::clone(&caller.granted))));
        Self {
            shared,
            run,
            granted,
            secrets,
            redactors: Mutex::default(),
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
    /// `secret-misplaced`: it is not granted. `net-range`, `net-coding`: a value could come back so that it is not recognised.
    /// `net-too-many-calls`, `net-rate`, `net-request-too-large`: it is too much.
    /// `net-unreachable`, `net-tls`, `net-broken`, `net-redirect`: there was no answer, or one that leads nowhere.
    pub async fn fetch(&self, id: u32, request: Request) -> Result<Response, Failure> {
        let fetched = self.follow(id, request).await;
        if let Err(failure) = &fetched {
            tracing::debug!(code = failure.code, effects = ?failure.effects, "a request failed");
        }
        match fetched {
            Ok(response) => Ok(response),
            // What is said is searched for all there is: it is short.
            Err(failure) => {
                let redactor = self.redactor(self.secrets.all())?;
                Err(Failure { message: redactor.text(&failure.message), ..failure })
            }
        }
    }

    async fn follow(&self, id: u32, request: Request) -> Result<Response, Failure> {
        let asked = Asked::parse(request)?;
        let redirect = asked.redirect;
        let mut hop = Hop::first(asked, &self.run, id);
        let mut done = Effects::None;
        for _ in 0..=redirect::MOST {
            let known = |failure: Failure| {
                let effects = failure.effects.max(done);
                failure.with(effects)
            };
            let redactor = self.redactor(self.secrets.watched(hop.destination().host)).map_err(known)?;
            let sent = self.send(&hop).await.map_err(known)?;
            done = Effects::Committed;
            let all = self.redactor(self.secrets.all()).map_err(|failure| failure.with(done))?;
            let mentioned = |bytes: &[u8]| -> BTreeSet<usize> { all.mentioned(bytes) };
            let next = redirect::next(&hop, &sent.answer, redirect, &self.secrets, mentioned);
            match next.map_err(|failure| failure.with(done))? {
                Next::Answer => return Ok(answered(hop, sent, &redactor, Shown::Yes)),
                Next::Withheld => return Ok(answered(hop, sent, &redactor, Shown::No)),
                Next::Hop(next) => hop = next,
            }
        }
        let message = format!("{} redirects more than {} times; ask elsewhere", origin(&hop.url), redirect::MOST);
        Err(type_error("net-redirect", message).with(done))
    }

    /// Sends one request.
    async fn send(&self, hop: &Hop) -> Result<Sent, Failure> {
        let mut allowed = self.granted.allow(&hop.url, hop.method)?;
        let mut request = hop.fill(&self.secrets)?;
        // Where some tool may send a secret, what comes back has to be whole, and such that it can be searched.
        let is_held = self.secrets.are_held_for(hop.destination().host);
        if is_held {
            field::must_be_whole(&hop.fields, allowed.origin())?;
            allowed.reach.unpacks = Unpacks::Ourselves;
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(unpack::ACCEPTED));
        }
        let body = request.body().and_then(reqwest::Body::as_bytes).map_or(0, <[u8]>::len);
        let client = self.clients.reaching(allowed.reach.clone(), &self.shared).await?;
        let turn = self.turns.wait(allowed.origin()).await;
        let limit = self.granted.admit(&allowed, body as u64, &self.shared.rates)?;
        let answer = client.execute(request).await;
        let answer = answer.map_err(|error| fault::unanswered(&error, &origin(&hop.url)))?;
        let unpacking = if is_held { searchable(&answer, allowed.origin())? } else { Unpacking::Plain };
        Ok(Sent { answer, limit, turn, unpacking })
    }

    /// What finds some of the secrets.
    fn redactor(&self, places: Vec<usize>) -> Result<Arc<Redactor>, Failure> {
        let mut made = self.redactors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(redactor) = made.get(&places) {
            return Ok(Arc::clone(redactor));
        }
        let redactor = Redactor::new(self.secrets.at(&places)).map_err(|_| {
            type_error("secret-not-granted", "the secrets of this run are too long; grant fewer of them")
        })?;
        Ok(Arc::clone(made.entry(places).or_insert(Arc::new(redactor))))
    }
}

/// Refuses an answer in which a value could come back so that it is not recognised; else says how its body is unpacked.
fn searchable(answer: &reqwest::Response, origin: &str) -> Result<Unpacking, Failure> {
    let why = "a tool may send a secret there, and it could not be recognised in that";
    if answer.status() == StatusCode::PARTIAL_CONTENT || answer.headers().contains_key(CONTENT_RANGE) {
        let message = format!("{origin} answers with a part of the whole: {why}; ask for the whole");
        return Err(type_error("net-range", message).with(Effects::Committed));
    }
    Unpacking::of(answer.headers()).map_err(|codings| {
        let codings = fault::shown(&codings);
        let message = format!("{origin} packs its answer as `{codings}`: {why}; only gzip or deflate is unpacked");
        type_error("net-coding", message).with(Effects::Committed)
    })
}

fn answered(hop: Hop, sent: Sent, redactor: &Arc<Redactor>, location: Shown) -> Response {
    let Sent { answer, limit, turn, unpacking } = sent;
    let (origin, redirected) = (origin(&hop.url), hop.author == Author::Server);
    let from = From { origin, redirected, url: hop.url, limit, turn, unpacking, location };
    Response::new(answer, from, redactor)
}

impl fmt::Debug for NetRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetRun").field("run", &self.run).finish_non_exhaustive()
    }
}
