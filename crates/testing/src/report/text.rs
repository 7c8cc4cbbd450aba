//! Text for a person: what failed, which tools take the most fuel, and in the last line how many passed.

use std::fmt::Write as _;

use crate::outcome::Tested;
use crate::problem::Place;

/// How many of the dearest tools are named.
const DEAREST: usize = 5;

/// The words of a language.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// Before what failed.
    pub failed: &'static str,
    /// Above the dearest tools.
    pub most_fuel: &'static str,
    /// The last line, of how many passed and failed and of the seconds it took.
    pub summary: fn(usize, usize, f64) -> String,
    /// The same of how many were not run.
    pub not_run: fn(usize) -> String,
}

impl Words {
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

/// All of it but the problems, which are errors.
#[must_use]
pub fn text(tested: &Tested, words: &Words) -> String {
    let mut text = String::new();
    for done in tested.done.iter().filter(|done| !done.passed()) {
        let Place { line, column } = done.place;
        // Writing to a string does not fail.
        let _ =
            writeln!(text, "{} {}: {} ({}:{line}:{column})", words.failed, done.tool, done.name, done.path.display());
        for failure in &done.failures {
            let _ = writeln!(text, "  {}", failure.message);
            for line in failure.diff.iter().flat_map(|diff| diff.lines()) {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    let dearest = tested.dearest(DEAREST);
    if !dearest.is_empty() {
        let _ = writeln!(text, "{}", words.most_fuel);
        for (tool, fuel) in dearest {
            let _ = writeln!(text, "  {fuel:>14}  {tool}");
        }
    }
    let rest = if tested.not_run > 0 { (words.not_run)(tested.not_run) } else { String::new() };
    let _ = writeln!(text, "{}{rest}", (words.summary)(tested.passed(), tested.failed(), tested.took.as_secs_f64()));
    text
}
