//! Eight processes at once on one store, which none of them has made yet.

use clerk::{Answer, Clerk, Keeping, Order, Sample, State, Verb};

use super::process::{clerk, tell};
use super::{scratch, scripts};

/// How many processes there are, and how many tools each of them creates.
const PROCESSES: usize = 8;
const EACH: usize = 200;

/// Tells all clerks at once.
fn crowd(folder: &std::path::Path, orders: &[Vec<Order>]) -> Vec<Vec<Answer>> {
    std::thread::scope(|scope| {
        let told = |orders| tell(clerk(folder, Keeping::Unsynced), orders);
        let clerks: Vec<_> = orders.iter().map(|orders| scope.spawn(move || told(orders))).collect();
        clerks.into_iter().map(|clerk| clerk.join().unwrap()).collect()
    })
}

#[test]
fn eight_processes_create_two_hundred_tools_each_and_a_name_is_won_once() {
    let folder = scratch();
    let orders: Vec<Vec<Order>> = (0..PROCESSES)
        .map(|process| {
            // Every other name is one that all of them want.
            let name =
                |n: usize| if n.is_multiple_of(2) { format!("shared-{n}") } else { format!("own-{process}-{n}") };
            scripts::puts((0..EACH).map(name))
        })
        .collect();
    let answers = crowd(folder.path(), &orders);

    let mut wins = std::collections::BTreeMap::<String, usize>::new();
    for (orders, answers) in orders.iter().zip(&answers) {
        assert_eq!(answers.len(), EACH);
        for (order, answer) in orders.iter().zip(answers) {
            let won = *answer == Answer::Done;
            assert!(won || answer.code() == Some("name-taken"), "{order:?}: {answer:?}");
            *wins.entry(order.verb.names().remove(0)).or_default() += usize::from(won);
        }
    }
    assert!(wins.values().all(|wins| *wins == 1), "{wins:?}");
    let names: Vec<String> = wins.into_keys().collect();
    let state = State::of(Clerk::new(folder.path(), Keeping::Unsynced).store().unwrap(), &names).unwrap();
    assert_eq!(names.len(), EACH / 2 + PROCESSES * EACH / 2);
    assert_eq!((state.listed.len(), state.tools.len(), state.names.len()), (names.len(), names.len(), names.len()));
    for tool in state.tools.values() {
        assert_eq!(tool.source, Sample::new(&tool.name, 1).spec().source());
    }
}

#[test]
fn eight_processes_count_every_run_of_a_tool_and_take_every_step_of_its_name() {
    let folder = scratch();
    let first = scripts::puts(["sum".to_owned()]);
    assert_eq!(tell(clerk(folder.path(), Keeping::Unsynced), &first), [Answer::Done]);
    let orders: Vec<Vec<Order>> = (0..PROCESSES)
        .map(|process| {
            scripts::orders((0..EACH / 4).flat_map(|n| {
                // All of them are about one and the same tool, so that its counts are all there are.
                let failure = (n % 5 == 0).then(|| format!("code-{process}"));
                let name = "sum".to_owned();
                let body = format!("record {n} of {process}");
                [
                    Verb::Use(name.clone(), failure),
                    Verb::Replace(Sample::new("sum", 1)),
                    Verb::Record(name, body),
                    Verb::Put(Sample::new(format!("tool-{process}-{n}"), 1)),
                ]
            }))
        })
        .collect();
    for answers in crowd(folder.path(), &orders) {
        assert_eq!(answers, vec![Answer::Done; EACH]);
    }

    let names = ["sum".to_owned()];
    let state = State::of(Clerk::new(folder.path(), Keeping::Unsynced).store().unwrap(), &names).unwrap();
    let runs = PROCESSES * EACH / 4;
    let sum = &state.tools[&Sample::new("sum", 1).spec().id().to_string()];
    assert_eq!((sum.runs, sum.successes), (runs as u64, runs as u64 * 4 / 5));
    assert_eq!(sum.failures.values().sum::<u64>(), runs as u64 / 5);
    assert_eq!(sum.failures.len(), PROCESSES);
    assert_eq!(sum.records.len(), runs);
    assert_eq!(state.names["sum"].len(), 1 + runs);
    assert_eq!(state.listed.len(), 1 + runs);
}
