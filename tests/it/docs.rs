//! Runs the commands of README.md and of the pages in docs/, and compares their output. The
//! commands of one page run in one shell, in a folder with a copy of fixtures/.
#![expect(clippy::disallowed_types, reason = "a free port is found by listening on one")]

mod json_shapes;
mod recording;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use toolcell_error::{ErrorCode, ExitClass};

use crate::fixtures::sandbox::{pages, read, root};
use crate::mcp::server::binary;

/// The fence of a block whose commands are run. A block that only shows commands says why they are
/// not run: `console,skip=builds`.
const RUN_FENCE: &str = "```console";

/// Returns the commands of a page, each with its expected output. A here-document with the
/// delimiter `END` is part of its command.
fn commands_of(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != RUN_FENCE {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
        let mut block = block.into_iter();
        while let Some(line) = block.next() {
            if let Some(command) = line.strip_prefix("$ ") {
                let mut command = command.to_owned();
                if command.contains("<<'END'") {
                    for line in block.by_ref() {
                        command.push('\n');
                        command.push_str(line);
                        if line == "END" {
                            break;
                        }
                    }
                }
                commands.push((command, String::new()));
            } else {
                let output = &mut commands.last_mut().unwrap().1;
                output.push_str(line);
                output.push('\n');
            }
        }
    }
    commands
}

