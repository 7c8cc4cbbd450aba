//! The ledger: runs, failures, fuel, time and saved tokens over time, and the most expensive tools.
//!
//! The plots are drawn by a script, of the tables that can be downloaded; without it, the page shows the tables.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan as _};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use toolcell::store::{DailyUsage, Entry, UsageTotals};
use toolcell::{LimitOverrides, Toolbox};
use toolcell_i18n::{Lang, message, tr};

use super::{Live, Page, Section, failed, problem, query_of};
use crate::app::{App, Visit};
use crate::markup::{grouped, milliseconds};
use crate::source::PageError;

/// The periods that can be shown, in days.
const PERIODS: [u16; 4] = [7, 30, 90, 365];
/// The number of tools in the list of the most expensive ones.
const MAX_TOOLS: usize = 20;
/// The number of tools in that list as a file.
const MAX_TOOLS_OF_FILE: usize = 10_000;

/// The columns of usage in a file.
const COLUMNS: [&str; 9] = [
    "runs",
    "succeeded",
    "failed",
    "fuel",
    "fuel_per_run",
    "max_fuel",
    "milliseconds",
    "tokens_saved",
    "seconds_saved",
];

/// What to show.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct LedgerQuery {
    /// The number of days, the last of which is today.
    days: u16,
    /// The identifier or the name of a tool; empty for all.
    #[serde(skip_serializing_if = "String::is_empty")]
    tool: String,
    /// The number of tools in the list of the most expensive ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
}

impl Default for LedgerQuery {
    fn default() -> Self {
        Self { days: 30, tool: String::new(), limit: None }
    }
}

/// A period of days, in UTC.
#[derive(Debug, Clone, Copy)]
pub(super) struct Period {
    pub(super) from: Date,
    /// The last day of the period.
    pub(super) to: Date,
}

impl Period {
    /// Returns the period of this many days that ends today.
    pub(super) fn ending_today(days: u16) -> Self {
        let to = toolcell::now().to_zoned(TimeZone::UTC).date();
        Self { from: to.saturating_sub(Span::new().days(i64::from(days) - 1)), to }
    }

    pub(super) fn days(self) -> RangeInclusive<Date> {
        self.from..=self.to
    }

    /// Returns the first day of the second half.
    fn middle(self) -> Date {
        let days = self.from.until(self.to).map_or(0, |span| span.get_days());
        self.from.saturating_add((days / 2 + 1).days())
    }
}

struct Ledger {
    period: Period,
    tool: Option<Entry>,
    /// What creating the tool cost, in tokens, if that is known.
    cost: Option<u64>,
    days: Vec<DailyUsage>,
    tools: Vec<ExpensiveTool>,
    /// The fuel that a run may use at most under the policy.
    fuel_limit: Option<u64>,
}

/// A tool in the list of the most expensive ones.
struct ExpensiveTool {
    tool: Entry,
    totals: UsageTotals,
    /// The fuel of a run in the second half of the period, in thousandths of what it was in the first.
    drift: Option<u64>,
}

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    query: Result<Query<LedgerQuery>, QueryRejection>,
    visit: Visit,
) -> Response {
    let query = match valid_query(query, &visit) {
        Ok(query) => query,
        Err(refusal) => return *refusal,
    };
    let asked = query.clone();
    match app.with_toolbox(move |toolbox| load(toolbox, &asked)).await {
        Ok(ledger) => {
            let body = ledger.to_markup(&query, visit.lang);
            let title = tr!(visit.lang, "Ledger").to_owned();
            Page { title, section: Some(Section::Ledger), live: Live::Off, body }.to_response(&visit, StatusCode::OK)
        }
        Err(error) => failed(&visit, &error),
    }
}

/// Serves the usage of each day.
pub(crate) async fn usage_file(
    State(app): State<Arc<App>>,
    query: Result<Query<LedgerQuery>, QueryRejection>,
    visit: Visit,
) -> Response {
    serve_csv(&app, query, &visit, |toolbox, query| {
        let (_, days) = load_days(toolbox, query)?;
        let row = |usage: &DailyUsage| [vec![usage.day.to_string()], columns(&usage.totals)].concat();
        Ok(write_csv(&[&["day"], &COLUMNS[..]].concat(), days.iter().map(row)))
    })
    .await
}

