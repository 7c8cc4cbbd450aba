//! Misbehavior of HTTP clients, and legitimate but rare behavior.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Soak;
use crate::client::{Connection, Era, HttpServerProcess, Message};
use crate::over_http::Tokens;
use crate::work::{Agent, SoakClient as _};

/// Interval at which a client abandons a session; its run continues for 10 s in case it reconnects.
const VANISHES: Duration = Duration::from_mins(1);
/// One in this many connections is closed during a run, which continues for 2 s in case the
/// connection is half-closed.
const SELDOM: u64 = 20;

pub(crate) fn work(agent: &mut Agent, http: &HttpServerProcess, token: &str, connection: &mut Connection, era: Era) {
    let small = Message::request(Era::Stateless, 1, "tools/list", json!({}));
    match agent.random.below(10) {
        0 if era == Era::Session => cancel(agent, http, token, connection),
        0 if agent.random.below(SELDOM) == 0 => give_up(agent, http, token),
        0 | 1 => {
            let answer = sent(http.connect(Some(token)), &small);
            agent.tally.count("a connection for one request", &["ok"], &answer);
        }
        2 => {
            let answer = sent(http.connect(Some("a-token-of-nobody")), &small);
            agent.tally.count("a wrong token", &["unauthorized", "too-many-attempts"], &answer);
        }
        3 => {
            let answer = sent(http.connect(None), &small);
            agent.tally.count("no token", &["unauthorized"], &answer);
        }
        4 => {
            let answer = sent(http.connect(Some(token)), &Message { text: "x".repeat(5 << 20), ..small });
            agent.tally.count("a body that is too long", &["body-too-large"], &answer);
        }
        5 => {
            let answer = sent(http.connect(Some(token)), &Message { text: "{\"jsonrpc\": ".to_owned(), ..small });
            agent.tally.count("a body that is no message", &["body-invalid"], &answer);
        }
        6 => {
            // An incomplete request.
            let mut gone = http.connect(Some(token));
            let written = gone.encode(&small);
            gone.send(&written[..written.len() / 2]).unwrap();
        }
        7 => {
            let filter = json!({"notifications": {"resourcesListChanged": true}});
            let mut gone = http.connect(Some(token));
            let written = gone.encode(&Message::request(Era::Stateless, 1, "subscriptions/listen", filter));
            gone.send(&written).unwrap();
            let status = gone.read_head().map_or(0, |head| head.status);
            agent.tally.count("listen, and go", &["ok"], &status_message(status, 200));
        }
        8 => {
            let mut session = http.connect(Some(token));
            session.start_session();
            session.send_session_request("DELETE").unwrap();
            let status = session.read_reply().map_or(0, |answer| answer.status);
            agent.tally.count("begin a session and end it", &["ok"], &status_message(status, 202));
        }
        _ => http.connect(Some(token)).start_session(),
    }
}

/// Cancels a run in a session with a notification, sometimes before it started.
fn cancel(agent: &mut Agent, http: &HttpServerProcess, token: &str, connection: &mut Connection) {
    let id = agent.next();
    let mut other = http.connect(Some(token));
    other.session.clone_from(&connection.session);
    let written = other.encode(&Message::run(Era::Session, id, &agent.own("endless"), &json!({})));
    other.send(&written).unwrap();
    // A run that is cancelled before it arrives would use its whole time limit.
    let begun = other.read_head().map_or(0, |head| head.status);
    agent.tally.count("begin a run", &["ok"], &status_message(begun, 200));
    let notice = Message::notice("notifications/cancelled", &json!({"requestId": id, "reason": "enough"}));
    let answer = connection.reply(id, &notice);
    agent.tally.count("cancel", &["nothing"], &answer);
}

/// Closes the connection during a run.
fn give_up(agent: &mut Agent, http: &HttpServerProcess, token: &str) {
    let id = agent.next();
    let mut gone = http.connect(Some(token));
    let written = gone.encode(&Message::run(Era::Stateless, id, &agent.own("endless"), &json!({})));
    gone.send(&written).unwrap();
    thread::sleep(Duration::from_millis(agent.random.below(10)));
    agent.tally.count("vanish in the middle of a run", &["ok"], "{}");
}

/// Starts clients that begin a run in a session and never return.
pub(crate) fn vanish(soak: &Soak, http: &HttpServerProcess) {
    let mut agent = Agent::new("ghost".to_owned(), Era::Session, 99);
    let mut first = http.connect(Some(Tokens::GHOST));
    first.start_session();
    agent.settle(&mut first);
    soak.settled.fetch_add(1, Ordering::Relaxed);
    let mut vanished: Option<Instant> = None;
    while !soak.is_over() {
        if vanished.is_none_or(|vanished| vanished.elapsed() > VANISHES) {
            vanished = Some(Instant::now());
            let mut gone = http.connect(Some(Tokens::GHOST));
            gone.start_session();
            let written = gone.encode(&Message::run(Era::Session, 1, &agent.own("endless"), &json!({})));
            gone.send(&written).unwrap();
            soak.answered.fetch_add(1, Ordering::Relaxed);
        }
        thread::sleep(Duration::from_millis(100));
    }
    soak.add(&agent.tally);
}

/// Sends a message over a connection that is used once, and returns the reply.
fn sent(mut connection: Connection, message: &Message) -> String {
    connection.reply(1, message)
}

/// Formats an HTTP status as a message.
fn status_message(status: u16, wanted: u16) -> String {
    if status == wanted { "{}".to_owned() } else { json!({"code": format!("status {status}")}).to_string() }
}
