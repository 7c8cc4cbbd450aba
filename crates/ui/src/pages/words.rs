//! The words for states.

use toolcell::store::Decision;
use toolcell::{RunEnd, Status};
use toolcell_i18n::{Lang, tr};

/// Names a decision.
pub(super) fn decision_word(decision: Decision, lang: Lang) -> &'static str {
    match decision {
        Decision::Approved => tr!(lang, "decision" => "approved"),
        Decision::ApprovedOnce => tr!(lang, "decision" => "approved for one run"),
        Decision::Refused => tr!(lang, "decision" => "refused"),
    }
}

/// Names a status.
pub(super) fn status_word(status: Status, lang: Lang) -> &'static str {
    match status {
        Status::Unverified => tr!(lang, "status" => "unverified"),
        Status::Pending => tr!(lang, "status" => "in verification"),
        Status::Passed => tr!(lang, "status" => "verified"),
        Status::Failed => tr!(lang, "status" => "failed verification"),
        Status::Deprecated => tr!(lang, "status" => "deprecated"),
        Status::Quarantined => tr!(lang, "status" => "quarantined"),
    }
}

/// Names the outcome of a record.
pub(super) fn outcome_word(outcome: &str, lang: Lang) -> &str {
    match outcome {
        "returned" => tr!(lang, "outcome" => "returned"),
        "threw" => tr!(lang, "outcome" => "threw"),
        "stopped" => tr!(lang, "outcome" => "stopped at a limit"),
        "refused" => tr!(lang, "outcome" => "refused"),
        "suspended" => tr!(lang, "outcome" => "suspended"),
        "interrupted" => tr!(lang, "outcome" => "interrupted"),
        "passed" => tr!(lang, "status" => "verified"),
        "failed" => tr!(lang, "status" => "failed verification"),
        "unproven" => tr!(lang, "outcome" => "not proven"),
        // Written by another version.
        other => other,
    }
}

/// Names how a run ended, as a filter.
pub(super) fn end_word(end: RunEnd, lang: Lang) -> &'static str {
    match end {
        RunEnd::Returned => tr!(lang, "outcome" => "returned"),
        RunEnd::Failed => tr!(lang, "outcome" => "failed"),
        RunEnd::Refused => tr!(lang, "outcome" => "refused"),
        RunEnd::Suspended => tr!(lang, "outcome" => "suspended"),
    }
}
