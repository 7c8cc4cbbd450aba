//! A text report for people: failures, the most expensive tools, and a summary line.

use std::fmt::Write as _;

use crate::outcome::TestReport;
use crate::problem::FilePosition;

/// The number of most expensive tools that are listed.
const MAX_EXPENSIVE_TOOLS: usize = 5;

/// The texts of a report in one language.
#[derive(Debug, Clone, Copy)]
pub struct ReportWords {
    /// The label of a failure.
    pub failed: &'static str,
    /// The heading of the most expensive tools.
    pub most_fuel: &'static str,
    /// The summary line, from the numbers of passed and failed cases and the seconds.
    pub summary: fn(usize, usize, f64) -> String,
    /// The suffix of the summary for cases that did not run.
    pub not_run: fn(usize) -> String,
}

impl ReportWords {
    /// English.
    pub const ENGLISH: Self = Self {
        failed: "FAILED",
        most_fuel: "most fuel:",
        summary: |passed, failed, seconds| format!("{passed} passed, {failed} failed ({seconds:.2} s)"),
        not_run: |count| format!(", {count} not run"),
    };
    /// Japanese.
    pub const JAPANESE: Self = Self {
        failed: "失敗",
        most_fuel: "燃料の多い順:",
        summary: |passed, failed, seconds| format!("成功 {passed}、失敗 {failed}（{seconds:.2} 秒）"),
        not_run: |count| format!("、未実行 {count}"),
    };
    /// Chinese.
    pub const CHINESE: Self = Self {
        failed: "失败",
        most_fuel: "燃料最多：",
        summary: |passed, failed, seconds| format!("通过 {passed}，失败 {failed}（{seconds:.2} 秒）"),
        not_run: |count| format!("，未运行 {count}"),
    };
}

/// Formats the report without its problems, which are reported as errors.
#[must_use]
pub fn text(tested: &TestReport, words: &ReportWords) -> String {
    let mut text = String::new();
    for done in tested.results.iter().filter(|done| !done.has_passed()) {
        let FilePosition { line, column } = done.place;
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "{} {}: {} ({}:{line}:{column})", words.failed, done.tool, done.name, done.path.display());
        for failure in &done.failures {
            let _ = writeln!(text, "  {}", failure.message);
            for line in failure.diff.iter().flat_map(|diff| diff.lines()) {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    let dearest = tested.most_expensive(MAX_EXPENSIVE_TOOLS);
    if !dearest.is_empty() {
        let _ = writeln!(text, "{}", words.most_fuel);
        for (tool, fuel) in dearest {
            let _ = writeln!(text, "  {fuel:>14}  {tool}");
        }
    }
    let rest = if tested.not_run > 0 { (words.not_run)(tested.not_run) } else { String::new() };
    let _ = writeln!(
        text,
        "{}{rest}",
        (words.summary)(tested.passed_count(), tested.failed_count(), tested.elapsed.as_secs_f64())
    );
    text
}
