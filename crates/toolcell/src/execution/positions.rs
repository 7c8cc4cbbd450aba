//! The positions of errors and profiles, mapped back to the author's source.
//!
//! Invariant: a position that the author did not write is dropped.

use toolcell_host::{CallProfile, FrameOrigin, Outcome, Report, Thrown};

/// Maps the positions in a report back to the author's source.
pub(super) fn map_positions(report: &mut Report, name: &str, script: &toolcell_analysis::Script) {
    let Outcome::Threw(thrown) = &mut report.outcome else { return };
    if !script.has_position_map() {
        return;
    }
    let first = map_stack_positions(thrown, name, script);
    if let (Some(line), Some(column)) = (thrown.line, thrown.column) {
        // An error from a compiled decorator is reported where the author used the decorator.
        let place = script.map_back(line, column).or(first);
        (thrown.line, thrown.column) = (place.map(|place| place.0), place.map(|place| place.1));
    }
}

/// Maps the positions in a profile back to the author's source.
pub(super) fn map_profile_positions(profile: &mut CallProfile, script: &toolcell_analysis::Script) {
    if !script.has_position_map() {
        return;
    }
    // Code that the author did not write has no line.
    let lead =
        |line: &mut u32, column: &mut u32| (*line, *column) = script.map_back(*line, *column).unwrap_or_default();
    for function in profile.functions.iter_mut().filter(|function| function.origin == FrameOrigin::Tool) {
        lead(&mut function.line, &mut function.column);
    }
    let frames = profile.stacks.iter_mut().flat_map(|stack| &mut stack.frames);
    for frame in frames.filter(|frame| frame.line > 0) {
        if profile.functions[frame.function].origin == FrameOrigin::Tool {
            lead(&mut frame.line, &mut frame.column);
        }
    }
}

/// Maps frames such as `at execute (tool.ts:3:7)` back to the author's line and column, and drops
/// frames that the author did not write. Returns the first position.
fn map_stack_positions(thrown: &mut Thrown, name: &str, script: &toolcell_analysis::Script) -> Option<(u32, u32)> {
    let marker = format!("{name}:");
    let mut first = None;
    let lines = thrown.stack.lines().filter_map(|line| {
        let whole = || Some(line.to_owned());
        let Some((before, place)) = line.rsplit_once(&marker) else { return whole() };
        let digits = place.trim_end_matches(')');
        let Some((row, column)) = digits.split_once(':') else { return whole() };
        let (Ok(row), Ok(column)) = (row.parse(), column.parse()) else { return whole() };
        let (row, column) = script.map_back(row, column)?;
        first.get_or_insert((row, column));
        Some(format!("{before}{marker}{row}:{column}{}", &place[digits.len()..]))
    });
    thrown.stack = lines.collect::<Vec<_>>().join("\n");
    first
}
