//! Looking lines up.

use super::super::Line;
use super::*;
use toolcell_tool::IdPrefix;

fn found(world: &World, filter: &Filter, order: Order) -> Vec<u64> {
    let lines = world.audit.query(filter.clone(), order).unwrap();
    lines.map(|line| line.unwrap().seq.unwrap()).collect()
}

/// Newest first, and the same the other way round.
fn check(filter: &Filter, expect: &[u64]) {
    let world = World::with(AuditConfig { file_limit: 1000, ..CONFIG });
    world.run(10);
    world.audit.record(&Attempt::new(Action::Gc, at(10))).unwrap();
    assert_eq!(found(&world, filter, Order::NewestFirst), expect);
    let mut oldest = found(&world, &Filter { limit: None, ..filter.clone() }, Order::OldestFirst);
    oldest.reverse();
    oldest.truncate(expect.len());
    assert_eq!(oldest, expect);
}

#[test]
fn every_filter_is_applied() {
    let all: Vec<u64> = (1..=11).rev().collect();
    check(&Filter::default(), &all);
    check(&Filter { tool: Some(IdPrefix::parse("dt_01010101").unwrap()), ..Filter::default() }, &[7, 2]);
    check(&Filter { name: Some("tool_4".to_owned()), ..Filter::default() }, &[10, 5]);
    check(&Filter { action: Some(Action::Gc), ..Filter::default() }, &[11]);
    check(&Filter { since: Some(at(8)), ..Filter::default() }, &[11, 10, 9]);
    check(&Filter { until: Some(at(2)), ..Filter::default() }, &[2, 1]);
    check(&Filter { success: Some(false), ..Filter::default() }, &[9, 6, 3]);
    check(&Filter { success: Some(false), limit: Some(2), ..Filter::default() }, &[9, 6]);
    check(&Filter { limit: Some(0), ..Filter::default() }, &[]);
}

#[test]
fn broken_lines_are_skipped_and_counted() {
    let world = World::of(3);
    world.write(format!("nonsense\n{}\n{}{{\"seq\":", "x".repeat(1 << 20), world.text()));
    for order in [Order::NewestFirst, Order::OldestFirst] {
        let mut lines = world.audit.query(Filter::default(), order).unwrap();
        assert_eq!(lines.by_ref().filter_map(Result::ok).count(), 3);
        assert_eq!(lines.skipped(), 3);
    }
}

#[test]
fn lines_of_later_versions_can_be_read() {
    let world = World::new();
    let line = r#"{"seq":1,"timestamp":"2026-01-01T00:00:00.000Z","action":"teleport","success":true,
        "details":{"to":"moon"},"place":[1],"previous":"00"}"#;
    world.write(line.replace('\n', "") + "\n");
    let lines: Vec<Line> =
        world.audit.query(Filter::default(), Order::NewestFirst).unwrap().map(Result::unwrap).collect();
    assert_eq!((lines[0].action.as_str(), lines[0].action()), ("teleport", None));
    assert_eq!(lines[0].details["to"], "moon");
}

#[test]
fn a_log_that_was_not_begun_is_empty() {
    let world = World::new();
    assert_eq!(found(&world, &Filter::default(), Order::NewestFirst), [0; 0]);
    let verdict = world.verify();
    assert_eq!((verdict.lines, verdict.files, verdict.head, verdict.is_clean()), (0, 0, None, true));
}
