//! What one node changes, the others have: tools, values, and what a principal sees of them.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::node::{AUTO, Library, returns, wait_until};
use super::{Ending, note};
use crate::mcp::server::poll;

/// How late a change of another node may be seen.
const LATE: Duration = Duration::from_secs(1);
/// The same on a machine that does other things, too.
const TOO_LATE: Duration = Duration::from_secs(10);

/// Asserts that a change was seen, and says how late.
#[track_caller]
fn check_delay(what: &str, delay: Duration) {
    note(&format!("{what}: seen elsewhere after {delay:?}, the aim is {LATE:?}"));
    assert!(delay < TOO_LATE, "{what}: {delay:?}");
}

#[test]
fn a_tool_is_created_replaced_and_deleted_on_all_nodes() {
    let Some(library) = Library::start(AUTO) else { return };
    let clients = library.clients("alice");
    let [on_a, on_b, on_c] = &clients;
    // A node that does not know a name looks into the history first, so a new tool is there at once.
    for number in 0..10 {
        let name = format!("tool{number}");
        let at = usize::try_from(number).unwrap();
        assert_eq!(clients[at % 3].create(&name, &returns(number)), Ok(1));
        for other in [1, 2] {
            assert_eq!(clients[(at + other) % 3].run(&name, &json!({})), Ok(number.into()), "{name}");
        }
    }
    assert_eq!(on_b.create("tool0", &returns(1)).unwrap_err().code, "name-taken");
    for round in 1..=5 {
        let (writer, reader) = (&clients[round % 3], &clients[(round + 1) % 3]);
        let number = 100 + u64::try_from(round).unwrap();
        assert_eq!(writer.replace("tool0", &returns(number)), Ok(number - 99));
        check_delay(
            "a replaced tool",
            wait_until("the new version", || reader.run("tool0", &json!({})) == Ok(number.into())),
        );
    }
    on_c.delete("tool0").unwrap();
    for reader in [on_a, on_b] {
        let is_gone = || reader.run("tool0", &json!({})).is_err_and(|error| error.code == "tool-not-found");
        check_delay("a deleted tool", wait_until("the deletion", is_gone));
    }
    let lists = [on_a.list().unwrap(), on_b.list().unwrap(), on_c.list().unwrap()];
    assert_eq!(lists[0].len(), 9);
    assert!(lists.iter().all(|list| *list == lists[0]), "{lists:#?}");
    // The line of a change is in the log of the node that made it.
    let lines = library.nodes.iter().flat_map(|node| node.verified_audit_lines("alice"));
    let created = lines.filter(|line| line["action"] == "create_tool" && line["success"] == true);
    let names: Vec<String> = created.map(|line| line["toolName"].as_str().unwrap().to_owned()).collect();
    assert_eq!((names.len(), names.iter().filter(|name| *name == "tool0").count()), (15, 6), "{names:?}");
}

#[test]
fn of_all_nodes_that_create_a_name_at_once_one_does() {
    let Some(library) = Library::start(AUTO) else { return };
    let clients = library.clients("alice");
    for round in 0..10 {
        let (name, start) = (format!("contended{round}"), Barrier::new(6));
        let created: Vec<(usize, Result<u64, _>)> = thread::scope(|scope| {
            let creating: Vec<_> = (0..6)
                .map(|writer: usize| {
                    let (client, name, start) = (&clients[writer % 3], &name, &start);
                    scope.spawn(move || {
                        start.wait();
                        (writer, client.create(name, &format!("const execute = () => {writer}")))
                    })
                })
                .collect();
            creating.into_iter().map(|creating| creating.join().unwrap()).collect()
        });
        let winners: Vec<usize> =
            created.iter().filter(|(_, created)| *created == Ok(1)).map(|(writer, _)| *writer).collect();
        let [winner] = &winners[..] else { panic!("{created:?}") };
        let lost = created.iter().filter_map(|(_, created)| created.as_ref().err());
        assert!(lost.clone().all(|error| error.code == "name-taken"), "{created:?}");
        assert_eq!(lost.count(), 5);
        for client in &clients {
            let has_it = || client.run(&name, &json!({})) == Ok(json!(winner));
            wait_until("the tool of the winner", has_it);
        }
    }
}

#[test]
fn a_principal_sees_nothing_of_another_one() {
    let Some(library) = Library::start(AUTO) else { return };
    let (alice, bob) = (library.clients("alice"), library.clients("bob"));
    assert_eq!(alice[0].create("same", &returns(1)), Ok(1));
    assert_eq!(alice[0].create_counter(), Ok(1));
    assert_eq!(alice[0].run("count", &json!({})), Ok(1.into()));
    for client in &bob {
        assert_eq!(client.run("same", &json!({})).unwrap_err().code, "tool-not-found");
        assert_eq!(client.names().unwrap(), [] as [&str; 0]);
    }
    // A name is of each principal, and so are the values of a space.
    assert_eq!(bob[1].create("same", &returns(2)), Ok(1));
    assert_eq!(bob[1].create_counter(), Ok(1));
    assert_eq!(bob[2].run("count", &json!({})), Ok(1.into()));
    assert_eq!(bob[0].run("same", &json!({})), Ok(2.into()));
    assert_eq!(alice[2].run("same", &json!({})), Ok(1.into()));
    assert_eq!(alice[2].run("count", &json!({})), Ok(2.into()));
    let keys = library.postgres.query("SELECT DISTINCT key FROM toolcell.history ORDER BY key");
    assert_eq!(keys, "library/alice\nlibrary/bob\nobjects\nsecret");
}

