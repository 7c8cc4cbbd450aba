//! What clients do to a server over HTTP that they should not, and what they may but seldom do.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Soak;
use crate::client::{Connection, Era, Http, Message};
use crate::over_http::Tokens;
use crate::work::{Agent, Peer as _};

/// How often somebody vanishes out of a session: what it ran goes on for 10 s, in case that it comes back.
const VANISHES: Duration = Duration::from_mins(1);
/// One of so many connections is closed in the middle of a run: that goes on for 2 s, in case that it is half closed.
const SELDOM: u64 = 20;

pub(crate) fn work(agent: &mut Agent, http: &Http, token: &str, connection: &mut Connection, era: Era) {
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
            // Half a request.
            let mut gone = http.connect(Some(token));
            let written = gone.written(&small);
            gone.send(&written[..written.len() / 2]).unwrap();
        }
        7 => {
            let filter = json!({"notifications": {"resourcesListChanged": true}});
            let mut gone = http.connect(Some(token));
            let written = gone.written(&Message::request(Era::Stateless, 1, "subscriptions/listen", filter));
            gone.send(&written).unwrap();
            let status = gone.head().map_or(0, |head| head.status);
            agent.tally.count("listen, and go", &["ok"], &status_message(status, 200));
        }
        8 => {
            let mut session = http.connect(Some(token));
            session.begin();
            session.of_session("DELETE").unwrap();
            let status = session.answer().map_or(0, |answer| answer.status);
            agent.tally.count("begin a session and end it", &["ok"], &status_message(status, 202));
        }
        _ => http.connect(Some(token)).begin(),
    }
}

/// A run in a session that a notice ends, sometimes before it began.
fn cancel(agent: &mut Agent, http: &Http, token: &str, connection: &mut Connection) {
    let id = agent.next();
    let mut other = http.connect(Some(token));
    other.session.clone_from(&connection.session);
    let written = other.written(&Message::run(Era::Session, id, &agent.own("endless"), &json!({})));
    other.send(&written).unwrap();
    // What is cancelled before it came would run for as long as it may.
    let begun = other.head().map_or(0, |head| head.status);
    agent.tally.count("begin a run", &["ok"], &status_message(begun, 200));
    let notice = Message::notice("notifications/cancelled", &json!({"requestId": id, "reason": "enough"}));
    let answer = connection.reply(id, &notice);
    agent.tally.count("cancel", &["nothing"], &answer);
}

/// A run that nobody waits for: its connection is closed.
fn give_up(agent: &mut Agent, http: &Http, token: &str) {
    let id = agent.next();
    let mut gone = http.connect(Some(token));
    let written = gone.written(&Message::run(Era::Stateless, id, &agent.own("endless"), &json!({})));
    gone.send(&written).unwrap();
    thread::sleep(Duration::from_millis(agent.random.below(10)));
    agent.tally.count("vanish in the middle of a run", &["ok"], "{}");
}

/// Clients that begin a run in a session and never come back.
pub(crate) fn vanish(soak: &Soak, http: &Http) {
    let mut agent = Agent::new("ghost".to_owned(), Era::Session, 99);
    let mut first = http.connect(Some(Tokens::GHOST));
    first.begin();
    agent.settle(&mut first);
    soak.settled.fetch_add(1, Ordering::Relaxed);
    let mut vanished: Option<Instant> = None;
    while !soak.is_over() {
        if vanished.is_none_or(|vanished| vanished.elapsed() > VANISHES) {
            vanished = Some(Instant::now());
            let mut gone = http.connect(Some(Tokens::GHOST));
            gone.begin();
            let written = gone.written(&Message::run(Era::Session, 1, &agent.own("endless"), &json!({})));
            gone.send(&written).unwrap();
            soak.answered.fetch_add(1, Ordering::Relaxed);
        }
        thread::sleep(Duration::from_millis(100));
    }
    soak.add(&agent.tally);
}

/// What comes over a connection that is used once.
fn sent(mut connection: Connection, message: &Message) -> String {
    connection.reply(1, message)
}

/// A status as a message.
fn status_message(status: u16, wanted: u16) -> String {
    if status == wanted { "{}".to_owned() } else { json!({"code": format!("status {status}")}).to_string() }
}
