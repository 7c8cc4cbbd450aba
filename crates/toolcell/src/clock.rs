//! The clock of a toolbox.
//!
//! Invariant: the system's clock never gives a time that a store cannot represent.

use jiff::Timestamp;

/// A clock.
pub(crate) type Clock = fn() -> Timestamp;

/// The latest time that a store can represent.
const MAX_TIMESTAMP: Timestamp = Timestamp::constant(253_402_207_200, 0);

/// Returns the current time, clamped to the store's calendar, which ends with the year 9999.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the clock that others are handed; that of the library panics at the end"
)]
pub fn now() -> Timestamp {
    clamp_to_calendar(std::time::SystemTime::now())
}

/// Converts a system time, clamped to [`MAX_TIMESTAMP`].
fn clamp_to_calendar(time: std::time::SystemTime) -> Timestamp {
    Timestamp::try_from(time).map_or(MAX_TIMESTAMP, |time| time.min(MAX_TIMESTAMP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_beyond_the_calendar_gives_the_latest_time_that_stores_read() {
        let after = |millis| std::time::UNIX_EPOCH + std::time::Duration::from_millis(millis);
        assert_eq!(clamp_to_calendar(after(1_500)).as_millisecond(), 1_500);
        // 1.5 s after the last second, noon of the last day in UTC, and the year 60,000.
        for millis in [253_402_207_201_500, 253_402_257_600_000, 1_831_300_000_000_000] {
            assert_eq!(clamp_to_calendar(after(millis)), MAX_TIMESTAMP, "{millis}");
        }
    }
}