#[test]
fn values_that_three_nodes_write_at_once_are_all_counted() {
    let Some(library) = Library::start(AUTO) else { return };
    let clients = library.clients("alice");
    assert_eq!(clients[0].create_counter(), Ok(1));
    let counted: Vec<Value> = thread::scope(|scope| {
        let counting: Vec<_> = clients
            .iter()
            .map(|client| scope.spawn(|| (0..20).map(|_| client.run("count", &json!({})).unwrap()).collect::<Vec<_>>()))
            .collect();
        counting.into_iter().flat_map(|counting| counting.join().unwrap()).collect()
    });
    let numbers: BTreeSet<u64> = counted.iter().map(|number| number.as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=60).collect(), "{counted:?}");
}

#[test]
fn a_new_node_has_what_was_there_before() {
    let Some(library) = Library::start(AUTO) else { return };
    let [on_a, on_b, _] = library.clients("alice");
    for number in 0..300 {
        assert_eq!(on_a.create(&format!("tool{number}"), &returns(number)), Ok(1));
    }
    on_b.delete("tool0").unwrap();
    // Larger than what is read at once: 64 values of 60 KB.
    let fills = "const execute = async () => { for (let i = 0; i < 64; i++) await kv.set('k' + i % 8, 'x'.repeat(60_000)); return 'full' }";
    assert_eq!(on_b.create_with("fill", fills, &json!({ "capabilities": ["kv"] })), Ok(1));
    assert_eq!(on_b.run("fill", &json!({})), Ok("full".into()));
    let reads = "const execute = async () => (await kv.get('k7')).length";
    assert_eq!(on_b.create_with("read", reads, &json!({ "capabilities": ["kv"] })), Ok(1));
    let fresh = library.node("fresh", &[]);
    let newcomer = fresh.client("alice");
    assert_eq!(newcomer.run("read", &json!({})), Ok(60_000.into()));
    assert_eq!(newcomer.run("tool299", &json!({})), Ok(299.into()));
    assert_eq!(newcomer.list().unwrap(), on_b.list().unwrap());
    // A directory that was deleted is made anew.
    let node = &library.nodes[0];
    node.kill();
    std::fs::remove_dir_all(node.folder.join("store")).unwrap();
    node.start();
    assert_eq!(on_a.list().unwrap(), newcomer.list().unwrap());
    assert_eq!(on_a.create("after", &returns(1)), Ok(1));
    assert_eq!(newcomer.run("after", &json!({})), Ok(1.into()));
}

#[test]
fn the_directory_of_a_node_can_be_read_without_its_library() {
    let Some(library) = Library::start(AUTO) else { return };
    let [on_a, on_b, _] = library.clients("alice");
    assert_eq!(on_a.create("one", &returns(1)), Ok(1));
    assert_eq!(on_b.run("one", &json!({})), Ok(1.into()));
    let node = &library.nodes[1];
    let listed = node.detached("alice", &["list", "--json"], "");
    assert_eq!((listed.status, &listed.json()["tools"][0]["name"]), (0, &json!("one")), "{}", listed.err);
    for words in [
        &["delete", "one", "--confirm"][..],
        &["create", "-", "--name", "two", "--description", "d"],
        &["create", "-", "--name", "one", "--description", "d", "--replace"],
        &["approvals", "refuse", "one"],
        &["gc", "--older-than", "0s"],
        &["deprecate", "one"],
    ] {
        let refused = node.detached("alice", words, "const execute = () => 2");
        let says = "this store is a copy of the shared library `library/alice`";
        assert!(refused.status == 3 && refused.err.contains(says), "{words:?}: {} {}", refused.status, refused.err);
        let refused = node.detached("alice", &[words, &["--json"]].concat(), "const execute = () => 2");
        assert_eq!(refused.json()["error"]["code"], "shared-copy", "{words:?}: {}", refused.out);
    }
    // The same commands work with the library.
    assert_eq!(node.connected("alice", &["delete", "one", "--confirm"]).status, 0);
    let is_gone = || on_a.run("one", &json!({})).is_err_and(|error| error.code == "tool-not-found");
    check_delay("a tool that a command deleted", wait_until("the deletion", is_gone));
    assert_eq!(node.connected("alice", &["undelete", "one"]).status, 0);
    assert_eq!(on_a.run("one", &json!({})), Ok(1.into()));
    assert!(node.verified_audit_lines("alice").len() > 2);
}

