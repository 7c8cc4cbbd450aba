//! The commands about policies: policy files, trusted hooks, and approvals.

use std::fs;
use std::io::Cursor;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::policy::Layer;
use toolcell::{
    CancelToken, CreateTool, Params, Policy, PolicyFile, Roots, RunOptions, RunTool, Toolbox, ToolboxConfig,
};
use toolcell_cli::Streams;

use crate::fixtures::cli::{CommandOutput, toolcell, toolcell_with_input};
use crate::mcp::server::BinaryFixture;

const SOURCE: &str = "const execute = ({ n }) => 2 * n";
/// A hook that has no objection.
const OPEN: &str = "[[hooks]]\nname = 'open'\ncommand = ['/bin/sh', '-c', 'cat > /dev/null; echo {}']\n";
/// A hook that denies.
const SHUT: &str =
    "[[hooks]]\nname = 'shut'\ncommand = ['/bin/sh', '-c', 'echo \"{\\\"permissionDecision\\\": \\\"deny\\\"}\"']\n";

/// A home directory with a project and a store.
pub(crate) struct PolicyFixture {
    folder: TempDir,
    /// The file name of the user's policy.
    user: &'static str,
    /// The folder where the search for the project's policy starts.
    stands_in: &'static str,
}

impl PolicyFixture {
    pub(crate) fn new(user: &str, project: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder, user: "user.toml", stands_in: "project/deep/er" };
        fs::create_dir_all(place.path("project/deep/er")).unwrap();
        fs::write(place.path("user.toml"), user).unwrap();
        fs::write(place.path("project/toolcell.toml"), project).unwrap();
        fs::write(place.path("twice.js"), SOURCE).unwrap();
        place
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    pub(crate) fn text(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }

    fn words(&self) -> Vec<String> {
        let options = [("--config", self.user), ("--project", self.stands_in), ("--trusted", "state/trusted")];
        let store = ("--dir", "store");
        options.iter().chain([&store]).flat_map(|(option, below)| [(*option).to_owned(), self.text(below)]).collect()
    }

    pub(crate) fn on(&self, words: &[&str]) -> CommandOutput {
        self.with_input(words, b"")
    }

    pub(crate) fn with_input(&self, words: &[&str], input: &[u8]) -> CommandOutput {
        let own = self.words();
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        toolcell_with_input(&[&own, words].concat(), input)
    }

    /// Runs a draft.
    fn exec(&self) -> CommandOutput {
        self.on(&["exec", &self.text("twice.js"), r#"{"n": 21}"#])
    }

    fn toolbox(&self) -> Toolbox {
        Toolbox::open(&self.path("store"), ToolboxConfig::default()).unwrap()
    }

    /// Creates a tool that waits for an approval, and returns its short identifier.
    pub(crate) fn waiting(&self, name: &str) -> String {
        let code = "const execute = ({ ms }) => { setTimeout(() => {}, ms) }";
        let request = CreateTool {
            name: name.to_owned(),
            description: "Waits".to_owned(),
            code: code.to_owned(),
            ..CreateTool::default()
        };
        self.toolbox().create(&request).unwrap().id.short()
    }

    /// Runs a stored tool, and returns the error code if it is refused.
    fn admits(&self, tool: &str) -> Result<(), &'static str> {
        let request = RunTool::new(tool, Params::default());
        self.toolbox().run(&request, &RunOptions::default()).map(|_| ()).map_err(|error| error.code().as_str())
    }
}

#[track_caller]
fn assert_output(done: &CommandOutput, status: u8, out: &str, err: &str) {
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (status, out, err));
}

#[test]
fn config_show_says_what_counts_and_where_it_comes_from() {
    let place = PolicyFixture::new(
        "[limits]\nfuel = 5_000\n[grants.default]\ntimers = true\n",
        "[limits]\nfuel = 9_000\ntimeout_ms = 200\n[approval]\nmode = 'ask'\n",
    );
    let done = place.on(&["config", "show"]);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    for line in ["limits.fuel = 5000", "limits.timeout_ms = 200", "approval.mode = \"ask\""] {
        assert!(lines.contains(&line), "{line}: {}", done.out);
    }
    let done = place.on(&["config", "show", "--origin"]);
    let (user, project) = (place.text("user.toml"), place.text("project/toolcell.toml"));
    assert!(done.out.starts_with(&format!("# user {user}\n# project {project}\n")), "{}", done.out);
    for (key, origin) in [
        ("limits.fuel = 5000 ", format!("# user {user}:2; 9000 is ignored (project {project}:2)")),
        ("limits.timeout_ms = 200 ", format!("# project {project}:3")),
        ("limits.memory_mb = 64 ", "# built-in".to_owned()),
    ] {
        assert!(done.out.lines().any(|line| line.starts_with(key) && line.ends_with(&origin)), "{key}: {}", done.out);
    }

    let shown = place.on(&["config", "show", "--json"]).json();
    assert_eq!((&shown["files"][0]["layer"], &shown["files"][1]["path"]), (&json!("user"), &json!(project)));
    let fuel = shown["settings"].as_array().unwrap().iter().find(|setting| setting["key"] == "limits.fuel").unwrap();
    assert_eq!((&fuel["value"], &fuel["origin"]["line"]), (&json!(5000), &json!(2)));
    assert_eq!(fuel["beyond"][0]["value"], 9000);

    let done = toolcell(&["config", "show", "--json"]).json();
    assert_eq!(done["files"].as_array().unwrap().len(), 1, "{done}");
}

