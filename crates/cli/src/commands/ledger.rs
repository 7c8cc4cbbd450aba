//! `ledger`: shows the cost and savings of each tool.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolcell::{CostReportLine, CostTotals, Lang};
use toolcell_i18n::{msgid, tr};

use crate::args::SandboxArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::table::{Column, Fit, Overflow, Table};
use crate::render::tools::{entry_to_json, last_used_text, print_no_tools};

/// The label of the total row. It is not a valid tool name.
const TOTAL_NAME: &str = msgid!("(total)");

pub(crate) fn run(context: &mut Context<'_>) -> Result<Exit, CliError> {
    let dir = context.store_dir()?.to_owned();
    let lines = if dir.exists() {
        context.open_existing_toolbox(SandboxArgs::single_call_config())?.cost_report()?
    } else {
        Vec::new()
    };
    let total = CostTotals::from_lines(&lines);
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let tools: Vec<Value> = lines.iter().map(line_to_json).collect();
        writeln!(streams.output, "{}", json!({ "tools": tools, "total": sums_to_fields(&total) }))?;
    } else if lines.is_empty() {
        print_no_tools(&dir, lang, streams)?;
    } else {
        let now = toolcell::now();
        let mut table = Table::new(columns(lang));
        for CostReportLine { tool, totals: sums } in &lines {
            let [runs, failures, time, saved, cost, balance] = cells(sums, streams.output_is_terminal);
            let (name, status) = (tool.name.to_string(), tool.status.to_string());
            table.add_row([
                name,
                status,
                runs,
                failures,
                time,
                saved,
                cost,
                balance,
                last_used_text(tool, now, streams),
            ]);
        }
        let [runs, failures, time, saved, cost, balance] = cells(&total, streams.output_is_terminal);
        let total = lang.translate(TOTAL_NAME).to_owned();
        table.add_row([total, String::new(), runs, failures, time, saved, cost, balance, String::new()]);
        table.print(Overflow::Truncate, "toolcell ledger --json", lang, streams)?;
    }
    Ok(Exit::Done)
}

fn line_to_json(CostReportLine { tool, totals: of_tool }: &CostReportLine) -> Value {
    let mut fields = entry_to_json(tool, None);
    if let Value::Object(fields) = &mut fields {
        fields.extend(sums_to_fields(of_tool));
    }
    fields
}

fn sums_to_fields(sums: &CostTotals) -> Map<String, Value> {
    let micros = u64::try_from(sums.time.as_micros()).unwrap_or(u64::MAX);
    let fields = [
        ("usageCount", sums.runs.into()),
        ("failureCount", sums.failures.into()),
        ("micros", micros.into()),
        ("tokensSaved", sums.tokens_saved.into()),
        ("cost", sums.cost.into()),
        ("balance", sums.balance().into()),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn cells(sums: &CostTotals, for_people: bool) -> [String; 6] {
    let or_dash = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
    let time = if for_people { format_duration(sums.time) } else { format!("{:.6}s", sums.time.as_secs_f64()) };
    [
        sums.runs.to_string(),
        sums.failures.to_string(),
        time,
        or_dash(sums.tokens_saved.map(|tokens| tokens.to_string())),
        or_dash(sums.cost.map(|tokens| tokens.to_string())),
        or_dash(sums.balance().map(|tokens| format!("{tokens:+}"))),
    ]
}

/// Formats a duration in the largest unit that fits.
fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{:.1}ms", time.as_secs_f64() * 1e3),
        1..60 => format!("{:.1}s", time.as_secs_f64()),
        60..3_600 => format!("{}m", seconds / 60),
        _ => format!("{}h", seconds / 3_600),
    }
}

fn columns(lang: Lang) -> Vec<Column> {
    let titles = [
        tr!(lang, "column" => "name"),
        tr!(lang, "column" => "status"),
        tr!(lang, "column" => "runs"),
        tr!(lang, "column" => "failed"),
        tr!(lang, "column" => "time"),
        tr!(lang, "column" => "saved"),
        tr!(lang, "column" => "cost"),
        tr!(lang, "column" => "balance"),
        tr!(lang, "column" => "used"),
    ];
    let fits = [
        (Fit::Text(12), 0),
        (Fit::Whole, 4),
        (Fit::Number, 0),
        (Fit::Number, 2),
        (Fit::Number, 3),
        (Fit::Number, 1),
        (Fit::Number, 1),
        (Fit::Number, 0),
        (Fit::Number, 5),
    ];
    titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, drop_order: spare }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_the_unit_that_fits() {
        let check = |millis, expect: &str| assert_eq!(format_duration(Duration::from_millis(millis)), expect);
        check(0, "0.0ms");
        check(999, "999.0ms");
        check(1_250, "1.2s");
        check(61_000, "1m");
        check(86_400_000, "24h");
    }
}
