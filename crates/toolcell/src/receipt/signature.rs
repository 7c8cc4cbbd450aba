//! The signatures of receipts: ed25519 (RFC 8032) over the digests of all parts.
//!
//! Invariant: each field of a receipt belongs to a part, and each part has its own digest, so
//! verification can tell a modified part from a modified digest.

use std::fmt;

use data_encoding::HEXLOWER;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcell_i18n::{Message, message};

use super::error::ReceiptError;
use super::format::{HostCallTrace, ReceiptContents};
use super::{FORMAT_VERSION, ReceiptDocument};

/// The domain separation of the signed message.
const SIGNING_CONTEXT: &str = "toolcell 2026-12 receipt";
/// The number of digits of a key that are displayed.
const SHOWN_KEY_DIGITS: usize = 16;

/// A public key of receipts. It is displayed as its first digits, which are enough to tell keys
/// apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReceiptKey(String);

/// The signing key of receipts.
pub(crate) struct ReceiptSigner(SigningKey);

/// A signature and its public key, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiptSignature {
    key: String,
    ed25519: String,
}

impl ReceiptKey {
    /// Returns the whole key in hexadecimal.
    #[must_use]
    pub fn to_hex(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReceiptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get(..SHOWN_KEY_DIGITS).unwrap_or(&self.0))
    }
}

impl ReceiptSigner {
    pub(super) fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    pub(crate) fn public_key(&self) -> ReceiptKey {
        ReceiptKey(HEXLOWER.encode(self.0.verifying_key().as_bytes()))
    }

    /// Returns the digests of all parts, and the signature over them.
    pub(super) fn sign(&self, run: &ReceiptContents) -> (Map<String, Value>, ReceiptSignature) {
        let key = self.public_key().0;
        let digests = part_digests(run, &key);
        let signature = HEXLOWER.encode(&self.0.sign(&signed_message(&digests)).to_bytes());
        let digests = digests.into_iter().map(|(name, digest)| (name, Value::String(digest)));
        (digests.collect(), ReceiptSignature { key, ed25519: signature })
    }
}

/// Verifies a receipt, and returns its key.
pub(super) fn verify(form: &ReceiptDocument) -> Result<ReceiptKey, ReceiptError> {
    let ReceiptSignature { key, ed25519 } = &form.signature;
    let computed = part_digests(&form.run, key);
    let changed = |places| Err(ReceiptError::Changed { places });
    let names = computed.iter().map(|(name, _)| name.as_str());
    if !form.digests.keys().map(String::as_str).eq(names) {
        return changed(vec![message!("the list of its parts")]);
    }
    let given: Vec<(String, String)> = form
        .digests
        .iter()
        .map(|(name, digest)| (name.clone(), digest.as_str().unwrap_or_default().to_owned()))
        .collect();
    let differ: Vec<&str> =
        computed.iter().zip(&given).filter(|(one, other)| one != other).map(|((name, _), _)| name.as_str()).collect();
    if is_valid_signature(key, &given, ed25519) {
        return match differ.as_slice() {
            [] => Ok(ReceiptKey(key.clone())),
            some => changed(some.iter().map(|name| part_label(name)).collect()),
        };
    }
    // The parts are what was signed, so the digests were modified.
    if is_valid_signature(key, &computed, ed25519) {
        return changed(differ.iter().map(|name| message!("the digest of {part}", part = part_label(name))).collect());
    }
    if differ.is_empty() {
        return changed(vec![message!("the signature")]);
    }
    changed(differ.iter().map(|name| part_label(name)).collect())
}

fn is_valid_signature(key: &str, digests: &[(String, String)], signature: &str) -> bool {
    let decoded = |text: &str| HEXLOWER.decode(text.as_bytes()).ok();
    let key = decoded(key).and_then(|bytes| VerifyingKey::from_bytes(&bytes.try_into().ok()?).ok());
    let signature = decoded(signature).and_then(|bytes| Signature::from_slice(&bytes).ok());
    match (key, signature) {
        (Some(key), Some(signature)) => key.verify_strict(&signed_message(digests), &signature).is_ok(),
        _ => false,
    }
}

/// Returns the signed message.
fn signed_message(digests: &[(String, String)]) -> Vec<u8> {
    let mut text = format!("{SIGNING_CONTEXT} {FORMAT_VERSION}\n");
    for (name, digest) in digests {
        // The names contain no line feed: they are those created below.
        text.extend([name.as_str(), "=", digest.as_str(), "\n"]);
    }
    text.into_bytes()
}

/// Returns the name and the blake3 hash in hexadecimal of each part.
fn part_digests(run: &ReceiptContents, key: &str) -> Vec<(String, String)> {
    let ReceiptContents { tool, guest, engine, image, policy, parameters, seed, started_at, .. } = run;
    let ReceiptContents { call_id, readings, journal, result, .. } = run;
    let mut all = vec![
        part_digest("key", &key),
        part_digest("tool", tool),
        part_digest("guest", guest),
        part_digest("engine", engine),
        part_digest("image", image),
        part_digest("grants", &(&policy.grants, &policy.visible)),
        part_digest("limits", &policy.limits),
        part_digest("parameters", parameters),
        part_digest("seed", seed),
        part_digest("startedAt", started_at),
        part_digest("callId", call_id),
        part_digest("readings", readings),
        part_digest("outcome", &result.outcome),
        part_digest("logs", &result.logs),
        part_digest("warnings", &result.warnings),
        part_digest("fuel", &result.fuel),
        part_digest("loadFuel", &result.load_fuel),
    ];
    match journal {
        HostCallTrace::Waits(waits) => {
            let entries =
                waits.iter().zip(1..).map(|(wait, number)| part_digest(&format!("{TRACE_PART_PREFIX}{number}"), wait));
            all.extend(entries);
        }
        HostCallTrace::Missing(why) => all.push(part_digest("journal", why)),
    }
    all
}

/// The prefix of the part names of trace entries.
const TRACE_PART_PREFIX: &str = "journal ";

#[expect(clippy::expect_used, reason = "a signature covers these digests, so there is no safe fallback")]
fn part_digest(name: &str, part: &impl Serialize) -> (String, String) {
    // Strings, numbers and JSON values always have a JSON form.
    let bytes = serde_json::to_vec(part).expect("a part of a receipt has a JSON form");
    (name.to_owned(), blake3::hash(&bytes).to_hex().to_string())
}

/// Returns the name of a part in messages.
fn part_label(name: &str) -> Message {
    if let Some(number) = name.strip_prefix(TRACE_PART_PREFIX) {
        return message!("entry {number} of the journal", number);
    }
    match name {
        "startedAt" => message!("the start time"),
        "callId" => message!("the call ID"),
        "readings" => message!("the clock readings"),
        "loadFuel" => message!("the fuel of loading"),
        "key" => message!("the signature key"),
        "tool" => message!("the tool"),
        "guest" => message!("the guest"),
        "engine" => message!("the engine"),
        "image" => message!("the image"),
        "grants" => message!("the grants"),
        "limits" => message!("the limits"),
        "parameters" => message!("the parameters"),
        "seed" => message!("the seed"),
        "outcome" => message!("the outcome"),
        "logs" => message!("the logs"),
        "warnings" => message!("the warnings"),
        "fuel" => message!("the fuel"),
        "journal" => message!("the journal"),
        name => message!("the part {name}", name),
    }
}
