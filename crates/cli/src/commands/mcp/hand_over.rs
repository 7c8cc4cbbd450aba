//! Hands calls over to the node that has their tool in memory, as messages between nodes.
//!
//! ```text
//! message = tag (32 bytes) ‖ length of the head (4 bytes) ‖ head (JSON) ‖ body of the request or of the answer
//! ```
//!
//! Invariant: a message is accepted only from a node: it is authenticated with the secret of the library, for one receiver and one time.
//! A request is accepted once, so a message that is recorded and sent again runs nothing. Messages are not encrypted; TLS is.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use blake3::Hash;
use serde::{Deserialize, Serialize};
use toolcell::store::LIBRARY_SECRET_BYTES;
use toolcell_mcp::Principal;
use toolcell_mcp::http::{AnswerHandedCall, HandOver, HandOverFuture, HandOverOutcome, HandedAnswer, HandedCall};

use crate::placement::{Placement, call_key};
use crate::wire::{Wire, WireFailure, WireFuture};

/// The context string of key derivation, for domain separation.
const CONTEXT: &str = "toolcell 2026-12 calls between nodes";
/// The size of the authentication tag, in bytes.
const TAG_BYTES: usize = 32;
/// How old a request may be, by the clock of the node that gets it. One that is older, or from the future, is not taken.
const MAX_AGE: Duration = Duration::from_secs(30);
/// How long after a request its receiver may say that it did not take it. It is shorter than the time for which that one remembers requests.
const MAX_REFUSAL_TIME: Duration = Duration::from_secs(10);
/// How long a process that did not answer gets no calls.
const AVOIDED_FOR: Duration = Duration::from_secs(30);
/// The number of requests that are remembered, so that each is accepted once. With more in this time, further ones are lost.
const MAX_REMEMBERED: usize = 1_000_000;

/// What the head of a request says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestHead {
    to: String,
    /// Milliseconds since 1970.
    at: i64,
    nonce: String,
    principal: String,
    headers: Vec<(String, String)>,
}

/// What the head of an answer says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerHead {
    /// The nonce of the request.
    nonce: String,
    /// The HTTP status and the media type; `None` if the call was not taken.
    answer: Option<(u16, String)>,
    /// Whether the node takes no calls any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_closing: bool,
}

/// Hands calls over.
pub(super) struct NodeHandOver {
    wire: Arc<dyn Wire>,
    seal: CallSeal,
    /// What this process is called, once that is known.
    own: OnceLock<String>,
    placement: Mutex<Placement>,
    /// Processes that did not answer, and since when.
    avoided: Mutex<HashMap<String, Instant>>,
    accepted: Arc<Mutex<AcceptedCalls>>,
    /// What answers the calls of other nodes, until the identifier of this node is known.
    answer: Mutex<Option<AnswerHandedCall>>,
}

impl fmt::Debug for NodeHandOver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NodeHandOver").field("own", &self.own).finish_non_exhaustive()
    }
}

impl NodeHandOver {
    pub(super) fn new(wire: Arc<dyn Wire>, secret: &[u8; LIBRARY_SECRET_BYTES]) -> Self {
        Self {
            wire,
            seal: CallSeal(blake3::derive_key(CONTEXT, secret)),
            own: OnceLock::new(),
            placement: Mutex::new(Placement::new(Instant::now())),
            avoided: Mutex::default(),
            accepted: Arc::default(),
            answer: Mutex::default(),
        }
    }

    /// Sets the nodes that calls may go to, this one among them.
    pub(super) fn set_nodes(&self, own: &str, nodes: impl IntoIterator<Item = String>) {
        // It stays the same.
        let _ = self.own.set(own.to_owned());
        {
            let mut avoided = self.avoided.lock().unwrap_or_else(PoisonError::into_inner);
            avoided.retain(|_, since| since.elapsed() < AVOIDED_FOR);
            self.placement().set_nodes(nodes.into_iter().filter(|node| !avoided.contains_key(node)));
        }
        self.start_to_answer();
    }

