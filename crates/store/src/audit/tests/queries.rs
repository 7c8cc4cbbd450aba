//! Queries.

use super::super::AuditLine;
use super::*;
use toolcell_tool::IdPrefix;

fn found(world: &LogFixture, filter: &AuditFilter, order: AuditOrder) -> Vec<u64> {
    let lines = world.audit.query(filter.clone(), order).unwrap();
    lines.map(|line| line.unwrap().seq.unwrap()).collect()
}

/// Checks a query newest first and oldest first.
fn check(filter: &AuditFilter, expect: &[u64]) {
    let world = LogFixture::with(AuditConfig { file_limit: 1000, ..CONFIG });
    world.run(10);
    world.audit.record(&AuditEvent::new(Action::Gc, at(10))).unwrap();
    assert_eq!(found(&world, filter, AuditOrder::NewestFirst), expect);
    let mut oldest = found(&world, &AuditFilter { limit: None, ..filter.clone() }, AuditOrder::OldestFirst);
    oldest.reverse();
    oldest.truncate(expect.len());
    assert_eq!(oldest, expect);
}

#[test]
fn every_filter_is_applied() {
    let all: Vec<u64> = (1..=11).rev().collect();
    check(&AuditFilter::default(), &all);
    check(&AuditFilter { tool: Some(IdPrefix::parse("dt_01010101").unwrap()), ..AuditFilter::default() }, &[7, 2]);
    check(&AuditFilter { name: Some("tool_4".to_owned()), ..AuditFilter::default() }, &[10, 5]);
    check(&AuditFilter { action: Some(Action::Gc), ..AuditFilter::default() }, &[11]);
    check(&AuditFilter { since: Some(at(8)), ..AuditFilter::default() }, &[11, 10, 9]);
    check(&AuditFilter { until: Some(at(2)), ..AuditFilter::default() }, &[2, 1]);
    check(&AuditFilter { success: Some(false), ..AuditFilter::default() }, &[9, 6, 3]);
    check(&AuditFilter { success: Some(false), limit: Some(2), ..AuditFilter::default() }, &[9, 6]);
    check(&AuditFilter { limit: Some(0), ..AuditFilter::default() }, &[]);
}

#[test]
fn broken_lines_are_skipped_and_counted() {
    let world = LogFixture::with_lines(3);
    world.write(format!("nonsense\n{}\n{}{{\"seq\":", "x".repeat(1 << 20), world.text()));
    for order in [AuditOrder::NewestFirst, AuditOrder::OldestFirst] {
        let mut lines = world.audit.query(AuditFilter::default(), order).unwrap();
        assert_eq!(lines.by_ref().filter_map(Result::ok).count(), 3);
        assert_eq!(lines.skipped(), 3);
    }
}

#[test]
fn lines_of_later_versions_can_be_read() {
    let world = LogFixture::new();
    let line = r#"{"seq":1,"timestamp":"2026-01-01T00:00:00.000Z","action":"teleport","success":true,
        "details":{"to":"moon"},"place":[1],"previous":"00"}"#;
    world.write(line.replace('\n', "") + "\n");
    let lines: Vec<AuditLine> =
        world.audit.query(AuditFilter::default(), AuditOrder::NewestFirst).unwrap().map(Result::unwrap).collect();
    assert_eq!((lines[0].action.as_str(), lines[0].action()), ("teleport", None));
    assert_eq!(lines[0].details["to"], "moon");
}

#[test]
fn a_log_that_was_not_begun_is_empty() {
    let world = LogFixture::new();
    assert_eq!(found(&world, &AuditFilter::default(), AuditOrder::NewestFirst), [0; 0]);
    let verdict = world.verify();
    assert_eq!((verdict.lines, verdict.files, verdict.head, verdict.is_clean()), (0, 0, None, true));
}
