//! Seals what is kept of a run while it sleeps.
//!
//! Invariant: each seal has a key of its own, made of the store's secret and of chance, and is bound to all that stands beside it in
//! the store. Whoever changes a bit of either has nothing that opens.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use toolcell_store::Sleeping;

use super::SleepError;

/// What the store's secret is asked for.
pub(super) const PURPOSE: &str = "sleeping runs";
/// The first byte of what is sealed so.
const FORM: u8 = 1;
/// How many bytes of chance go into a key.
const SALT: usize = 32;
/// The most bytes that are opened: as much as a run can have, and what belongs to it.
const MOST: u64 = (1 << 30) + (1 << 28);

/// What is sealed, for what stands beside it in the store.
pub(super) fn seal(secret: &[u8; 32], beside: &Sleeping, content: &[u8]) -> Result<Vec<u8>, SleepError> {
    let failed = |error: &dyn std::fmt::Display| SleepError::Seal(error.to_string());
    let mut salt = [0; SALT];
    getrandom::fill(&mut salt).map_err(|error| failed(&error))?;
    let mut smaller = DeflateEncoder::new(Vec::new(), Compression::default());
    let mut sealed = smaller.write_all(content).and_then(|()| smaller.finish()).map_err(|error| failed(&error))?;
    let key = key(secret, &salt).ok_or_else(|| failed(&"no key"))?;
    key.seal_in_place_append_tag(nonce(), Aad::from(bond(beside)), &mut sealed).map_err(|error| failed(&error))?;
    Ok([&[FORM], &salt[..], &sealed].concat())
}

/// What was sealed; nothing where it was changed.
pub(super) fn open(secret: &[u8; 32], row: &Sleeping) -> Option<Vec<u8>> {
    let (form, rest) = row.blob.split_first()?;
    let (salt, sealed) = rest.split_at_checked(SALT).filter(|_| *form == FORM)?;
    let mut sealed = sealed.to_vec();
    let smaller = key(secret, salt)?.open_in_place(nonce(), Aad::from(bond(row)), &mut sealed).ok()?;
    let mut content = Vec::new();
    DeflateDecoder::new(&*smaller).take(MOST).read_to_end(&mut content).ok()?;
    Some(content)
}

/// The key of one seal.
fn key(secret: &[u8; 32], salt: &[u8]) -> Option<LessSafeKey> {
    let key = blake3::keyed_hash(secret, salt);
    UnboundKey::new(&CHACHA20_POLY1305, key.as_bytes()).ok().map(LessSafeKey::new)
}

/// No key seals twice, so one number is enough.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

/// All that a seal is bound to.
fn bond(row: &Sleeping) -> Vec<u8> {
    let (run, at) = (row.run.to_string(), row.at.as_millisecond().to_le_bytes());
    let parts = [run.as_bytes(), row.tool.as_bytes(), row.caller.as_bytes(), &at, row.bound.as_bytes()];
    parts.iter().flat_map(|part| [&(part.len() as u64).to_le_bytes()[..], part].concat()).collect()
}
