//! File locks with a timeout.
//!
//! Invariant: no wait is unbounded, and a long one emits a notice. A process that stopped or hangs
//! while it holds a lock blocks others for one minute at the index, and for a few seconds at the
//! log, whose lines can be appended later.

use std::fs::{File, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use toolcell_i18n::Message;

use crate::notice::{self, Notice};

/// The timeout for most locks.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_mins(1);
/// The timeout for the audit log, and within SQLite.
pub(crate) const LOG_TIMEOUT: Duration = Duration::from_secs(5);
/// The timeout for the index if the data is in a journal as well.
pub(crate) const BRIEF_TIMEOUT: Duration = Duration::from_secs(1);
/// The wait after which a notice is emitted.
const NOTICE_AFTER: Duration = Duration::from_millis(1_500);
/// The first and the longest pause between two tries. A transaction takes 0.1 ms, a synced one a
/// few.
const BACKOFF: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Takes a lock with `take`, exclusively or shared; fails with `WouldBlock` if the timeout expires.
/// `what` names the locked resource.
pub(crate) fn lock_timeout(
    file: &File,
    what: &'static str,
    patience: Duration,
    take: impl Fn(&File) -> Result<(), TryLockError>,
) -> std::io::Result<()> {
    let started = Instant::now();
    let (mut pause, mut told) = (BACKOFF.0, false);
    loop {
        match take(file) {
            Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                if !told && started.elapsed() > NOTICE_AFTER {
                    told = true;
                    notice::emit_notice(&Notice::Waiting { what: &Message::from(what) });
                }
                sleep(pause);
                pause = (pause * 2).min(BACKOFF.1);
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
        lock_timeout(&one, "a file", LOCK_TIMEOUT, File::try_lock).unwrap();
        let refused = lock_timeout(&other, "a file", Duration::from_millis(5), File::try_lock).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_timeout(&other, "a file", LOCK_TIMEOUT, File::try_lock_shared));
            one.unlock().unwrap();
            waiting.join().unwrap().unwrap();
        });
    }
}
