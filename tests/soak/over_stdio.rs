//! An agent over standard input and output.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::Soak;
use crate::client::{Era, Message, StdioClient};
use crate::work::{Agent, SoakClient};

/// A length in bytes above the limit on messages.
const TOO_LONG: usize = 5 << 20;

pub(crate) fn soak(soak: &Soak, mut lines: StdioClient, era: Era) {
    if era == Era::Session {
        lines.start_session();
    }
    let mut agent = Agent::new(format!("stdio_{}", &era.revision()[..4]), era, 7);
    agent.settle(&mut lines);
    soak.settled.fetch_add(1, Ordering::Relaxed);
    while !soak.is_over() {
        match agent.random.below(2_000) {
            0..20 => give_up(&mut agent, &mut lines, era),
            20..40 => lines
                .send(&Message { text: r#"{"jsonrpc": "2.0", "id": 1, "method"#.to_owned(), ..Message::initialized() }),
            40 => too_long(&mut agent, &mut lines, era),
            _ => agent.work(&mut lines),
        }
        soak.answered.fetch_add(1, Ordering::Relaxed);
    }
    soak.add(&agent.tally);
}

/// Cancels a run, whose reply is not awaited.
fn give_up(agent: &mut Agent, lines: &mut StdioClient, era: Era) {
    let id = agent.next();
    lines.send(&Message::run(era, id, &agent.own("endless"), &json!({})));
    thread::sleep(Duration::from_millis(agent.random.below(10)));
    lines.send(&Message::notice("notifications/cancelled", &json!({"requestId": id, "reason": "enough"})));
}

fn too_long(agent: &mut Agent, lines: &mut StdioClient, era: Era) {
    let id = agent.next();
    let message = Message::run(era, id, &agent.own("reverse"), &json!({"text": "x".repeat(TOO_LONG)}));
    let answer = lines.reply(id, &message);
    agent.tally.count("a message that is too long", &["message-too-large"], &answer);
}

impl SoakClient for StdioClient {
    fn reply(&mut self, id: u64, message: &Message) -> String {
        self.send(message);
        let begin = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
        // Skips notifications, and late replies to cancelled runs.
        loop {
            let line = self.read_line();
            if line.starts_with(&begin) {
                return line.to_owned();
            }
        }
    }
}
