//! What a client carries for us from one request to the next: signed, bound, for a while, and once.
//!
//! A request that needs somebody's answer ends, and comes again with the answer and with what was given to the client here
//! (the multi round-trip requests of the specification of 2026-07-28). Nothing is kept meanwhile, so the answer may come
//! after a restart, or to another server on the same store.
//!
//! Invariant: what was sealed for one principal and one request opens for no other, and opens once.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::OnceLock;
use std::time::Duration;

use jiff::Timestamp;
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use toolcell::store::{Fault, Spending, Store};

use crate::principal::Principal;

/// What the key of a store is for.
const PURPOSE: &str = "toolcell 2026-11 request state";

/// Signs with the key of a store.
#[derive(Debug, Default)]
pub(crate) struct Seal(OnceLock<RequestStateCodec>);

/// What is carried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// The question that was asked, by its hash.
    pub(crate) asked: String,
    /// What was said to those before it: whether yes.
    #[serde(default)]
    pub(crate) said: BTreeMap<String, bool>,
    /// Until when it is good, in milliseconds since 1970.
    until: i64,
    /// What makes it the only one of its kind.
    nonce: u64,
}

/// Why it does not open.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    #[error("it is not from this server, not for this request, or not for you")]
    Foreign,
    #[error("its time is over")]
    Expired,
    #[error("it was used already")]
    Spent,
    #[error("it cannot be sealed: {0}")]
    Unsealed(#[from] serde_json::Error),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl SealError {
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Fault(fault) => fault.code(),
            _ => "state-invalid",
        }
    }

    pub(crate) const HINT: &str = "send the request again without `requestState`: it is asked anew";
}

/// What a state is bound to.
#[derive(Clone)]
pub(crate) struct Bound(Vec<u8>);

impl Bound {
    /// To a principal, and a request with these parameters.
    ///
    /// # Errors
    /// The parameters have no canonical form: nothing can be bound to them.
    pub(crate) fn to(
        principal: &Principal,
        method: &str,
        parameters: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        // The canonical form: a client may write the keys in another order when it sends them again.
        let parameters = serde_jcs::to_vec(parameters)?;
        let mut hasher = blake3::Hasher::new();
        for part in [principal.as_str().as_bytes(), method.as_bytes(), &parameters] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        Ok(Self(hasher.finalize().as_bytes().to_vec()))
    }
}

impl Seal {
    fn codec(&self, store: &Store) -> Result<&RequestStateCodec, Fault> {
        if let Some(codec) = self.0.get() {
            return Ok(codec);
        }
        let key = store.secret(PURPOSE)?;
        // A key of a store is as long as the codec wants one.
        Ok(self.0.get_or_init(|| RequestStateCodec::new_unchecked(key.to_vec())))
    }

    /// Seals what is to be carried.
    pub(crate) fn close(
        &self,
        store: &Store,
        bound: &Bound,
        asked: String,
        said: BTreeMap<String, bool>,
        (now, lasts): (Timestamp, Duration),
    ) -> Result<String, SealError> {
        let until = now.saturating_add(lasts).unwrap_or(Timestamp::MAX).as_millisecond();
        let text = serde_json::to_vec(&Carried { asked, said, until, nonce: nonce() })?;
        Ok(self.codec(store)?.seal_with(&text, &SealOptions::new().associated_data(&bound.0)))
    }

    /// Opens what came back, once.
    pub(crate) fn open(&self, store: &Store, bound: &Bound, state: &str, now: Timestamp) -> Result<Carried, SealError> {
        let opened = self.codec(store)?.open_with(state, &bound.0).map_err(|_| SealError::Foreign)?;
        let carried: Carried = serde_json::from_slice(&opened).map_err(|_| SealError::Foreign)?;
        let until = Timestamp::from_millisecond(carried.until).map_err(|_| SealError::Foreign)?;
        match store.spend(blake3::hash(state.as_bytes()), until, now)? {
            Spending::First => Ok(carried),
            Spending::Again => Err(SealError::Spent),
            Spending::TooLate => Err(SealError::Expired),
        }
    }
}

/// A number that does not come again: the keys of the standard library's hash maps come from the system's random numbers.
fn nonce() -> u64 {
    RandomState::new().build_hasher().finish()
}