    /// Answers the calls of other nodes, once this node has an identifier and something that answers.
    fn start_to_answer(&self) {
        let Some(own) = self.own.get() else { return };
        let Some(answer) = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let (seal, accepted, to) = (self.seal.clone(), Arc::clone(&self.accepted), own.clone());
        self.wire.serve(
            own,
            Arc::new(move |message| {
                let nothing = || -> WireFuture<'static, Vec<u8>> { Box::pin(async { Vec::new() }) };
                let Some((nonce, call)) = seal.open_request(&to, &message) else { return nothing() };
                let is_current = call.is_some();
                let accepted = accepted.lock().unwrap_or_else(PoisonError::into_inner).accept(&nonce, is_current);
                let answered = match (accepted, call) {
                    // It was accepted before, and may have run: to say that it was not taken would let it run once more.
                    (Acceptance::Repeated, _) => return nothing(),
                    (Acceptance::New, Some(call)) => Some(answer(call)),
                    _ => None,
                };
                let seal = seal.clone();
                Box::pin(async move {
                    let outcome = match answered {
                        Some(answered) => answered.await,
                        None => HandOverOutcome::NotTaken,
                    };
                    match outcome {
                        HandOverOutcome::Answered(answer) => seal.seal_answer(&nonce, Reply::Answered(answer)),
                        HandOverOutcome::NotTaken => seal.seal_answer(&nonce, Reply::NotTaken),
                        HandOverOutcome::Closing => seal.seal_answer(&nonce, Reply::Closing),
                        HandOverOutcome::Lost => Vec::new(),
                    }
                })
            }),
        );
    }

    /// Sends no calls to a process for a while that did not answer one.
    fn avoid(&self, server: &str) {
        self.avoided.lock().unwrap_or_else(PoisonError::into_inner).insert(server.to_owned(), Instant::now());
        self.placement().remove(server);
    }

    fn placement(&self) -> MutexGuard<'_, Placement> {
        self.placement.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HandOver for NodeHandOver {
    fn choose(&self, principal: &Principal, tool: &str) -> Option<String> {
        let own = self.own.get()?;
        let mut placement = self.placement();
        let chosen = placement.choose(call_key(principal.as_str(), tool), Instant::now())?;
        (chosen != own).then(|| chosen.to_owned())
    }

    fn hand_over(&self, server: String, call: HandedCall) -> HandOverFuture<'_, HandOverOutcome> {
        Box::pin(async move {
            let Some((nonce, message)) = self.seal.seal_request(&server, call) else {
                return HandOverOutcome::NotTaken;
            };
            if message.len() > self.wire.message_limit() {
                return HandOverOutcome::NotTaken;
            }
            let sent = Instant::now();
            let outcome = match self.wire.request(&server, message).await {
                Ok(answer) => match self.seal.open_answer(&nonce, &answer) {
                    Some(Reply::Answered(answer)) => HandOverOutcome::Answered(answer),
                    Some(Reply::NotTaken) if sent.elapsed() <= MAX_REFUSAL_TIME => HandOverOutcome::NotTaken,
                    Some(Reply::Closing) if sent.elapsed() <= MAX_REFUSAL_TIME => {
                        self.avoid(&server);
                        HandOverOutcome::Closing
                    }
                    // It is not the answer of a node, or one to a request that was sent again later.
                    _ => HandOverOutcome::Lost,
                },
                Err(WireFailure::NotDelivered) => {
                    self.avoid(&server);
                    HandOverOutcome::NotTaken
                }
                Err(WireFailure::Lost) => HandOverOutcome::Lost,
            };
            if outcome == HandOverOutcome::Lost {
                self.avoid(&server);
            }
            outcome
        })
    }

    fn serve(&self, answer: AnswerHandedCall) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        self.start_to_answer();
    }
}

/// What a node replied to a request.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Answered(HandedAnswer),
    NotTaken,
    Closing,
}

/// Makes and checks messages.
#[derive(Clone)]
struct CallSeal([u8; 32]);