/// Whether the output matches; `…` stands for any text.
fn is_match(actual: &str, expected: &str) -> bool {
    let mut rest = actual;
    for (at, part) in expected.split('…').enumerate() {
        match rest.find(part) {
            Some(0) => rest = &rest[part.len()..],
            Some(found) if at > 0 => rest = &rest[found + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || expected.ends_with("…\n") || expected.ends_with('…')
}

#[test]
fn what_stands_for_anything_is_told_from_what_does_not() {
    assert!(is_match("a\nb\n", "a\nb\n") && is_match("a\nb\n", "a\n…\n") && is_match("abc\n", "a…c\n"));
    assert!(!is_match("a\nb\n", "a\n") && !is_match("xa\n", "a\n") && !is_match("abd\n", "a…c\n"));
}

/// The port in the documents, which each run replaces with a free one.
const DOCS_PORT: &str = "8765";

/// Timeout of all commands of a page together.
const PAGE_TIMEOUT: Duration = Duration::from_mins(4);

/// Panics with the names of the programs that this machine lacks.
fn check_requirements() {
    for program in ["bash", "python3"] {
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(
            found.is_ok_and(|status| status.success()),
            "the commands of the documents need `{program}`: install it"
        );
    }
}

/// Returns a TCP port that was free a moment ago.
fn free_port() -> String {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port().to_string()
}

/// A shell in its own process group, which is killed when dropped.
struct Shell {
    group: Pid,
    ended: Receiver<()>,
}

impl Shell {
    fn spawn(command: &mut Command) -> Self {
        let mut child = command.process_group(0).stdin(Stdio::null()).spawn().unwrap();
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let (sender, ended) = channel();
        std::thread::spawn(move || {
            let _ = child.wait();
            let _ = sender.send(());
        });
        Self { group, ended }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Fails if the whole group has exited.
        let _ = killpg(self.group, Signal::SIGKILL);
    }
}

/// Runs the commands of a page in one shell, and compares the output of each on both streams.
fn run_page(page: &str) {
    check_requirements();
    let port = free_port();
    let text = read(page).replace(DOCS_PORT, &port);
    let commands = commands_of(&text);
    assert!(!commands.is_empty(), "{page} has no commands");
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(root().join("fixtures")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let policy = folder.path().join("fixtures/network/toolcell/toolcell.toml");
    std::fs::write(&policy, std::fs::read_to_string(&policy).unwrap().replace(DOCS_PORT, &port)).unwrap();
    let output = folder.path().join(".output");
    std::fs::create_dir(&output).unwrap();
    let mut script = String::from("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n");
    for (at, (command, _)) in commands.iter().enumerate() {
        writeln!(script, "{{ {command}\n}} > {0}/{at}.out 2> {0}/{at}.err", output.display()).unwrap();
    }
    let binaries = std::path::Path::new(env!("CARGO_BIN_EXE_store_worker")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.arg("-c").arg(&script).current_dir(folder.path()).env("PATH", path);
    for name in ["HOME", "TMPDIR"] {
        command.env(name, folder.path());
    }
    for name in [
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "TOOLCELL_DIR",
        "TOOLCELL_JAIL",
        "TOOLCELL_COMPLETE",
        // With it, `toolcell test` prints annotations.
        "GITHUB_ACTIONS",
    ] {
        command.env_remove(name);
    }
    command.env("TOOLCELL_LANG", "en");
    let shell = Shell::spawn(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let timed_out = shell.ended.recv_timeout(PAGE_TIMEOUT).is_err();
    for (at, (command, expected)) in commands.iter().enumerate() {
        let Ok(out) = std::fs::read_to_string(output.join(format!("{at}.out"))) else {
            panic!("{page}: $ {command}\nwas not reached within {PAGE_TIMEOUT:?}");
        };
        let actual = out + &std::fs::read_to_string(output.join(format!("{at}.err"))).unwrap();
        assert!(is_match(&actual, expected), "{page}: $ {command}\n{actual}\nexpected:\n{expected}");
    }
    assert!(!timed_out, "{page}: the last command did not end within {PAGE_TIMEOUT:?}");
}

/// Declares a test for each page with commands.
macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];

        $(
            #[test]
            fn $name() {
                run_page($page);
            }
        )*
    };
}

pages! {
    readme: "README.md",
    agents: "docs/guide/agents.md",
    capabilities: "docs/guide/capabilities.md",
    claude: "docs/guide/claude.md",
    copilot: "docs/guide/copilot.md",
    flows: "docs/guide/flows.md",
    first_tool: "docs/guide/first-tool.md",
    jail: "docs/guide/jail.md",
    locked_down: "docs/guide/locked-down.md",
    mcp: "docs/guide/mcp.md",
    pi: "docs/guide/pi.md",
    omp: "docs/guide/omp.md",
    custom_tools: "docs/guide/custom-tools.md",
    profiling: "docs/guide/profiling.md",
    receipts: "docs/guide/receipts.md",
    servers: "docs/guide/servers.md",
    testing: "docs/guide/testing.md",
    verify: "docs/guide/verify.md",
}

#[test]
fn every_page_with_commands_is_run() {
    let pages = pages().into_iter().chain([root().join("README.md")]);
    let with_commands = pages.filter(|page| !commands_of(&std::fs::read_to_string(page).unwrap()).is_empty());
    let mut found: Vec<String> =
        with_commands.map(|page| page.strip_prefix(root()).unwrap().display().to_string()).collect();
    let mut listed = PAGES.to_vec();
    found.sort();
    listed.sort_unstable();
    assert_eq!(found, listed);
}

#[test]
fn a_page_says_why_commands_are_not_run() {
    for page in pages().into_iter().chain([root().join("README.md")]) {
        for line in std::fs::read_to_string(&page).unwrap().lines() {
            let Some(fence) = line.trim().strip_prefix("```") else { continue };
            let is_shell = ["sh", "bash", "shell", "console"].iter().any(|name| fence.split(',').next() == Some(name));
            let is_run_or_explained =
                fence == "console" || fence.strip_prefix("console,skip=").is_some_and(|reason| !reason.is_empty());
            assert!(!is_shell || is_run_or_explained, "{}: {line}", page.display());
        }
    }
}

#[test]
fn the_rust_code_of_the_documents_is_compiled_somewhere() {
    let sources = ["crates/toolcell/examples/smallest.rs", "crates/testing/examples/project/tests/tools.rs"].map(read);
    let mut count = 0;
    for page in pages().into_iter().chain([root().join("README.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("\n```rust\n").skip(1) {
            let block = block.split("\n```").next().unwrap();
            assert!(sources.iter().any(|source| source.contains(block)), "{}:\n{block}", page.display());
            count += 1;
        }
    }
    assert_eq!(count, 3);
}

/// Set to 1 to write the generated pages instead of comparing them.
const UPDATE: &str = "TOOLCELL_UPDATE_DOCS";

/// Compares a generated page with the one in docs/.
fn check_generated(page: &str, expected: &str) {
    let path = root().join("docs").join(page);
    if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/{page} is out of date: `make reference` writes it");
}

/// Returns what `toolcell WORDS --help` prints.
fn help(words: &[&str]) -> String {
    let mut command = Command::new(binary());
    command.args(words).arg("--help").env_remove("COLUMNS").env("TOOLCELL_LANG", "en");
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// Appends the help of a command and of its subcommands.
fn push_help(words: &[&str], page: &mut String) {
    let text = help(words);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let heading = if words.is_empty() { "Options of all commands".to_owned() } else { words.join(" ") };
    let level = if words.len() > 1 { "###" } else { "##" };
    writeln!(page, "\n{level} {heading}\n\n```text\n{}\n```", lines.join("\n").trim_end()).unwrap();
    // The commands of the program are in groups.
    let commands = match text.split_once("\nCommands:\n") {
        Some((_, commands)) => commands.split("\n\n").next().unwrap_or_default(),
        None if words.is_empty() => text.split("\nOptions:\n").next().unwrap_or_default(),
        None => "",
    };
    for line in commands.lines() {
        let Some(name) = line.strip_prefix("  ").filter(|line| !line.starts_with(' ')) else { continue };
        let name = name.split(' ').next().unwrap();
        if name != "help" {
            push_help(&[words, &[name]].concat(), page);
        }
    }
}

#[test]
fn the_reference_of_the_commands_is_what_help_prints() {
    let mut page = String::from(
        "# Commands\n\nThis page is generated from `toolcell --help`: `make reference` writes it, and a test compares it.\n",
    );
    push_help(&[], &mut page);
    check_generated("reference/cli.md", &page);
}

#[test]
fn the_reference_of_the_policy_is_what_init_writes() {
    let mut page = String::from(
        "# toolcell.toml\n\nThis page is generated from the files that `toolcell init` writes: `make reference` writes it, and a \
         test compares it.\nA key that is commented out shows its default or an example. How the files work together is in the\n\
         [guide](../guide/policy.md).\n",
    );
    for (title, file) in [
        ("The file of the user", "crates/cli/src/commands/init/user.toml"),
        ("The file of a project", "crates/cli/src/commands/init/project.toml"),
    ] {
        writeln!(page, "\n## {title}\n\n```toml\n{}\n```", read(file).trim_end()).unwrap();
    }
    check_generated("reference/policy.md", &page);
}

/// Returns the string literals in the bodies of the functions of this name.
fn literals_of_functions(name: &str, text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for body in text.split(&format!("fn {name}(")).skip(1) {
        // A method ends where a brace closes at its indentation.
        let body = body.split("\n    }\n").next().unwrap();
        found.extend(body.split('"').skip(1).step_by(2).map(str::to_owned));
    }
    found
}

/// Returns the codes that a source names, in the attribute of an error or as a value.
fn named_codes(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for start in ["ErrorCode::", "#[code("] {
        for rest in source.split(start).skip(1) {
            let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
            let code = ErrorCode::ALL.iter().find(|code| format!("{code:?}") == name);
            found.extend(code.map(|code| code.as_str().to_owned()));
        }
    }
    found
}

/// Returns the exit status of each error code for which the command line has one of its own.
fn exit_statuses() -> BTreeMap<String, u8> {
    let mut statuses = BTreeMap::new();
    for code in ErrorCode::ALL {
        let status = match code.exit_class() {
            ExitClass::ToolFailed => 1,
            ExitClass::Usage => continue,
            ExitClass::Refused => 3,
            ExitClass::NotFound => 4,
            ExitClass::Limit => 5,
            ExitClass::Integrity => 6,
            ExitClass::Bug => 70,
            ExitClass::Interrupted => 130,
        };
        statuses.insert(code.as_str().to_owned(), status);
    }
    // The ends of a call (`Exit::from_outcome`), and errors of the command line (`CliError::exit`).
    for (status, codes) in [
        (1, &["stalled"][..]),
        (3, &["source-too-deep", "signature-missing"]),
        (5, &["out-of-fuel", "timeout", "out-of-memory", "output-too-large", "console-too-large"]),
        (5, &["too-many-operations", "stack-overflow", "no-image", "no-worker", "stream"]),
        (70, &["crashed", "worker-died", "bug"]),
    ] {
        statuses.extend(codes.iter().map(|code| ((*code).to_owned(), status)));
    }
    statuses
}

#[test]
fn the_reference_of_the_errors_lists_every_code() {
    let is_code =
        |text: &str| text.split('-').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase()));
    let mut codes: BTreeSet<String> = ErrorCode::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    let mut of_commands = BTreeSet::new();
    for (path, source) in sources() {
        if path.starts_with("crates/error") {
            continue;
        }
        let mut found = literals_of_functions("code", &source);
        // Problems in an audit log are not errors of an operation.
        found.retain(|text| is_code(text) && (text.contains('-') || !path.starts_with("crates/store/src/audit")));
        found.extend(named_codes(&source));
        for call in ["type_error(", "error_without_effects(", "failure("] {
            for arguments in source.split(call).skip(1) {
                let arguments = arguments.split(';').next().unwrap();
                let literals = arguments.split('"').skip(1).step_by(2).take(2);
                found.extend(literals.filter(|text| text.contains('-') && is_code(text)).map(str::to_owned));
            }
        }
        let is_of_tools_and_clients = [
            "crates/bindings",
            "crates/mcp",
            "crates/model-tools",
            "crates/capabilities",
            "crates/jail",
            "crates/toolcell/src/host_calls",
            "crates/toolcell/src/records",
        ]
        .iter()
        .any(|folder| path.starts_with(folder));
        // `toolcell mcp` reads files of tokens.
        let is_of_mcp_command = path.starts_with("crates/mcp/src/http/tokens.rs");
        if !is_of_tools_and_clients || is_of_mcp_command {
            of_commands.extend(found.clone());
        }
        codes.extend(found);
    }
    let statuses = exit_statuses();
    codes.extend(statuses.keys().cloned());
    assert!(codes.len() > 150 && statuses.len() > 60, "{} codes, {} statuses", codes.len(), statuses.len());
    let mut page = String::from(
        "# Errors and exit statuses\n\nThis page is generated from the sources: `make reference` writes it, and a test compares \
         it.\n\nAn error has a stable code, a message that names the cause, and a hint that names the next step. With `--json` a\n\
         command prints it as\n`{\"outcome\": \"refused\", \"error\": {\"code\": …, \"message\": …, \"hint\": …}}`; over MCP it is the structured content of\n\
         the tool result. Codes do not change between versions; messages and hints do.\n\n\
         ## Exit statuses\n\n| status | meaning |\n|---|---|\n\
         | 0 | success |\n| 1 | the tool failed |\n| 2 | invalid arguments or input |\n\
         | 3 | refused by the analysis, a policy, a hook or a person |\n| 4 | not found, or a conflict with what exists |\n\
         | 5 | a limit was hit |\n| 6 | an integrity check failed |\n| 70 | a bug in Toolcell |\n| 130 | interrupted |\n\n\
         ## Codes\n\nThe status is that of a command that ends with the code; `–` is a code that no command ends with: a tool\n\
         or a client gets it.\n\n| code | status |\n|---|---|\n",
    );
    for code in &codes {
        let status = statuses.get(code).copied().or_else(|| of_commands.contains(code).then_some(2));
        writeln!(page, "| `{code}` | {} |", status.map_or("–".to_owned(), |status| status.to_string())).unwrap();
    }
    check_generated("reference/errors.md", &page);
}

/// Returns the paths and texts of all Rust sources of the product, without tests.
fn sources() -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    let mut folders = vec![root().join("crates"), root().join("host")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !["tests", "testing", "target", "examples"].iter().any(|name| path.ends_with(name)) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                texts.push((path.strip_prefix(root()).unwrap().to_owned(), text));
            }
        }
    }
    texts
}
