//! Questions during a run, at a terminal: what MCP servers ask, and what rules about flows have a person decide.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::mcp::server::BinaryFixture;
use crate::terminal::Terminal;

const DOWN: &str = "\u{1b}[B";

/// A fixture with a server `s` that asks, and a tool `trip` that books a seat in this way.
fn home(how: &str) -> BinaryFixture {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/servers/server.py").canonicalize().unwrap();
    let home = BinaryFixture::new(&format!(
        "[approval]\nmode = \"auto\"\n[grants.default]\nservers = {{ s = \"any\" }}\n\
         [servers.s]\ncommand = [\"python3\", \"{}\", \"asks\"]\n",
        script.display()
    ));
    let file = home.path("trip.js");
    let body = format!("servers.s.book({{ how: '{how}' }}).then(JSON.parse, (e) => e.message)");
    fs::write(&file, format!("const execute = () => {body}")).unwrap();
    home.stdout_of(&["create", file.to_str().unwrap(), "--description", "Books"]);
    home
}

#[test]
fn a_form_is_filled_in_field_by_field_and_sent_after_a_yes() {
    let home = home("plain");
    let file = home.path("trip.js");
    for words in [vec!["run", "trip"], vec!["exec", file.to_str().unwrap(), "--grant", "servers=s"]] {
        let mut terminal = Terminal::start(&home, &words);
        let rows = terminal.wait_for_prompt(&["What do you tell the server?"]);
        let first = rows.iter().find(|row| row.contains("asks for input")).unwrap();
        assert!(first.starts_with("The server `s` asks for input, in a call of `book` by `"), "{rows:#?}");
        assert!(rows.iter().any(|row| row == "  | Which seat?"), "{rows:#?}");
        terminal.type_keys(&format!("{DOWN}\r"));
        terminal.wait_for_prompt_below("  | seat", &["Value:"]);
        // Too short: it is asked for again.
        terminal.type_keys("1\r");
        terminal.type_keys("2A\r");
        terminal.wait_for_prompt_below("  | window", &["Which value?"]);
        terminal.type_keys(&format!("{DOWN}\r"));
        let rows = terminal.wait_for_prompt(&["Send it?"]);
        assert!(
            rows.iter().any(|row| row == "  | seat: 12A") && rows.iter().any(|row| row == "  | window: true"),
            "{rows:#?}"
        );
        terminal.type_keys("y\r");
        let (status, out) = terminal.wait_for_exit();
        assert_eq!(status, Some(0));
        let answers: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(answers, json!([{ "action": "accept", "content": { "seat": "12A", "window": true } }]));
    }
}