#[test]
fn config_check_names_the_line_of_what_is_wrong() {
    let place = PolicyFixture::new("", "language = 'ja'\n");
    let (user, project) = (place.text("user.toml"), place.text("project/toolcell.toml"));
    assert_output(&place.on(&["config", "check"]), 0, &format!("{user}: valid\n{project}: valid\n"), "");
    assert_output(&place.on(&["config", "check", &project]), 0, &format!("{project}: valid\n"), "");
    assert_output(&place.with_input(&["config", "check", "-"], b"[limits]\nfuel = 1\n"), 0, "stdin: valid\n", "");

    let wrong = b"[limits]\nfule = 1\n[approval]\nmode = 'always'\n";
    let done = place.with_input(&["config", "check", "-"], wrong);
    assert_eq!((done.status, done.out.as_str()), (2, ""));
    assert!(done.err.starts_with("error: stdin:2:1: `limits` has no `fule`, did you mean `fuel`?"), "{}", done.err);
    assert!(done.err.contains("\nstdin:4:8: ") && done.err.contains("\nhint: "), "{}", done.err);
    let answer = place.with_input(&["config", "check", "-", "--json"], wrong).json();
    assert_eq!((&answer["good"], &answer["problems"][1]["line"]), (&json!(false), &json!(4)));
    assert_eq!(place.on(&["config", "check", "/no/such/file"]).status, 4);
    assert_eq!(
        place.with_input(&["config", "check", "-", "--json"], b"\xff").json()["error"]["code"],
        "policy-invalid"
    );
    assert_eq!(place.on(&["config", "check", "--json"]).json()["good"], true);
    let schema = toolcell(&["config", "schema"]).json();
    assert!(schema["properties"]["limits"]["properties"]["fuel"].is_object(), "{schema}");
}

#[test]
fn nothing_runs_under_rules_that_are_not_understood() {
    let place = PolicyFixture::new("", "[limits]\nfule = 1\n");
    let done = place.exec();
    assert!(done.status == 2 && done.err.contains("/project/toolcell.toml:2:1: "), "{}", done.err);
    assert_eq!(place.on(&["batch"]).status, 2);
    assert_eq!(place.on(&["approvals"]).status, 2);
    // Commands that need no policy work.
    assert_eq!(place.on(&["check", &place.text("twice.js")]).status, 0);
    assert_eq!(toolcell(&["--config", "/no/such/file", "batch"]).status, 4);
    fs::remove_file(place.path("project/toolcell.toml")).unwrap();
    fs::create_dir(place.path("project/toolcell.toml")).unwrap();
    assert_eq!(place.exec().status, 2);
}