/// Serves the most expensive tools.
pub(crate) async fn tools_file(
    State(app): State<Arc<App>>,
    query: Result<Query<LedgerQuery>, QueryRejection>,
    visit: Visit,
) -> Response {
    serve_csv(&app, query, &visit, |toolbox, query| {
        let Some(store) = toolbox.store() else { return Ok(Vec::new()) };
        let limit = query.limit.unwrap_or(MAX_TOOLS_OF_FILE).min(MAX_TOOLS_OF_FILE);
        let tools = store.runs().most_expensive(Period::ending_today(query.days).days(), limit)?;
        let row = |(tool, totals): &(Entry, UsageTotals)| {
            [vec![tool.id.to_string(), tool.name.to_string()], columns(totals)].concat()
        };
        Ok(write_csv(&[&["id", "name"], &COLUMNS[..]].concat(), tools.iter().map(row)))
    })
    .await
}

/// Serves a table that is made of the store.
async fn serve_csv(
    app: &App,
    query: Result<Query<LedgerQuery>, QueryRejection>,
    visit: &Visit,
    make: impl FnOnce(&Toolbox, &LedgerQuery) -> Result<Vec<u8>, PageError> + Send + 'static,
) -> Response {
    let query = match valid_query(query, visit) {
        Ok(query) => query,
        Err(refusal) => return *refusal,
    };
    match app.with_toolbox(move |toolbox| make(toolbox, &query)).await {
        Ok(rows) => {
            ([(CONTENT_TYPE, "text/csv; charset=utf-8"), (CONTENT_DISPOSITION, "attachment")], rows).into_response()
        }
        Err(error) => failed(visit, &error),
    }
}

/// Parses a query, or tells that it is invalid.
fn valid_query(query: Result<Query<LedgerQuery>, QueryRejection>, visit: &Visit) -> Result<LedgerQuery, Box<Response>> {
    let query = query_of(query, visit)?;
    if PERIODS.contains(&query.days) {
        return Ok(query);
    }
    let hint = message!("choose 7, 30, 90 or 365 days");
    Err(Box::new(problem(visit, StatusCode::BAD_REQUEST, &message!("the ledger has no such period"), &hint)))
}

/// Writes a table (RFC 4180).
fn write_csv(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let mut write = |row: Vec<&str>| writer.write_record(row);
    // Writing to memory fails only for rows of different lengths.
    let written = write(header.to_vec())
        .and_then(|()| rows.into_iter().try_for_each(|row| write(row.iter().map(String::as_str).collect())));
    debug_assert!(written.is_ok(), "{written:?}");
    writer.into_inner().unwrap_or_default()
}

/// Returns the values of [`COLUMNS`]; empty where there is nothing to tell.
fn columns(totals: &UsageTotals) -> Vec<String> {
    let UsageTotals { runs, failures, fuel, max_fuel, time, tokens_saved, time_saved } = *totals;
    vec![
        runs.to_string(),
        runs.saturating_sub(failures).to_string(),
        failures.to_string(),
        fuel.to_string(),
        fuel_per_run(totals).map(|fuel| fuel.to_string()).unwrap_or_default(),
        max_fuel.to_string(),
        format!("{:.3}", time.as_secs_f64() * 1e3),
        tokens_saved.map(|tokens| tokens.to_string()).unwrap_or_default(),
        time_saved.map(|time| format!("{:.3}", time.as_secs_f64())).unwrap_or_default(),
    ]
}

fn fuel_per_run(totals: &UsageTotals) -> Option<u64> {
    totals.fuel.checked_div(totals.runs)
}

/// Adds up the usage of days.
fn sum<'a>(days: impl IntoIterator<Item = &'a DailyUsage>) -> UsageTotals {
    days.into_iter().fold(UsageTotals::default(), |all, DailyUsage { totals, .. }| UsageTotals {
        runs: all.runs.saturating_add(totals.runs),
        failures: all.failures.saturating_add(totals.failures),
        fuel: all.fuel.saturating_add(totals.fuel),
        max_fuel: all.max_fuel.max(totals.max_fuel),
        time: all.time.saturating_add(totals.time),
        tokens_saved: match (all.tokens_saved, totals.tokens_saved) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        },
        time_saved: match (all.time_saved, totals.time_saved) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        },
    })
}

