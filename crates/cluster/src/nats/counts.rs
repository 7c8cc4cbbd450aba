//! Counts that nodes share.
//!
//! A count is one message: the minute, and what was taken in it. It is replaced only by a client that has seen it. The minute is that of the
//! server's clock, as [`Session::clock`] knows it, and never goes back.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use toolcell::store::SharedError;
use toolcell_cli::SharedCounts;
use toolcell_i18n::message;

use super::Nats;
use super::connection::{Session, Stored};
use super::failure::Failure;
use super::streams::StreamKind;
use super::subject;

/// How often a count is replaced while other clients replace it, too.
const MAX_TRIES: u32 = 8;
/// A minute, in nanoseconds.
const MINUTE: i128 = 60_000_000_000;

/// What was taken in a minute since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Taken {
    minute: u64,
    amount: u32,
}

impl SharedCounts for Nats {
    fn take(&self, key: &str, amount: u32, limit: u32) -> Result<(u32, Duration), SharedError> {
        let subject = subject::count(key);
        self.run_again(&self.blobs, 0, move |session| take(session, subject, amount, limit))
    }
}

async fn take(session: Arc<Session>, subject: String, amount: u32, limit: u32) -> Result<(u32, Duration), Failure> {
    let clock = session.clock(StreamKind::Count).await?;
    for attempt in 0..MAX_TRIES {
        let found = session.last(StreamKind::Count, subject.clone()).await?;
        let known = found.as_ref().and_then(|found| Taken::decode(&found.payload));
        let now = clock.now();
        let (granted, next) = Taken::take(known, u64::try_from(now / MINUTE).unwrap_or(0), amount, limit);
        let rest = ((i128::from(next.minute) + 1) * MINUTE - now).clamp(0, MINUTE);
        let answer = (granted, Duration::from_nanos(u64::try_from(rest).unwrap_or(0)));
        if Some(next) == known {
            return Ok(answer);
        }
        let expected = Some(found.map_or(0, |found| found.sequence));
        match session.store(StreamKind::Count, subject.clone(), next.encode(), expected).await? {
            Stored::Done => return Ok(answer),
            // Clients that begin together do not try again together.
            Stored::Taken | Stored::Contended => tokio::time::sleep(random_pause(attempt)).await,
        }
    }
    Err(Failure::Refused(message!("too many nodes take of the same count at once")))
}

/// A pause of up to 2 ms, which doubles with each attempt.
fn random_pause(attempt: u32) -> Duration {
    let microseconds = 2_000_u64 << attempt.min(5);
    Duration::from_micros(RandomState::new().hash_one(attempt) % microseconds)
}

impl Taken {
    /// Takes up to `amount` of what is left in this minute, and returns what was taken, with the count after it.
    fn take(known: Option<Self>, minute: u64, amount: u32, limit: u32) -> (u32, Self) {
        match known.filter(|known| known.minute >= minute) {
            Some(known) => {
                let granted = limit.saturating_sub(known.amount).min(amount);
                (granted, Self { minute: known.minute, amount: known.amount.saturating_add(granted) })
            }
            None => (amount.min(limit), Self { minute, amount: amount.min(limit) }),
        }
    }

    fn encode(self) -> Vec<u8> {
        format!("{} {}", self.minute, self.amount).into_bytes()
    }

    /// Decodes a count. One that no node made counts as none.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let (minute, amount) = std::str::from_utf8(bytes).ok()?.split_once(' ')?;
        Some(Self { minute: minute.parse().ok()?, amount: amount.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_is_taken_in_a_minute() {
        let mut known = None;
        for (minute, amount, limit, expected, taken) in [
            (7, 3, 10, 3, 3),
            (7, 3, 10, 3, 6),
            (7, 9, 10, 4, 10),
            (7, 1, 10, 0, 10),
            // With a higher limit, there is more; a lower one takes nothing back.
            (7, 1, 11, 1, 11),
            (7, 1, 5, 0, 11),
            (8, 20, 10, 10, 10),
            // The minute does not go back.
            (7, 1, 10, 0, 10),
            (9, 0, 10, 0, 0),
        ] {
            let (granted, next) = Taken::take(known, minute, amount, limit);
            assert_eq!((granted, next.amount), (expected, taken), "{minute} {amount} {limit}");
            assert_eq!(Taken::decode(&next.encode()), Some(next));
            known = Some(next);
        }
        for bytes in [&b""[..], b"1", b"a 1", b"1 -1", b"1 4294967296", b"\xff 1"] {
            assert_eq!(Taken::decode(bytes), None);
        }
    }
}
