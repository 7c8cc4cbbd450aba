//! Signs receipts, and says which part is not what was signed: ed25519 (RFC 8032) over the digests of all parts.
//!
//! Invariant: each field of a receipt is in a part, and each part has a digest. What was changed is told apart from the digest of
//! it that was.

use std::fmt;

use data_encoding::HEXLOWER;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::ReceiptError;
use super::form::{Contents, Journal};
use super::{Form, VERSION};

/// What sets apart what is signed here from whatever else is signed anywhere.
const CONTEXT: &str = "toolcell 2026-12 receipt";
/// How many digits of a key are shown where people tell keys apart.
const SHOWN: usize = 16;

/// A key that receipts are verified with. Its text is the beginning of it, which is enough to tell keys apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReceiptKey(String);

/// What signs.
pub(crate) struct Signer(SigningKey);

/// A signature, and the key to verify it with, in hex.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seal {
    key: String,
    ed25519: String,
}

impl ReceiptKey {
    /// All of it, in hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReceiptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get(..SHOWN).unwrap_or(&self.0))
    }
}

impl Signer {
    pub(super) fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    pub(crate) fn public(&self) -> ReceiptKey {
        ReceiptKey(HEXLOWER.encode(self.0.verifying_key().as_bytes()))
    }

    /// The digests of all parts, and the signature over them.
    pub(super) fn sign(&self, run: &Contents) -> (Map<String, Value>, Seal) {
        let key = self.public().0;
        let digests = digests(run, &key);
        let signature = HEXLOWER.encode(&self.0.sign(&message(&digests)).to_bytes());
        let digests = digests.into_iter().map(|(name, digest)| (name, Value::String(digest)));
        (digests.collect(), Seal { key, ed25519: signature })
    }
}

/// Whose signature a receipt has, if it is what was signed.
pub(super) fn verify(form: &Form) -> Result<ReceiptKey, ReceiptError> {
    let Seal { key, ed25519 } = &form.signature;
    let computed = digests(&form.run, key);
    let changed = |places| Err(ReceiptError::Changed { places });
    let names = computed.iter().map(|(name, _)| name.as_str());
    if !form.digests.keys().map(String::as_str).eq(names) {
        return changed(vec!["the list of its parts".to_owned()]);
    }
    let given: Vec<(String, String)> = form
        .digests
        .iter()
        .map(|(name, digest)| (name.clone(), digest.as_str().unwrap_or_default().to_owned()))
        .collect();
    let differ: Vec<&str> =
        computed.iter().zip(&given).filter(|(one, other)| one != other).map(|((name, _), _)| name.as_str()).collect();
    if is_signed(key, &given, ed25519) {
        return match differ.as_slice() {
            [] => Ok(ReceiptKey(key.clone())),
            some => changed(some.iter().map(|name| place(name)).collect()),
        };
    }
    // Where the parts are what was signed, what is said of them is not.
    if is_signed(key, &computed, ed25519) {
        return changed(differ.iter().map(|name| format!("the digest of {}", place(name))).collect());
    }
    if differ.is_empty() {
        return changed(vec!["the signature".to_owned()]);
    }
    changed(differ.iter().map(|name| place(name)).collect())
}

fn is_signed(key: &str, digests: &[(String, String)], signature: &str) -> bool {
    let decoded = |text: &str| HEXLOWER.decode(text.as_bytes()).ok();
    let key = decoded(key).and_then(|bytes| VerifyingKey::from_bytes(&bytes.try_into().ok()?).ok());
    let signature = decoded(signature).and_then(|bytes| Signature::from_slice(&bytes).ok());
    match (key, signature) {
        (Some(key), Some(signature)) => key.verify_strict(&message(digests), &signature).is_ok(),
        _ => false,
    }
}

/// What is signed.
fn message(digests: &[(String, String)]) -> Vec<u8> {
    let mut text = format!("{CONTEXT} {VERSION}\n");
    for (name, digest) in digests {
        // No name has a line feed in it, and each is one of those that are made below.
        text.extend([name.as_str(), "=", digest.as_str(), "\n"]);
    }
    text.into_bytes()
}

/// Each part by its name, with its blake3 in hex.
fn digests(run: &Contents, key: &str) -> Vec<(String, String)> {
    let Contents { tool, guest, engine, image, policy, parameters, seed, started_at, .. } = run;
    let Contents { call_id, readings, journal, result, .. } = run;
    let mut all = vec![
        of("key", &key),
        of("tool", tool),
        of("guest", guest),
        of("engine", engine),
        of("image", image),
        of("grants", &(&policy.grants, &policy.visible)),
        of("limits", &policy.limits),
        of("parameters", parameters),
        of("seed", seed),
        of("startedAt", started_at),
        of("callId", call_id),
        of("readings", readings),
        of("outcome", &result.outcome),
        of("logs", &result.logs),
        of("warnings", &result.warnings),
        of("fuel", &result.fuel),
        of("loadFuel", &result.load_fuel),
    ];
    match journal {
        Journal::Waits(waits) => {
            let entries = waits.iter().zip(1..).map(|(wait, number)| of(&format!("{ENTRY}{number}"), wait));
            all.extend(entries);
        }
        Journal::Missing(why) => all.push(of("journal", why)),
    }
    all
}

/// What the name of an entry of the journal begins with.
const ENTRY: &str = "journal ";

fn of(name: &str, part: &impl Serialize) -> (String, String) {
    // Strings, numbers and values that were JSON: there is nothing in it that cannot be written.
    let bytes = serde_json::to_vec(part).unwrap_or_default();
    (name.to_owned(), blake3::hash(&bytes).to_hex().to_string())
}

/// A part as messages call it.
fn place(name: &str) -> String {
    if let Some(number) = name.strip_prefix(ENTRY) {
        return format!("entry {number} of the journal");
    }
    match name {
        "startedAt" => "the start time".to_owned(),
        "callId" => "the name of the call".to_owned(),
        "readings" => "what the clock said".to_owned(),
        "loadFuel" => "the fuel of loading".to_owned(),
        "key" => "the key of the signature".to_owned(),
        name => format!("the {name}"),
    }
}
