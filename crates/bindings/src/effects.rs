//! Side effects that the host decides about while a run waits.
//!
//! Invariant: where the approver of the host fails, no effect is performed. A run that may be suspended is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use toolcell::{EffectApprover, EffectDecision, HeldBody, HeldEffect, Lang};

use crate::host::{Callback, Host};

/// The effect approver in the host's language.
pub(crate) struct HostEffectApprover {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) lang: Lang,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawDecision {
    Perform,
    Refuse,
    Defer,
}

impl EffectApprover for HostEffectApprover {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        let effects: Vec<_> = held.iter().map(|effect| HeldResponse::new(effect, self.lang)).collect();
        let tool = held.first().map_or("", |effect| &effect.tool);
        let asked = serde_json::to_string(&effects).map_err(|error| error.to_string());
        let answer = asked.and_then(|asked| self.host.call(Callback::Effects, tool, &asked, None));
        let decisions: Option<Vec<RawDecision>> = answer.ok().and_then(|answer| serde_json::from_str(&answer).ok());
        let Some(decisions) = decisions.filter(|decisions| decisions.len() == held.len()) else {
            // The host knows why: what its approver raised is its own.
            return vec![EffectDecision::Defer; held.len()];
        };
        let decide = |decision| match decision {
            RawDecision::Perform => EffectDecision::Perform,
            RawDecision::Refuse => EffectDecision::Refuse,
            RawDecision::Defer => EffectDecision::Defer,
        };
        decisions.into_iter().map(decide).collect()
    }
}

/// A held effect, as JSON for the host's language.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldResponse<'a> {
    tool_name: &'a str,
    tool_id: String,
    position: u32,
    kind: &'a str,
    about: &'a str,
    /// As it is: a tool could nest it beyond what is read here, and would then hide it from a program that decides.
    details: Box<RawValue>,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<BodyResponse<'a>>,
    digest: &'a str,
    display: String,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum BodyResponse<'a> {
    Text(&'a str),
    Base64(&'a str),
}

impl<'a> HeldResponse<'a> {
    pub(crate) fn new(held: &'a HeldEffect, lang: Lang) -> Self {
        let quoted = |_| to_raw_value(&held.details).unwrap_or_default();
        Self {
            tool_name: &held.tool,
            tool_id: held.id.to_string(),
            position: held.position,
            kind: &held.kind,
            about: &held.about,
            details: RawValue::from_string(held.details.clone()).unwrap_or_else(quoted),
            bytes: held.bytes,
            body: held.body.as_ref().map(|body| match body {
                HeldBody::Text(text) => BodyResponse::Text(text),
                HeldBody::Base64(bytes) => BodyResponse::Base64(bytes),
            }),
            digest: &held.digest,
            display: held.to_line(lang),
        }
    }
}
