//! Prompts on a terminal: the facts of a decision stay visible, and a tool cannot forge rows.

use serde_json::{Value, json};

use crate::mcp::server::BinaryFixture;
use crate::terminal::Terminal;

/// The row that a tool tries to forge.
const FORGED: &str = "  is granted: nothing";
const POLICY: &str = "[grants.default]\ntimers = true\n";

/// A home directory with a tool that waits for an approval.
fn home(source: &str) -> BinaryFixture {
    let home = BinaryFixture::new(POLICY);
    std::fs::write(home.path("forger.js"), source).unwrap();
    let file = home.path("forger.js");
    home.stdout_of(&["create", file.to_str().unwrap(), "--name", "forger", "--description", "Waits"]);
    home
}

/// Returns a source that would forge rows if the terminal wrapped its lines.
fn forging() -> String {
    let mut source = String::from("const execute = ({ ms }) => { setTimeout(() => {}, ms) }\n");
    for pad in [" ", "x", "\u{2800}", "実", "\u{a0}x", "\u{3000}", "e\u{301}", "→", "\t"] {
        for count in [34, 68, 69, 70, 71, 72, 73] {
            source.extend(["// ", &pad.repeat(count), FORGED, "\n"]);
        }
    }
    source
}

/// Reads the rows of each page up to the last prompt, and confirms every page but the last.
fn pages(terminal: &mut Terminal, last: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    loop {
        let next = format!("Page {} of ", pages.len() + 1);
        let rows = terminal.wait_for_prompt(&[&next, last]);
        let is_last = rows.iter().any(|row| row.starts_with(&format!("? {last}")));
        // Rows that remain of a longer previous page end with the answer of its prompt.
        let start = rows.iter().rposition(|row| row.ends_with("Continue? Yes")).map_or(0, |at| at + 1);
        pages.push(rows[start..].to_vec());
        if is_last {
            return pages;
        }
        terminal.type_keys("\r");
    }
}

/// Returns the rows that look like a grant.
fn granted(rows: &[String]) -> Vec<&str> {
    rows.iter().map(String::as_str).filter(|row| row.trim_start().starts_with("is granted")).collect()
}

#[test]
fn the_facts_stay_on_the_screen_and_no_source_forges_a_row() {
    let home = home(&forging());
    let id = waiting(&home)["tool"].as_str().unwrap().to_owned();
    let mut terminal = Terminal::start(&home, &["approvals", "grant", "forger"]);
    let pages = pages(&mut terminal, "Allow `forger` to run with these grants from now on?");
    assert!(pages.len() > 2, "{pages:#?}");
    // On the first and on the last page, above the prompt.
    for page in [&pages[0], &pages[pages.len() - 1]] {
        assert!(page.contains(&format!("  id: {id}")) && page.contains(&"  asks for: timers".to_owned()), "{page:#?}");
        assert_eq!(granted(page), ["  is granted: timers"], "{page:#?}");
    }
    for page in &pages {
        assert!(granted(page).iter().all(|row| *row == "  is granted: timers"), "{page:#?}");
    }
    // Every shown line of the source was on some page.
    let all = pages.concat();
    assert!((1..=40).all(|line| all.iter().any(|row| row.starts_with(&format!("{line:>3} | ")))), "{all:#?}");
    assert_eq!(terminal.wrapped(), 0);
    terminal.type_keys("y\r");
    let (status, out) = terminal.wait_for_exit();
    assert_eq!(status, Some(0), "{out}");
    assert!(out.starts_with("approved forger"), "{out}");
}