#[test]
fn who_declines_or_dismisses_has_said_so_and_nothing_else() {
    let home = home("plain");
    for (keys, action, why) in [
        ("\r".to_owned(), "decline", "the user declined"),
        (format!("{DOWN}{DOWN}\r"), "cancel", "dismissed"),
        ("\u{1b}".to_owned(), "cancel", "dismissed"),
    ] {
        let mut terminal = Terminal::start(&home, &["run", "trip"]);
        terminal.wait_for_prompt(&["What do you tell the server?"]);
        terminal.type_keys(&keys);
        let (status, out) = terminal.wait_for_exit();
        assert_eq!(status, Some(0));
        assert!(out.contains(&format!(r#""action": "{action}""#)) && out.contains(why), "{out}");
    }
}

#[test]
fn each_type_of_field_can_be_filled_in_or_left_out() {
    let home = home("types");
    let mut terminal = Terminal::start(&home, &["run", "trip"]);
    terminal.wait_for_prompt(&["What do you tell the server?"]);
    terminal.type_keys(&format!("{DOWN}\r"));
    for (above, prompt, keys) in [
        ("  | name", "Value:", "Ann\r"),
        // The proposed age.
        ("  | age", "Value:", "\r"),
        ("  | agrees", "Which value?", "\u{1b}[B\u{1b}[B\r"),
        ("  | color", "Which value?", "\u{1b}[B\r"),
        ("  | days", "Value:", "2 1\r"),
        ("  | name: Ann", "Send it?", "y\r"),
    ] {
        terminal.wait_for_prompt_below(above, &[prompt]);
        terminal.type_keys(keys);
    }
    let (_, out) = terminal.wait_for_exit();
    let answers: Value = serde_json::from_str(&out).unwrap();
    let content = json!({ "name": "Ann", "age": 7, "color": "g", "days": ["tu", "mo"] });
    assert_eq!(answers, json!([{ "action": "accept", "content": content }]));
}

#[test]
fn without_a_terminal_it_is_declined() {
    let home = home("plain");
    let out = home.stdout_of(&["run", "trip"]);
    assert!(out.contains("the caller of this run cannot pass questions on"), "{out}");
}

/// A fixture with a tool `keep` that writes what its caller says, about which a rule asks.
fn keeping() -> BinaryFixture {
    let home = BinaryFixture::new(
        "[approval]\nmode = \"auto\"\n[grants.default.kv]\nspace = \"notes\"\n\
         [[flows]]\nfrom = [\"caller\"]\nto = [\"kv:notes:writes\"]\ndo = \"ask\"\n",
    );
    let file = home.path("keep.js");
    fs::write(&file, "const execute = async ({ text }) => { await kv.set('a', text); return kv.get('a') }").unwrap();
    home.stdout_of(&["create", file.to_str().unwrap(), "--description", "Keeps a text"]);
    home
}

#[test]
fn an_operation_that_a_rule_asks_about_happens_after_a_yes() {
    let home = keeping();
    for (keys, status, is_kept) in [("\r", 1, false), ("\u{1b}", 1, false), ("y\r", 0, true)] {
        let mut terminal = Terminal::start(&home, &["run", "keep", "text=a\u{1b}[2J\nb"]);
        let rows = terminal.wait_for_prompt(&["Let `keep` do this, once?"]);
        let first = "The run of `keep` has data from caller";
        assert!(rows.iter().any(|row| row.starts_with(first)), "{rows:#?}");
        assert!(rows.iter().any(|row| row == "  kv.commit a"), "{rows:#?}");
        assert!(rows.iter().any(|row| row.starts_with("  rule: flows[0] (user ")), "{rows:#?}");
        assert!(rows.iter().any(|row| row.contains(r"a\u001b[2J\nb")), "{rows:#?}");
        terminal.type_keys(keys);
        let (ended, out) = terminal.wait_for_exit();
        assert_eq!(ended, Some(status), "{out}");
        assert_eq!(out.contains("[2J"), is_kept, "{out}");
    }
}

#[test]
fn keys_that_were_typed_before_a_question_was_on_the_screen_answer_nothing() {
    let home = keeping();
    let file = home.path("twice.js");
    fs::write(
        &file,
        "const execute = async ({ text }) => { await kv.set('a', text); await kv.set('b', text); return 'done' }",
    )
    .unwrap();
    home.stdout_of(&["create", file.to_str().unwrap(), "--description", "Keeps a text twice"]);
    let mut terminal = Terminal::start(&home, &["run", "twice", "text=x"]);
    // Before the first question, and for both of them.
    terminal.type_keys("y\ry\r");
    terminal.wait_for_prompt_below("  kv.commit a", &["Let `twice` do this, once?"]);
    terminal.type_keys("y\ry\ry\r");
    terminal.wait_for_prompt_below("  kv.commit b", &["Let `twice` do this, once?"]);
    terminal.type_keys("\r");
    let (status, _) = terminal.wait_for_exit();
    assert_eq!(status, Some(1));
}

#[test]
fn without_a_terminal_it_is_refused_with_the_way_to_approve_it() {
    let home = keeping();
    let output = home.run(&["run", "keep", "text=x"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("needs a person's approval; have the user run the tool with `--plan`"), "{errors}");
}
