//! Soak test: a day of real traffic in a few minutes, at full load.
//!
//! ```text
//! SOAK_SECONDS=600 cargo test --release --package toolcell-tests --test soak
//! ```
//!
//! Three servers on one store, one per transport, serve clients that create tools, run them, break
//! them, cancel runs, send wrong tokens and vanish. This program is the server as well: started
//! under its name, it acts as the binary.
//!
//! Invariant: the acceptable replies are known before a request is sent, and any other reply fails
//! the soak. A soak of five minutes or more also fails if memory grows.

#![expect(clippy::unwrap_used, reason = "a soak that cannot run has nothing to say")]
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]
#![expect(
    clippy::disallowed_methods,
    reason = "what a process has stands in /proc, and how long this runs in the environment"
)]
#![expect(clippy::disallowed_types, reason = "the server is soaked from outside, over HTTP")]

#[path = "../load_client/mod.rs"]
mod client;
mod footprint;
mod hostile;
mod over_http;
mod over_stdio;
mod tally;
mod work;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use client::{Era, HttpServerProcess, StdioClient, StdioKind};
use footprint::{Footprint, FootprintTrack, store_mib};
use over_http::Tokens;
use tally::Tally;

/// Default duration in seconds: short, to be part of the tests.
const SECONDS: u64 = 20;
/// Number of concurrent HTTP clients.
const CLIENTS: usize = 6;
/// Minimum duration for which memory must be flat: by then all caches and the session table are
/// full.
const LONG: Duration = Duration::from_mins(5);
/// Number of all clients: those over HTTP, two over stdio, and one that vanishes.
const ALL: usize = CLIENTS + 3;
/// Maximum time without any reply.
const SILENCE: Duration = Duration::from_mins(1);

/// State shared by all clients.
#[derive(Default)]
struct Soak {
    over: AtomicBool,
    /// Number of clients that have finished their setup.
    settled: AtomicUsize,
    answered: AtomicU64,
    tally: Mutex<Tally>,
}

impl Soak {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Adds a client's counts.
    fn add(&self, tally: &Tally) {
        self.tally.lock().unwrap().add(tally);
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if words.first().is_some_and(|word| word == "toolcell") {
        return toolcell_cli::main();
    }
    if words.iter().any(|word| word == "--list") {
        println!("soak: test");
        return ExitCode::SUCCESS;
    }
    // `cargo test NAME` selects other tests.
    let named: Vec<&String> = words.iter().skip(1).filter(|word| !word.starts_with('-')).collect();
    if !named.is_empty() && !named.iter().any(|name| "soak".contains(name.as_str())) {
        return ExitCode::SUCCESS;
    }
    let seconds = std::env::var("SOAK_SECONDS").map_or(SECONDS, |text| text.parse().unwrap());
    if soak(Duration::from_secs(seconds)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Soaks the servers, and returns whether they passed.
fn soak(lasts: Duration) -> bool {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (store, tokens) = (folder.path().join("store"), Tokens::write(folder.path()));
    let mut command = server(&store);
    command.arg("--tokens").arg(&tokens.file).args(["--share", "2"]);
    let http = HttpServerProcess::start(command);
    let [stateless, session] = [(Era::Stateless, StdioKind::Pipes), (Era::Session, StdioKind::Sockets)]
        .map(|(era, way)| (era, StdioClient::start(server(&store), way)));
    let names = ["HTTP, both eras", "stdio, 2026-07-28", "stdio, 2025-11-25"];
    let mut tracks: Vec<FootprintTrack> = [http.pid(), stateless.1.pid(), session.1.pid()]
        .into_iter()
        .zip(names)
        .map(|(pid, name)| FootprintTrack::new(pid, name))
        .collect();

    let soak = Soak::default();
    let sizes = thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (soak, http) = (&soak, &http);
            scope.spawn(move || over_http::soak(soak, http, number));
        }
        let shared = &soak;
        scope.spawn(|| hostile::vanish(shared, &http));
        for (era, lines) in [stateless, session] {
            scope.spawn(move || over_stdio::soak(shared, lines, era));
        }
        let sizes = watch(&soak, &mut tracks, &store, lasts);
        soak.over.store(true, Ordering::Relaxed);
        sizes
    });
    let tally = soak.tally.into_inner().unwrap();
    let answered = soak.answered.into_inner();
    report(&tally, &tracks, answered, lasts, sizes);
    drop(http);
    // Before the caches are full, memory says nothing; the replies do.
    tally.is_expected() && (lasts < LONG || tracks.iter().all(FootprintTrack::is_flat))
}

fn server(store: &Path) -> Command {
    client::serve_command(&std::env::current_exe().unwrap(), store)
}

/// Samples the servers every second. Returns the MiB of the store at the start and at the end.
fn watch(soak: &Soak, tracks: &mut [FootprintTrack], store: &Path, lasts: Duration) -> (f64, f64) {
    // First the setup: caches fill, and the session table reaches its limit.
    let begun = Instant::now();
    while soak.settled.load(Ordering::Relaxed) < ALL && begun.elapsed() < SILENCE {
        thread::sleep(Duration::from_millis(100));
    }
    thread::sleep(lasts / 5);
    let (started, begun) = (Instant::now(), store_mib(store));
    let (mut last, mut heard) = (soak.answered.load(Ordering::Relaxed), Instant::now());
    while started.elapsed() < lasts {
        thread::sleep(Duration::from_secs(1));
        for track in &mut *tracks {
            track.samples.push(Footprint::measure(track.pid));
        }
        let answered = soak.answered.load(Ordering::Relaxed);
        if answered > last {
            (last, heard) = (answered, Instant::now());
        }
        if heard.elapsed() > SILENCE {
            println!("nothing was answered for {} s, so the servers are ended", SILENCE.as_secs());
            for track in &*tracks {
                client::process::terminate(track.pid);
            }
            break;
        }
    }
    (begun, store_mib(store))
}

fn report(tally: &Tally, tracks: &[FootprintTrack], answered: u64, lasts: Duration, (begun, ended): (f64, f64)) {
    let hours = answered / 3600;
    println!(
        "soak: {} s, {answered} requests: {hours} hours of an agent that makes one each second\n",
        lasts.as_secs()
    );
    println!("{tally}");
    for track in tracks {
        println!("{track}");
    }
    println!("the store: {begun:.0} MiB when it was warm, {ended:.0} MiB at the end");
}
