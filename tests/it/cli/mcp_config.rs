//! `mcp config`: registering the server in the config files of MCP clients.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixtures::cli::{CommandOutput, toolcell};

/// An empty project.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn text(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    fn on(&self, client: &str, words: &[&str]) -> CommandOutput {
        let project = self.0.path().to_str().unwrap();
        let words = [&["mcp", "config", "--client", client, "--project", project, "--dir", "/data"], words].concat();
        toolcell(&words)
    }

    /// Creates a project with this text as Cursor's config file.
    fn with(text: &str) -> Self {
        let project = Self::new();
        fs::create_dir(project.path(".cursor")).unwrap();
        fs::write(project.path(CURSOR), text).unwrap();
        project
    }

    fn files(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(below)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

const CURSOR: &str = ".cursor/mcp.json";
const FILES: [(&str, &str, &str); 7] = [
    ("claude-code", ".mcp.json", "/mcpServers"),
    ("vscode", ".vscode/mcp.json", "/servers"),
    ("cursor", CURSOR, "/mcpServers"),
    ("copilot", ".github/mcp.json", "/mcpServers"),
    ("codex", ".codex/config.toml", ""),
    ("gemini", ".gemini/settings.json", "/mcpServers"),
    ("pi", ".pi/mcp.json", "/mcpServers"),
];

/// The path of the running program, which in a test is the test binary.
fn program() -> String {
    std::env::current_exe().unwrap().to_str().unwrap().to_owned()
}

#[track_caller]
fn assert_output(done: &CommandOutput, status: u8, out: &str) {
    assert_eq!((done.status, done.out.as_str()), (status, out), "{}", done.err);
}

#[track_caller]
fn assert_error(done: &CommandOutput, status: u8, message: &str) {
    assert_eq!((done.status, done.out.as_str()), (status, ""), "{}", done.err);
    assert!(done.err.contains(message) && done.err.contains("\nhint: "), "{}", done.err);
}

#[test]
fn each_client_gets_its_file_and_loses_it_again() {
    for (client, file, servers) in FILES {
        let project = Project::new();
        let path = project.path(file);
        let shown = path.display();
        let snippet = project.on(client, &[]);
        assert_eq!(snippet.status, 0, "{}", snippet.err);
        assert!(snippet.err.starts_with(&format!("note: add this to {shown}, or let --write do it\n")));
        assert!(!path.exists(), "{client}");
        if !servers.is_empty() {
            let entry = snippet.json().pointer(servers).unwrap()["toolcell"].clone();
            assert_eq!((&entry["command"], &entry["args"]), (&json!(program()), &json!(["mcp", "--dir", "/data"])));
        }

        assert_output(&project.on(client, &["--write"]), 0, &format!("added `toolcell` to {shown}\n"));
        assert_eq!(project.text(file), snippet.out);
        assert_output(
            &project.on(client, &["--write"]),
            0,
            &format!("{shown} already has `toolcell`; nothing was changed\n"),
        );
        let other = project.on(client, &["--write", "--publish", "5", "--name", "more", "--json"]);
        let response = other.json();
        assert_eq!(
            (&response["client"], &response["file"], &response["changed"]),
            (&json!(client), &json!(path), &json!(true))
        );
        assert!(response["snippet"].as_str().unwrap().contains(r#""--publish", "5""#), "{response}");
        project.on(client, &["--remove", "--name", "more"]);
        assert_eq!(project.text(file), snippet.out);
        assert_output(&project.on(client, &["--remove"]), 0, &format!("removed `toolcell` from {shown}\n"));
        assert!(!path.exists(), "{client}");
        let done = project.on(client, &["--remove"]);
        assert_output(&done, 0, &format!("nothing to remove: {shown} has no `toolcell`\n"));
        assert_eq!(project.on(client, &["--remove", "--json"]).json()["changed"], false);
    }
}

#[test]
fn a_file_that_is_there_keeps_every_byte_and_its_mode() {
    let before = "\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}, // a\r\n\t},\r\n}";
    let project = Project::with(before);
    fs::set_permissions(project.path(CURSOR), fs::Permissions::from_mode(0o640)).unwrap();
    project.on("cursor", &["--write", "--http", "https://tools.example/mcp", "--token-env", "TOOLCELL_TOKEN"]);
    let with = project.text(CURSOR);
    assert!(with.contains("\t\t\t\"url\": \"https://tools.example/mcp\",\r\n"), "{with}");
    assert!(with.contains("\"Authorization\": \"Bearer ${env:TOOLCELL_TOKEN}\""), "{with}");
    assert_eq!(project.path(CURSOR).metadata().unwrap().permissions().mode() & 0o777, 0o640);
    project.on("cursor", &["--remove"]);
    assert_eq!(project.text(CURSOR), before);
    assert_eq!(project.files(".cursor"), ["mcp.json"]);
}

#[test]
fn links_are_followed_and_stay() {
    let project = Project::with("{}\n");
    fs::rename(project.path(CURSOR), project.path("real.json")).unwrap();
    symlink("../real.json", project.path(CURSOR)).unwrap();
    project.on("cursor", &["--write"]);
    assert!(project.path(CURSOR).is_symlink() && project.text("real.json").contains("\"mcp\""));
    project.on("cursor", &["--remove"]);
    assert_eq!(project.text("real.json"), "{}\n");
    // The same for a symlink whose target does not exist yet.
    fs::remove_file(project.path("real.json")).unwrap();
    project.on("cursor", &["--write"]);
    assert!(project.path(CURSOR).is_symlink() && project.text("real.json").contains("\"mcp\""));
    fs::remove_file(project.path(CURSOR)).unwrap();
    symlink("mcp.json", project.path(CURSOR)).unwrap();
    assert_error(&project.on("cursor", &["--write"]), 2, "too many levels of symlinks");
}

#[test]
fn what_is_not_understood_or_not_ours_is_left_as_it_is() {
    let foreign = "{\"mcpServers\": {\n\"toolcell\": {\"command\": \"npx\"}}}";
    for (text, status, message) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 2, "mcp.json: line 2, column 9: expected comma"),
        ("[]", 2, "mcp.json: line 1: the file is an array, not an object"),
        ("{\"mcpServers\": [\n]}", 2, "mcp.json: line 1: `mcpServers` is an array, not an object"),
        ("{\"mcpServers\": {},\n \"mcpServers\": {}}", 2, "line 2, column 2: duplicate key `mcpServers`"),
        (foreign, 4, "mcp.json: line 2: `toolcell` belongs to another entry, started by `npx`"),
    ] {
        let project = Project::with(text);
        for option in ["--write", "--remove"] {
            assert_error(&project.on("cursor", &[option]), status, message);
        }
        assert_eq!(project.text(CURSOR), text);
        assert_eq!(project.files(".cursor"), ["mcp.json"]);
    }
    let project = Project::with(foreign);
    let refused = project.on("cursor", &["--write", "--json"]);
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (4, &json!("client-entry-taken")));
    project.on("cursor", &["--write", "--force"]);
    let entry = serde_json::from_str::<Value>(&project.text(CURSOR)).unwrap()["mcpServers"]["toolcell"].clone();
    assert_eq!(entry["command"], json!(program()));
    let project = Project::with(foreign);
    project.on("cursor", &["--remove", "--force"]);
    assert_eq!(project.text(CURSOR), "{\"mcpServers\": {}}");
}

