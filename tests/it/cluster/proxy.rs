//! A proxy between a client and the server, which loses requests and answers at a chosen place, or everything for a while.
//!
//! Invariant: the proxy knows appends by their content, [`MARK`], and passes on everything else unless a fault says otherwise. What was
//! lost of a connection is lost: nothing that comes after it is passed on.

#![expect(clippy::disallowed_types, reason = "this is a connection that fails")]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What entries have in these tests.
pub(super) const MARK: &[u8] = b"marked entry";

/// What happens to an append. The connection ends, unless the fault says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProxyFault {
    /// The server does not get it.
    LoseRequest,
    /// The server gets it, and its answer is lost.
    LoseAnswer,
    /// The server gets it, and the client waits for the answer in vain.
    HoldAnswer,
    /// The client gets the answer, and to whatever it asks then it gets none.
    HoldWhatFollows,
}

/// A proxy on a port of its own.
pub(super) struct Proxy {
    port: u16,
    faults: Arc<Mutex<Vec<ProxyFault>>>,
    is_partitioned: Arc<AtomicBool>,
    is_stopped: Arc<AtomicBool>,
}

impl Proxy {
    /// Starts a proxy to a port.
    pub(super) fn start(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (faults, is_stopped) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<AtomicBool>::default());
        let is_partitioned = Arc::<AtomicBool>::default();
        let (shared, partition, ended) = (Arc::clone(&faults), Arc::clone(&is_partitioned), Arc::clone(&is_stopped));
        thread::spawn(move || {
            for client in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(client), Ok(server)) = (client, TcpStream::connect((Ipv4Addr::LOCALHOST, server))) else {
                    continue;
                };
                let (faults, is_partitioned) = (Arc::clone(&shared), Arc::clone(&partition));
                Connection { client, server, faults, is_partitioned, is_held: Arc::default() }.serve();
            }
        });
        Self { port, faults, is_partitioned, is_stopped }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The next appends fail in these ways, one each.
    pub(super) fn fail(&self, faults: &[ProxyFault]) {
        *self.faults.lock().unwrap() = faults.iter().rev().copied().collect();
    }

    /// Loses everything from now on, without ending a connection; or ends that.
    pub(super) fn set_partitioned(&self, is_partitioned: bool) {
        self.is_partitioned.store(is_partitioned, Ordering::SeqCst);
    }

    /// Whether all faults have happened.
    pub(super) fn has_failed(&self) -> bool {
        self.faults.lock().unwrap().is_empty()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        // Unblocks `accept`.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

struct Connection {
    client: TcpStream,
    server: TcpStream,
    faults: Arc<Mutex<Vec<ProxyFault>>>,
    is_partitioned: Arc<AtomicBool>,
    /// Whether the client gets no answers.
    is_held: Arc<AtomicBool>,
}

impl Connection {
    /// Passes bytes on in both directions, until one side ends.
    fn serve(self) {
        let (mut from, mut to) = (self.server.try_clone().unwrap(), self.client.try_clone().unwrap());
        let (is_held, is_partitioned) = (Arc::clone(&self.is_held), Arc::clone(&self.is_partitioned));
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                if is_partitioned.load(Ordering::SeqCst) {
                    is_held.store(true, Ordering::SeqCst);
                }
                if !is_held.load(Ordering::SeqCst) && to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
        });
        thread::spawn(move || self.pass_requests());
    }

    fn pass_requests(mut self) {
        let mut buffer = vec![0; 1 << 16];
        let mut holds = false;
        while let Ok(count @ 1..) = self.client.read(&mut buffer) {
            let request = &buffer[..count];
            holds |= self.is_partitioned.load(Ordering::SeqCst);
            if holds {
                // It goes nowhere.
                continue;
            }
            let is_append = request.windows(MARK.len()).any(|window| window == MARK);
            let fault = if is_append { self.faults.lock().unwrap().pop() } else { None };
            match fault {
                Some(ProxyFault::LoseRequest) => break,
                Some(ProxyFault::LoseAnswer | ProxyFault::HoldAnswer) => self.is_held.store(true, Ordering::SeqCst),
                Some(ProxyFault::HoldWhatFollows) => holds = true,
                None => {}
            }
            if self.server.write_all(request).is_err() {
                break;
            }
            if fault == Some(ProxyFault::LoseAnswer) {
                // The server has it, and has made it.
                thread::sleep(Duration::from_millis(200));
                break;
            }
        }
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}
