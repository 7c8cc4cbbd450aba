//! Waiting for a lock that another process holds.
//!
//! Invariant: nobody waits for ever. A process that was stopped, or hangs, with a lock in its hand holds up the others
//! for a minute, and then they are told.

use std::fs::{File, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long one waits for others.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// The first pause, and the longest. A transaction takes a tenth of a millisecond, and one that is synced a few.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Takes a lock, alone or with others, or says that somebody else holds it for too long (`WouldBlock`).
pub(crate) fn lock_within(
    file: &File,
    patience: Duration,
    take: impl Fn(&File) -> Result<(), TryLockError>,
) -> std::io::Result<()> {
    let started = Instant::now();
    let mut pause = PAUSES.0;
    loop {
        match take(file) {
            Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                sleep(pause);
                pause = (pause * 2).min(PAUSES.1);
            }
            other => return Ok(other?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_waits_for_a_lock_and_not_for_ever() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let (one, other) = (path.reopen().unwrap(), path.reopen().unwrap());
        lock_within(&one, PATIENCE, File::try_lock).unwrap();
        let refused = lock_within(&other, Duration::from_millis(5), File::try_lock).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_within(&other, PATIENCE, File::try_lock_shared));
            one.unlock().unwrap();
            waiting.join().unwrap().unwrap();
        });
    }
}
