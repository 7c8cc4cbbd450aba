//! Renders profiles as tables.

use std::io;

use toolcell::{Lang, LineFuel, Profile, ProfileDelta, ProfileDifference, Unattributed, escape_control_chars};
use toolcell_i18n::tr;

use super::table::{Column, Fit, Overflow, Table};
use crate::streams::Streams;

/// Maximum number of functions, and of lines, in a table.
const MAX_ROWS: usize = 20;

/// Table titles in one language.
struct TableWords {
    function: &'static str,
    line: &'static str,
    own: &'static str,
    share: &'static str,
    total: &'static str,
    source: &'static str,
    before: &'static str,
    after: &'static str,
    difference: &'static str,
}

impl TableWords {
    fn for_lang(lang: Lang) -> Self {
        Self {
            function: tr!(lang, "column" => "function"),
            line: tr!(lang, "column" => "line"),
            own: tr!(lang, "column" => "fuel"),
            share: tr!(lang, "column" => "share"),
            total: tr!(lang, "column" => "with calls"),
            source: tr!(lang, "column" => "source"),
            before: tr!(lang, "column" => "before"),
            after: tr!(lang, "column" => "after"),
            difference: tr!(lang, "column" => "difference"),
        }
    }
}

/// Prints the functions and the lines with the highest fuel.
pub(crate) fn print_profile(profile: &Profile, lang: Lang, streams: &mut Streams<'_>) -> io::Result<()> {
    print_heading(profile, lang, streams)?;
    let words = TableWords::for_lang(lang);
    let mut table = Table::new(vec![
        column(words.function, Fit::Text(16)),
        column(words.line, Fit::Number),
        column(words.own, Fit::Number),
        column(words.share, Fit::Number),
        column(words.total, Fit::Number),
    ]);
    let Unattributed { engine, other_tools, unattributed } = profile.outside;
    let outside = [
        (tr!(lang, "(engine)"), engine),
        (tr!(lang, "(other tools)"), other_tools),
        (tr!(lang, "(after the last sample)"), unattributed),
    ];
    let outside = outside.into_iter().filter(|(_, fuel)| *fuel > 0);
    for function in profile.functions.iter().take(MAX_ROWS) {
        let name = match &*function.home {
            "tool" => function.name.clone(),
            home => format!("{} ({home})", function.name),
        };
        table.add_row([
            name,
            function.line.map(|line| line.to_string()).unwrap_or_default(),
            group_digits(function.own),
            percent(function.own, profile.fuel),
            group_digits(function.total),
        ]);
    }
    let others = profile.functions.get(MAX_ROWS..).unwrap_or_default();
    if !others.is_empty() {
        let fuel = others.iter().map(|function| function.own).fold(0, u64::saturating_add);
        let name = tr!(lang, "({count} more)", count = others.len());
        table.add_row([name, String::new(), group_digits(fuel), percent(fuel, profile.fuel), String::new()]);
    }
    for (name, fuel) in outside {
        table.add_row([name.to_owned(), String::new(), group_digits(fuel), percent(fuel, profile.fuel), String::new()]);
    }
    table.print(Overflow::Truncate, "toolcell profile --json", lang, streams)?;

    let mut hottest: Vec<&LineFuel> = profile.lines.iter().collect();
    hottest.sort_by_key(|line| std::cmp::Reverse(line.own));
    writeln!(streams.output)?;
    let mut table = Table::new(vec![
        column(words.line, Fit::Number),
        column(words.own, Fit::Number),
        column(words.share, Fit::Number),
        column(words.total, Fit::Number),
        column(words.source, Fit::Text(24)),
    ]);
    for line in hottest.into_iter().take(MAX_ROWS) {
        let (own, total) = (group_digits(line.own), group_digits(line.total));
        table.add_row([line.line.to_string(), own, percent(line.own, profile.fuel), total, line.text.clone()]);
    }
    table.print(Overflow::Truncate, "toolcell profile --lines", lang, streams)
}

