//! A clock that replays recorded readings.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolcell_host::WallClock;

use super::RecordedReading;

/// Creates a clock that returns these readings, each as often as it was recorded, and the last one
/// after that.
pub(super) fn replay_clock(readings: Option<&[RecordedReading]>) -> Option<WallClock> {
    let readings = readings?.to_vec();
    let at = Mutex::new((0, 0));
    Some(Arc::new(move || {
        let mut at = at.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, times) = &mut *at;
        while readings.get(*index).is_some_and(|reading| *times >= reading.times) && *index + 1 < readings.len() {
            (*index, *times) = (*index + 1, 0);
        }
        *times += 1;
        readings.get(*index).map_or(Duration::ZERO, |reading| Duration::from_millis(reading.ms))
    }))
}
