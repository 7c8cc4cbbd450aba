//! Histories.
//!
//! Invariant: entry N + 1 is published only after entry N was seen, and no message is ever removed, so the entries of a history have no gap.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::message::StreamMessage;
use toolcell::store::{Appended, Histories, HistoryKey, SharedError};
use toolcell_i18n::message;

use super::Nats;
use super::connection::{Session, Stored, pipelined};
use super::failure::Failure;
use super::streams::StreamKind;
use super::subject;

/// The maximum size of an entry, in bytes. No node makes a larger one.
const MAX_ENTRY_BYTES: usize = 128 << 10;
/// The bytes after which a read ends. The entry that exceeds it is returned as well.
const READ_BYTES: usize = 128 << 10;
/// The bytes that a read transfers, at most, as base64.
const TRANSFER_BYTES: u64 = 4 * (MAX_ENTRY_BYTES as u64);
/// The bytes whose time is allowed for the length of one history: 2 ms.
const BYTES_PER_LENGTH: u64 = 2_000;
/// The number of entries that are asked for at once.
const AT_ONCE: usize = 32;
/// The pause before something is asked again.
const PAUSE: Duration = Duration::from_millis(50);
/// The pause before an append is tried again while another client appends at the same place.
const CONTENTION_PAUSE: Duration = Duration::from_millis(2);

impl Nats {
    /// Appends once. The entry before it was seen.
    fn try_append(&self, key: &HistoryKey, after: u64, entry: &[u8]) -> Result<Result<Stored, Failure>, SharedError> {
        let number = next(after)?;
        if entry.len() > MAX_ENTRY_BYTES {
            return Err(SharedError::Invalid {
                reason: message!(
                    "the entry has {size} bytes, the limit is {limit}",
                    size = entry.len(),
                    limit = MAX_ENTRY_BYTES
                ),
            });
        }
        let (key, bytes) = (key.clone(), entry.to_vec());
        let checked_key = key.clone();
        let checked = self.run(&self.histories, 0, move |session| async move {
            Ok(after == 0
                || session.surely_has(&checked_key, after)
                || entry_of(&session, &checked_key, after).await?.is_some())
        })?;
        let failure = match checked {
            Ok(true) => None,
            Ok(false) => Some(Failure::Unusable(message!(
                "the history `{key}` has fewer than {after} entries: the database was restored from an older backup",
                key = key.to_string(),
                after
            ))),
            // Nothing was published yet.
            Err(Failure::Lost(reason)) => Some(Failure::NotSent(reason)),
            Err(failure) => Some(failure),
        };
        if let Some(failure) = failure {
            return Ok(Err(failure));
        }
        self.run(&self.histories, entry.len() as u64, move |session| async move {
            let subject = subject::entry(&key, number);
            let stored = session.store(StreamKind::History, subject, bytes, Some(0)).await?;
            if stored != Stored::Contended {
                session.know(&key, number);
            }
            Ok(stored)
        })
    }

    /// Finds out what became of an append that was not answered: the same append again is made, or there is an entry already.
    ///
    /// With `lost`, the entry that is there may be that of the append before; without, it is another's.
    fn resolve(
        &self,
        key: &HistoryKey,
        after: u64,
        entry: &[u8],
        mut lost: Option<SharedError>,
    ) -> Result<Appended, SharedError> {
        let deadline = Instant::now() + self.answer_limit;
        loop {
            let tried = match self.try_append(key, after, entry) {
                Ok(tried) => tried,
                Err(error) => return Err(lost.unwrap_or(error)),
            };
            let failure = match tried {
                Ok(Stored::Done) => return Ok(Appended::Done),
                Ok(Stored::Taken | Stored::Contended) => match self.read(key, after, 1) {
                    Ok(entries) => match entries.first() {
                        Some(found) if lost.is_some() && found == entry => return Ok(Appended::Done),
                        Some(_) => return Ok(Appended::Taken),
                        // It is about to be stored, or a leader that is no longer one has answered.
                        None => SharedError::Unreachable {
                            reason: message!("another entry is about to be stored at this place"),
                        },
                    },
                    Err(error) => error,
                },
                Err(failure @ Failure::Lost(_)) => {
                    let error = failure.into_unknown();
                    lost.get_or_insert_with(|| error.clone());
                    error
                }
                // The server says that it does not take it, but not what became of the one before.
                Err(failure @ (Failure::Refused(_) | Failure::NotSent(_))) => failure.into_unchanged(),
                Err(failure @ Failure::Unusable(_)) => return Err(lost.unwrap_or_else(|| failure.into_unchanged())),
            };
            if Instant::now() >= deadline {
                return Err(lost.unwrap_or(failure));
            }
            std::thread::sleep(if lost.is_none() { CONTENTION_PAUSE } else { PAUSE });
        }
    }
}

