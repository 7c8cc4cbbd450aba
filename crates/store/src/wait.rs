//! Waiting for a lock that another process holds.
//!
//! Invariant: nobody waits for ever, and nobody waits long without being told. A process that was stopped, or hangs, with a lock in
//! its hand holds up others for a minute at the index, and for some seconds at the log, whose lines can be appended later.

use std::fs::{File, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::notice::{self, Notice};

/// How long one waits for others.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// How long one waits at the audit log, and within SQLite.
pub(crate) const LOG: Duration = Duration::from_secs(5);
/// How long one waits for the index where what is to be written is kept in a journal all the same.
pub(crate) const BRIEF: Duration = Duration::from_secs(1);
/// When one is told that one waits.
const TOLD_AFTER: Duration = Duration::from_millis(1_500);
/// The first pause, and the longest. A transaction takes a tenth of a millisecond, and one that is synced a few.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Takes the lock of `what`, alone or with others, or says that somebody else holds it for too long (`WouldBlock`).
pub(crate) fn lock_within(
    file: &File,
    what: &str,
    patience: Duration,
    take: impl Fn(&File) -> Result<(), TryLockError>,
) -> std::io::Result<()> {
    let started = Instant::now();
    let (mut pause, mut told) = (PAUSES.0, false);
    loop {
        match take(file) {
            Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                if !told && started.elapsed() > TOLD_AFTER {
                    told = true;
                    notice::tell(&Notice::Waiting { what });
                }
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
        lock_within(&one, "a file", PATIENCE, File::try_lock).unwrap();
        let refused = lock_within(&other, "a file", Duration::from_millis(5), File::try_lock).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_within(&other, "a file", PATIENCE, File::try_lock_shared));
            one.unlock().unwrap();
            waiting.join().unwrap().unwrap();
        });
    }
}