#[test]
fn the_rate_of_a_principal_holds_for_all_nodes_together() {
    const RATE: usize = 60;
    let Some(library) = Library::start_with(AUTO, &["--rate", &RATE.to_string()]) else { return };
    let minute = || library.postgres.query("SELECT floor(extract(epoch FROM clock_timestamp()) / 60)");
    let admitted_until_all_refuse = |principal: &str| {
        let clients = library.clients(principal);
        let mut admitted = 0;
        loop {
            let before = admitted;
            for client in &clients {
                match client.names() {
                    Ok(_) => admitted += 1,
                    Err(refused) => assert!(refused.text.contains("status 429"), "{refused:?}"),
                }
            }
            if admitted == before {
                return admitted;
            }
        }
    };
    // A minute may end meanwhile, but not each time.
    let counted = poll(|| {
        let began = minute();
        let admitted = admitted_until_all_refuse("alice");
        (began == minute()).then_some(admitted)
    });
    assert_eq!(counted, Some(RATE));
    // Another principal has a rate of its own.
    let [_, on_b, _] = library.clients("bob");
    assert!(on_b.names().is_ok());
    // Without the database, each node goes by the rate alone.
    library.postgres.kill();
    let admitted = (0..=RATE).filter(|_| on_b.names().is_ok()).count();
    assert!((RATE - 5..=RATE + 5).contains(&admitted), "{admitted}");
}

/// The greatest number of transactions a second that a node may make.
const TRANSACTIONS: f64 = 10.0;

#[test]
fn a_node_makes_few_transactions_also_while_it_runs_tools() {
    let Some(library) = Library::start(AUTO) else { return };
    let clients = library.clients("alice");
    assert_eq!(clients[0].create("one", &returns(1)), Ok(1));
    let transactions = || -> f64 {
        library.postgres.query("SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database").parse().unwrap()
    };
    let measure = |what: &str, work: &(dyn Fn(&AtomicBool) -> u64 + Sync)| {
        // A server counts what a connection did a second later.
        thread::sleep(Duration::from_millis(1_500));
        let (before, began, is_over) = (transactions(), Instant::now(), AtomicBool::new(false));
        let runs = thread::scope(|scope| {
            let working = scope.spawn(|| work(&is_over));
            thread::sleep(Duration::from_secs(4));
            is_over.store(true, Ordering::Relaxed);
            working.join().unwrap()
        });
        thread::sleep(Duration::from_millis(1_500));
        let seconds = began.elapsed().as_secs_f64();
        let rate = (transactions() - before) / seconds / 3.0;
        note(&format!("{what}: {rate:.1} transactions a second of each node, {runs} runs in 4 s"));
        assert!(rate <= TRANSACTIONS, "{what}: {rate}");
        runs
    };
    assert_eq!(measure("idle", &|_| 0), 0);
    let runs = measure("runs", &|is_over| {
        let mut runs = 0;
        while !is_over.load(Ordering::Relaxed) {
            for client in &clients {
                assert_eq!(client.run("one", &json!({})), Ok(json!(1)));
                runs += 1;
            }
        }
        runs
    });
    assert!(runs > 100, "{runs} runs are no load");
}

#[test]
fn a_principal_that_floods_all_nodes_leaves_another_one_its_calls() {
    let Some(library) = Library::start(AUTO) else { return };
    let (flooding, quiet) = (library.clients("alice"), library.clients("bob"));
    assert_eq!((flooding[0].create("one", &returns(1)), quiet[0].create("one", &returns(2))), (Ok(1), Ok(1)));
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let use_nodes = |round: u64| {
        let client = &quiet[usize::try_from(round % 3).unwrap()];
        let began = Instant::now();
        assert_eq!(client.run("one", &json!({})), Ok(json!(2)));
        let time = began.elapsed();
        if round.is_multiple_of(5) {
            let created = client.create(&format!("own{round}"), &returns(round));
            assert!(created.is_ok(), "{created:?}");
        }
        time
    };
    let before = median((0..30).map(use_nodes).collect());
    let is_over = AtomicBool::new(false);
    let (during, made) = thread::scope(|scope| {
        let _ending = Ending(&is_over);
        let floods: Vec<_> = (0..12)
            .map(|worker| {
                let (client, is_over) = (&flooding[worker % 3], &is_over);
                scope.spawn(move || {
                    let mut made = 0;
                    for round in 0_u64.. {
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                        made += u64::from(client.create(&format!("w{worker}r{round}"), &returns(round)).is_ok());
                        // It may be refused: it has its part.
                        let _ = client.run("one", &json!({}));
                    }
                    made
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(500));
        let during = median((30..90).map(use_nodes).collect());
        is_over.store(true, Ordering::Relaxed);
        (during, floods.into_iter().map(|flood| flood.join().unwrap()).sum::<u64>())
    });
    note(&format!("a run of another principal took {before:?}, and {during:?} beside a flood of {made} creates"));
    assert!(made > 20, "{made} creates are no flood");
}
