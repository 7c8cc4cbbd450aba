use std::time::Instant;

use super::*;

fn check(script: &str, expect: &str) {
    assert_eq!(decision_text(&hooks(command(HookPhase::Before, script)).admit(event(), None)), expect, "{script}");
}

#[test]
fn a_command_reads_the_form_of_the_documents() {
    let script = r#"input=$(cat); [ "$input" = '{"hookEventName":"preToolUse","toolName":"send-mail","toolArgs":{"n":1},"timestamp":0,"cwd":"/srv/agent"}' ] && echo '{"permissionDecision":"allow"}' || { echo "$input" >&2; exit 1; }"#;
    check(script, "allow");
}

#[test]
fn a_command_that_does_not_end_well_denies() {
    check("exit 3", "deny: the hook `x` exited with status 3");
    check(r#"echo '{"permissionDecision":"allow"}'; exit 2"#, "deny: the hook `x` exited with status 2");
    check("kill -9 $$", "deny: the hook `x` was killed by signal 9");
    check(
        "echo >&2; echo ' no licence ' >&2; echo more >&2; exit 1",
        "deny: the hook `x` exited with status 1: no licence",
    );
    check(r"printf 'a\033[2Jb\377\n' >&2; exit 1", "deny: the hook `x` exited with status 1: a\\u{1b}[2Jb\u{fffd}");
    let long = format!("deny: the hook `x` exited with status 1: {}…", "e".repeat(200));
    check("printf 'e%.0s' $(seq 300) >&2; exit 1", &long);
}

#[test]
fn a_command_that_cannot_be_started_denies() {
    let check = |first: &str, expect: &str| {
        let command = CommandHook { command: vec![first.to_owned()], ..command(HookPhase::Before, "") };
        assert_eq!(decision_text(&hooks(command).admit(event(), None)), expect);
    };
    check("./no/such", "deny: the hook `x` cannot be started: `/./no/such`: No such file or directory (os error 2)");
    check("/", "deny: the hook `x` cannot be started: `/`: Permission denied (os error 13)");
    let none = "deny: the hook `x` cannot be started: `no-such-program-at-all`: No such file or directory (os error 2)";
    check("no-such-program-at-all", none);
}

#[test]
fn a_relative_program_is_looked_for_in_the_folder_and_runs_where_the_host_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("check");
    let here = std::env::current_dir().unwrap();
    let text =
        format!("#!/bin/sh\n[ \"$(pwd)\" = '{}' ] && echo '{{\"permissionDecision\":\"allow\"}}'\n", here.display());
    // A file written by this process could still be open for writing in a child of another test.
    let made =
        std::process::Command::new("sh").args(["-c", r#"printf %s "$1" > "$2""#, "sh", &text]).arg(&script).status();
    assert!(made.unwrap().success());
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let folder = folder.path().to_owned();
    let command = CommandHook { command: vec!["./check".to_owned()], folder, ..command(HookPhase::Before, "") };
    assert_eq!(decision_text(&hooks(command).admit(event(), None)), "allow");
}

#[test]
fn a_command_sees_no_more_of_the_environment_than_it_needs() {
    let known = ["PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"];
    let others = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let others: Vec<String> =
        others.filter(|name| !known.contains(&name.as_str()) && !name.starts_with("LC_")).collect();
    // The variables of cargo, which starts the tests, are always set.
    let named = others.iter().find(|name| name.starts_with("CARGO")).unwrap().clone();
    let script = "env | cut -d= -f1 | tr '\\n' ' ' | sed 's/.*/{\"additionalContext\":\"&\"}/'";
    for env in [Vec::new(), vec![named.clone()]] {
        let admission =
            hooks(CommandHook { env: env.clone(), ..command(HookPhase::Before, script) }).admit(event(), None);
        let seen: Vec<&str> = admission.context[0].text.split_whitespace().collect();
        assert!(seen.contains(&"PATH"), "{seen:?}");
        let leaked: Vec<&String> = others.iter().filter(|name| seen.contains(&name.as_str())).collect();
        assert_eq!(leaked, env.iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_command_that_is_none_is_refused() {
    let check = |command: CommandHook, expect: &str| {
        let error = Hooks::default().add_command(command).unwrap_err();
        assert_eq!((error.code().as_str(), error.to_string().as_str()), ("gate-invalid", expect));
    };
    check(
        CommandHook { command: Vec::new(), ..command(HookPhase::Before, "") },
        "the command of the hook `x` is empty",
    );
    check(
        CommandHook { command: vec![String::new()], ..command(HookPhase::Before, "") },
        "the command of the hook `x` is empty",
    );
    check(
        CommandHook { timeout: Duration::ZERO, ..command(HookPhase::After, "") },
        "the hook `x` has a timeout of 0 ms",
    );
    for name in ["TOOLCELL_SECRET_TOKEN", "TOOLCELL_MCP_TOKEN"] {
        check(
            CommandHook { env: vec![name.to_owned()], ..command(HookPhase::After, "") },
            &format!(
                "the hook `x` cannot have the environment variable `{name}`: it holds a tool secret or a token, \
                 which hooks never receive; use a separate variable for the hook"
            ),
        );
    }
    check(
        CommandHook { tools: vec!["a*b".to_owned()], ..command(HookPhase::After, "") },
        "`a*b` is not a tool name pattern: use a name, or a prefix followed by `*`",
    );
}

#[test]
fn megabytes_on_standard_error_neither_block_nor_count() {
    check("head -c 3000000 /dev/zero >&2; echo '{\"permissionDecision\":\"allow\"}'", "allow");
}

#[test]
fn too_much_on_standard_output_denies_at_once() {
    check("yes", "deny: the hook `x` printed more than 1048576 bytes");
    check("head -c 1048577 /dev/zero", "deny: the hook `x` printed more than 1048576 bytes");
}

#[test]
fn an_answer_as_long_as_the_limit_is_read() {
    check(r"head -c 1048574 /dev/zero | tr '\0' ' '; printf '{}'", "no-objection");
}

#[test]
fn four_kibibytes_of_standard_error_are_kept() {
    // The first non-empty line is reported, as far as it was kept.
    let script = |empty: usize| format!(r"head -c {empty} /dev/zero | tr '\0' '\n' >&2; echo why >&2; exit 1");
    check(&script(4093), "deny: the hook `x` exited with status 1: why");
    check(&script(4094), "deny: the hook `x` exited with status 1: wh");
    check(&script(4096), "deny: the hook `x` exited with status 1");
}

#[test]
fn a_command_need_not_read() {
    let args = json!({"text": "x".repeat(1 << 20)});
    let hooks = hooks(command(HookPhase::Before, "exec <&-; echo '{\"permissionDecision\":\"allow\"}'"));
    assert_eq!(decision_text(&hooks.admit(event_with_args(args), None)), "allow");
}

#[test]
fn sixty_four_megabytes_go_in_while_an_answer_comes_out() {
    let args = json!({"text": "x".repeat(64 << 20)});
    let script = r#"head -c 500000 /dev/zero | tr '\0' ' '; cat | wc -c | sed 's/.*/{"additionalContext":"&"}/'"#;
    let admission = hooks(command(HookPhase::Before, script)).admit(event_with_args(args), None);
    assert_eq!(decision_text(&admission), "no-objection");
    let read: usize = admission.context[0].text.trim().parse().unwrap();
    assert!(read > 64 << 20, "{read}");
}

/// Checks that a script times out after 100 ms.
fn check_timeout(script: &str) {
    let command = CommandHook { timeout: Duration::from_millis(100), ..command(HookPhase::Before, script) };
    let began = Instant::now();
    let told = decision_text(&hooks(command).admit(event(), None));
    assert!(told.starts_with("deny: the hook `x` did not answer within 100 ms"), "{told}");
    assert!(began.elapsed() < LONG / 6);
}

#[test]
fn a_command_that_hangs_is_killed_when_its_time_is_over() {
    check_timeout("sleep 61");
    check_timeout("trap '' TERM INT HUP; while :; do sleep 61; done");
    check_timeout("exec >&-; sleep 61");
    check_timeout("echo '{}'; sleep 61");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the scripts write down who they are")]
fn nothing_of_its_group_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let hanging = format!("sleep 62 & echo $! > {0}; echo $$ >> {0}; wait", note.display());
    check_timeout(&hanging);
    let pids = std::fs::read_to_string(&note).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        wait_until_gone(pid);
    }
    // A command that leaves a process behind with its output open is answered for at once.
    let leaving = format!("sleep 63 & echo $! > {}; echo '{{\"permissionDecision\":\"allow\"}}'", note.display());
    check(&leaving, "allow");
    wait_until_gone(std::fs::read_to_string(&note).unwrap().trim());
}

/// Waits until a process is gone, or is a zombie that its new parent has not reaped yet.
#[expect(clippy::disallowed_methods, reason = "who is there stands in files")]
fn wait_until_gone(pid: &str) {
    let is_there = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    let began = Instant::now();
    while is_there() {
        assert!(began.elapsed() < LONG / 6, "{pid} is still there");
        std::thread::yield_now();
    }
}

#[test]
fn somebody_who_left_the_group_and_holds_the_output_does_not_hold_the_caller() {
    check_timeout("exec 3>&1; left=$(setsid sh -c 'sleep 2 >&3 &'); echo '{}'");
}

#[test]
fn somebody_who_left_the_group_and_holds_standard_error_does_not_matter() {
    check("left=$(setsid sh -c 'sleep 2 >/dev/null &'); echo '{}'", "no-objection");
}

#[test]
fn no_child_is_left_unreaped() {
    let hooks = hooks(command(HookPhase::Before, "echo $$ >&2; exit 1"));
    for _ in 0..20 {
        let told = decision_text(&hooks.admit(event(), None));
        let pid = told.rsplit(' ').next().unwrap();
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{told}");
    }
}