/// Returns the fuel of a run in the second half of a period, in thousandths of what it was in the first half.
fn drift(days: &[DailyUsage], period: Period) -> Option<u64> {
    let (before, after): (Vec<&DailyUsage>, Vec<&DailyUsage>) =
        days.iter().partition(|usage| usage.day < period.middle());
    let (before, after) = (fuel_per_run(&sum(before))?, fuel_per_run(&sum(after))?);
    after.saturating_mul(1_000).checked_div(before)
}

fn load_days(toolbox: &Toolbox, query: &LedgerQuery) -> Result<(Option<Entry>, Vec<DailyUsage>), PageError> {
    let tool = if query.tool.is_empty() { None } else { Some(toolbox.show(&query.tool, None)?.entry) };
    let days = Period::ending_today(query.days).days();
    let days = toolbox.store().map(|store| store.runs().usage_by_day(days, tool.as_ref())).transpose()?;
    Ok((tool, days.unwrap_or_default()))
}

fn load(toolbox: &Toolbox, query: &LedgerQuery) -> Result<Ledger, PageError> {
    let period = Period::ending_today(query.days);
    let (tool, days) = load_days(toolbox, query)?;
    let mut tools = Vec::new();
    if let Some(store) = toolbox.store().filter(|_| tool.is_none()) {
        for (tool, totals) in store.runs().most_expensive(period.days(), MAX_TOOLS)? {
            let drift = drift(&store.runs().usage_by_day(period.days(), Some(&tool))?, period);
            tools.push(ExpensiveTool { tool, totals, drift });
        }
    }
    let cost = match &tool {
        Some(tool) => toolbox.cost_report_of(tool)?.totals.cost,
        None => None,
    };
    let fuel_limit = toolbox.policy().budget(&LimitOverrides::default()).ok().map(|budget| budget.fuel);
    Ok(Ledger { period, tool, cost, days, tools, fuel_limit })
}

/// A plot: how the script draws it, and of what.
struct Plot<'a> {
    caption: &'a str,
    kind: &'static str,
    file: &'static str,
    /// The file that is drawn.
    csv: String,
    /// The file that is offered.
    download: String,
    x: &'static str,
    /// The columns that are drawn, with their names.
    series: &'a [(&'static str, &'a str)],
    /// The label of the axis.
    axis: &'a str,
    limit: Option<(u64, &'a str)>,
}

impl Plot<'_> {
    fn to_markup(&self, period: Period) -> Markup {
        let (columns, names): (Vec<&str>, Vec<&str>) = self.series.iter().copied().unzip();
        let (limit, limit_name) = self.limit.unzip();
        html! {
            figure.plot
                data-plot=(self.kind) data-csv=(self.csv) data-x=(self.x) data-y=(columns.join(",")) data-names=(names.join(","))
                data-axis=(self.axis) data-from=(period.from) data-to=(period.to) data-limit=[limit] data-limit-name=[limit_name]
                data-link=[(self.kind == "ranking").then_some("id")] data-file=(self.file) data-save="SVG"
            {
                figcaption { (self.caption) }
                div.plot-area {}
                p.plot-links { a href=(self.download) download={ "toolcell-" (self.file) ".csv" } aria-label={ "CSV: " (self.caption) } { "CSV" } }
            }
        }
    }
}

