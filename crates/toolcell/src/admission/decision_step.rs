//! One step of a decision, for an explanation.

use toolcell_i18n::Message;

/// One step of an admission decision.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DecisionStep {
    /// The deciding stage: `policy`, `limits`, `grants`, `quarantine`, `hook`, `approval`.
    pub stage: &'static str,
    /// The deciding rule: a policy key, or the name of a hook.
    pub rule: Message,
    /// The verdict: `allow`, `deny`, `ask`, `grant`, `withhold`, `no-objection`, `found`, `pass`, or
    /// the value of a limit.
    pub verdict: Message,
    /// The reason.
    pub reason: Message,
}
