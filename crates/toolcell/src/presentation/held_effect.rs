//! Held effects as a person reads them.

use toolcell_i18n::{Lang, tr};

use super::approval_prompt::single_line_for_display;
use crate::host_calls::HeldEffect;

impl HeldEffect {
    /// Returns one line for a user's decision: the tool, the kind, the target, and the number of bytes
    /// that the effect carries, and where the data came from that it may depend on. What a tool has written in it is escaped.
    #[must_use]
    pub fn to_line(&self, lang: Lang) -> String {
        let (tool, about) = (single_line_for_display(&self.tool), single_line_for_display(&self.about));
        let effect = format!("{tool}{}{} {about}", lang.colon(), self.kind);
        let effect =
            if self.bytes > 0 { tr!(lang, "{effect} ({bytes} bytes)", effect, bytes = self.bytes) } else { effect };
        if self.from.is_empty() {
            return effect;
        }
        tr!(lang, "{effect}, after data from {sources}", effect, sources = self.from.join(", "))
    }
}
