//! Shell integration: completions and manual pages.

use std::fs;

use crate::cli::policy::PolicyFixture;
use crate::fixtures::cli::toolcell;
#[cfg(target_os = "linux")]
use crate::mcp::server::BinaryFixture;

#[test]
fn shells_complete_commands_options_and_the_names_of_tools() {
    let place = PolicyFixture::new("", "");
    place.waiting("json-to-csv");
    place.waiting("average");
    let store = place.text("store");
    for shell in ["bash", "zsh", "fish"] {
        let done = toolcell(&["completions", shell]);
        assert!(done.status == 0 && done.out.contains("TOOLCELL_COMPLETE"), "{}", done.out);
    }
    assert_eq!(toolcell(&["completions", "csh"]).status, 2);
    let complete = |words: &[&str]| toolcell_cli::complete(&[&["toolcell", "--dir", &store], words].concat());
    assert_eq!(complete(&["appr"]), ["approvals"]);
    assert_eq!(complete(&["approvals", "grant", ""])[..2], ["average", "json-to-csv"]);
    assert_eq!(complete(&["approvals", "grant", "j"]), ["json-to-csv"]);
    assert_eq!(complete(&["export", "av"]), ["average"]);
    assert!(complete(&["config", "show", "--or"]).contains(&"--origin".to_owned()));
    let none = place.text("none");
    assert!(!toolcell_cli::complete(&["toolcell", "--dir", &none, "export", ""]).contains(&"average".to_owned()));
    assert!(!place.path("none").exists());
}

#[test]
fn man_prints_the_main_page_or_writes_all() {
    let done = toolcell(&["man"]);
    assert!(done.status == 0 && done.out.contains(".TH toolcell 1"), "{}", done.out);
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    assert_eq!(toolcell(&["man", pages.to_str().unwrap()]).status, 0);
    for page in ["toolcell.1", "toolcell-approvals-grant.1", "toolcell-exec.1"] {
        let text = fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn output_on_a_full_disk_is_an_error_that_says_what_has_happened() {
    let home = BinaryFixture::new("");
    fs::write(home.path("one.js"), "const execute = () => 'x'.repeat(10)\n").unwrap();
    let source = home.path("one.js");
    let source = source.to_str().unwrap();
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for words in [&["create", source, "--description", "d"][..], &["run", "one"], &["--json", "run", "one"], &["list"]]
    {
        let output = home.run_with_stdout(words, full());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(5), "{words:?}: {errors}");
        assert!(errors.contains("standard output cannot be written: no space left on device"), "{words:?}: {errors}");
        assert!(errors.contains("the command was executed"), "{words:?}: {errors}");
    }
    assert!(home.stdout_of(&["list"]).contains("one"));
}
