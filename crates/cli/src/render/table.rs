//! Tables: fitted to the width of a terminal, counting wide characters as two columns (Unicode TR
//! 11), or tab-separated for programs.
//!
//! Invariant: on a terminal no line exceeds its width, whatever the content; elsewhere nothing is
//! truncated or omitted, and each row is one line.

use std::os::fd::AsFd as _;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table as Grid, Width, presets};
use rustix::termios::tcgetwinsize;

use toolcell::{Lang, single_line};
use toolcell_i18n::tr;

use crate::streams::Streams;

/// Width of a terminal that does not report its size, in columns.
const DEFAULT_WIDTH: u16 = 80;
/// Columns between two table columns.
const COLUMN_GAP: u16 = 2;

/// A table column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) fit: Fit,
    /// Columns with a larger number are omitted first if space is short; columns with 0 are never
    /// omitted.
    pub(crate) drop_order: u8,
}

/// How the width of a column is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// As wide as its content.
    Whole,
    /// As wide as its content, aligned right.
    Number,
    /// As wide as space permits, but at least this wide unless the content is narrower.
    Text(u16),
}

/// How text that exceeds its column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// Truncated, with `…`.
    Truncate,
    /// Wrapped to further lines.
    Wrap,
}

/// A table with a header.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// A table rendered for a terminal.
pub(crate) struct FittedTable {
    /// The lines, all of the same width.
    pub(crate) lines: Vec<String>,
    /// The titles of the columns that did not fit.
    pub(crate) omitted: Vec<&'static str>,
}

impl Table {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row, with one cell per column.
    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| single_line(&cell)).collect());
    }

    /// Prints the table, fitted to a terminal or tab-separated. `other` is the command that shows
    /// omitted columns.
    pub(crate) fn print(
        &self,
        too_long: Overflow,
        other: &str,
        lang: Lang,
        streams: &mut Streams<'_>,
    ) -> std::io::Result<()> {
        if !streams.output_is_terminal {
            return write!(streams.output, "{}", self.to_tsv());
        }
        let fitted = self.fit(terminal_width(), too_long);
        for line in &fitted.lines {
            writeln!(streams.output, "{}", line.trim_end())?;
        }
        fitted.note(other, lang).map_or(Ok(()), |note| writeln!(streams.errors, "{note}"))
    }

    /// Returns the lines for a terminal of this width, with a note on omitted columns.
    pub(crate) fn lines(&self, width: u16, too_long: Overflow, other: &str, lang: Lang) -> Vec<String> {
        let fitted = self.fit(width, too_long);
        let lines = fitted.lines.iter().map(|line| line.trim_end().to_owned());
        lines.chain(fitted.note(other, lang)).collect()
    }

    /// Renders the table as tab-separated text.
    pub(crate) fn to_tsv(&self) -> String {
        let titles: Vec<&str> = self.columns.iter().map(|column| column.title).collect();
        let mut text = titles.join("\t") + "\n";
        for row in &self.rows {
            text.push_str(&row.join("\t"));
            text.push('\n');
        }
        text
    }

    /// Renders the table for a terminal of this width.
    pub(crate) fn fit(&self, width: u16, too_long: Overflow) -> FittedTable {
        let kept = self.visible_columns(width);
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        grid.set_width(width).set_truncation_indicator("…");
        grid.set_header(kept.iter().map(|at| self.columns[*at].title));
        for row in &self.rows {
            let mut cells = Row::from(kept.iter().map(|at| row.get(*at).map_or("", String::as_str)));
            if too_long == Overflow::Truncate {
                cells.max_height(1);
            }
            grid.add_row(cells);
        }
        let widths = self.widths(&kept, width);
        for (at, column) in grid.column_iter_mut().enumerate() {
            let gap = if at + 1 == kept.len() { 0 } else { COLUMN_GAP };
            column.set_padding((0, gap));
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(widths[at].saturating_add(gap))));
            if self.columns[kept[at]].fit == Fit::Number {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let left_out = (0..self.columns.len()).filter(|at| !kept.contains(at)).map(|at| self.columns[at].title);
        FittedTable { lines: grid.lines().collect(), omitted: left_out.collect() }
    }

    /// Returns the indices of the columns that fit.
    fn visible_columns(&self, width: u16) -> Vec<usize> {
        let needs = self.column_needs();
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        loop {
            let first_to_go = kept.iter().copied().max_by_key(|at| self.columns[*at].drop_order);
            match first_to_go.filter(|at| self.columns[*at].drop_order > 0) {
                Some(at) if total_width(kept.iter().map(|at| needs[*at].0)) > width => kept.retain(|kept| *kept != at),
                _ => return kept,
            }
        }
    }

    /// Distributes the width over the columns: spare space goes first to those that need the least
    /// more, so that most columns are shown in full.
    fn widths(&self, kept: &[usize], width: u16) -> Vec<u16> {
        let needs = self.column_needs();
        let mut widths: Vec<u16> = kept.iter().map(|at| needs[*at].0).collect();
        let lacks = |at: usize| needs[kept[at]].1 - needs[kept[at]].0;
        let mut rest = width.saturating_sub(total_width(widths.iter().copied()));
        let mut order: Vec<usize> = (0..kept.len()).collect();
        order.sort_by_key(|at| lacks(*at));
        for at in order {
            let more = lacks(at).min(rest);
            widths[at] += more;
            rest -= more;
        }
        widths
    }

    /// Returns the minimum width of each column, and the width of its widest cell.
    fn column_needs(&self) -> Vec<(u16, u16)> {
        let mut grid = Grid::new();
        grid.set_header(self.columns.iter().map(|column| column.title));
        for row in &self.rows {
            grid.add_row(row);
        }
        let contents = grid.column_max_content_widths();
        let need = |(column, whole): (&Column, u16)| match column.fit {
            Fit::Whole | Fit::Number => (whole, whole),
            Fit::Text(least) => (least.max(text_width(column.title)).min(whole), whole),
        };
        self.columns.iter().zip(contents).map(need).collect()
    }
}

