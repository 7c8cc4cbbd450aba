//! A text report for people: failures, the most expensive tools, and a summary line.

use std::fmt::Write as _;

use toolcell::single_line;
use toolcell_i18n::{Lang, tr};

use crate::outcome::TestReport;
use crate::problem::FilePosition;

/// The number of most expensive tools that are listed.
const MAX_EXPENSIVE_TOOLS: usize = 5;

/// Formats the report without its problems, which are reported as errors.
#[must_use]
pub fn text(tested: &TestReport, lang: Lang) -> String {
    let mut text = String::new();
    for done in tested.results.iter().filter(|done| !done.has_passed()) {
        let FilePosition { line, column } = done.place;
        let failed = tr!(lang, "FAILED");
        let [tool, name, path] =
            [&done.tool, &done.name, &done.path.display().to_string()].map(|text| single_line(text));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{failed} {tool}: {name} ({path}:{line}:{column})");
        for failure in &done.failures {
            let _ = writeln!(text, "  {}", failure.message.to_text(lang));
            for line in failure.diff.iter().map(|diff| diff.to_text(lang)).collect::<String>().lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    let dearest = tested.most_expensive(MAX_EXPENSIVE_TOOLS);
    if !dearest.is_empty() {
        let _ = writeln!(text, "{}", tr!(lang, "most fuel:"));
        for (tool, fuel) in dearest {
            let _ = writeln!(text, "  {fuel:>14}  {}", single_line(tool));
        }
    }
    let (passed, failed, count) = (tested.passed_count(), tested.failed_count(), tested.not_run);
    let seconds = format!("{:.2}", tested.elapsed.as_secs_f64());
    text.push_str(&match count {
        0 => tr!(lang, "{passed} passed, {failed} failed ({seconds} s)", passed, failed, seconds),
        _ => tr!(
            lang,
            "{passed} passed, {failed} failed ({seconds} s), {count} not run",
            passed,
            failed,
            seconds,
            count,
        ),
    });
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use toolcell_i18n::message;

    use super::*;
    use crate::expect::CaseFailure;
    use crate::outcome::CaseResult;

    #[test]
    fn a_report_is_in_the_language_of_its_reader() {
        let failure = CaseFailure::new("returns-differ", message!("it returns nothing"));
        let done = CaseResult {
            path: "mean.test.toml".into(),
            place: FilePosition { line: 3, column: 1 },
            index: (0, 0),
            tool: "mean.ts".to_owned(),
            name: "a mean\n9 passed".to_owned(),
            failures: vec![failure],
            outcome: None,
            fuel: 12,
            load_fuel: 0,
            memory: 0,
            elapsed: std::time::Duration::ZERO,
        };
        let tested = TestReport { results: vec![done], not_run: 2, ..TestReport::default() };
        for (lang, lines) in [
            (
                Lang::En,
                [
                    "FAILED mean.ts: a mean 9 passed (",
                    "it returns nothing",
                    "most fuel:",
                    "0 passed, 1 failed (0.00 s), 2 not run",
                ],
            ),
            (
                Lang::Ja,
                [
                    "失敗 mean.ts: a mean 9 passed (",
                    "何も返しません",
                    "燃料の多い順:",
                    "成功 0、失敗 1（0.00 秒）、未実行 2",
                ],
            ),
            (
                Lang::Zh,
                ["失败 mean.ts: a mean 9 passed (", "没有返回值", "燃料最多：", "通过 0，失败 1（0.00 秒），未运行 2"],
            ),
        ] {
            let report = text(&tested, lang);
            for line in lines {
                assert!(report.contains(line), "{line}: {report}");
            }
        }
    }
}
