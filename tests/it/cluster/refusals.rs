//! What a node refuses when it starts, and what it says then.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use toolcell_cluster::{Listening, Postgres};
use toolcell_error::ErrorCode;

use super::PATIENT;
use super::node::{AUTO, Library, Node, SECRET, binary, finish, isolate};
use super::postgres_server::{PostgresServer, ServerKind};
use crate::fixtures::cli::CommandOutput;

/// A folder for a node that is not to start.
struct Start {
    folder: TempDir,
}

impl Start {
    fn new() -> Self {
        let start = Self { folder: tempfile::tempdir().unwrap() };
        start.file("secret", SECRET, 0o600);
        start
    }

    /// Writes a file, and returns its path.
    fn file(&self, name: &str, text: &str, mode: u32) -> String {
        use std::os::unix::fs::PermissionsExt as _;

        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Starts a program with these arguments and variables; it ends by itself.
    fn run(&self, program: &Path, words: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
        let mut command = Command::new(program);
        isolate(&mut command);
        command.args(["--lang", "en", "--no-project", "--config", "/dev/null", "--dir"]);
        command.arg(self.folder.path().join("store")).arg("node").args(words);
        command.env("TOOLCELL_SHARED_TIMEOUT_MS", PATIENT.as_millis().to_string());
        command.env("TOOLCELL_MCP_TOKEN", "a-token-of-a-test").envs(variables.iter().copied());
        finish(&mut command, b"")
    }

    /// Asserts that a node with these arguments ends with a status and a message.
    #[track_caller]
    fn is_refused(&self, words: &[&str], variables: &[(&str, &str)], status: u8, says: &[&str]) {
        let ended = self.run(&binary("toolcell-cluster"), words, variables);
        let is_said = says.iter().all(|part| ended.err.contains(part));
        assert!(ended.status == status && is_said, "{words:?} {variables:?}: {} {}", ended.status, ended.err);
        assert!(!ended.err.contains("listening") && !ended.err.contains("panicked"), "{}", ended.err);
        // Not shown: the secret, and passwords.
        assert!(!ended.err.contains(SECRET) && !ended.err.contains("s3cret-pass"), "{}", ended.err);
    }
}

/// A port on which no server listens.
const NOWHERE: &str = "postgres://toolcell@127.0.0.1:1/toolcell";

#[test]
fn a_node_without_address_database_or_secret_does_not_start() {
    let start = Start::new();
    let secret = start.file("secret", SECRET, 0o600);
    let refused = |words: &[&str], says: &str| start.is_refused(words, &[], 2, &[says]);
    refused(&["--shared", NOWHERE, "--secret", &secret], "--http HOST:PORT");
    refused(&["--http", "0", "--secret", &secret], "--shared postgres://USER@HOST:PORT/DATABASE");
    refused(&["--http", "0", "--shared", NOWHERE], "openssl rand -hex 32");
    let all = ["--http", "0", "--shared", NOWHERE, "--secret", &secret];
    start.is_refused(&all, &[("TOOLCELL_SHARED", NOWHERE)], 2, &["--shared is given, and TOOLCELL_SHARED is set"]);
    start.is_refused(
        &all,
        &[("TOOLCELL_SHARED_SECRET", SECRET)],
        2,
        &["--secret is given, and TOOLCELL_SHARED_SECRET"],
    );
    for time in ["5", "m", "-1s", "for ever", "99999999999999m"] {
        refused(&[&all[..], &[&*format!("--offline-runs={time}")]].concat(), "`refuse` nor `go-on`");
    }
    // `toolcell` has no clients of databases: it starts the program that has.
    let ended = start.run(&binary("toolcell"), &["--shared", NOWHERE, "--secret", &secret], &[]);
    assert!(ended.status == 2 && ended.err.contains("--http HOST:PORT"), "{}", ended.err);
    let alone = start.folder.path().join("toolcell");
    std::fs::copy(binary("toolcell"), &alone).unwrap();
    let ended = start.run(&alone, &["--shared", NOWHERE, "--secret", &secret, "--http", "0"], &[("PATH", "/nowhere")]);
    assert!(
        ended.status == 2 && ended.err.contains("`toolcell-cluster` is neither beside it nor in PATH"),
        "{}",
        ended.err
    );
}

#[test]
fn a_secret_is_64_digits_in_a_private_file() {
    let start = Start::new();
    let missing = start.folder.path().join("missing").to_str().unwrap().to_owned();
    let short = start.file("short", &SECRET[2..], 0o600);
    let text = start.file("text", &"0g".repeat(32), 0o600);
    let empty = start.file("empty", "", 0o600);
    let long = start.file("long", &SECRET.repeat(100), 0o600);
    let shown =
        [("group", 0o640), ("others", 0o604), ("all", 0o666)].map(|(name, mode)| start.file(name, SECRET, mode));
    let refused = |file: &str, status: u8, says: &str| {
        start.is_refused(&["--http", "0", "--shared", NOWHERE, "--secret", file], &[], status, &[file, says]);
    };
    refused(&missing, 4, "no such file");
    refused(start.folder.path().to_str().unwrap(), 2, "");
    refused(&long, 2, "");
    for file in [&short, &text, &empty] {
        refused(file, 2, "is not 64 hexadecimal digits");
    }
    for file in &shown {
        refused(file, 2, "is readable by other users");
    }
    let words = ["--http", "0", "--shared", NOWHERE];
    for wrong in ["0a", &SECRET[1..], "secret"] {
        start.is_refused(
            &words,
            &[("TOOLCELL_SHARED_SECRET", wrong)],
            2,
            &["TOOLCELL_SHARED_SECRET", "64 hexadecimal digits"],
        );
    }
}

#[test]
fn a_url_that_is_wrong_or_has_a_password_is_refused() {
    let start = Start::new();
    let secret = start.file("secret", SECRET, 0o600);
    let words = |url: &str| ["--http", "0", "--secret", &secret, "--shared", url].map(str::to_owned);
    let refused = |url: &str, status: u8, says: &str| {
        let words = words(url);
        start.is_refused(&words.each_ref().map(String::as_str), &[], status, &[says]);
    };
    for url in [
        "postgres://toolcell:s3cret-pass@127.0.0.1:1/toolcell",
        "postgresql://toolcell:@127.0.0.1:1/toolcell",
        "postgres://toolcell:s3cret/pass@127.0.0.1:1/toolcell",
        "postgres://toolcell@127.0.0.1:1/toolcell?password=s3cret-pass",
        "postgres://toolcell@127.0.0.1:1/toolcell?sslmode=disable&password=s3cret-pass",
    ] {
        refused(url, 2, "has a password, which other users of this machine can read");
    }
    for url in
        ["", "toolcell", "mysql://toolcell@127.0.0.1/toolcell", "http://127.0.0.1", "host=127.0.0.1 user=toolcell"]
    {
        refused(url, 2, "it does not start with `postgres://`");
    }
    refused("postgres://127.0.0.1/toolcell", 2, "it names no user");
    refused("postgres://toolcell@127.0.0.1:99999/toolcell", 2, "the URL of the database is invalid");
    refused("postgres://toolcell@127.0.0.1/toolcell?nothing=1", 2, "the URL of the database is invalid");
    refused(NOWHERE, 5, "Connection refused");
}

#[test]
fn a_database_that_cannot_be_used_is_named() {
    let Some(server) = PostgresServer::start(ServerKind::Fast) else { return };
    let start = Start::new();
    let secret = start.file("secret", SECRET, 0o600);
    let code = |url: &str| {
        let error = Postgres::connect(url, None, PATIENT, Listening::Yes).map(drop).unwrap_err();
        let status = if error.code() == ErrorCode::SharedUnreachable { 5 } else { 6 };
        let says = error.to_string();
        start.is_refused(&["--http", "0", "--secret", &secret, "--shared", url], &[], status, &[&says]);
        (error.code(), error.to_string())
    };
    let (_, message) = code(&server.url_of("toolcell", "nothing"));
    assert!(message.contains("database \"nothing\" does not exist"), "{message}");
    let (_, message) = code(&server.url_of("stranger", "toolcell"));
    assert!(message.contains("role \"stranger\" does not exist"), "{message}");
    let (_, message) = code(&format!("{}?sslmode=require", server.url()));
    assert!(message.contains("TLS"), "{message}");

    // A user that may not create the tables, and one that may not use them.
    server.query("CREATE ROLE guest LOGIN");
    let (denied, message) = code(&server.url_of("guest", "toolcell"));
    assert!(denied == ErrorCode::SharedInvalid && message.contains("permission denied"), "{message}");
    drop(Postgres::connect(&server.url(), None, PATIENT, Listening::Yes).unwrap());
    let (denied, message) = code(&server.url_of("guest", "toolcell"));
    assert!(denied == ErrorCode::SharedInvalid && message.contains("permission denied"), "{message}");

    // Tables of a newer version and of an older one: both formats are named, so that it is clear which is older.
    for other in [7, 0] {
        server.query(&format!("UPDATE toolcell.format SET format = {other}"));
        let (refused, message) = code(&server.url());
        let names = |format: u8| message.contains(&format!("format {format}"));
        assert!(refused == ErrorCode::SharedInvalid && names(other) && names(1), "{message}");
    }
    server.query("DELETE FROM toolcell.format");
    let (empty, message) = code(&server.url());
    assert!(empty == ErrorCode::SharedInvalid && message.contains("toolcell.format"), "{message}");
    server.query("INSERT INTO toolcell.format (format) VALUES (1)");
    drop(Postgres::connect(&server.url(), None, PATIENT, Listening::Yes).unwrap());
}

#[test]
fn a_password_comes_from_the_environment() {
    let Some(server) = PostgresServer::start(ServerKind::Password("s3cret-pass")) else { return };
    let folder = tempfile::tempdir().unwrap();
    assert!(Postgres::connect(&server.url(), Some(b"s3cret-pass"), PATIENT, Listening::Yes).is_ok());
    for wrong in [None, Some(&b"wrong"[..]), Some(b"")] {
        let error = Postgres::connect(&server.url(), wrong, PATIENT, Listening::Yes).map(drop).unwrap_err();
        assert!(error.to_string().contains("password"), "{error}");
    }
    let start = Start::new();
    let secret = start.file("secret", SECRET, 0o600);
    let (words, url) = (["--http", "0", "--secret", &secret, "--shared"], server.url());
    let words = [&words[..], &[&url]].concat();
    for variables in [&[][..], &[("PGPASSWORD", "wrong")]] {
        let ended = start.run(&binary("toolcell-cluster"), &words, variables);
        assert!(matches!(ended.status, 5 | 6) && ended.err.contains("password"), "{} {}", ended.status, ended.err);
    }
    let node = Node::new(&folder.path().join("a"), AUTO, &url, &[]).with_variable("PGPASSWORD", "s3cret-pass");
    node.start();
    assert_eq!(node.client("alice").create("one", "const execute = () => 1"), Ok(1));
    assert!(!node.log().contains("s3cret-pass"), "{}", node.log());
    assert_eq!(server.query("SELECT count(*) FROM toolcell.history WHERE key = 'library/alice'"), "1");
}

#[test]
fn a_directory_is_the_copy_of_one_library() {
    let Some(library) = Library::start(AUTO) else { return };
    let [alice, ..] = library.clients("alice");
    assert_eq!(alice.create("one", "const execute = () => 1"), Ok(1));
    // A store with tools of its own does not become a copy.
    let other = &library.nodes[1];
    other.kill();
    let words = ["create", "-", "--name", "own", "--description", "d"];
    let created = other.detached_in(&other.store("alice"), &words, "const execute = () => 1");
    assert_eq!(created.status, 0, "{}", created.err);
    other.start();
    let refused = other.client("alice").list().unwrap_err();
    assert!(refused.text.contains("tools or decisions of its own"), "{refused:?}");
    // Nor does the copy of another principal's library.
    other.kill();
    std::fs::remove_dir_all(other.store("alice")).unwrap();
    let third = &library.nodes[2];
    assert!(third.client("alice").list().is_ok());
    third.kill();
    std::fs::rename(third.store("alice"), third.store("bob")).unwrap();
    third.start();
    let refused = third.client("bob").list().unwrap_err();
    assert!(refused.text.contains("`library/alice`"), "{refused:?}");
    assert_eq!(alice.run("one", &serde_json::json!({})), Ok(1.into()));
}

#[test]
fn a_node_with_another_secret_changes_nothing() {
    let Some(library) = Library::start(AUTO) else { return };
    let [alice, on_b, on_c] = library.clients("alice");
    let one = "const execute = () => 1";
    assert_eq!(alice.create("one", one), Ok(1));
    assert_eq!(on_b.run("one", &serde_json::json!({})), Ok(1.into()));
    // On a directory that has followed everything, so that nothing is left to be checked with the secret.
    let node = &library.nodes[1];
    node.kill();
    node.set_secret(&"0b".repeat(32));
    assert_eq!(node.try_start(), Err(Some(6)), "{}", node.log());
    assert!(node.log().contains("the secret is not the one that this copy was made with"), "{}", node.log());
    // On an empty directory, also where the library of a principal has no entry yet that would tell.
    let fresh = Node::new(&node.folder.with_file_name("fresh"), AUTO, &library.postgres.url(), &[]);
    fresh.set_secret(&"0b".repeat(32));
    assert_eq!(fresh.try_start(), Err(Some(6)), "{}", fresh.log());
    assert!(fresh.log().contains("the secret is not that of the other nodes"), "{}", fresh.log());
    let output = fresh.connected_with("bob", &"0b".repeat(32), &["node", "status", "--json"]);
    assert_eq!(output.status, 1, "{}", output.err);
    // It can be started with the right secret afterwards.
    fresh.set_secret(SECRET);
    fresh.start();
    assert_eq!(fresh.client("bob").create("of-bob", one), Ok(1));
    // The others go on, and so does that node with its own secret.
    assert_eq!(library.postgres.query("SELECT count(*) FROM toolcell.history WHERE key = 'library/alice'"), "1");
    assert_eq!(on_c.create("three", one), Ok(1));
    node.kill();
    node.set_secret(SECRET);
    node.start();
    assert_eq!(on_b.names().unwrap(), ["one", "three"]);
    assert_eq!(on_b.create("four", one), Ok(1));
    assert_eq!(alice.run("four", &serde_json::json!({})), Ok(1.into()));
}

#[test]
fn a_server_with_tls_is_reached_if_its_certificate_is_trusted() {
    let Some(server) = PostgresServer::start(ServerKind::Tls) else { return };
    let start = Start::new();
    let secret = start.file("secret", SECRET, 0o600);
    // The name of another machine means TLS, and so does the option.
    let url = format!("{}?sslmode=require", server.url());
    let words = ["--http", "0", "--secret", &secret, "--shared", &url];
    start.is_refused(&words, &[], 6, &["TLS handshake", "certificate"]);
    // One that is trusted, and is not that of the server.
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let other = start.file("other.crt", &other.cert.pem(), 0o644);
    start.is_refused(&words, &[("SSL_CERT_FILE", &other)], 6, &["TLS handshake", "certificate"]);
    let folder = tempfile::tempdir().unwrap();
    let trusted = server.certificate();
    let node = Node::new(folder.path(), AUTO, &url, &[]).with_variable("SSL_CERT_FILE", trusted.to_str().unwrap());
    node.start();
    assert_eq!(node.client("alice").create("one", "const execute = () => 1"), Ok(1));
    let encrypted =
        "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'toolcell'";
    assert_eq!(server.query(encrypted), "t");
    // A server on this machine is reached without, although it would like to.
    drop(Postgres::connect(&server.url(), None, PATIENT, Listening::Yes).unwrap());
}
