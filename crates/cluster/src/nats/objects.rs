//! Objects.
//!
//! An object is cut into parts of 512 KiB. Part 0 is preceded by the size of the object, as 8 bytes, and is stored last.
//!
//! Invariant: if part 0 is there, all parts are.

use std::sync::Arc;

use blake3::Hash;
use toolcell::store::{Blobs, SharedError};
use toolcell_i18n::{Message, message};

use super::Nats;
use super::connection::{Session, Stored, pipelined};
use super::failure::Failure;
use super::streams::{PART_BYTES, StreamKind};
use super::subject;

/// The maximum size of an object, in bytes.
const MAX_OBJECT_BYTES: u64 = 256 << 20;
/// The size of the size of an object, in bytes.
const SIZE_BYTES: usize = 8;
/// The number of parts that are under way at once.
const AT_ONCE: usize = 4;
/// How often storing a part is tried while others store it.
const MAX_TRIES: usize = 8;

impl Blobs for Nats {
    fn put(&self, hash: Hash, bytes: &[u8]) -> Result<(), SharedError> {
        let length = bytes.len() as u64;
        if length > MAX_OBJECT_BYTES {
            return Err(SharedError::Invalid { reason: too_large(hash, length) });
        }
        let bytes: Arc<[u8]> = bytes.into();
        self.run_again(&self.blobs, length, move |session| async move {
            let first = subject::part(hash, 0);
            if length > PART_BYTES as u64 && session.last(StreamKind::Blob, first.clone()).await?.is_some() {
                return Ok(());
            }
            let count = bytes.len().div_ceil(PART_BYTES);
            pipelined(1..count, AT_ONCE, |number| {
                let part = bytes.chunks(PART_BYTES).nth(number).unwrap_or_default().to_vec();
                store_part(Arc::clone(&session), subject::part(hash, number as u64), part)
            })
            .await?;
            let mut head = length.to_le_bytes().to_vec();
            head.extend_from_slice(bytes.chunks(PART_BYTES).next().unwrap_or_default());
            store_part(session, first, head).await
        })
    }

    fn get(&self, hash: Hash) -> Result<Option<Vec<u8>>, SharedError> {
        let head = self.run_again(&self.blobs, part_transfer(PART_BYTES as u64), move |session| async move {
            part(&session, hash, 0).await
        })?;
        let Some(head) = head else { return Ok(None) };
        let (length, mut bytes) = match head.split_first_chunk::<SIZE_BYTES>() {
            Some((size, first)) => (u64::from_le_bytes(*size), first.to_vec()),
            None => return Err(SharedError::Invalid { reason: incomplete(hash) }),
        };
        if length > MAX_OBJECT_BYTES {
            return Err(SharedError::Invalid { reason: too_large(hash, length) });
        }
        let count = length.div_ceil(PART_BYTES as u64).max(1);
        let rest = length.saturating_sub(bytes.len() as u64);
        if count > 1 {
            let parts = self.run_again(&self.blobs, part_transfer(rest), move |session| async move {
                pipelined(1..count, AT_ONCE, |number| {
                    let session = Arc::clone(&session);
                    async move {
                        let found = part(&session, hash, number).await?.filter(|part| part.len() <= PART_BYTES);
                        found.ok_or_else(|| Failure::Unusable(incomplete(hash)))
                    }
                })
                .await
            })?;
            bytes.extend(parts.into_iter().flatten());
        }
        if bytes.len() as u64 != length {
            return Err(SharedError::Invalid { reason: incomplete(hash) });
        }
        Ok(Some(bytes))
    }
}

/// Stores a part, unless it is there.
async fn store_part(session: Arc<Session>, subject: String, part: Vec<u8>) -> Result<(), Failure> {
    for _ in 0..MAX_TRIES {
        match session.store(StreamKind::Blob, subject.clone(), part.clone(), Some(0)).await? {
            Stored::Done | Stored::Taken => return Ok(()),
            // Another client stores it. Whether it can is not known yet.
            Stored::Contended => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    }
    Err(Failure::Refused(message!("another client stores the same object")))
}

async fn part(session: &Session, hash: Hash, number: u64) -> Result<Option<Vec<u8>>, Failure> {
    let found = session.last(StreamKind::Blob, subject::part(hash, number)).await?;
    Ok(found.map(|message| message.payload.to_vec()))
}

/// The bytes that the server sends for parts: it writes them as base64.
fn part_transfer(bytes: u64) -> u64 {
    bytes / 3 * 4
}

fn incomplete(hash: Hash) -> Message {
    message!("the object {hash} is incomplete", hash = hash.to_hex())
}

fn too_large(hash: Hash, length: u64) -> Message {
    message!("the object {hash} takes {length} bytes, which no object does", hash = hash.to_hex(), length)
}
