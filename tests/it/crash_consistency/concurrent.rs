//! Eight concurrent processes on one store, which none of them has created yet.

use store_worker::{SampleTool, StoreAction, StoreOrder, StoreReply, StoreState, StoreWorker, SyncMode};

use super::process::{run_orders, worker_command};
use super::{scratch, scripts};

/// Number of processes, and number of tools that each creates.
const PROCESSES: usize = 8;
const EACH: usize = 200;

/// Starts a worker per list of orders, and returns their replies.
fn run_processes(folder: &std::path::Path, orders: &[Vec<StoreOrder>]) -> Vec<Vec<StoreReply>> {
    std::thread::scope(|scope| {
        let replies_to = |orders| run_orders(worker_command(folder, SyncMode::Unsynced), orders);
        let clerks: Vec<_> = orders.iter().map(|orders| scope.spawn(move || replies_to(orders))).collect();
        clerks.into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn eight_processes_create_two_hundred_tools_each_and_a_name_is_won_once() {
    let folder = scratch();
    let orders: Vec<Vec<StoreOrder>> = (0..PROCESSES)
        .map(|process| {
            // Every other name is contended by all processes.
            let name =
                |n: usize| if n.is_multiple_of(2) { format!("shared-{n}") } else { format!("own-{process}-{n}") };
            scripts::puts((0..EACH).map(name))
        })
        .collect();
    let answers = run_processes(folder.path(), &orders);

    let mut wins = std::collections::BTreeMap::<String, usize>::new();
    for (orders, answers) in orders.iter().zip(&answers) {
        assert_eq!(answers.len(), EACH);
        for (order, answer) in orders.iter().zip(answers) {
            let won = *answer == StoreReply::Done;
            assert!(won || answer.code() == Some("name-taken"), "{order:?}: {answer:?}");
            *wins.entry(order.verb.names().remove(0)).or_default() += usize::from(won);
        }
    }
    assert!(wins.values().all(|wins| *wins == 1), "{wins:?}");
    let names: Vec<String> = wins.into_keys().collect();
    let state = StoreState::read(StoreWorker::new(folder.path(), SyncMode::Unsynced).store().unwrap(), &names).unwrap();
    assert_eq!(names.len(), EACH / 2 + PROCESSES * EACH / 2);
    assert_eq!((state.listed.len(), state.tools.len(), state.names.len()), (names.len(), names.len(), names.len()));
    for tool in state.tools.values() {
        assert_eq!(tool.source, SampleTool::new(&tool.name, 1).spec().source());
    }
}

#[test]
fn eight_processes_count_every_run_of_a_tool_and_take_every_step_of_its_name() {
    let folder = scratch();
    let first = scripts::puts(["sum".to_owned()]);
    assert_eq!(run_orders(worker_command(folder.path(), SyncMode::Unsynced), &first), [StoreReply::Done]);
    let orders: Vec<Vec<StoreOrder>> = (0..PROCESSES)
        .map(|process| {
            scripts::orders((0..EACH / 4).flat_map(|n| {
                // All orders are about the same tool, so its counts are the totals.
                let failure = (n % 5 == 0).then(|| format!("code-{process}"));
                let name = "sum".to_owned();
                let body = format!("record {n} of {process}");
                [
                    StoreAction::Use(name.clone(), failure),
                    StoreAction::Replace(SampleTool::new("sum", 1)),
                    StoreAction::Record(name, body),
                    StoreAction::Put(SampleTool::new(format!("tool-{process}-{n}"), 1)),
                ]
            }))
        })
        .collect();
    for answers in run_processes(folder.path(), &orders) {
        assert_eq!(answers, vec![StoreReply::Done; EACH]);
    }

    let names = ["sum".to_owned()];
    let state = StoreState::read(StoreWorker::new(folder.path(), SyncMode::Unsynced).store().unwrap(), &names).unwrap();
    let runs = PROCESSES * EACH / 4;
    let sum = &state.tools[&SampleTool::new("sum", 1).spec().id().to_string()];
    assert_eq!((sum.runs, sum.successes), (runs as u64, runs as u64 * 4 / 5));
    assert_eq!(sum.failures.values().sum::<u64>(), runs as u64 / 5);
    assert_eq!(sum.failures.len(), PROCESSES);
    assert_eq!(sum.records.len(), runs);
    assert_eq!(state.names["sum"].len(), 1 + runs);
    assert_eq!(state.listed.len(), 1 + runs);
}