impl FittedTable {
    /// Returns a note that names the omitted columns and the command that shows them.
    fn note(&self, other: &str, lang: Lang) -> Option<String> {
        let columns = self.omitted.join(lang.list_separator());
        let text =
            || tr!(lang, "no room for {columns}: see `{command}`, or widen the terminal", columns, command = other);
        (!self.omitted.is_empty()).then(|| format!("{}{}{}", tr!(lang, "note"), lang.colon(), text()))
    }
}

fn total_width(widths: impl Iterator<Item = u16>) -> u16 {
    widths.fold(0, |all: u16, width| all.saturating_add(width).saturating_add(COLUMN_GAP)).saturating_sub(COLUMN_GAP)
}

/// Returns the width of text in columns, as comfy-table measures it.
fn text_width(text: &str) -> u16 {
    let mut grid = Grid::new();
    grid.add_row([text]);
    grid.column_max_content_widths().first().copied().unwrap_or(0)
}

/// Returns the width of standard output's terminal, in columns.
pub(crate) fn terminal_width() -> u16 {
    let size = tcgetwinsize(std::io::stdout().as_fd());
    size.ok().map(|size| size.ws_col).filter(|columns| *columns > 0).unwrap_or(DEFAULT_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(vec![
            Column { title: "name", fit: Fit::Text(8), drop_order: 0 },
            Column { title: "実行", fit: Fit::Number, drop_order: 2 },
            Column { title: "id", fit: Fit::Whole, drop_order: 0 },
            Column { title: "description", fit: Fit::Text(10), drop_order: 1 },
        ]);
        table.add_row(["average", "3", "dt_0123", "Takes the mean of numbers"].map(str::to_owned));
        table.add_row(
            ["kana-henkan", "1200", "dt_4567", "ひらがなをカタカナに変換します。ＡＢＣと絵文字👩‍👩‍👧も"].map(str::to_owned),
        );
        table.add_row(["odd", "", "dt_89ab", "two\nlines\tand \u{1b}[31mred\u{202e}"].map(str::to_owned));
        table
    }

    #[test]
    fn every_line_is_as_wide_as_the_others_and_fits() {
        for width in 30..140 {
            let fitted = table().fit(width, Overflow::Truncate);
            assert_eq!(fitted.lines.len(), 4, "{:?}", fitted.lines);
            let widths: Vec<u16> = fitted.lines.iter().map(|line| text_width(line)).collect();
            assert!(widths.iter().all(|one| *one == widths[0] && *one <= width), "{width}: {:?}", fitted.lines);
        }
    }

    #[test]
    fn what_is_too_long_is_cut_or_wrapped() {
        let cut = table().fit(44, Overflow::Truncate);
        assert!(cut.omitted.is_empty());
        assert_eq!(cut.lines[1].trim_end(), "average         3  dt_0123  Takes the mean…");
        let wrapped = table().fit(44, Overflow::Wrap);
        assert!(wrapped.lines.len() > 4 && wrapped.lines[2].trim() == "of numbers", "{:?}", wrapped.lines);
    }

    #[test]
    fn columns_without_room_are_left_out_and_named() {
        assert_eq!(table().fit(30, Overflow::Truncate).omitted, ["実行"]);
        assert_eq!(table().fit(20, Overflow::Truncate).omitted, ["実行", "description"]);
        assert!(table().fit(140, Overflow::Truncate).omitted.is_empty());
    }

    #[test]
    fn the_note_on_columns_without_room_is_in_the_language_of_the_reader() {
        let note = |lang| table().fit(20, Overflow::Truncate).note("toolcell list --text", lang).unwrap();
        assert_eq!(
            note(Lang::En),
            "note: no room for 実行, description: see `toolcell list --text`, or widen the terminal"
        );
        assert!(
            note(Lang::Ja).starts_with("補足: ") && note(Lang::Ja).contains("実行、description"),
            "{}",
            note(Lang::Ja)
        );
        assert!(
            note(Lang::Zh).starts_with("备注：") && note(Lang::Zh).contains("実行、description"),
            "{}",
            note(Lang::Zh)
        );
    }

    #[test]
    fn tabs_separate_columns_for_programs_and_nothing_is_cut() {
        let text = table().to_tsv();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "name\t実行\tid\tdescription");
        assert_eq!(lines[3], "odd\t\tdt_89ab\ttwo lines and \\u{1b}[31mred\\u{202e}");
        assert!(lines.iter().all(|line| line.matches('\t').count() == 3), "{text}");
    }
}