#[test]
fn a_file_that_cannot_be_read_or_written_is_an_error_that_says_so() {
    let project = Project::with(&format!("{{\"a\": \"{}\"}}", "x".repeat(4 << 20)));
    assert_error(&project.on("cursor", &["--write"]), 2, "mcp.json is longer than 4194304 bytes");
    fs::write(project.path(CURSOR), b"{\"a\": \"\xff\"}").unwrap();
    assert_error(&project.on("cursor", &["--write"]), 2, "is not UTF-8");
    fs::remove_file(project.path(CURSOR)).unwrap();
    fs::create_dir(project.path(CURSOR)).unwrap();
    assert_error(&project.on("cursor", &["--write"]), 2, "mcp.json cannot be read: is not a file");
    fs::write(project.path("plain"), "").unwrap();
    let below = project.path("plain/mcp.json");
    assert_error(
        &project.on("cursor", &["--write", "--file", below.to_str().unwrap()]),
        2,
        "a part of the path is not a folder",
    );
    // Not even root can create a file there.
    let done = project.on("cursor", &["--write", "--file", "/proc/self/toolcell/mcp.json"]);
    assert_error(&done, 2, "/proc/self/toolcell cannot be written: ");
    assert_eq!(project.on("cursor", &["--file", below.to_str().unwrap()]).status, 0, "to print it needs no file");
}

