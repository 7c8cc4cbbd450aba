//! A PostgreSQL server on the loopback address, with its data in a temporary folder.
//!
//! Invariant: all processes of the server are gone before its folder is.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use tempfile::TempDir;

use super::note;
use super::server_process::{create_certificate, end, free_port, send_signal};
use crate::mcp::server::poll;

/// The environment variable with the folder of `initdb` and `postgres`. If it is set, they have to be there.
const PROGRAMS_VARIABLE: &str = "TOOLCELL_TEST_POSTGRES";
/// Where the packages of Debian put them, a folder for each version.
const PACKAGES: &str = "/usr/lib/postgresql";

/// The statement that ends the connections of all clients of libraries.
pub(super) const END_CONNECTIONS: &str =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toolcell'";

/// What a server does differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerKind {
    /// It trusts its clients, and does not sync.
    Fast,
    /// It trusts its clients, and syncs as in production.
    Durable,
    /// It asks for a password.
    Password(&'static str),
    /// It speaks TLS, with a certificate that it signed itself. See [`PostgresServer::certificate`].
    Tls,
}

/// A running server.
pub(super) struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
    /// The user that its processes run as, if it is another one: they refuse to run as root.
    user: Option<User>,
    port: u16,
    kind: ServerKind,
    postmaster: Mutex<Child>,
}

impl PostgresServer {
    /// Starts a server with the empty database `toolcell`; `None`, with a note, where the machine has no PostgreSQL.
    pub(super) fn start(kind: ServerKind) -> Option<Self> {
        let Some(programs) = find_programs() else {
            note(
                "left out: a library that nodes share, because there is no PostgreSQL server (apt-get install postgresql)",
            );
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let user = geteuid().is_root().then(|| {
            let known = ["postgres", "nobody"].into_iter().find_map(|name| User::from_name(name).unwrap());
            known.unwrap_or_else(|| panic!("PostgreSQL does not run as root, and there is no other user"))
        });
        if let Some(user) = &user {
            chown(folder.path(), Some(user.uid.as_raw()), Some(user.gid.as_raw())).unwrap();
        }
        create_data(&folder, &programs, user.as_ref(), kind);
        if kind == ServerKind::Tls {
            create_certificate(&folder);
            give_key(&folder, user.as_ref());
        }
        let (port, postmaster) = poll(|| {
            let port = free_port();
            start_postmaster(&folder, &programs, user.as_ref(), kind, port).map(|postmaster| (port, postmaster))
        })
        .unwrap_or_else(|| panic!("{}", log(&folder)));
        let server = Self { folder, programs, user, port, kind, postmaster: Mutex::new(postmaster) };
        server.query_in("postgres", "CREATE DATABASE toolcell");
        Some(server)
    }

    /// The URL of the database, without a password.
    pub(super) fn url(&self) -> String {
        self.url_of("toolcell", "toolcell")
    }

    /// The URL of a database for a user.
    pub(super) fn url_of(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }

    /// The file with the certificate of a server that speaks TLS.
    pub(super) fn certificate(&self) -> PathBuf {
        self.folder.path().join("server.crt")
    }

    /// The port of the server.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Runs a statement, and returns its rows: a line each, with `|` between the columns.
    #[track_caller]
    pub(super) fn query(&self, sql: &str) -> String {
        self.query_in("toolcell", sql)
    }

    #[track_caller]
    fn query_in(&self, database: &str, sql: &str) -> String {
        let output = ask(&self.programs, self.port, self.kind, database, sql);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{sql}: {errors}{}", log(&self.folder));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// What `pg_dump` writes of the tables of Toolcell.
    #[track_caller]
    pub(super) fn dump(&self) -> String {
        self.run("pg_dump", &["--schema=toolcell"])
    }

    /// Restores a dump.
    #[track_caller]
    pub(super) fn restore(&self, dump: &str) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), dump).unwrap();
        let file = file.path().to_str().unwrap();
        self.run("psql", &["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null", "--file", file]);
    }

    /// Runs a program on the database, and returns its output.
    #[track_caller]
    fn run(&self, program: &str, words: &[&str]) -> String {
        let mut command = Command::new(self.programs.join(program));
        command.args(["--host=127.0.0.1", "--username=toolcell", "--dbname=toolcell", "--no-password", "--port"]);
        let output = command.arg(self.port.to_string()).args(words).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Stops all processes of the server: it neither answers nor refuses.
    pub(super) fn stop(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// Lets the processes of a stopped server go on.
    pub(super) fn go_on(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Kills the server as a power failure does, and its processes with it.
    pub(super) fn kill(&self) {
        let mut postmaster = self.postmaster.lock().unwrap();
        let children = children_of(postmaster.id());
        postmaster.kill().unwrap();
        postmaster.wait().unwrap();
        for child in children {
            // Most end by themselves.
            let _ = kill(child, Signal::SIGKILL);
        }
    }

    /// Starts a server that was killed, on the same data and port.
    pub(super) fn start_again(&self) {
        let start = || start_postmaster(&self.folder, &self.programs, self.user.as_ref(), self.kind, self.port);
        // Until the last process of the one before has ended, another server refuses the data.
        *self.postmaster.lock().unwrap() = poll(start).unwrap_or_else(|| panic!("{}", log(&self.folder)));
    }

    fn signal(&self, signal: Signal) {
        let postmaster = self.postmaster.lock().unwrap();
        // The postmaster is first, so that it starts no further process meanwhile.
        send_signal(&postmaster, signal);
        for child in children_of(postmaster.id()) {
            // A process of a connection may have ended.
            let _ = kill(child, signal);
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let Ok(postmaster) = self.postmaster.get_mut() else { return };
        let children = children_of(postmaster.id());
        end(postmaster);
        for child in &children {
            let _ = kill(*child, Signal::SIGKILL);
        }
        let is_gone = || children.iter().all(|child| kill(*child, None).is_err());
        let _ = poll(|| is_gone().then_some(()));
    }
}

/// The folder of `initdb` and `postgres`.
fn find_programs() -> Option<PathBuf> {
    let has_all = |folder: &Path| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).is_file());
    if let Some(named) = std::env::var_os(PROGRAMS_VARIABLE).filter(|value| !value.is_empty()) {
        let named = PathBuf::from(named);
        assert!(has_all(&named), "{PROGRAMS_VARIABLE} names {}, which has no PostgreSQL", named.display());
        return Some(named);
    }
    let versions = fs::read_dir(PACKAGES).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).filter(|bin| has_all(bin)).collect();
    found.sort();
    let in_path = std::env::var_os("PATH").unwrap_or_default();
    found.pop().or_else(|| std::env::split_paths(&in_path).find(|folder| has_all(folder)))
}