impl Ledger {
    fn to_markup(&self, query: &LedgerQuery, lang: Lang) -> Markup {
        let total = sum(&self.days);
        html! {
            h1 {
                @match &self.tool {
                    Some(tool) => { (tr!(lang, "Ledger")) ": " a href={ "tools/" (tool.id) } { (tool.name) } },
                    None => (tr!(lang, "Ledger")),
                }
            }
            form.search method="get" action="ledger" {
                @if !query.tool.is_empty() { input type="hidden" name="tool" value=(query.tool); }
                label for="days" { (tr!(lang, "Period")) }
                select #days name="days" {
                    @for days in PERIODS { option value=(days) selected[days == query.days] { (tr!(lang, "{days} days", days)) } }
                }
                button { (tr!(lang, "Show")) }
                @if self.tool.is_some() { a href={ "ledger?days=" (query.days) } { (tr!(lang, "all tools")) } }
            }
            (self.summary(&total, lang))
            @if total.runs == 0 {
                p.empty { (tr!(lang, "No tool ran in this period.")) }
            } @else {
                div.plots { (self.plots(&total, query, lang)) }
                @if !self.tools.is_empty() { (self.expensive(query, lang)) }
                (self.days(lang))
            }
        }
    }

    fn summary(&self, total: &UsageTotals, lang: Lang) -> Markup {
        html! {
            dl.tiles {
                div { dt { (tr!(lang, "runs")) } dd { (grouped(total.runs)) } }
                div { dt { (tr!(lang, "failed")) } dd .worst-high[total.failures > 0] { (grouped(total.failures)) } }
                div { dt { (tr!(lang, "fuel")) } dd { (grouped(total.fuel)) } }
                div { dt { (tr!(lang, "time of the runs")) } dd { (duration_text(total)) } }
                div {
                    dt { (tr!(lang, "tokens saved")) }
                    dd { @match total.tokens_saved { Some(tokens) => (grouped(tokens)), None => span.quiet { (tr!(lang, "not reported")) } } }
                }
                div {
                    dt { (tr!(lang, "time saved")) }
                    dd { @match total.time_saved { Some(time) => (time_text(time)), None => span.quiet { (tr!(lang, "not reported")) } } }
                }
                @if let Some(cost) = self.cost { div { dt { (tr!(lang, "cost to create, in tokens")) } dd { (grouped(cost)) } } }
            }
        }
    }

    fn plots(&self, total: &UsageTotals, query: &LedgerQuery, lang: Lang) -> Markup {
        let csv = format!("ledger/usage.csv?{}", encode(query));
        let of_day = |caption, file, series, axis| Plot {
            caption,
            kind: "stack",
            file,
            csv: csv.clone(),
            download: csv.clone(),
            x: "day",
            series,
            axis,
            limit: None,
        };
        let results = [("succeeded", tr!(lang, "succeeded")), ("failed", tr!(lang, "failed"))];
        let (fuel, time) = ([("fuel", tr!(lang, "fuel"))], [("milliseconds", tr!(lang, "milliseconds"))]);
        let saved = [("tokens_saved", tr!(lang, "tokens"))];
        let saved_time = [("seconds_saved", tr!(lang, "seconds"))];
        let of_run = [("fuel_per_run", tr!(lang, "mean")), ("max_fuel", tr!(lang, "most"))];
        html! {
            (of_day(tr!(lang, "Runs of each day"), "runs", &results, tr!(lang, "runs")).to_markup(self.period))
            (of_day(tr!(lang, "Fuel of each day"), "fuel", &fuel, tr!(lang, "fuel")).to_markup(self.period))
            (of_day(tr!(lang, "Time of the runs of each day"), "time", &time, tr!(lang, "milliseconds")).to_markup(self.period))
            @if total.tokens_saved.is_some() {
                (of_day(tr!(lang, "Tokens saved on each day"), "tokens", &saved, tr!(lang, "tokens")).to_markup(self.period))
            }
            @if total.time_saved.is_some() {
                (of_day(tr!(lang, "Time saved on each day"), "time-saved", &saved_time, tr!(lang, "seconds")).to_markup(self.period))
            }
            (Plot {
                caption: tr!(lang, "Fuel of a run"),
                kind: "lines",
                series: &of_run,
                axis: tr!(lang, "fuel"),
                limit: self.fuel_limit.map(|limit| (limit, tr!(lang, "limit"))),
                ..of_day("", "fuel-of-a-run", &[], "")
            }.to_markup(self.period))
            @if let Some(limit) = self.fuel_limit {
                p.quiet.wide {
                    (tr!(lang, "The most expensive run used {share} of the limit of {limit} units.", share = percent(total.max_fuel, limit), limit = grouped(limit)))
                }
            }
        }
    }

    fn expensive(&self, query: &LedgerQuery, lang: Lang) -> Markup {
        let drawn = LedgerQuery { limit: Some(MAX_TOOLS), ..query.clone() };
        let fuel = [("name", tr!(lang, "fuel"))];
        let plot = Plot {
            caption: tr!(lang, "Fuel of the most expensive tools"),
            kind: "ranking",
            file: "tools",
            csv: format!("ledger/tools.csv?{}", encode(&drawn)),
            download: format!("ledger/tools.csv?{}", encode(query)),
            x: "fuel",
            series: &fuel,
            axis: tr!(lang, "fuel"),
            limit: None,
        };
        html! {
            section aria-labelledby="expensive" {
                h2 #expensive { (tr!(lang, "The most expensive tools")) }
                (plot.to_markup(self.period))
                div.scroll tabindex="0" role="group" aria-label=(tr!(lang, "The most expensive tools")) {
                    table.figures {
                        thead { tr {
                            th scope="col" { (tr!(lang, "tool")) }
                            th scope="col" { (tr!(lang, "runs")) }
                            th scope="col" { (tr!(lang, "failed")) }
                            th scope="col" { (tr!(lang, "fuel")) }
                            th scope="col" { (tr!(lang, "fuel of a run")) }
                            th scope="col" { (tr!(lang, "drift")) }
                            th scope="col" { (tr!(lang, "most, of the limit")) }
                            th scope="col" { (tr!(lang, "time")) }
                            th scope="col" { (tr!(lang, "tokens saved")) }
                        } }
                        tbody { @for tool in &self.tools { (self.expensive_row(tool, query, lang)) } }
                    }
                }
                p.quiet {
                    (tr!(lang, "Drift is the fuel of a run in the second half of the period, compared with the first half.")) " "
                    (tr!(lang, "The fuel and the time of a tool include those of the tools that it calls, which have a row of their own: the sums of all tools count them twice."))
                }
            }
        }
    }

    fn expensive_row(
        &self,
        ExpensiveTool { tool, totals, drift }: &ExpensiveTool,
        query: &LedgerQuery,
        lang: Lang,
    ) -> Markup {
        let of_tool = LedgerQuery { tool: tool.id.to_string(), ..query.clone() };
        html! {
            tr {
                th scope="row" { a href={ "ledger?" (encode(&of_tool)) } { (tool.name) } }
                td { (grouped(totals.runs)) }
                td .worst-high[totals.failures > 0] { (grouped(totals.failures)) }
                td { (grouped(totals.fuel)) }
                td { (grouped(fuel_per_run(totals).unwrap_or(0))) }
                td { @match drift { Some(drift) => (drift_text(*drift)), None => span.quiet { (tr!(lang, "unknown")) } } }
                td { @match self.fuel_limit { Some(limit) => (percent(totals.max_fuel, limit)), None => "" } }
                td { (duration_text(totals)) }
                td { @match totals.tokens_saved { Some(tokens) => (grouped(tokens)), None => span.quiet { (tr!(lang, "not reported")) } } }
            }
        }
    }

    fn days(&self, lang: Lang) -> Markup {
        html! {
            details {
                summary { (tr!(lang, "The days as a table")) }
                div.scroll tabindex="0" role="group" aria-label=(tr!(lang, "The days as a table")) {
                    table.figures {
                        thead { tr {
                            th scope="col" { (tr!(lang, "day (UTC)")) }
                            th scope="col" { (tr!(lang, "runs")) }
                            th scope="col" { (tr!(lang, "failed")) }
                            th scope="col" { (tr!(lang, "fuel")) }
                            th scope="col" { (tr!(lang, "fuel of a run")) }
                            th scope="col" { (tr!(lang, "time")) }
                            th scope="col" { (tr!(lang, "tokens saved")) }
                            th scope="col" { (tr!(lang, "time saved")) }
                        } }
                        tbody {
                            @for DailyUsage { day, totals } in self.days.iter().rev() {
                                tr {
                                    th scope="row" { time datetime=(day) { (day) } }
                                    td { (grouped(totals.runs)) }
                                    td .worst-high[totals.failures > 0] { (grouped(totals.failures)) }
                                    td { (grouped(totals.fuel)) }
                                    td { (grouped(fuel_per_run(totals).unwrap_or(0))) }
                                    td { (duration_text(totals)) }
                                    td { @if let Some(tokens) = totals.tokens_saved { (grouped(tokens)) } }
                                    td { @if let Some(time) = totals.time_saved { (time_text(time)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the query that shows a tool.
pub(super) fn query_of_tool(tool: &Entry) -> String {
    encode(&LedgerQuery { tool: tool.id.to_string(), ..LedgerQuery::default() })
}

fn encode(query: &LedgerQuery) -> String {
    // A struct of numbers and strings always has this form.
    serde_urlencoded::to_string(query).unwrap_or_default()
}

fn duration_text(totals: &UsageTotals) -> String {
    milliseconds(u64::try_from(totals.time.as_micros()).unwrap_or(u64::MAX))
}

/// Formats saved time: in seconds, or in hours and minutes.
fn time_text(time: Duration) -> String {
    let (seconds, hours) = (time.as_secs(), time.as_secs() / 3_600);
    match (hours, seconds / 60 % 60) {
        (0, 0) => format!("{}.{} s", seconds, time.subsec_millis() / 100),
        (0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (hours, minutes) => format!("{} h {minutes} min", grouped(hours)),
    }
}

/// Formats a part of a whole as a percentage with one decimal.
fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1_000 / u128::from(whole.max(1));
    if part > 0 && tenths == 0 { "< 0.1 %".to_owned() } else { format!("{}.{} %", tenths / 10, tenths % 10) }
}

/// Formats a ratio in thousandths as a change in per cent.
fn drift_text(thousandths: u64) -> String {
    let sign = if thousandths < 1_000 { '−' } else { '+' };
    let change = thousandths.abs_diff(1_000);
    format!("{sign}{}.{} %", change / 10, change % 10)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn usage(day: Date, runs: u64, fuel: u64) -> DailyUsage {
        let totals = UsageTotals {
            runs,
            failures: 1,
            fuel,
            max_fuel: fuel,
            time: Duration::from_micros(1_500),
            tokens_saved: None,
            time_saved: None,
        };
        DailyUsage { day, totals }
    }

    #[test]
    fn drift_compares_the_halves_of_a_period() {
        let period = Period { from: date(2026, 11, 1), to: date(2026, 11, 10) };
        assert_eq!(period.middle(), date(2026, 11, 6));
        let days =
            [usage(date(2026, 11, 5), 2, 200), usage(date(2026, 11, 6), 1, 110), usage(date(2026, 11, 10), 1, 120)];
        assert_eq!(drift(&days, period), Some(1_150));
        assert_eq!(drift(&days[..1], period), None);
        assert_eq!(
            (drift_text(1_150), drift_text(995), drift_text(1_000)),
            ("+15.0 %".to_owned(), "−0.5 %".to_owned(), "+0.0 %".to_owned())
        );
    }

    #[test]
    fn saved_time_is_shown_in_units_of_its_size() {
        for (millis, text) in [(0, "0.0 s"), (2_560, "2.5 s"), (75_000, "1 min 15 s"), (7_260_000, "2 h 1 min")] {
            assert_eq!(time_text(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn a_part_is_shown_in_per_cent() {
        assert_eq!(percent(0, 0), "0.0 %");
        assert_eq!(percent(1, 1_000_000), "< 0.1 %");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0 %");
    }

    #[test]
    fn a_table_has_a_header_and_quotes() {
        let rows = [vec!["2026-11-30".to_owned()], columns(&usage(date(2026, 11, 30), 4, 10).totals)].concat();
        assert_eq!(
            String::from_utf8(write_csv(&["a"; 10], std::iter::once(rows))).unwrap(),
            "a,a,a,a,a,a,a,a,a,a\r\n2026-11-30,4,3,1,10,2,10,1.500,,\r\n"
        );
        assert_eq!(write_csv(&["a"], std::iter::once(vec!["\"x\", y".to_owned()])), b"a\r\n\"\"\"x\"\", y\"\r\n");
    }
}
