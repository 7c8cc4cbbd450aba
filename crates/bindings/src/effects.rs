//! Side effects that the host decides about while a run waits.
//!
//! Invariant: where the approver of the host fails, no effect is performed. A run that may be suspended is.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
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
        let effects: Vec<_> = held.iter().map(|effect| held_json(effect, self.lang)).collect();
        let tool = held.first().map_or("", |effect| &effect.tool);
        let answer = self.host.call(Callback::Effects, tool, &Value::from(effects).to_string(), None);
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

pub(crate) fn held_json(held: &HeldEffect, lang: Lang) -> Value {
    let details = serde_json::from_str(&held.details).unwrap_or_else(|_| Value::from(held.details.as_str()));
    let mut effect = json!({
        "toolName": held.tool, "toolId": held.id.to_string(), "position": held.position, "kind": held.kind,
        "about": held.about, "details": details, "bytes": held.bytes, "digest": held.digest,
        "display": held.to_line(lang),
    });
    match &held.body {
        Some(HeldBody::Text(text)) => effect["body"] = json!({ "text": text }),
        Some(HeldBody::Base64(bytes)) => effect["body"] = json!({ "base64": bytes }),
        None => {}
    }
    effect
}
