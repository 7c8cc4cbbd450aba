//! Messages to one node, each with an answer.
//!
//! ```text
//! toolcell.call.NODE   a message to a node; its reply subject takes the answer
//! answer = 0 ‖ bytes, to be continued in the next message (one each second, which may have no bytes) | 1 ‖ bytes, the last
//! ```
//!
//! An answer may be larger than a message of the server, so it comes in parts, which the server keeps in order.

use std::time::Duration;

use async_nats::{StatusCode, Subscriber};
use tokio::time::timeout;
use toolcell_cli::{AnswerMessage, Wire, WireFailure, WireFuture};

use super::NatsWire;
use super::address::Health;
use super::answers::{Calls, part_limit};
use super::notifications::{OpenConnection, next};

/// The largest answer, in bytes.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// After this time without a part, the node that was to answer is gone.
const SILENCE_LIMIT: Duration = Duration::from_secs(10);

impl Wire for NatsWire {
    fn request(&self, node: &str, message: Vec<u8>) -> WireFuture<'_, Result<Vec<u8>, WireFailure>> {
        let subject = subject_of(node);
        Box::pin(async move {
            let Some(connection) = self.messages.connection() else { return Err(WireFailure::NotDelivered) };
            let OpenConnection { client, mut health } = connection;
            let inbox = client.new_inbox();
            let mut answers = client.subscribe(inbox.clone()).await.map_err(|_| WireFailure::NotDelivered)?;
            let sent = client.publish_with_reply(subject, inbox, message.into()).await;
            sent.map_err(|_| WireFailure::NotDelivered)?;
            tokio::select! {
                answer = collect(&mut answers) => answer,
                () = Health::lost(&mut health) => Err(WireFailure::Lost),
            }
        })
    }

    fn serve(&self, node: &str, answer: AnswerMessage) {
        self.messages.serve(Calls { subject: subject_of(node), answer });
    }

    fn is_connected(&self) -> bool {
        self.messages.is_connected()
    }

    fn message_limit(&self) -> usize {
        self.messages.connection().map_or(0, |connection| part_limit(&connection.client))
    }
}

/// The subject of a node, whose identifier is hexadecimal.
fn subject_of(node: &str) -> String {
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    format!("toolcell.call.{}", node.replace(|letter| !is_safe(letter), "_"))
}

/// Collects the parts of an answer.
async fn collect(answers: &mut Subscriber) -> Result<Vec<u8>, WireFailure> {
    let (mut answer, mut has_begun) = (Vec::new(), false);
    while let Ok(Some(part)) = timeout(SILENCE_LIMIT, next(answers)).await {
        if part.status == Some(StatusCode::NO_RESPONDERS) {
            // The server says so at once. After a part it is not the server that says it.
            return Err(if has_begun { WireFailure::Lost } else { WireFailure::NotDelivered });
        }
        has_begun = true;
        let Some((is_last, bytes)) = part.payload.split_first() else { break };
        if answer.len() + bytes.len() > MAX_ANSWER_BYTES {
            break;
        }
        answer.extend_from_slice(bytes);
        if *is_last == 1 {
            return Ok(answer);
        }
    }
    Err(WireFailure::Lost)
}
