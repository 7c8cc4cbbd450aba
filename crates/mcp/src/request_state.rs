//! The `requestState` of multi round-trip requests: signed, bound, expiring and single-use.
//!
//! A request that needs the user's answer ends, and the client repeats it with the answer and the
//! state that was issued here (multi round-trip requests of specification 2026-07-28). The server
//! keeps nothing meanwhile, so the answer may arrive after a restart, or at another server on the
//! same store.
//!
//! Invariant: a state that was issued for a principal and a request is valid for no other, and only
//! once.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use jiff::Timestamp;
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use toolcell::store::{Fault, NonceUse, Store};
use toolcell_error::ErrorCode;

use crate::elicitation::FormAnswer;
use crate::principal::Principal;

/// The purpose from which the signing key is derived.
const PURPOSE: &str = "toolcell 2026-11 request state";

/// Issues and verifies states with a key of the store.
#[derive(Debug, Default)]
pub(crate) struct StateCodec(OnceLock<RequestStateCodec>);

/// The content of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StateClaims {
    /// The hash of the prompt that was put.
    pub(crate) asked: String,
    /// The answers to earlier prompts, by hash.
    #[serde(default)]
    pub(crate) said: BTreeMap<String, FormAnswer>,
    /// When the state expires, in milliseconds since 1970.
    until: i64,
    /// Makes each state unique.
    nonce: u64,
}

/// Why a state cannot be issued or is not valid.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
pub(crate) enum RequestStateError {
    #[error("it was not issued by this server for this request and this caller")]
    Foreign,
    #[error("it has expired")]
    Expired,
    #[error("it was already used")]
    Replayed,
    #[error("it cannot be encoded: {0}")]
    NotEncodable(#[from] serde_json::Error),
    #[error("the system provides no random numbers: {0}")]
    NoRandom(#[from] getrandom::Error),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl RequestStateError {
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Fault(fault) => fault.code(),
            Self::NoRandom(_) => ErrorCode::NoRandom,
            _ => ErrorCode::StateInvalid,
        }
    }

    pub(crate) const HINT: &str = "send the request again without `requestState` to get a new prompt";
}

/// What a state is bound to: a hash of the principal, the method and the parameters.
#[derive(Clone)]
pub(crate) struct StateBinding(Vec<u8>);

impl StateBinding {
    /// Computes the binding.
    ///
    /// # Errors
    /// If the parameters have no canonical JSON form.
    pub(crate) fn new(
        principal: &Principal,
        method: &str,
        parameters: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        // RFC 8785: a client may reorder the keys when it repeats the request.
        let parameters = serde_jcs::to_vec(parameters)?;
        let mut hasher = blake3::Hasher::new();
        for part in [principal.as_str().as_bytes(), method.as_bytes(), &parameters] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        Ok(Self(hasher.finalize().as_bytes().to_vec()))
    }
}

impl StateCodec {
    fn codec(&self, store: &Store) -> Result<&RequestStateCodec, Fault> {
        if let Some(codec) = self.0.get() {
            return Ok(codec);
        }
        let key = store.derive_key(PURPOSE)?;
        // The store's keys have the length that the codec requires.
        Ok(self.0.get_or_init(|| RequestStateCodec::new_unchecked(key.to_vec())))
    }

    /// Issues a state.
    pub(crate) fn issue(
        &self,
        store: &Store,
        bound: &StateBinding,
        asked: String,
        said: BTreeMap<String, FormAnswer>,
        (now, lasts): (Timestamp, Duration),
    ) -> Result<String, RequestStateError> {
        let until = now.saturating_add(lasts).unwrap_or(Timestamp::MAX).as_millisecond();
        let text = serde_json::to_vec(&StateClaims { asked, said, until, nonce: getrandom::u64()? })?;
        Ok(self.codec(store)?.seal_with(&text, &SealOptions::new().associated_data(&bound.0)))
    }

    /// Verifies a state and consumes its nonce.
    pub(crate) fn redeem(
        &self,
        store: &Store,
        bound: &StateBinding,
        state: &str,
        now: Timestamp,
    ) -> Result<StateClaims, RequestStateError> {
        let opened = self.codec(store)?.open_with(state, &bound.0).map_err(|_| RequestStateError::Foreign)?;
        let carried: StateClaims = serde_json::from_slice(&opened).map_err(|_| RequestStateError::Foreign)?;
        let until = Timestamp::from_millisecond(carried.until).map_err(|_| RequestStateError::Foreign)?;
        match store.nonces().consume(blake3::hash(state.as_bytes()), until, now)? {
            NonceUse::Fresh => Ok(carried),
            NonceUse::Replayed => Err(RequestStateError::Replayed),
            NonceUse::Expired => Err(RequestStateError::Expired),
        }
    }
}