impl CallSeal {
    /// Returns a nonce, and the message with the call; `None` if it cannot be encoded.
    fn seal_request(&self, to: &str, call: HandedCall) -> Option<(String, Vec<u8>)> {
        let nonce = draw_nonce();
        let head = RequestHead {
            to: to.to_owned(),
            at: toolcell::now().as_millisecond(),
            nonce: nonce.clone(),
            principal: call.principal.to_string(),
            headers: call.headers,
        };
        Some((nonce, self.seal(&serde_json::to_vec(&head).ok()?, &call.body)?))
    }

    /// Returns the nonce and the call of a message, without the call if it is too old; `None` if no node made it for this one.
    fn open_request(&self, own: &str, message: &[u8]) -> Option<(String, Option<HandedCall>)> {
        let (head, body) = self.open::<RequestHead>(message)?;
        if head.to != own {
            return None;
        }
        let age = toolcell::now().as_millisecond().abs_diff(head.at);
        let principal = if head.principal == Principal::local().as_str() {
            Principal::local()
        } else {
            Principal::parse(&head.principal).ok()?
        };
        let call = HandedCall { principal, headers: head.headers, body: body.to_vec().into() };
        Some((head.nonce, (u128::from(age) <= MAX_AGE.as_millis()).then_some(call)))
    }

    fn seal_answer(&self, nonce: &str, reply: Reply) -> Vec<u8> {
        let is_closing = reply == Reply::Closing;
        let (answer, body) = match reply {
            Reply::Answered(answer) => (Some((answer.status, answer.content_type)), answer.body),
            Reply::NotTaken | Reply::Closing => (None, Vec::new().into()),
        };
        let head = AnswerHead { nonce: nonce.to_owned(), answer, is_closing };
        serde_json::to_vec(&head).ok().and_then(|head| self.seal(&head, &body)).unwrap_or_default()
    }

    /// Returns what a node replied to the request with a nonce; `None` if no node made it.
    fn open_answer(&self, nonce: &str, message: &[u8]) -> Option<Reply> {
        // A node says nothing to a message that is not for it.
        if message.is_empty() {
            return None;
        }
        let (head, body) = self.open::<AnswerHead>(message)?;
        if head.nonce != nonce {
            return None;
        }
        Some(match head.answer {
            Some((status, content_type)) => {
                Reply::Answered(HandedAnswer { status, content_type, body: body.to_vec().into() })
            }
            None if head.is_closing => Reply::Closing,
            None => Reply::NotTaken,
        })
    }

    fn seal(&self, head: &[u8], body: &[u8]) -> Option<Vec<u8>> {
        let length = u32::try_from(head.len()).ok()?.to_le_bytes();
        let content = [&length[..], head, body].concat();
        Some([&self.tag(&content).as_bytes()[..], &content].concat())
    }

    fn open<'m, T: Deserialize<'m>>(&self, message: &'m [u8]) -> Option<(T, &'m [u8])> {
        let (tag, content) = message.split_first_chunk::<TAG_BYTES>()?;
        // `blake3::Hash` compares in constant time.
        if Hash::from_bytes(*tag) != self.tag(content) {
            return None;
        }
        let (length, rest) = content.split_first_chunk::<4>()?;
        let (head, body) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        Some((serde_json::from_slice(head).ok()?, body))
    }

    fn tag(&self, content: &[u8]) -> Hash {
        blake3::keyed_hash(&self.0, content)
    }
}

/// Draws 128 random bits. The standard library seeds its hash maps with random numbers of the system.
fn draw_nonce() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    let draw = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", draw(), draw())
}

/// The requests that were accepted lately.
#[derive(Default)]
struct AcceptedCalls {
    nonces: HashSet<u128>,
    order: VecDeque<(Instant, u128)>,
}

impl AcceptedCalls {
    /// Accepts a request that is current, unless it was accepted before, or there are too many.
    fn accept(&mut self, nonce: &str, is_current: bool) -> Acceptance {
        self.accept_at(nonce, is_current, Instant::now())
    }