#[test]
fn all_arguments_of_a_call_are_shown_whole_before_it_is_asked_about() {
    let home = home("const execute = ({ ms }) => { setTimeout(() => {}, ms) }");
    let mut args = serde_json::Map::new();
    for at in 0..30 {
        args.insert(format!("key_{at}"), json!(at));
    }
    for count in [70, 71, 72, 73, 74, 75, 76, 500] {
        args.insert(format!("{}{FORGED}", "k".repeat(count)), json!(1));
        args.insert(format!("{}x{FORGED}", "\u{2800}".repeat(count)), json!(format!("{}{FORGED}", "v".repeat(count))));
    }
    let long = "L".repeat(5_000);
    args.insert(long.clone(), json!(2));
    let mut terminal = Terminal::start(&home, &["run", "forger", &Value::Object(args).to_string()]);
    let pages = pages(&mut terminal, "Allow `forger` to run with these grants from now on?");
    let all = pages.concat();
    for page in &pages {
        assert!(granted(page).iter().all(|row| *row == "  is granted: timers"), "{page:#?}");
    }
    assert!((0..30).all(|at| all.contains(&format!("    key_{at}: {at}"))), "{all:#?}");
    let keys: usize = all
        .iter()
        .filter(|row| row.trim_start_matches(['↪', ' ']).starts_with('L'))
        .map(|row| row.matches('L').count())
        .sum();
    assert_eq!(keys, long.len());
    assert!(granted(&pages[0]).len() == 1 && granted(&pages[pages.len() - 1]).len() == 1, "{pages:#?}");
    assert_eq!(terminal.wrapped(), 0);
    terminal.type_keys("n\r");
    assert_eq!(terminal.wait_for_exit().0, Some(3));
}

#[test]
fn a_no_on_any_page_refuses_and_ctrl_c_interrupts() {
    let home = home(&forging());
    for (keys, status) in [("n\r", 3), ("\u{1b}", 3), ("\u{3}", 130)] {
        let mut terminal = Terminal::start(&home, &["approvals", "grant", "forger"]);
        terminal.wait_for_prompt(&["Page 1 of "]);
        terminal.type_keys(keys);
        let (ended, out) = terminal.wait_for_exit();
        assert_eq!((ended, &*out), (Some(status), ""), "{keys:?}");
        assert_eq!(waiting(&home)["name"], "forger");
    }
    // Declining works on the second page too.
    let mut terminal = Terminal::start(&home, &["approvals", "grant", "forger"]);
    terminal.wait_for_prompt(&["Page 1 of "]);
    terminal.type_keys("\r");
    terminal.wait_for_prompt(&["Page 2 of "]);
    terminal.type_keys("n\r");
    assert_eq!(terminal.wait_for_exit().0, Some(3));
    assert_eq!(waiting(&home)["name"], "forger");
}

#[test]
fn a_question_that_fits_is_asked_at_once_and_enter_is_no() {
    let home = home("const execute = ({ ms }) => { setTimeout(() => {}, ms) }");
    let mut terminal = Terminal::start(&home, &["approvals", "grant", "forger"]);
    let page = terminal.wait_for_prompt(&["Allow `forger` to run with these grants from now on?"]);
    assert_eq!(granted(&page), ["  is granted: timers"]);
    terminal.type_keys("\r");
    assert_eq!(terminal.wait_for_exit().0, Some(3));
}

/// A policy that grants any host to tools with the tag `free`.
const TAGGED: &str = "[grants.default]\ntimers = true\n[[grants.tags.free.net]]\nhost = 'any'\n";
/// The prompt for the tool of [`make_asking`].
const MAY_ASKING_RUN: &str = "Allow `asking` to run with these grants from now on?";

/// Creates a tool that requests `net`, which it is not granted, and `timers`. Tags do not change its identity, but may change its grants.
fn make_asking(home: &BinaryFixture, more: &[&str]) {
    let file = home.path("asking.js");
    std::fs::write(&file, "const execute = () => 1").unwrap();
    let words = ["create", file.to_str().unwrap(), "--description", "Asks", "--capabilities", "net,timers"];
    home.stdout_of(&[&words[..], more].concat());
}

