//! The rendering of a proof as text.

use std::fmt::Write as _;

#[cfg(feature = "proof")]
use toolcell_i18n::Localize as _;
use toolcell_i18n::{Lang, tr};

#[cfg(feature = "proof")]
use super::messages::error_text_for_code;
#[cfg(feature = "proof")]
use crate::operations::verify::VerifyError;
use crate::verification::proof::{Check, CheckKind, CheckStatus, Counterexample, Proof, ProofStatus};

/// The type errors that a text has.
const MAX_TYPE_ERRORS: usize = 10;

#[cfg(feature = "proof")]
impl VerifyError {
    /// Returns the answer of a refused verification.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        match self {
            Self::Run(error) => error.to_text(lang),
            _ => error_text_for_code(self.code(), &self.localize().to_text(lang), lang),
        }
    }
}

impl Proof {
    /// Returns the checks and their results as text.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let (name, verdict) = (&self.name, status_text(self.verdict, lang));
        let mut text = tr!(lang, "Verification of the tool `{name}`: {verdict}", name, verdict);
        text.push('\n');
        for check in &self.checks {
            // Writing to a string does not fail.
            let _ = write!(text, "\n- {}", check_text(check, lang));
        }
        for (index, error) in self.type_errors.iter().take(MAX_TYPE_ERRORS).enumerate() {
            let gap = if index == 0 { "\n\n" } else { "\n" };
            let _ = write!(text, "{gap}{}{}{}", tr!(lang, "type error"), lang.colon(), error.to_text(lang));
        }
        let more = self.type_errors.len().saturating_sub(MAX_TYPE_ERRORS);
        if more > 0 {
            let _ = write!(text, "\n{}", tr!(lang, "{more} more", more));
        }
        if let Some(found) = &self.counterexample {
            text.push_str("\n\n");
            text.push_str(&found.to_text(lang));
        }
        if self.verdict == ProofStatus::Unproven {
            text.push_str("\n\n");
            text.push_str(tr!(lang, "add expected results to `examples`, and verify it again"));
        }
        text
    }
}

impl Counterexample {
    /// Returns the input and its fault as text.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let colon = lang.colon();
        let place = self.place.map(|(line, column)| format!(" ({line}:{column})")).unwrap_or_default();
        let mut text = format!(
            "{}{colon}{}{place}\n{}{colon}{}",
            tr!(lang, "counterexample"),
            self.message.to_text(lang),
            tr!(lang, "check" => "parameters"),
            self.parameters
        );
        if let Some(with) = &self.found_with {
            let found = tr!(lang, "before shrinking");
            let _ = write!(text, "\n{found}{colon}{}", crate::verification::proof::truncated_json(with));
        }
        text
    }
}

fn status_text(verdict: ProofStatus, lang: Lang) -> &'static str {
    match verdict {
        ProofStatus::Passed => tr!(lang, "check" => "passed"),
        ProofStatus::Failed => tr!(lang, "check" => "failed"),
        ProofStatus::Unproven => tr!(lang, "check" => "unproven"),
    }
}

fn check_text(check: &Check, lang: Lang) -> String {
    let name = match check.check {
        CheckKind::Examples => tr!(lang, "check" => "examples"),
        CheckKind::Determinism => tr!(lang, "check" => "determinism"),
        CheckKind::Headroom => tr!(lang, "check" => "headroom"),
        CheckKind::Parameters => tr!(lang, "check" => "parameters"),
        CheckKind::Challenger => tr!(lang, "check" => "challenger"),
    };
    let ended = match check.verdict {
        CheckStatus::Passed => tr!(lang, "check" => "passed"),
        CheckStatus::Failed => tr!(lang, "check" => "failed"),
        CheckStatus::Skipped => tr!(lang, "check" => "skipped"),
    };
    format!("{name}{}{ended} ({})", lang.colon(), check.says.to_text(lang))
}
