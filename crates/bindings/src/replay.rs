//! What is made of runs that are over: replays of receipts, and pictures of profiles.

use serde::Deserialize;
use serde_json::{Value, json};
use toolcell::{CancelToken, Lang, Outcome, Profile, Receipt, ReplayOptions, ReplayResult, Stop, VersionPolicy};

use crate::failure::Failure;
use crate::session::Session;

/// The maximum sizes of a receipt and of a profile, in bytes: those of the command line.
const MAX_RECEIPT_BYTES: usize = 256 << 20;
const MAX_PROFILE_BYTES: usize = 64 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ReplayParams {
    /// The text of the receipt.
    receipt: String,
    /// Whether a run of another guest or engine is replayed too.
    #[serde(default)]
    any_version: bool,
}

impl Session {
    /// Replays a run from its receipt alone.
    pub(crate) fn replay(&self, request: &ReplayParams, cancel: &CancelToken) -> Result<Value, Failure> {
        check_size("receipt", &request.receipt, MAX_RECEIPT_BYTES)?;
        let receipt = Receipt::parse(&request.receipt)
            .map_err(|error| Failure::from_error(&error, error.code(), error.hint(), self.lang))?;
        let version_policy = if request.any_version { VersionPolicy::Note } else { VersionPolicy::Refuse };
        let options = ReplayOptions { version_policy, cancel: Some(cancel.clone()) };
        let replayed = self
            .toolbox
            .replay(&receipt, &options)
            .map_err(|error| Failure::from_error(&error, error.code(), error.hint(), self.lang))?;
        if matches!(replayed.outcome, Outcome::Stopped(Stop::Cancelled)) {
            return Err(Failure::cancelled());
        }
        // Whose signature it is matters to who trusts the receipt, not to the replay.
        let is_own = self.toolbox.receipt_key().ok().flatten().is_some_and(|key| key == *receipt.signer());
        Ok(replay_json(&receipt, &replayed, is_own, self.lang))
    }
}

fn replay_json(receipt: &Receipt, replayed: &ReplayResult, is_own: bool, lang: Lang) -> Value {
    let differences =
        replayed.differences.iter().map(|one| json!({"part": one.about, "message": one.says.to_text(lang)}));
    let notes = replayed.notes.iter().map(|note| note.to_text(lang));
    let (outcome, value) = match &replayed.outcome {
        Outcome::Returned(value) => ("returned", value.as_ref()),
        Outcome::Threw(_) => ("threw", None),
        Outcome::Stopped(_) => ("stopped", None),
    };
    let mut answer = json!({
        "reproduced": replayed.is_reproduced(), "toolId": receipt.tool().to_string(), "outcome": outcome,
        "fuel": replayed.fuel, "loadFuel": replayed.load_fuel, "signedBy": receipt.signer().to_hex(),
        "signedHere": is_own, "differences": differences.collect::<Vec<_>>(), "notes": notes.collect::<Vec<_>>(),
        "text": replayed.to_text(receipt.signer(), lang),
    });
    // A value that is nested more deeply than this is text is not a value for the host.
    if let Some(value) = value.and_then(|value| serde_json::from_str(value.as_str()).ok()) {
        answer["value"] = value;
    }
    answer
}

fn check_size(name: &str, text: &str, limit: usize) -> Result<(), Failure> {
    if text.len() <= limit {
        return Ok(());
    }
    Err(Failure::request(format!("the {name} has {} bytes, the limit is {limit}", text.len())))
}

/// Draws a profile, which is given as JSON, as an SVG image.
///
/// # Errors
/// `profile-invalid`, `profile-empty`.
pub fn flame_graph(profile: &str) -> Result<String, Failure> {
    check_size("profile", profile, MAX_PROFILE_BYTES)?;
    let drawn = Profile::parse(profile).and_then(|profile| profile.flame_graph());
    drawn.map_err(|error| Failure::from_error(&error, error.code(), error.hint(), Lang::En))
}