/// A command that runs as the user of the server.
fn command(folder: &TempDir, program: &Path, user: Option<&User>) -> Command {
    let mut command = Command::new(program);
    if let Some(user) = user {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    command.current_dir(folder.path()).stdin(Stdio::null()).env("LC_ALL", "C");
    command
}

fn create_data(folder: &TempDir, programs: &Path, user: Option<&User>, kind: ServerKind) {
    let mut initdb = command(folder, &programs.join("initdb"), user);
    initdb.args([
        "--no-sync",
        "--wal-segsize=1",
        "--encoding=UTF8",
        "--locale=C",
        "--username=toolcell",
        "--pgdata=data",
    ]);
    match kind {
        ServerKind::Fast | ServerKind::Durable | ServerKind::Tls => initdb.arg("--auth=trust"),
        ServerKind::Password(password) => {
            let file = folder.path().join("password");
            fs::write(&file, password).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            initdb.args(["--auth=scram-sha-256", "--pwfile=password"])
        }
    };
    let output = initdb.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Makes the key private to the user of the server.
fn give_key(folder: &TempDir, user: Option<&User>) {
    let key = folder.path().join("server.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    if let Some(user) = user {
        chown(&key, Some(user.uid.as_raw()), Some(user.gid.as_raw())).unwrap();
    }
}

/// Starts the server, and waits until it accepts connections; `None` if it ends instead.
fn start_postmaster(
    folder: &TempDir,
    programs: &Path,
    user: Option<&User>,
    kind: ServerKind,
    port: u16,
) -> Option<Child> {
    let log = fs::File::options().append(true).create(true).open(folder.path().join("log")).unwrap();
    let mut postgres = command(folder, &programs.join("postgres"), user);
    postgres.args(["-D", "data", "-h", "127.0.0.1", "-c", "logging_collector=off"]);
    postgres.arg("-p").arg(port.to_string()).arg("-k").arg(folder.path());
    if kind != ServerKind::Durable {
        postgres.args(["-c", "fsync=off"]);
    }
    if kind == ServerKind::Tls {
        postgres.args(["-c", "ssl=on", "-c", "ssl_cert_file=../server.crt", "-c", "ssl_key_file=../server.key"]);
    }
    postgres.stdout(log.try_clone().unwrap()).stderr(log);
    let mut postmaster = postgres.spawn().unwrap();
    let is_up = poll(|| match postmaster.try_wait().unwrap() {
        Some(_) => Some(false),
        None => ask(programs, port, kind, "postgres", "SELECT 1").status.success().then_some(true),
    });
    if is_up == Some(true) {
        return Some(postmaster);
    }
    // It has ended, or does not start.
    end(&mut postmaster);
    None
}

fn ask(programs: &Path, port: u16, kind: ServerKind, database: &str, sql: &str) -> Output {
    let mut psql = Command::new(programs.join("psql"));
    psql.args(["--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--set=ON_ERROR_STOP=1", "--no-password"]);
    psql.args(["--host=127.0.0.1", "--username=toolcell", "--dbname", database, "--command", sql, "--port"]);
    psql.arg(port.to_string()).stdin(Stdio::null());
    if let ServerKind::Password(password) = kind {
        psql.env("PGPASSWORD", password);
    }
    psql.output().unwrap()
}

/// What the server said, for a failing test.
fn log(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("log")).unwrap_or_default()
}

/// The child processes of a process.
fn children_of(parent: u32) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    entries
        .filter(|pid: &i32| {
            let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // PID (NAME) STATE PARENT …
            let found = status.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
            found == Some(parent)
        })
        .map(Pid::from_raw)
        .collect()
}
