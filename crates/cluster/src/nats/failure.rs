//! What goes wrong with a connection and with a request, and what a caller is told of it.

use std::error::Error;
use std::fmt::Display;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream;
use toolcell::store::SharedError;
use toolcell_i18n::{Message, message};

use crate::tls::causes;

/// The maximum length of a text of the server that is passed on, in characters.
const MAX_TEXT_CHARS: usize = 200;

/// A request that failed.
pub(crate) enum Failure {
    /// It was not sent: there is no connection.
    NotSent(Message),
    /// The server refused it, so nothing was changed.
    Refused(Message),
    /// There was no answer, or one that does not say what happened: the server may have carried it out, or may still.
    Lost(Message),
    /// The streams are not ones that this version can work with.
    Unusable(Message),
}

/// Why there is no connection.
#[derive(Clone)]
pub(crate) struct ServerFailure {
    pub(crate) reason: Message,
    /// Whether a person has to change something.
    pub(crate) is_final: bool,
}

impl ServerFailure {
    /// A failure that may pass.
    pub(crate) fn temporary(reason: Message) -> Self {
        Self { reason, is_final: false }
    }

    /// What a caller gets whose request was not sent.
    pub(crate) fn into_failure(self) -> Failure {
        if self.is_final { Failure::Unusable(self.reason) } else { Failure::NotSent(self.reason) }
    }
}

impl Failure {
    /// What a caller is told of a request that changes nothing if it is not answered.
    pub(crate) fn into_unchanged(self) -> SharedError {
        match self {
            Self::NotSent(reason) | Self::Lost(reason) | Self::Refused(reason) => SharedError::Unreachable { reason },
            Self::Unusable(reason) => SharedError::Invalid { reason },
        }
    }

    /// What a caller is told of a change that may have been made.
    pub(crate) fn into_unknown(self) -> SharedError {
        match self {
            Self::Lost(reason) => SharedError::Unknown { reason },
            other => other.into_unchanged(),
        }
    }
}

/// The error of a server that an error of the library is about.
pub(crate) fn jetstream_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e jetstream::Error> {
    causes(error).find_map(<dyn Error>::downcast_ref)
}

/// What an error of the client says, with what the server says. Models read it, and the server may say anything.
pub(crate) fn describe(error: &dyn Error) -> String {
    // The library's errors show their sources.
    short(&error)
}

/// The beginning of a text of the server.
pub(crate) fn short(text: &impl Display) -> String {
    text.to_string().chars().take(MAX_TEXT_CHARS).collect()
}

pub(crate) fn no_leader() -> Message {
    message!("no server leads the stream: JetStream is off, or the servers elect a leader")
}

pub(crate) fn no_answer(limit: Duration) -> Message {
    message!("the database did not answer within {limit} ms", limit = limit.as_millis())
}

/// The largest message that a server takes, in bytes.
pub(crate) fn max_payload(client: &Client) -> usize {
    client.max_payload()
}
