//! The worker processes (`toolcell-types`).
//!
//! Invariant: a worker that does not answer in time, or answers with too much, is killed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolcell_i18n::{Message, message};
use toolcell_types::{CheckReply, CheckRequest, MAX_REQUEST_BYTES, TypedFile};

use super::Answer;

/// The time in which a source has to be checked.
const CHECK_TIME: Duration = Duration::from_secs(2);
/// The maximum size of an answer in bytes: 50 diagnostics of 1,000 characters, escaped.
const MAX_REPLY_BYTES: u64 = 4 << 20;

/// The program, and the workers that have answered and wait; their libraries are parsed.
#[derive(Debug)]
pub(super) struct Workers {
    program: PathBuf,
    idle: Mutex<Vec<Worker>>,
}

impl Workers {
    pub(super) const fn new(program: PathBuf) -> Self {
        Self { program, idle: Mutex::new(Vec::new()) }
    }

    /// Has files checked by a worker that waits, or by a new one.
    pub(super) fn ask(&self, files: &[TypedFile]) -> Answer {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = idle().pop();
        // A worker that was kept may have died meanwhile: another one is tried once.
        let is_kept = kept.is_some();
        let mut answer = Worker::ask(&mut kept, &self.program, files);
        if is_kept && matches!(answer, Answer::Failed(_)) {
            answer = Worker::ask(&mut kept, &self.program, files);
        }
        idle().extend(kept);
        answer
    }
}

/// A running worker.
#[derive(Debug)]
struct Worker {
    process: Child,
    requests: Sender<String>,
    replies: Receiver<String>,
}

impl Worker {
    /// Has files checked by the kept worker, or by a new one, which is kept then.
    fn ask(kept: &mut Option<Self>, program: &Path, files: &[TypedFile]) -> Answer {
        let request = serde_json::to_string(&CheckRequest { files: files.to_vec() }).unwrap_or_default();
        if request.len() >= MAX_REQUEST_BYTES {
            return Answer::TooComplex;
        }
        let is_new = kept.is_none();
        let mut worker = match kept.take().map_or_else(|| Self::start(program), Ok) {
            Ok(worker) => worker,
            Err(error) => return Answer::Failed(message!("it cannot be started: {error}", error)),
        };
        if worker.requests.send(format!("{request}\n")).is_err() {
            return Answer::Failed(message!("it has ended"));
        }
        let reply = match worker.replies.recv_timeout(CHECK_TIME) {
            Ok(reply) => reply,
            Err(RecvTimeoutError::Timeout) => return Answer::TooComplex,
            // A new worker has died of this source.
            Err(RecvTimeoutError::Disconnected) if is_new && worker.has_been_killed() => return Answer::TooComplex,
            Err(RecvTimeoutError::Disconnected) => return Answer::Failed(message!("it has ended")),
        };
        match serde_json::from_str(&reply) {
            Ok(CheckReply::Checked { diagnostics }) => {
                *kept = Some(worker);
                Answer::Checked(diagnostics)
            }
            Ok(CheckReply::Failed { error }) => Answer::Failed(Message::verbatim(error)),
            Err(error) => Answer::Failed(message!("it does not answer as `toolcell-types` does: {error}", error)),
        }
    }

    fn start(program: &Path) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let (Some(mut input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(std::io::Error::other("it has no pipes"));
        };
        // A program that does not read is killed like one that does not answer.
        let (requests, sent) = channel::<String>();
        std::thread::Builder::new().name("types".to_owned()).spawn(move || {
            for request in sent {
                if input.write_all(request.as_bytes()).is_err() {
                    return;
                }
            }
        })?;
        let (send, replies) = channel();
        std::thread::Builder::new().name("types".to_owned()).spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = String::new();
                let read = output.by_ref().take(MAX_REPLY_BYTES).read_line(&mut line);
                if !read.is_ok_and(|bytes| bytes > 0) || !line.ends_with('\n') || send.send(line).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { process, requests, replies })
    }

    /// Whether a signal has ended the process, such as for want of memory. Its output has ended, so it has, or soon will.
    fn has_been_killed(&mut self) -> bool {
        let until = Instant::now() + CHECK_TIME;
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return status.code().is_none(),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                _ => return false,
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
