//! What the servers of these tests have in common: programs, ports, certificates, and the ends of their processes.

#![expect(clippy::disallowed_types, reason = "a port is free if a listener gets it")]

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicU16, Ordering};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// The ports that servers listen on: below those that the system gives to clients, one of which could take the port of a server while it
/// restarts.
const PORTS: std::ops::Range<u16> = 5_000..31_000;

/// The path of a program: the one that a variable names, which has to be there, or one in `PATH`.
pub(super) fn find_program(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        let named = PathBuf::from(named);
        assert!(named.is_file(), "{variable} names {}, which is no program", named.display());
        return Some(named);
    }
    let in_path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&in_path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// A port on which nothing listens. It is another one each time.
pub(super) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let count = PORTS.end - PORTS.start;
    // Test processes that run side by side begin at different ports.
    let first = u16::try_from(std::process::id() * 64 % u32::from(count)).unwrap();
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed) % count;
        let port = PORTS.start + u16::try_from((u32::from(first) + u32::from(next)) % u32::from(count)).unwrap();
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

/// Makes a key, and a certificate for the loopback address: `server.key` and `server.crt` in a folder.
pub(super) fn create_certificate(folder: &TempDir) {
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    fs::write(folder.path().join("server.crt"), certified.cert.pem()).unwrap();
    fs::write(folder.path().join("server.key"), certified.signing_key.serialize_pem()).unwrap();
}

/// Kills a process, and waits for its end. It may have ended.
pub(super) fn end(process: &mut Child) {
    let _ = process.kill();
    let _ = process.wait();
}

/// Sends a signal to a process.
pub(super) fn send_signal(process: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(process.id()).unwrap()), signal).unwrap();
}