#[test]
fn grants_that_change_at_the_prompt_are_not_approved() {
    let home = BinaryFixture::new(TAGGED);
    make_asking(&home, &[]);
    let mut terminal = Terminal::start(&home, &["approvals", "grant", "asking"]);
    let page = terminal.wait_for_prompt(&[MAY_ASKING_RUN]);
    assert_eq!(granted(&page), ["  is granted: timers"]);
    // While the prompt is open, the same code is created again with a tag that is granted any host.
    make_asking(&home, &["--tags", "free", "--replace"]);
    terminal.type_keys("y\r");
    let (status, out) = terminal.wait_for_exit();
    assert_eq!((status, &*out), (Some(4), ""));
    let listed = listed(&home);
    assert_eq!((&listed["pending"][0]["name"], &listed["decided"]), (&json!("asking"), &json!([])));
}

#[test]
fn a_run_that_is_approved_at_the_prompt_is_approved_with_the_grants_that_were_shown() {
    let home = BinaryFixture::new(TAGGED);
    make_asking(&home, &[]);
    let mut terminal = Terminal::start(&home, &["run", "asking"]);
    let page = terminal.wait_for_prompt(&["Allow `asking` to run?"]);
    assert_eq!(granted(&page), ["  is granted: timers"]);
    make_asking(&home, &["--tags", "free", "--replace"]);
    // Without what it lacks.
    terminal.type_keys("\u{1b}[B\u{1b}[B\u{1b}[B\r");
    let (status, out) = terminal.wait_for_exit();
    assert_eq!((status, out.trim()), (Some(0), "1"));
    let listed = listed(&home);
    assert_eq!(listed["decided"].as_array().unwrap().len(), 1);
    assert_eq!(listed["decided"][0]["grants"], json!({ "timers": true }));
    // With its current grants the tool waits for an approval again.
    assert_eq!(home.run(&["run", "asking"]).status.code(), Some(3));
}

#[test]
fn what_is_held_is_shown_whole_and_chosen_by_its_number() {
    let home =
        BinaryFixture::new("[approval]\nmode = 'auto'\n[grants.default]\n[grants.default.kv]\nspace = 'notes'\n");
    let source = "const execute = async ({ keys }) => (await Promise.allSettled(keys.map(key => kv.set(key, 1))))\
        .map(({ reason }) => reason?.code ?? 'done')";
    std::fs::write(home.path("put.js"), source).unwrap();
    let file = home.path("put.js");
    home.stdout_of(&["create", file.to_str().unwrap(), "--name", "put", "--description", "Puts"]);
    let keys: Vec<String> = (0..3).map(|at| format!("{}{at}. put: kv.commit harmless", "x".repeat(60 + at))).collect();
    let args = json!({ "keys": keys }).to_string();
    let mut terminal = Terminal::start(&home, &["run", "put", &args, "--plan"]);
    let page = terminal.wait_for_prompt(&["Apply which effects?"]);
    for number in 1..=3 {
        let rows: Vec<&String> = page.iter().filter(|row| row.starts_with(&format!("{number}. put: kv."))).collect();
        assert_eq!(rows.len(), 1, "{page:#?}");
    }
    assert!(page.iter().filter(|row| row.ends_with('…')).count() == 3, "{page:#?}");
    assert_eq!(terminal.wrapped(), 0);
    terminal.type_keys("\u{1b}[B \r");
    let (status, out) = terminal.wait_for_exit();
    assert_eq!(status, Some(0), "{out}");
    assert_eq!(
        serde_json::from_str::<Value>(&out).unwrap(),
        json!(["effect-not-approved", "done", "effect-not-approved"])
    );
}

/// Returns the pending and the decided approvals.
fn listed(home: &BinaryFixture) -> Value {
    serde_json::from_str(&home.stdout_of(&["approvals", "list", "--json"])).unwrap()
}

/// Returns the pending approval.
fn waiting(home: &BinaryFixture) -> Value {
    listed(home)["pending"][0].clone()
}
