//! The encryption of suspended runs: DEFLATE, then ChaCha20-Poly1305.
//!
//! Invariant: each encryption uses its own key, derived from the store's secret and a random salt,
//! and authenticates the plain-text columns of the store row. If a bit of either is changed,
//! decryption fails.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use toolcell_i18n::{Message, message};
use toolcell_store::SuspendedRow;

use super::error::RunSuspendError;

/// The purpose for which the store derives its secret.
pub(super) const KEY_PURPOSE: &str = "sleeping runs";
/// The format version, the first byte of the ciphertext.
const FORMAT_VERSION: u8 = 1;
/// The size of the random salt in bytes.
const SALT_BYTES: usize = 32;
/// The maximum size of the decompressed state in bytes: the largest possible memory of a call (1
/// GiB) and its other state.
const MAX_PLAINTEXT_BYTES: u64 = (1 << 30) + (1 << 28);

/// Compresses and encrypts `content`, authenticated together with the store row.
pub(super) fn encrypt(secret: &[u8; 32], beside: &SuspendedRow, content: &[u8]) -> Result<Vec<u8>, RunSuspendError> {
    let failed = |error: &dyn std::fmt::Display| RunSuspendError::Encrypt(Message::verbatim(error.to_string()));
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt).map_err(|error| failed(&error))?;
    let mut smaller = DeflateEncoder::new(Vec::new(), Compression::default());
    let mut sealed = smaller.write_all(content).and_then(|()| smaller.finish()).map_err(|error| failed(&error))?;
    let key =
        derive_key(secret, &salt).ok_or_else(|| RunSuspendError::Encrypt(message!("the key cannot be derived")))?;
    key.seal_in_place_append_tag(nonce(), Aad::from(associated_data(beside)), &mut sealed)
        .map_err(|error| failed(&error))?;
    Ok([&[FORMAT_VERSION], &salt[..], &sealed].concat())
}

/// Decrypts a store row; `None` if it was modified.
pub(super) fn decrypt(secret: &[u8; 32], row: &SuspendedRow) -> Option<Vec<u8>> {
    let (form, rest) = row.blob.split_first()?;
    let (salt, sealed) = rest.split_at_checked(SALT_BYTES).filter(|_| *form == FORMAT_VERSION)?;
    let mut sealed = sealed.to_vec();
    let smaller =
        derive_key(secret, salt)?.open_in_place(nonce(), Aad::from(associated_data(row)), &mut sealed).ok()?;
    let mut content = Vec::new();
    DeflateDecoder::new(&*smaller).take(MAX_PLAINTEXT_BYTES).read_to_end(&mut content).ok()?;
    Some(content)
}

/// Decrypts a store row with one secret and encrypts it with another; `None` if it was modified, or the secret is not the right one.
pub(super) fn reencrypt(row: &SuspendedRow, from: &[u8; 32], to: &[u8; 32]) -> Option<Vec<u8>> {
    encrypt(to, row, &decrypt(from, row)?).ok()
}

/// Derives the key of one encryption.
fn derive_key(secret: &[u8; 32], salt: &[u8]) -> Option<LessSafeKey> {
    let key = blake3::keyed_hash(secret, salt);
    UnboundKey::new(&CHACHA20_POLY1305, key.as_bytes()).ok().map(LessSafeKey::new)
}

/// Returns a constant nonce, which is safe because each key encrypts only once.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

/// Returns the associated data: the row's columns, each with its length.
fn associated_data(row: &SuspendedRow) -> Vec<u8> {
    let (run, at) = (row.run.to_string(), row.suspended_at.as_millisecond().to_le_bytes());
    let parts = [run.as_bytes(), row.tool.as_bytes(), row.caller.as_bytes(), &at, row.binding.as_bytes()];
    parts.iter().flat_map(|part| [&(part.len() as u64).to_le_bytes()[..], part].concat()).collect()
}
