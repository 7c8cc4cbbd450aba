//! Concurrency: many threads, and many logs over one directory, as in several processes.

use std::collections::BTreeSet;

use super::*;

#[test]
fn threads_and_processes_make_one_chain() {
    let world = LogFixture::with(AuditConfig { file_limit: 20_000, ..CONFIG });
    let other = || open(world.folder.path(), AuditConfig { file_limit: 20_000, ..CONFIG });
    let others = [other(), other(), other()];
    let logs = [&world.audit, &world.audit, &world.audit, &world.audit, &others[0], &others[1], &others[2], &others[2]];
    let numbers: Vec<u64> = std::thread::scope(|scope| {
        let threads = logs.map(|audit| {
            scope.spawn(move || {
                let record = |number| audit.record(&attempt(number)).unwrap().seq();
                (0..200).map(record).collect::<Vec<_>>()
            })
        });
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    // Each caller got a sequence number of its own.
    assert_eq!(numbers.into_iter().collect::<BTreeSet<_>>(), (1..=1600).collect());
    let verdict = world.verify();
    assert_eq!((verdict.lines, verdict.is_clean()), (1600, true), "{:?}", verdict.problems);
    assert!(verdict.files > 20, "{}", verdict.files);
    let lines = world.audit.query(AuditFilter::default(), AuditOrder::OldestFirst).unwrap();
    assert!(lines.map(|line| line.unwrap().seq.unwrap()).eq(1..=1600));
}

#[test]
fn a_verification_beside_others_that_append_finds_nothing() {
    let world = LogFixture::with(AuditConfig { file_limit: 3000, ..CONFIG });
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| world.run(400));
        while !writer.is_finished() {
            assert_eq!(world.problem_texts(), [""; 0]);
            let newest = world.audit.query(AuditFilter::default(), AuditOrder::NewestFirst).unwrap();
            assert_eq!(newest.filter(Result::is_err).count(), 0);
        }
    });
    assert_eq!(world.verify().lines, 400);
}

#[test]
fn a_rotation_by_another_process_is_noticed() {
    let world = LogFixture::with_lines(2);
    let other = open(world.folder.path(), AuditConfig { file_limit: 1, ..CONFIG });
    assert_eq!(other.record(&attempt(2)).unwrap().seq(), 3);
    assert_eq!(world.run(1).unwrap().seq(), 4);
    assert_eq!((world.lines().len(), world.verify().files, world.problem_texts().len()), (2, 2, 0));
}

#[test]
fn files_that_somebody_put_back_are_gone_on_from() {
    let world = LogFixture::with_lines(2);
    for name in [CURRENT, HEAD] {
        let copy = world.path("copy");
        std::fs::copy(world.path(name), &copy).unwrap();
        std::fs::rename(copy, world.path(name)).unwrap();
    }
    world.reopen().record(&attempt(2)).unwrap();
    world.run(1);
    assert_eq!((world.numbers(), world.problem_texts()), (vec![1, 2, 3, 4], Vec::new()));
    for name in [CURRENT, HEAD] {
        std::fs::remove_file(world.path(name)).unwrap();
    }
    world.reopen().record(&attempt(0)).unwrap();
    world.run(1);
    assert_eq!((world.numbers(), world.problem_texts()), (vec![1, 2], Vec::new()));
}
