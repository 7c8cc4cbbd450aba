//! The results of replays as text.

use toolcell_i18n::{Lang, tr};

use super::approval_prompt::single_line;
use crate::receipt::{ReceiptKey, ReplayResult};

impl ReplayResult {
    /// Returns the verdict, and a line for each difference. `signer` is the key of the receipt's signature.
    #[must_use]
    pub fn to_text(&self, signer: &ReceiptKey, lang: Lang) -> String {
        let fuel = self.fuel;
        let headline = if self.is_reproduced() {
            tr!(lang, "reproduced: output and fuel ({fuel} units), signed by {key}", fuel, key = signer)
        } else {
            tr!(lang, "not reproduced, signed by {key}:", key = signer)
        };
        let differences = self.differences.iter().map(|difference| {
            let line = tr!(lang, "- {part}: {difference}", part = difference.about, difference = difference.says);
            single_line(&line)
        });
        std::iter::once(headline).chain(differences).collect::<Vec<_>>().join("\n")
    }
}