#[test]
fn a_file_of_a_client_has_four_mebibytes_at_most_before_and_after() {
    const LIMIT: usize = 4 << 20;
    let message = "mcp.json is longer than 4194304 bytes";
    let of = |bytes: usize| format!("{{\"a\": \"{}\"}}", "x".repeat(bytes - 9));
    let project = Project::with(&of(LIMIT));
    let done = project.on("cursor", &["--remove"]);
    let path = project.path(CURSOR);
    assert_output(&done, 0, &format!("nothing to remove: {} has no `toolcell`\n", path.display()));
    assert_error(&project.on("cursor", &["--write"]), 2, message);
    assert!(project.text(CURSOR) == of(LIMIT), "the file stays as it is");
    fs::write(&path, of(LIMIT + 1)).unwrap();
    for option in ["--write", "--remove"] {
        assert_error(&project.on("cursor", &[option]), 2, message);
    }
    assert!(project.text(CURSOR) == of(LIMIT + 1), "the file stays as it is");
    assert_eq!(project.files(".cursor"), ["mcp.json"]);
}

#[test]
fn what_is_typed_is_understood_or_refused() {
    let project = Project::new();
    for (words, message) in [
        (&["--write", "--remove"][..], "cannot be used with"),
        (&["--user", "--file", "x"], "cannot be used with"),
        (&["--publish", "x"], "invalid value 'x'"),
        (&["--publish", "1", "--http", "http://x/mcp"], "cannot be used with"),
        (&["--token-env", "A"], "--http"),
        (&["--name", "a b"], "`a b` is not a valid server name"),
        (&["--http", "x"], "`x` is not a valid server URL"),
        (&["--http", "http://x/mcp", "--token-env", "sk-secret"], "invalid environment variable name"),
        (&["--dir", "/a$b"], "`/a$b` cannot be written to a client's configuration"),
    ] {
        let project = project.0.path().to_str().unwrap();
        let done = toolcell(&[&["mcp", "config", "--client", "gemini", "--project", project], words].concat());
        assert_eq!((done.status, done.out.as_str()), (2, ""), "{words:?}");
        assert!(done.err.contains(message) && !done.err.contains("secret"), "{}", done.err);
    }
    let done = toolcell(&["mcp", "config", "--client", "emacs"]);
    assert!(
        done.status == 2 && done.err.contains("claude-code, vscode, cursor, copilot, codex, gemini, pi"),
        "{}",
        done.err
    );
    assert_eq!(project.files("."), [""; 0]);
    // A file at another path, and a custom server name.
    let file = project.path("elsewhere.toml");
    let words = ["--write", "--file", file.to_str().unwrap(), "--name", "my_tools", "--http", "http://127.0.0.1:1/mcp"];
    project.on("codex", &words);
    assert_eq!(project.text("elsewhere.toml"), "[mcp_servers.my_tools]\nurl = \"http://127.0.0.1:1/mcp\"\n");
}