#[test]
fn a_projects_file_is_found_upwards_and_may_only_narrow() {
    let place =
        PolicyFixture::new("[ceilings]\ntimeout_ms = 5_000\n", "[ceilings]\ntimeout_ms = 9_000\nfuel = 1_000\n");
    let file = place.text("twice.js");
    let done = place.on(&["exec", &file, r#"{"n": 1}"#, "--timeout-ms", "6000"]);
    let expected = format!("timeout_ms is 6000, it must be 1 to 5000 (ceiling of user {}:2)", place.text("user.toml"));
    assert!(done.status == 2 && done.err.contains(&expected), "{}", done.err);
    let done = place.on(&["exec", &file, r#"{"n": 1}"#, "--fuel", "1001"]);
    assert!(
        done.err.contains(&format!("(ceiling of project {}:3)", place.text("project/toolcell.toml"))),
        "{}",
        done.err
    );
    // Default limits are lowered to the ceiling.
    assert_eq!(place.exec().status, 5);
    let line = br#"{"id": 1, "op": "run", "source": "const execute = () => 1", "limits": {"fuel": 1001}}"#;
    assert_eq!(place.with_input(&["batch"], line).json()["error"]["code"], "limit-invalid");
    // The nearest file applies. The user's own policy does not count as a project's as well.
    fs::write(place.path("project/deep/toolcell.toml"), "").unwrap();
    assert_output(&place.exec(), 0, "42\n", "");
    let words = ["--config", &place.text("user.toml"), "--project", &place.text("project"), "config", "show", "--json"];
    fs::copy(place.path("user.toml"), place.path("project/toolcell.toml")).unwrap();
    assert_eq!(toolcell(&words).json()["files"].as_array().unwrap().len(), 2);
    let own = place.text("project/toolcell.toml");
    let words = ["--config", &own, "--project", &place.text("project"), "config", "show", "--json"];
    assert_eq!(toolcell(&words).json()["files"].as_array().unwrap().len(), 1);
}

#[test]
fn the_hooks_of_a_project_run_only_where_exactly_its_file_is_trusted() {
    let place = PolicyFixture::new("", OPEN);
    let file = place.text("project/toolcell.toml");
    let denied = |done: &CommandOutput| {
        let hint = format!("toolcell config trust {file}");
        assert!(done.status == 3 && done.err.contains(&hint), "{}", done.err);
    };
    denied(&place.exec());
    let line = br#"{"id": 1, "op": "run", "source": "const execute = () => 1"}"#;
    assert_eq!(place.with_input(&["batch"], line).json()["error"]["code"], "permission-denied");
    assert!(place.on(&["config", "show"]).err.contains("deny every call, because the file is not trusted"));

    let done = place.on(&["config", "trust"]);
    assert!(done.status == 0 && done.out.starts_with(&format!("trusted {file} (")), "{}", done.out);
    assert!(
        done.out.contains("hook `open` runs /bin/sh -c cat > /dev/null; echo {}\n  covered: /bin/sh ("),
        "{}",
        done.out
    );
    let list = fs::metadata(place.path("state/trusted")).unwrap();
    assert_eq!(list.mode() & 0o777, 0o600);
    assert_output(&place.exec(), 0, "42\n", "");
    assert_eq!(place.on(&["config", "show", "--json"]).json()["files"][1]["trusted"], true);

    // Another text, or the same text at another path, is not trusted.
    fs::write(place.path("project/toolcell.toml"), format!("{OPEN}# changed\n")).unwrap();
    denied(&place.exec());
    fs::write(place.path("project/toolcell.toml"), OPEN).unwrap();
    fs::write(place.path("project/deep/toolcell.toml"), OPEN).unwrap();
    assert_eq!(place.exec().status, 3);
    fs::remove_file(place.path("project/deep/toolcell.toml")).unwrap();
    assert_output(&place.exec(), 0, "42\n", "");

    // A list of trusted files that others can write is ignored.
    fs::set_permissions(place.path("state/trusted"), fs::Permissions::from_mode(0o622)).unwrap();
    let done = place.exec();
    assert!(done.status == 3 && done.err.contains("state/trusted is writable by other users"), "{}", done.err);
    fs::set_permissions(place.path("state/trusted"), fs::Permissions::from_mode(0o600)).unwrap();

    assert_output(&place.on(&["config", "untrust", &file]), 0, &format!("{file} is no longer trusted\n"), "");
    denied(&place.exec());
    assert_eq!(place.on(&["config", "untrust", &file]).status, 4);
    assert_eq!(place.on(&["config", "trust", &file, "--json"]).json()["hooks"][0]["name"], "open");
    assert_eq!(place.on(&["config", "trust", "/no/such/file"]).status, 4);
    let nowhere = ["--trusted", &place.text("x"), "config", "trust"];
    assert_eq!(toolcell(&nowhere).status, 4);
}

#[test]
fn a_list_of_trusted_files_that_is_not_read_whole_is_refused_and_stays() {
    const LIMIT: usize = 16 << 20;
    let place = PolicyFixture::new("", OPEN);
    place.on(&["config", "trust"]);
    let list = place.path("state/trusted");
    let trusted = fs::read_to_string(&list).unwrap();
    // The entries are at the end, after a comment.
    let of = |bytes: usize| format!("#{}\n{trusted}", "x".repeat(bytes - trusted.len() - 2));
    fs::write(&list, of(LIMIT)).unwrap();
    assert_output(&place.exec(), 0, "42\n", "");
    fs::write(&list, of(LIMIT + 1)).unwrap();
    for done in [place.exec(), place.on(&["config", "trust"])] {
        assert!(done.status == 2 && done.err.contains("state/trusted is longer than 16777216 bytes"), "{}", done.err);
    }
    assert_eq!(fs::metadata(&list).unwrap().len(), LIMIT as u64 + 1);
    fs::write(&list, b"\xff\n").unwrap();
    for done in [place.exec(), place.on(&["config", "trust"])] {
        assert!(done.status == 2 && done.err.contains("state/trusted is not UTF-8"), "{}", done.err);
    }
    assert_eq!(fs::read(&list).unwrap(), b"\xff\n");
}

#[test]
fn the_hooks_of_a_user_are_asked_about_drafts_too() {
    let place = PolicyFixture::new(SHUT, "");
    let done = place.exec();
    assert!(done.status == 3 && done.err.contains("hook `shut`"), "{}", done.err);
    let answer = place.on(&["exec", &place.text("twice.js"), "--json"]).json();
    assert_eq!((&answer["outcome"], &answer["error"]["code"]), (&json!("refused"), &json!("permission-denied")));
}

#[test]
fn stored_tools_are_made_and_run_under_the_same_rules() {
    let place = PolicyFixture::new("[names]\nreserved = ['bash']\n[store]\ntools = 1\n", OPEN);
    let file = place.text("twice.js");
    let create = |name: &str| place.on(&["create", &file, "--name", name, "--description", "Doubles", "--json"]).json();
    assert_eq!(create("bash")["error"]["code"], "name-reserved");
    assert_eq!(create("twice")["name"], "twice");
    assert_eq!(create("thrice")["error"]["code"], "tool-limit-reached");
    let run = || place.on(&["run", "twice", r#"{"n": 21}"#]);
    let done = run();
    assert!(done.status == 3 && done.err.contains("toolcell config trust "), "{}", done.err);
    place.on(&["config", "trust"]);
    assert_output(&run(), 0, "42\n", "");
    fs::write(place.path("user.toml"), "[approval]\nmode = 'ask'\n").unwrap();
    let done = run();
    assert!(done.status == 3 && done.err.contains("toolcell approvals grant dt_"), "{}", done.err);
    place.on(&["approvals", "grant", "twice"]);
    assert_output(&run(), 0, "42\n", "");
    fs::write(place.path("user.toml"), SHUT).unwrap();
    assert!(run().err.contains("hook `shut`"), "{}", run().err);
}

#[test]
fn drafts_are_recorded_where_there_is_a_store_and_none_is_made_for_them() {
    let place = PolicyFixture::new("", "");
    assert_output(&place.exec(), 0, "42\n", "");
    assert!(!place.path("store").exists());
    fs::create_dir(place.path("store")).unwrap();
    assert_output(&place.exec(), 0, "42\n", "");
    assert_eq!(fs::read_dir(place.path("store")).unwrap().count(), 0);

    drop(place.toolbox());
    assert_output(&place.exec(), 0, "42\n", "");
    place.with_input(&["batch"], br#"{"id": 1, "op": "run", "source": "const execute = () => 1"}"#);
    let lines = place.on(&["audit", "--action", "exec"]).out;
    assert_eq!(lines.lines().count(), 2, "{lines}");
    // A run that cannot be recorded is refused, unless the user's policy allows it.
    fs::write(place.path("store/toolcell-store"), "toolcell store, format 11\n").unwrap();
    assert_eq!(place.on(&["exec", &place.text("twice.js"), "--json"]).json()["error"]["code"], "store-newer");
    fs::write(place.path("user.toml"), "[audit]\nrequired = false\n").unwrap();
    assert_output(&place.exec(), 0, "42\n", "");
}

#[test]
fn the_language_of_the_policy_is_spoken_where_nothing_else_is_said() {
    let (ja, zh) = (PolicyFixture::new("language = 'ja'\n", ""), PolicyFixture::new("language = 'zh'\n", ""));
    let exec = |place: &PolicyFixture, options: &[&str]| {
        let (mut input, mut out, mut err) = (Cursor::new(b"function execute() { null.x }"), Vec::new(), Vec::new());
        let streams = Streams {
            input: &mut input,
            output: &mut out,
            errors: &mut err,
            output_is_terminal: false,
            errors_are_terminal: false,
            input_is_terminal: false,
            color: toolcell_cli::ColorMode::default(),
        };
        let words = [vec!["toolcell".to_owned()], place.words()].concat();
        let words = words.iter().map(String::as_str).chain(options.iter().copied()).chain(["exec", "-"]);
        toolcell_cli::run(words, streams, &CancelToken::new());
        String::from_utf8(err).unwrap()
    };
    if std::env::var_os("TOOLCELL_LANG").is_none() {
        assert!(exec(&ja, &[]).starts_with("エラー: "));
        assert!(exec(&zh, &[]).starts_with("错误："));
        assert!(exec(&zh, &["--nonsense"]).starts_with("错误："));
    }
    assert!(exec(&ja, &["--lang", "en"]).starts_with("error: "));
    assert!(exec(&ja, &["--lang", "zh"]).starts_with("错误："));
}

#[test]
fn init_writes_a_file_to_begin_with_and_overwrites_nothing() {
    let place = PolicyFixture::new("", "");
    fs::remove_file(place.path("user.toml")).unwrap();
    let (folder, file) = (place.text("project/deep"), place.text("project/deep/toolcell.toml"));
    let done = toolcell(&["init", &folder]);
    assert_eq!((done.status, done.out), (0, format!("created {file}; all settings are still the defaults\n")));
    assert!(done.err.starts_with("next: toolcell config show --origin"), "{}", done.err);
    assert_output(&toolcell(&["config", "check", &file]), 0, &format!("{file}: valid\n"), "");
    fs::write(&file, "# mine\n").unwrap();
    let done = toolcell(&["init", &folder]);
    assert!(done.status == 4 && done.err.contains("already exists"), "{}", done.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), "# mine\n");

    let user = place.text("new/user.toml");
    let done = toolcell(&["--config", &user, "init", "--user", "--json"]);
    // `init` creates the file that `--config` names.
    assert_eq!(done.json(), json!({ "path": user, "layer": "user" }));
    assert_eq!(fs::metadata(&user).unwrap().mode() & 0o777, 0o600);
    assert_eq!(toolcell(&["--config", &user, "config", "check"]).status, 0);
    assert_eq!(toolcell(&["init", "--user", &folder]).status, 2);
}

#[test]
fn approvals_are_listed_granted_refused_and_taken_back() {
    let place = PolicyFixture::new("[grants.default]\ntimers = true\n", "");
    let id = place.waiting("later");
    let other = place.waiting("sooner");
    assert_eq!(place.admits("later"), Err("permission-denied"));
    let done = place.on(&["approvals"]);
    assert_eq!((done.status, done.out.matches("pending ").count()), (0, 2));
    // The requested capabilities and the source, which the decision depends on, are shown.
    assert!(done.out.contains("asks for: timers") && done.out.contains("  1 | "), "{}", done.out);
    // The tools were created without this policy, which grants them something.
    assert!(
        done.out.contains(&format!("pending   later ({id}) with no grants, requested by create, since ")),
        "{}",
        done.out
    );
    let full = place.toolbox().find("later").unwrap().id.to_string();
    assert!(done.out.contains(&format!("  id: {full}\n")) && done.out.contains("is granted: timers"), "{}", done.out);
    let shown = done
        .out
        .lines()
        .find_map(|line| line.strip_prefix(&format!("  toolcell approvals grant {full} --shown ")))
        .unwrap();
    assert!(done.err.starts_with("hint: review with `toolcell show "), "{}", done.err);
    let pending = place.on(&["approvals", "list", "--json"]).json();
    assert_eq!((pending["pending"].as_array().unwrap().len(), &pending["decided"]), (2, &json!([])));
    assert_eq!(pending["pending"][0]["asks"], json!(["timers"]));

    // The grants are computed from the current policy: without a policy, there are none.
    let plain = ["--dir", &place.text("store")];
    let done = toolcell(&[&plain[..], &["approvals", "grant", "later", "--shown", shown]].concat());
    assert_eq!((done.status, done.out.as_str()), (4, ""));
    assert!(done.err.starts_with("error: `later` or its grants no longer match the digest "), "{}", done.err);
    assert_eq!(place.admits("later"), Err("permission-denied"));
    let done = toolcell(&[&plain[..], &["approvals", "grant", "later"]].concat());
    assert_eq!((done.status, done.out.as_str()), (0, &*format!("approved later ({id}) with no grants\n")));
    // The facts are printed before the approval, also without a prompt.
    let facts = format!("  asks for: timers\n  is granted: nothing\n  id: {full}\n");
    assert!(done.err.contains(&facts), "{}", done.err);
    assert_eq!(place.admits("later"), Ok(()));
    let done = place.on(&["approvals", "grant", &full, "--shown", shown, "--yes"]);
    assert_eq!((done.status, done.out.as_str()), (0, &*format!("approved later ({id}) with timers\n")));
    assert!(done.err.contains("  is granted: timers\n"), "{}", done.err);
    let done = place.on(&["approvals", "refuse", "sooner", "--reason", "it is too fast", "--json"]).json();
    assert_eq!(
        (&done["name"], &done["decision"], &done["by"]),
        (&json!("sooner"), &json!("refused"), &json!("command-line: it is too fast"))
    );
    let listed = place.on(&["approvals"]).out;
    assert!(
        listed.contains(&format!("refused   sooner ({other}) with any grants, by command-line: it is too fast, ")),
        "{listed}"
    );

    assert_output(
        &place.on(&["approvals", "revoke", "later"]),
        0,
        &format!("revoked the approvals and refusals of later ({id})\n"),
        "",
    );
    assert_eq!(place.on(&["approvals", "revoke", "later", "--json"]).json()["revoked"], 0);
    assert_eq!(place.admits("later"), Err("permission-denied"));

    for action in ["approve", "refuse", "revoke"] {
        let done = place.on(&["audit", "--action", action, "--json"]);
        let last: Value = serde_json::from_str(done.out.lines().next().unwrap()).unwrap();
        assert_eq!((&last["success"], last["details"]["decidedBy"].is_string()), (&json!(true), true), "{last}");
    }
}

#[test]
fn approvals_are_listed_and_decided_in_the_language_of_the_reader() {
    let place = PolicyFixture::new("", "");
    let id = place.waiting("later");
    let in_lang = |lang, words: &[&str]| place.on(&[&["approvals"], words, &["--lang", lang]].concat());
    let done = in_lang("ja", &[]);
    let pending = format!("承認待ち  later ({id})、権限: なし、要求元: create、");
    assert!(done.out.starts_with(&pending), "{}", done.out);
    // It requests timers and is granted none: an approval alone would not help it.
    assert!(
        done.err.starts_with("ヒント: `toolcell show later` で確認してください。`toolcell grant later timers`"),
        "{}",
        done.err
    );
    let done = in_lang("zh", &[]);
    let pending = format!("待批准    later（{id}），授权：无，由 create 请求，自 ");
    assert!(done.out.starts_with(&pending), "{}", done.out);
    let done = in_lang("zh", &["grant", "later", "--shown", "00"]);
    assert!(done.err.starts_with("错误：「later」或其授权已与摘要 00 不一致\n提示：请用 "), "{}", done.err);
    assert_eq!(in_lang("ja", &["grant", "later"]).out, format!("later ({id}) を承認しました (権限: なし)\n"));
    assert!(
        in_lang("zh", &["list"]).out.starts_with(&format!("已批准    later（{id}），授权：无，由 command-line 决定，"))
    );
    assert_eq!(in_lang("zh", &["refuse", "later"]).out, format!("已拒绝 later（{id}），不论授权如何\n"));
    // A decision of a program is the same in each language.
    let decided = |lang| in_lang(lang, &["--json"]).json()["decided"].clone();
    assert_eq!(decided("ja"), decided("en"));
}

#[test]
fn policy_files_are_created_and_checked_in_the_language_of_the_reader() {
    let place = PolicyFixture::new("", "");
    let (folder, file) = (place.text("project/deep"), place.text("project/deep/toolcell.toml"));
    let done = toolcell(&["init", &folder, "--lang", "ja"]);
    assert_eq!(done.out, format!("{file} を作成しました。設定はまだすべて既定値です\n"));
    assert!(done.err.starts_with("次: toolcell config show --origin"), "{}", done.err);
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.is_ascii(), "{written}");
    let done = toolcell(&["init", &folder, "--lang", "zh"]);
    let expected = format!("错误：{file} 已存在\n提示：请编辑该文件，并用 `toolcell config check` 校验\n");
    assert_output(&done, 4, "", &expected);
    let check = |lang| toolcell(&["config", "check", &file, "--lang", lang]).out;
    assert_eq!(check("ja"), format!("{file}: 有効です\n"));
    assert_eq!(check("zh"), format!("{file}：有效\n"));
    let trust = |lang| place.on(&["config", "trust", &file, "--lang", lang]).out;
    assert!(trust("ja").contains("\nフックはありません。"), "{}", trust("ja"));
    assert!(trust("zh").starts_with(&format!("已信任 {file}（")), "{}", trust("zh"));
}

#[test]
fn the_mode_of_approval_that_is_typed_goes_before_the_files() {
    let place = PolicyFixture::new("[approval]\nmode = \"never\"\n", "");
    place.waiting("later");
    assert_eq!(place.on(&["--approval", "ask", "run", "later"]).status, 3);
    // The tool runs, and fails because it has no timers.
    assert_eq!(place.on(&["--approval", "auto", "run", "later"]).status, 1);
    assert_eq!(place.on(&["--approval", "none", "run", "later"]).status, 2);
}

#[test]
fn approvals_of_what_is_not_there_are_refused_and_leave_a_line() {
    let place = PolicyFixture::new("", "");
    assert_eq!(place.on(&["approvals"]).status, 4);
    assert!(!place.path("store").exists());
    drop(place.toolbox());
    assert_output(&place.on(&["approvals"]), 0, "no pending approvals and no decisions\n", "");
    for verb in ["grant", "refuse", "revoke"] {
        let done = place.on(&["approvals", verb, "nobody", "--json"]);
        assert_eq!((done.status, &done.json()["error"]["code"]), (4, &json!("tool-not-found")), "{verb}");
    }
    let lines = place.on(&["audit", "--outcome", "failed"]).out;
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert_eq!(place.on(&["approvals", "grant"]).status, 2);
}

/// Writes a script in another process. If this process wrote it, a child of a concurrent test could
/// still hold it open for writing, and executing it would fail (ETXTBSY).
fn write_script(path: &str, text: &str) {
    let words = ["-c", r#"printf %s "$1" > "$2""#, "sh", text, path];
    assert!(std::process::Command::new("sh").args(words).status().unwrap().success());
}

/// Creates a project with a script as a hook, and an interpreter with a script as well.
fn with_scripts() -> PolicyFixture {
    let place = PolicyFixture::new("", "");
    fs::create_dir(place.path("project/hooks")).unwrap();
    for name in ["check", "rules.sh"] {
        write_script(&place.text(&format!("project/hooks/{name}")), "#!/bin/sh\ncat > /dev/null; echo {}\n");
    }
    fs::set_permissions(place.path("project/hooks/check"), fs::Permissions::from_mode(0o755)).unwrap();
    let rules = place.text("project/hooks/rules.sh");
    let hooks = format!(
        "[[hooks]]\nname = 'script'\ncommand = ['./hooks/check']\n\
         [[hooks]]\nname = 'interpreted'\ncommand = ['/bin/sh', '{rules}']\n"
    );
    fs::write(place.path("project/toolcell.toml"), hooks).unwrap();
    place
}

#[test]
fn trust_covers_the_programs_that_a_policy_names() {
    let place = with_scripts();
    let done = place.on(&["config", "trust"]);
    for covered in ["project/./hooks/check", "project/hooks/rules.sh"] {
        assert!(done.out.contains(&format!("  covered: {} (", place.text(covered))), "{}", done.out);
    }
    assert_output(&place.exec(), 0, "42\n", "");
    for changed in ["project/hooks/check", "project/hooks/rules.sh"] {
        let before = fs::read_to_string(place.path(changed)).unwrap();
        write_script(&place.text(changed), "#!/bin/sh\ntouch \"$0.ran\"; echo {}\n");
        let done = place.exec();
        assert!(done.status == 3 && done.err.contains("has changed since"), "{}", done.err);
        assert!(done.err.contains(&format!("toolcell config trust {}", place.text("project/toolcell.toml"))));
        assert!(!place.path(&format!("{changed}.ran")).exists());
        write_script(&place.text(changed), &before);
        assert_output(&place.exec(), 0, "42\n", "");
    }
    fs::remove_file(place.path("project/hooks/check")).unwrap();
    assert_eq!(place.exec().status, 3);
}

#[test]
fn a_list_of_an_older_format_covers_no_programs() {
    let place = with_scripts();
    place.on(&["config", "trust"]);
    let list = fs::read_to_string(place.path("state/trusted")).unwrap();
    assert!(list.starts_with("# toolcell trusted, format 2\n"), "{list}");
    let old: Vec<&str> = list.lines().filter(|line| !line.starts_with([' ', '#'])).collect();
    fs::write(place.path("state/trusted"), old.join("\n") + "\n").unwrap();
    let done = place.exec();
    assert!(done.status == 3 && done.err.contains("was not covered when"), "{}", done.err);
    place.on(&["config", "trust"]);
    assert_output(&place.exec(), 0, "42\n", "");
}

#[test]
fn a_trusted_policy_does_not_go_away_unnoticed() {
    let place = PolicyFixture::new("", OPEN);
    let file = place.text("project/toolcell.toml");
    let denied = |why: &str| {
        let done = place.exec();
        assert!(done.status == 3 && done.err.contains(why), "{}", done.err);
        assert!(place.on(&["config", "show"]).err.contains(why));
    };
    place.on(&["config", "trust"]);
    // The file is emptied, deleted, or hidden by a nearer one.
    fs::write(&file, "").unwrap();
    denied(&format!("{file} has changed since it was trusted"));
    fs::remove_file(&file).unwrap();
    denied(&format!(
        "{file} is trusted, but does not exist; restore it, or revoke the trust: toolcell config untrust {file}"
    ));
    fs::write(&file, OPEN).unwrap();
    assert_output(&place.exec(), 0, "42\n", "");
    let front = place.text("project/deep/toolcell.toml");
    fs::write(&front, "").unwrap();
    denied(&format!("{front} shadows {file}, which is trusted"));
    place.on(&["config", "trust", &front]);
    assert_output(&place.exec(), 0, "42\n", "");
    // A file that was untrusted is not reported as missing.
    fs::remove_file(&front).unwrap();
    fs::remove_file(&file).unwrap();
    place.on(&["config", "untrust", &front]);
    denied("is trusted, but does not exist");
    place.on(&["config", "untrust", &file]);
    assert_output(&place.exec(), 0, "42\n", "");
}

/// A tool that writes a given text to a given path.
const PUT: &str = "const execute = async ({ path, text }) => files.write(path, text)";

/// Returns a policy that grants the tool `put` write access to this folder.
fn policy_with_files(folder: &str) -> String {
    format!(
        "[approval]\nmode = 'auto'\n[[grants.tools.put.files]]\nname = 'all'\npath = '{folder}'\naccess = 'write'\n"
    )
}

/// Creates the tool `put` in a project whose user grants it this folder.
fn writing(place: &PolicyFixture, folder: &str) -> CommandOutput {
    fs::write(place.path(place.user), policy_with_files(folder)).unwrap();
    fs::write(place.path("put.js"), PUT).unwrap();
    let words = ["create", &place.text("put.js"), "--name", "put", "--description", "Writes", "--json"];
    place.on(&words)
}

/// Asserts that the command is refused with this message.
#[track_caller]
fn assert_protected(done: &CommandOutput, what: &str) {
    let expected = done.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(done.status == 2 && expected.contains(what), "{what}: {expected}");
}

#[test]
fn a_tool_that_may_write_reaches_nothing_that_confines_it() {
    for (folder, what) in [
        // The folder of a trusted hook, the project around it, the list of trusted files, all of
        // these through a symlink, and the store.
        ("project/hooks", "hooks/check), which no tool may change"),
        ("project", "a trusted "),
        ("state", "the list of trusted files"),
        ("link-to-home", "the store"),
        ("link-to-home/project/hooks", "hooks/check), which no tool may change"),
        ("store", "the store"),
    ] {
        let place = with_scripts();
        place.on(&["config", "trust"]);
        fs::create_dir_all(place.path("store")).unwrap();
        drop(place.toolbox());
        symlink(place.path(""), place.path("link-to-home")).unwrap();
        assert_protected(&writing(&place, &place.text(folder)), what);
    }
    let place = with_scripts();
    place.on(&["config", "trust"]);
    fs::create_dir_all(place.path("project/src")).unwrap();
    assert_eq!(writing(&place, &place.text("project/src")).status, 0);
    let put = |path: &str| place.on(&["run", "put", &json!({ "path": path, "text": "#!/bin/sh\nid" }).to_string()]);
    assert_eq!(put("all/main.rs").status, 0);
    // The hook's script gets another name, a hard link, after the policy was read.
    fs::hard_link(place.path("project/hooks/check"), place.path("project/src/check")).unwrap();
    let done = put("all/check");
    assert!(done.status == 1 && done.err.contains("it controls what tools may do"), "{}", done.err);
    assert!(fs::read_to_string(place.path("project/hooks/check")).unwrap().contains("echo {}"));
}

#[test]
fn a_symlink_to_the_folder_of_the_users_policy_is_not_granted() {
    let place = PolicyFixture { user: "conf/toolcell.toml", ..PolicyFixture::new("", "") };
    let (conf, link) = (place.path("conf"), place.path("project/link"));
    fs::create_dir(&conf).unwrap();
    symlink(&conf, &link).unwrap();
    assert_protected(&writing(&place, &place.text("project/link")), "it contains the policy of the user (");
    // The folder becomes a symlink after the tool was created.
    fs::remove_file(&link).unwrap();
    fs::create_dir(&link).unwrap();
    assert_eq!(writing(&place, &place.text("project/link")).status, 0);
    fs::remove_dir(&link).unwrap();
    symlink(&conf, &link).unwrap();
    let before = fs::read_to_string(place.path(place.user)).unwrap();
    let params = json!({ "path": "all/toolcell.toml", "text": "[[grants.default.net]]\nhost = 'any'\n" }).to_string();
    assert_protected(&place.on(&["run", "put", &params, "--json"]), "it contains the policy of the user (");
    assert_eq!(fs::read_to_string(place.path(place.user)).unwrap(), before);
}

#[test]
fn the_folder_of_the_program_that_runs_tools_is_not_granted() {
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap().to_str().unwrap();
    assert_protected(&writing(&PolicyFixture::new("", ""), folder), "the program that runs tools (");
}

#[test]
fn a_folder_in_which_hooks_look_for_programs_is_not_granted_where_there_are_hooks() {
    for (hooks, status) in [(OPEN, 2), ("", 0)] {
        let home = BinaryFixture::new("");
        let (folder, source) = (home.path("bin"), home.path("put.js"));
        let (folder, source) = (folder.to_str().unwrap(), source.to_str().unwrap());
        fs::create_dir(folder).unwrap();
        fs::write(source, PUT).unwrap();
        fs::write(home.path("policy.toml"), policy_with_files(folder) + hooks).unwrap();
        let words = ["create", source, "--name", "put", "--description", "Writes", "--json"];
        let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
        let output = home.run_with_env(&words, &[("PATH", &*path)]);
        let expected = String::from_utf8_lossy(&output.stdout);
        let is_refused = expected.contains("a folder in which programs are looked up (`PATH`) (");
        assert_eq!((output.status.code(), is_refused), (Some(status), status == 2), "{expected}");
    }
}

/// A project's file starts no program: a checkout that is only looked at would run one.
#[test]
fn only_the_user_names_the_program_that_checks_types() {
    let place = PolicyFixture::new("", "");
    let (script, ran) = (place.text("types.sh"), place.path("ran"));
    let text = format!(
        "touch {}\nif [ \"$1\" = --version ]; then echo 'Version 7.0.2'; exit; fi\nfor file; do case $file in tool.*) \
         echo \"$file(1,7): error TS2304: Cannot find name 'x'.\";; esac; done\nexit 1\n",
        ran.display()
    );
    fs::write(&script, text).unwrap();
    let policy = format!("[types]\ncommand = [\"/bin/sh\", {script:?}]\n");
    let source = place.text("twice.js");
    let check = || place.on(&["check", &source, "--json"]);
    let without = check();
    assert!(!without.out.contains("typeErrors"), "{}", without.out);
    fs::write(place.path("project/toolcell.toml"), &policy).unwrap();
    let ignored = check();
    assert_eq!((ignored.status, &ignored.out, &ignored.err), (without.status, &without.out, &without.err));
    assert_eq!(place.on(&["create", &source, "--description", "Doubles"]).status, 0);
    assert!(!ran.exists());
    fs::write(place.path(place.user), &policy).unwrap();
    let found = &check().json()["typeErrors"][0];
    assert_eq!((&found["message"], &found["column"]), (&"TS2304: Cannot find name 'x'.".into(), &7.into()));
    assert!(ran.exists());
    // Where it does not work, everything else does.
    fs::write(place.path(place.user), "[types]\ncommand = [\"./nothing\"]\n").unwrap();
    let broken = check();
    assert_eq!((broken.status, &broken.out), (without.status, &without.out));
    let note = "note: types are not checked: there is no program `./nothing`: npm install --global typescript@7\n";
    assert_eq!(broken.err, note);
    let doctor = place.on(&["doctor"]);
    let why = "not checked: ./nothing does not work: there is no program `./nothing`: npm install";
    assert!(doctor.out.contains(why), "{}", doctor.out);
}

/// A tool that could replace the program would run outside of its cell.
#[test]
fn the_program_that_checks_types_is_not_granted() {
    let place = PolicyFixture::new("", "");
    fs::create_dir(place.path("bin")).unwrap();
    fs::write(place.path("bin/tsc"), "").unwrap();
    let policy = policy_with_files(&place.text("bin")) + "[types]\ncommand = [\"./bin/tsc\"]\n";
    fs::write(place.path(place.user), policy).unwrap();
    let refused = place.on(&["create", &place.text("twice.js"), "--description", "Doubles"]);
    assert!(refused.status != 0 && refused.err.contains("the program that checks types ("), "{}", refused.err);
}

#[test]
fn what_another_trusted_project_leans_on_is_not_granted() {
    let place = PolicyFixture { stands_in: "elsewhere", ..with_scripts() };
    fs::create_dir(place.path("elsewhere")).unwrap();
    assert_eq!(place.on(&["config", "trust", &place.text("project/toolcell.toml")]).status, 0);
    assert_protected(&writing(&place, &place.text("project")), "it contains a trusted ");
    assert_protected(&writing(&place, &place.text("project/hooks")), "a trusted hook program (");
}

#[test]
fn the_folder_of_the_trusted_certificates_is_not_granted() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = folder.path().join("certificates");
    fs::create_dir(&certificates).unwrap();
    let text = policy_with_files(certificates.to_str().unwrap());
    let file = PolicyFile::parse(Layer::User, &text, Path::new("toolcell.toml")).unwrap();
    let policy = Policy::from_layers([file]).unwrap();
    let roots = Roots::File(certificates.join("roots.pem"));
    let config = ToolboxConfig { policy, roots, ..ToolboxConfig::default() };
    let error = Toolbox::open(&folder.path().join("store"), config).err().unwrap();
    assert_eq!(error.code(), "policy-invalid");
    assert!(error.to_string().contains("the trusted root certificates ("), "{error}");
}

#[test]
fn the_interpreter_of_a_script_is_covered_by_trust_and_protected_from_tools() {
    let place = PolicyFixture::new("", "");
    fs::create_dir(place.path("interpreters")).unwrap();
    let (interpreter, script) = (place.text("interpreters/run"), place.text("project/check"));
    let harmless = "#!/bin/sh\ncat > /dev/null; echo {}\n";
    write_script(&interpreter, harmless);
    write_script(&script, &format!("#!{interpreter}\n"));
    for path in [&interpreter, &script] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let hook = "[[hooks]]\nname = 'script'\ncommand = ['./check']\n";
    fs::write(place.path("project/toolcell.toml"), hook).unwrap();
    let done = place.on(&["config", "trust"]);
    for covered in [&*interpreter, "/bin/sh"] {
        assert!(done.out.contains(&format!("  covered: {covered} (")), "{}", done.out);
    }
    assert_output(&place.exec(), 0, "42\n", "");
    // A folder that contains the interpreter cannot be granted.
    assert_protected(
        &writing(&place, &place.text("interpreters")),
        &format!("({interpreter}), which no tool may change"),
    );
    fs::write(place.path("user.toml"), "").unwrap();
    // A replaced interpreter is not executed.
    write_script(&interpreter, "#!/bin/sh\ntouch \"$0.ran\"; echo {}\n");
    let done = place.exec();
    let changed = format!("`{interpreter}` has changed since");
    assert!(done.status == 3 && done.err.contains(&changed), "{}", done.err);
    assert!(!place.path("interpreters/run.ran").exists());
    // A FIFO in its place does not block.
    fs::remove_file(&interpreter).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&interpreter).status().unwrap().success());
    assert_eq!(place.exec().status, 3);
    fs::remove_file(&interpreter).unwrap();
    write_script(&interpreter, harmless);
    fs::set_permissions(&interpreter, fs::Permissions::from_mode(0o755)).unwrap();
    assert_output(&place.exec(), 0, "42\n", "");
}

#[test]
fn what_trust_says_is_a_line_each_whatever_a_command_contains() {
    let place = PolicyFixture::new("", "");
    let hook = "[[hooks]]\nname = 'forger'\ncommand = ['/bin/sh', '-c', \"cat\\n  covered: /etc/passwd (0)\"]\n";
    fs::write(place.path("project/toolcell.toml"), hook).unwrap();
    let done = place.on(&["config", "trust"]);
    assert!(done.out.contains(r#"runs /bin/sh -c "cat\n  covered: /etc/passwd (0)""#), "{}", done.out);
    assert!(!done.out.contains("\n  covered: /etc/passwd"), "{}", done.out);
}
