//! What a policy says of the limits of one call.

use toolcell_host::Budget;

use crate::policy::limits::{Limit, LimitError, Wanted};
use crate::policy::{Policy, WhenUnrecorded};

impl Policy {
    /// Whether a call may have this budget.
    ///
    /// # Errors
    /// `limit-invalid`: it is above a ceiling.
    pub fn admits(&self, budget: &Budget) -> Result<(), LimitError> {
        for limit in Limit::ALL {
            let ceiling = self.limits.ceiling(limit);
            let actual = limit.rounded_up(budget);
            if actual > ceiling.value {
                let (least, most) = (limit.least(), ceiling.value);
                return Err(LimitError { limit, actual, least, most, ceiling: ceiling.origin.clone() });
            }
        }
        Ok(())
    }

    /// Each limit of a call, what it is, and who said so.
    pub(crate) fn limits_of(&self, wanted: &Wanted) -> Vec<(Limit, u64, String)> {
        let of = |limit: Limit| {
            if let Some(value) = wanted.get(limit) {
                return (limit, value, "the caller asks for it".to_owned());
            }
            let held = self.limits.limit(limit);
            (limit, held.value, held.origin.to_string())
        };
        Limit::ALL.into_iter().map(of).collect()
    }

    /// Whether a run that cannot be recorded must not start.
    pub(crate) fn records_are_required(&self) -> bool {
        self.when_unrecorded() == WhenUnrecorded::Refuse
    }
}
