//! The answers of a node to messages from others. See [`calls`](super::calls).

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Message, Subject};
use tokio::time::timeout;
use toolcell_cli::AnswerMessage;

use super::failure::max_payload;

/// The largest request, and the largest part of an answer, in bytes: the smallest limit that servers are configured with in practice is
/// 1 MiB.
const MAX_MESSAGE_BYTES: usize = (1 << 20) - (8 << 10);
/// How often it is said that an answer is made.
const ALIVE_PERIOD: Duration = Duration::from_secs(1);

/// The messages that a node answers.
pub(super) struct Calls {
    pub(super) subject: String,
    pub(super) answer: AnswerMessage,
}

/// Answers a message that was heard. While the answer is made, an empty part each second says that it is.
pub(super) async fn answer_message(client: Client, calls: Arc<Calls>, message: Message) {
    let Some(reply) = message.reply else { return };
    let mut answer = (calls.answer)(message.payload.to_vec());
    let answer = loop {
        match timeout(ALIVE_PERIOD, &mut answer).await {
            Ok(answer) => break answer,
            Err(_) if send_part(&client, &reply, false, &[]).await => {}
            // The other node takes the call for lost.
            Err(_) => return,
        }
    };
    let mut parts = answer.chunks(part_limit(&client)).peekable();
    loop {
        let part = parts.next().unwrap_or_default();
        let is_last = parts.peek().is_none();
        if !send_part(&client, &reply, is_last, part).await || is_last {
            return;
        }
    }
}

/// The largest request, and the largest part of an answer, that a server takes, in bytes.
pub(super) fn part_limit(client: &Client) -> usize {
    max_payload(client).saturating_sub(1 << 10).clamp(1, MAX_MESSAGE_BYTES)
}

/// Sends a part of an answer, and returns whether that went well.
async fn send_part(client: &Client, reply: &Subject, is_last: bool, bytes: &[u8]) -> bool {
    let part = [&[u8::from(is_last)], bytes].concat();
    let sent = client.publish(reply.clone(), part.into()).await;
    sent.inspect_err(|error| tracing::debug!(%error, "an answer to another node was not sent")).is_ok()
}
