//! Several toolboxes on one directory: one wins, the others get an error, and no reader sees
//! partial changes.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::json;
use toolcell::{CreateResult, CreateTool, DeleteTool, RunOptions, RunTool, Toolbox};

use super::{ToolboxFixture, request, returned_value};

fn create(toolbox: &Toolbox, name: &str, number: usize) -> Result<CreateResult, toolcell::CreateError> {
    let code = format!("const execute = () => {number}");
    toolbox.create(&request::<CreateTool>(&json!({ "name": name, "description": "d", "code": code })))
}

// Row 95 of the feature table.
#[test]
fn of_two_hosts_that_create_a_name_one_wins_and_the_other_is_told_by_whom() {
    let host = ToolboxFixture::new();
    for round in 0..8 {
        let name = format!("tool-{round}");
        let (start, others) = (Barrier::new(4), [host.second_toolbox(), host.second_toolbox()]);
        let done: Vec<_> = std::thread::scope(|scope| {
            // Two toolboxes with two threads each.
            let threads = (0..4).map(|number| {
                let (start, toolbox, name) = (&start, &others[number % 2], &name);
                scope.spawn(move || {
                    start.wait();
                    create(toolbox, name, number)
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let (won, lost): (Vec<_>, Vec<_>) = done.into_iter().partition(Result::is_ok);
        let won: Vec<CreateResult> = won.into_iter().map(Result::unwrap).collect();
        let [won] = &*won else { panic!("{} of them won", won.len()) };
        for error in lost.into_iter().map(Result::unwrap_err) {
            assert_eq!(error.code(), "name-taken");
            assert!(error.to_string().contains(&won.id.short()), "{error}");
        }
        assert_eq!(host.list(&json!({ "name": name })).tools[0].id, won.id);
    }
}

// Row 13 of the feature table.
#[test]
fn two_hosts_that_create_fifty_tools_each_leave_a_hundred() {
    let host = ToolboxFixture::new();
    let others = [host.second_toolbox(), host.second_toolbox()];
    std::thread::scope(|scope| {
        for (number, toolbox) in others.iter().enumerate() {
            scope.spawn(move || {
                for tool in 0..50 {
                    create(toolbox, &format!("tool-{number}-{tool}"), tool).unwrap();
                }
            });
        }
    });
    assert_eq!(host.list(&json!({})).total, 100);
    assert_eq!(returned_value(&host.run("tool-1-49", &json!({})).unwrap()), 49);
    let created = host.audit_lines().iter().filter(|line| line.action == "create_tool" && line.success).count();
    assert_eq!(created, 100);
    assert!(host.store().audit().verify(None).unwrap().is_clean());
}

// Row 95 of the feature table.
#[test]
fn a_tool_that_is_deleted_while_it_runs_ends_well_or_was_never_found() {
    let host = ToolboxFixture::new();
    let other = host.second_toolbox();
    let mut found = 0;
    for round in 0..10 {
        create(host.toolbox(), "tool", round).unwrap();
        let start = Barrier::new(2);
        let ran = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                start.wait();
                host.toolbox()
                    .run(&request::<RunTool>(&json!({ "tool_name": "tool", "parameters": {} })), &RunOptions::default())
            });
            start.wait();
            other.delete(&request::<DeleteTool>(&json!({ "tool_name": "tool", "confirm": true }))).unwrap();
            running.join().unwrap()
        });
        match ran {
            Ok(ran) => {
                found += 1;
                assert_eq!(returned_value(&ran), round);
            }
            Err(error) => assert_eq!(error.code(), "tool-not-found", "{error}"),
        }
    }
    let runs = host.audit_lines().iter().filter(|line| line.action == "run_dynamic_tool").count();
    assert_eq!(runs, 10, "{found} of them found the tool");
}

#[test]
fn a_new_version_is_what_the_other_host_runs_next() {
    let host = ToolboxFixture::new();
    let other = host.second_toolbox();
    create(host.toolbox(), "tool", 1).unwrap();
    let run = || {
        let request = request::<RunTool>(&json!({ "tool_name": "tool", "parameters": {} }));
        returned_value(&other.run(&request, &RunOptions::default()).unwrap())
    };
    assert_eq!(run(), 1);
    let fields = json!({ "name": "tool", "description": "d", "code": "const execute = () => 2", "replace": true });
    host.create(&fields).unwrap();
    assert_eq!(run(), 2);
}

#[test]
fn a_run_is_seen_by_the_other_host_a_moment_after_it_has_ended_though_nothing_else_happens() {
    let host = ToolboxFixture::new();
    let other = host.second_toolbox();
    create(host.toolbox(), "tool", 1).unwrap();
    let request = request::<RunTool>(&json!({ "tool_name": "tool", "parameters": {} }));
    for runs in 1..=3 {
        let ran = host.toolbox().run(&request, &RunOptions::default()).unwrap();
        assert_eq!(returned_value(&ran), 1);
        // On a busy machine this may be slow, but it completes without intervention.
        let began = Instant::now();
        while other.find("tool").unwrap().runs < runs {
            assert!(began.elapsed() < Duration::from_secs(30), "run {runs} is not seen");
            std::thread::yield_now();
        }
        assert!(other.store().unwrap().runs().record(ran.record.unwrap()).unwrap().is_some());
    }
}