impl Histories for Nats {
    fn append(&self, key: &HistoryKey, after: u64, entry: &[u8]) -> Result<Appended, SharedError> {
        let appended = match self.try_append(key, after, entry)? {
            Ok(Stored::Done) => Ok(Appended::Done),
            Ok(Stored::Taken) => Ok(Appended::Taken),
            Ok(Stored::Contended) => self.resolve(key, after, entry, None),
            Err(failure @ Failure::Lost(_)) => self.resolve(key, after, entry, Some(failure.into_unknown())),
            Err(failure) => Err(failure.into_unchanged()),
        };
        if appended.as_ref().is_ok_and(|appended| *appended == Appended::Done) {
            self.messages.tell_changed(key);
        }
        appended
    }

    fn read(&self, key: &HistoryKey, after: u64, limit: usize) -> Result<Vec<Vec<u8>>, SharedError> {
        let key = key.clone();
        self.run_again(&self.histories, TRANSFER_BYTES, move |session| async move {
            read_entries(&session, &key, after, limit).await
        })
    }

    fn lengths(&self, keys: &[HistoryKey]) -> Result<Vec<u64>, SharedError> {
        let (keys, bytes) = (keys.to_vec(), TRANSFER_BYTES + BYTES_PER_LENGTH * keys.len() as u64);
        self.run_again(&self.histories, bytes, move |session| async move {
            pipelined(keys, AT_ONCE, |key| {
                let session = Arc::clone(&session);
                async move { length(&session, &key).await }
            })
            .await
        })
    }
}

/// Reads the entries after the first `after`.
async fn read_entries(
    session: &Arc<Session>,
    key: &HistoryKey,
    after: u64,
    limit: usize,
) -> Result<Vec<Vec<u8>>, Failure> {
    let mut entries: Vec<Vec<u8>> = Vec::new();
    let mut bytes = 0;
    // Two are asked for first, so that a gap of one entry is seen.
    let mut count = 2;
    while entries.len() < limit {
        let begin = after.saturating_add(entries.len() as u64);
        let numbers = (0..count as u64).map_while(|place| begin.checked_add(1 + place));
        let found = pipelined(numbers, AT_ONCE, |number| {
            let (session, key) = (Arc::clone(session), key.clone());
            async move { entry_of(&session, &key, number).await }
        });
        let found = found.await?;
        let is_end = found.iter().any(Option::is_none) || found.len() < count;
        for (place, entry) in found.iter().enumerate() {
            let number = begin.saturating_add(1 + place as u64);
            let entry = match entry {
                Some(entry) => entry.clone(),
                None if found.iter().skip(place).all(Option::is_none) => break,
                // The next one is there. It may have been appended after this one was asked for.
                None => match entry_of(session, key, number).await? {
                    Some(entry) => entry,
                    None => return Err(no_entry(key, number)),
                },
            };
            if entries.len() >= limit || (bytes >= READ_BYTES && entries.len() >= 2) {
                return Ok(entries);
            }
            if entry.len() > MAX_ENTRY_BYTES {
                // The caller may know the entry before it, and would take this for the end.
                return if entries.len() < 2 { Err(no_entry(key, number)) } else { Ok(entries) };
            }
            bytes += entry.len();
            entries.push(entry);
            session.know(key, number);
        }
        if is_end || bytes >= READ_BYTES {
            break;
        }
        // As many as fit, if they are as large as those before, which the next ones need not be.
        let average = (bytes / entries.len().max(1)).max(1);
        count = ((READ_BYTES - bytes) / average).clamp(1, AT_ONCE.min(2 * count));
    }
    entries.truncate(limit);
    Ok(entries)
}

/// The number of entries of a history.
async fn length(session: &Session, key: &HistoryKey) -> Result<u64, Failure> {
    let known = session.known(key);
    // Most histories have not grown, and that is a short answer.
    if known > 0 && entry_of(session, key, known.saturating_add(1)).await?.is_none() {
        return Ok(known);
    }
    let Some(last) = session.last(StreamKind::History, subject::entries(key)).await? else { return Ok(0) };
    let number = subject::entry_number(&last.subject).ok_or_else(|| no_entry(key, known.saturating_add(1)))?;
    session.know(key, number);
    Ok(number)
}

async fn entry_of(session: &Session, key: &HistoryKey, number: u64) -> Result<Option<Vec<u8>>, Failure> {
    let found: Option<StreamMessage> = session.last(StreamKind::History, subject::entry(key, number)).await?;
    Ok(found.map(|message| message.payload.to_vec()))
}

fn no_entry(key: &HistoryKey, expected: u64) -> Failure {
    Failure::Unusable(message!(
        "the history `{key}` has no entry {expected}: the stream `toolcell-history` was changed by hand",
        key = key.to_string(),
        expected
    ))
}

fn next(after: u64) -> Result<u64, SharedError> {
    after.checked_add(1).ok_or_else(|| SharedError::Invalid { reason: message!("the history is too long") })
}