/// Prints every source line with its fuel, keeping the indentation.
pub(crate) fn print_listing(profile: &Profile, source: &str, lang: Lang, streams: &mut Streams<'_>) -> io::Result<()> {
    print_heading(profile, lang, streams)?;
    let mut lines = profile.lines.iter().peekable();
    for (number, text) in (1_u32..).zip(source.lines()) {
        let fuel = lines.next_if(|line| line.line == number);
        let own = fuel.map(|line| group_digits(line.own)).unwrap_or_default();
        let part = fuel.map(|line| percent(line.own, profile.fuel)).unwrap_or_default();
        let text = escape_control_chars(&text.replace('\t', "    "));
        writeln!(streams.output, "{}", format!("{own:>15} {part:>6} {number:>5}  {text}").trim_end())?;
    }
    let outside = group_digits(profile.fuel_outside_lines());
    writeln!(streams.output, "{outside:>15} {}", tr!(lang, "not attributed to a line"))
}

/// Prints the differences of the run, of functions and of lines.
pub(crate) fn print_difference(
    difference: &ProfileDifference,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    let words = TableWords::for_lang(lang);
    let line = |change: &ProfileDelta| {
        let number = |line: Option<u32>| line.map(|line| line.to_string());
        match (number(change.line_before), number(change.line_after)) {
            (Some(before), Some(after)) if before != after => format!("{before} → {after}"),
            (before, after) => after.or(before).unwrap_or_default(),
        }
    };
    let (fuel, load) = (&difference.fuel, &difference.load_fuel);
    for (title, parts) in [(words.function, &difference.functions), (words.source, &difference.lines)] {
        let mut table = Table::new(vec![
            column(title, Fit::Text(16)),
            column(words.line, Fit::Number),
            column(words.before, Fit::Number),
            column(words.after, Fit::Number),
            column(words.difference, Fit::Number),
        ]);
        let changed = parts.iter().filter(|change| change.difference != 0).take(MAX_ROWS);
        for change in [fuel, load].into_iter().filter(|_| title == words.function).chain(changed) {
            table.add_row([
                change.what.clone(),
                line(change),
                group_digits(change.before),
                group_digits(change.after),
                group_signed(change.difference),
            ]);
        }
        if title == words.source {
            writeln!(streams.output)?;
        }
        table.print(Overflow::Truncate, "toolcell profile diff --json", lang, streams)?;
    }
    Ok(())
}

fn print_heading(profile: &Profile, lang: Lang, streams: &mut Streams<'_>) -> io::Result<()> {
    let (fuel, load, samples) =
        (group_digits(profile.fuel), group_digits(profile.load_fuel), group_digits(profile.samples));
    let (tool, outcome) = (escape_control_chars(&profile.tool), &profile.outcome);
    let text = tr!(
        lang,
        "{tool}: {outcome}, {fuel} fuel in {samples} samples; {load} fuel to load it first",
        tool,
        outcome,
        fuel,
        samples,
        load
    );
    writeln!(streams.output, "{text}\n")
}

const fn column(title: &'static str, fit: Fit) -> Column {
    Column { title, fit, drop_order: 0 }
}

/// Formats a number in groups of three digits.
fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let first = match digits.len() % 3 {
        0 => 3,
        rest => rest,
    };
    let (head, tail) = digits.split_at(first.min(digits.len()));
    let mut text = head.to_owned();
    for group in tail.as_bytes().chunks(3) {
        text.push('_');
        text.extend(group.iter().copied().map(char::from));
    }
    text
}

/// Formats a signed number in groups of three digits.
fn group_signed(number: i128) -> String {
    let sign = match number.signum() {
        -1 => "-",
        0 => "",
        _ => "+",
    };
    format!("{sign}{}", group_digits(u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX)))
}

/// Formats a fraction as a percentage with one decimal.
fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    format!("{}.{}%", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_threes() {
        let check = |number, expect| assert_eq!(group_digits(number), expect);
        check(0, "0");
        check(999, "999");
        check(1_000, "1_000");
        check(66_166_143, "66_166_143");
        check(u64::MAX, "18_446_744_073_709_551_615");
    }

    #[test]
    fn differences_have_a_sign() {
        let check = |number, expect| assert_eq!(group_signed(number), expect);
        check(0, "0");
        check(1_234, "+1_234");
        check(-40_709_378, "-40_709_378");
    }

    #[test]
    fn shares_are_told_in_tenths_of_a_per_cent() {
        let check = |part, whole, expect| assert_eq!(percent(part, whole), expect);
        check(0, 0, "0.0%");
        check(1, 3, "33.3%");
        check(5, 5, "100.0%");
        check(u64::MAX, u64::MAX, "100.0%");
    }
}