    fn accept_at(&mut self, nonce: &str, is_current: bool, now: Instant) -> Acceptance {
        // A node draws 128 bits.
        let Ok(nonce) = u128::from_str_radix(nonce, 16) else { return Acceptance::Repeated };
        // A request is current for this time before and after it was made.
        while let Some((at, _)) = self.order.front()
            && now.saturating_duration_since(*at) > 2 * MAX_AGE
        {
            if let Some((_, nonce)) = self.order.pop_front() {
                self.nonces.remove(&nonce);
            }
        }
        // With too many to remember, nothing is said that would let a call run elsewhere.
        if self.nonces.len() >= MAX_REMEMBERED || !self.nonces.insert(nonce) {
            return Acceptance::Repeated;
        }
        // A request that is refused is remembered, too: it may be sent again when it is current.
        self.order.push_back((now, nonce));
        if is_current { Acceptance::New } else { Acceptance::Refused }
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Acceptance {
    /// It runs.
    New,
    /// It does not run here, and did not.
    Refused,
    /// It was seen before, and may have run.
    Repeated,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> HandedCall {
        HandedCall {
            principal: Principal::parse("alice").unwrap(),
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            body: b"{}".to_vec().into(),
        }
    }

    #[test]
    fn a_message_is_accepted_from_a_node_for_one_receiver_and_once() {
        let seal = CallSeal([1; 32]);
        let (nonce, message) = seal.seal_request("b", call()).unwrap();
        let (known, opened) = seal.open_request("b", &message).unwrap();
        assert_eq!((known == nonce, opened), (true, Some(call())));
        assert!(seal.open_request("c", &message).is_none());
        assert!(CallSeal([2; 32]).open_request("b", &message).is_none());
        for at in 0..message.len() {
            let mut altered = message.clone();
            altered[at] ^= 1;
            assert!(seal.open_request("b", &altered).is_none(), "byte {at}");
            assert!(seal.open_request("b", &message[..at]).is_none(), "{at} bytes");
        }
        let (mut accepted, now) = (AcceptedCalls::default(), Instant::now());
        assert_eq!(accepted.accept_at(&nonce, true, now), Acceptance::New);
        assert_eq!(accepted.accept_at(&nonce, true, now + MAX_AGE), Acceptance::Repeated);
        // One that became old meanwhile may have run.
        assert_eq!(accepted.accept_at(&nonce, false, now + MAX_AGE), Acceptance::Repeated);
        assert_eq!(accepted.accept_at("01d", false, now), Acceptance::Refused);
        assert_eq!(accepted.accept_at("07", true, now + 3 * MAX_AGE), Acceptance::New);
        // One that was too early is refused also when its time comes: it ran elsewhere meanwhile.
        assert_eq!(accepted.accept_at("ea", false, now + 3 * MAX_AGE), Acceptance::Refused);
        assert_eq!(accepted.accept_at("ea", true, now + 3 * MAX_AGE), Acceptance::Repeated);
        assert_eq!(accepted.nonces.len(), 2);
    }

    #[test]
    fn an_old_request_is_not_taken() {
        let seal = CallSeal([1; 32]);
        for (seconds, expect) in [(0, true), (25, true), (-25, true), (40, false), (-40, false)] {
            let head = RequestHead {
                to: "b".to_owned(),
                at: toolcell::now().as_millisecond() + seconds * 1_000,
                nonce: "n".to_owned(),
                principal: "alice".to_owned(),
                headers: Vec::new(),
            };
            let message = seal.seal(&serde_json::to_vec(&head).unwrap(), b"").unwrap();
            assert_eq!(seal.open_request("b", &message).unwrap().1.is_some(), expect, "{seconds}");
        }
    }

    #[test]
    fn an_answer_belongs_to_its_request() {
        let seal = CallSeal([1; 32]);
        let answer =
            HandedAnswer { status: 200, content_type: "application/json".to_owned(), body: b"1".to_vec().into() };
        let sealed = seal.seal_answer("n", Reply::Answered(answer.clone()));
        assert_eq!(seal.open_answer("n", &sealed), Some(Reply::Answered(answer)));
        assert_eq!(seal.open_answer("m", &sealed), None);
        for reply in [|| Reply::NotTaken, || Reply::Closing] {
            assert_eq!(seal.open_answer("n", &seal.seal_answer("n", reply())), Some(reply()));
        }
        assert_eq!(seal.open_answer("n", &[]), None);
    }
}
