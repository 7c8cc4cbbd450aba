//! The limits of one call under a policy.

use toolcell_i18n::{Localize as _, Message, message};
use toolcell_protocol::Budget;

use crate::limits::{Limit, LimitError, LimitOverrides};
use crate::{OnAuditFailure, Policy};

impl Policy {
    /// Checks a call's budget against the ceilings.
    ///
    /// # Errors
    /// `limit-invalid`: a limit is above its ceiling.
    pub fn check_budget(&self, budget: &Budget) -> Result<(), LimitError> {
        for limit in Limit::ALL {
            let ceiling = self.limits.ceiling(limit);
            let actual = limit.value_rounded_up(budget);
            if actual > ceiling.value {
                let (least, most) = (limit.min_value(), ceiling.value);
                return Err(LimitError { limit, actual, least, most, ceiling: ceiling.origin.clone() });
            }
        }
        Ok(())
    }

    /// Returns the value of each limit of a call, and where it was set.
    #[must_use]
    pub fn limits_with_origins(&self, wanted: &LimitOverrides) -> Vec<(Limit, u64, Message)> {
        let of = |limit: Limit| {
            if let Some(value) = wanted.get(limit) {
                return (limit, value, message!("requested by the caller"));
            }
            let held = self.limits.limit(limit);
            (limit, held.value, held.origin.localize())
        };
        Limit::ALL.into_iter().map(of).collect()
    }

    /// Returns whether a run that cannot be recorded must not start.
    #[must_use]
    pub fn is_audit_required(&self) -> bool {
        self.on_audit_failure() == OnAuditFailure::Refuse
    }
}
