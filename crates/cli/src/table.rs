//! Tables: for a terminal as wide as it is, with wide characters (Unicode TR 11) counted as two; for programs with tabs.
//!
//! Invariant: on a terminal no line is wider than it, whatever is in it; elsewhere nothing is cut or left out, and each
//! row is one line.

use std::os::fd::AsFd as _;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table as Grid, Width, presets};
use rustix::termios::tcgetwinsize;

use toolcell::line;

use crate::Streams;

/// How wide a terminal is that does not say it.
const WIDTH: u16 = 80;
/// What is between two columns.
const GAP: u16 = 2;

/// A column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) fit: Fit,
    /// Columns with a greater number are left out first where there is no room; those with 0 stay.
    pub(crate) spare: u8,
}

/// How a column takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// As wide as its text.
    Whole,
    /// As wide as its text, which ends where the column does.
    Number,
    /// As there is room, and no narrower than this unless its text is.
    Text(u16),
}

/// What is done with text that is too long for its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooLong {
    /// It ends in `…`.
    Cut,
    /// It goes on below.
    Wrap,
}

/// Rows under titles.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// A table for a terminal.
pub(crate) struct Fitted {
    /// Its lines, each as wide as the others.
    pub(crate) lines: Vec<String>,
    /// The columns that had no room.
    pub(crate) left_out: Vec<&'static str>,
}

impl Table {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row, with a text for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| line(&cell)).collect());
    }

    /// Prints it: as wide as a terminal is, and else with tabs. What has no room is shown by another command.
    pub(crate) fn print(&self, too_long: TooLong, other: &str, streams: &mut Streams<'_>) -> std::io::Result<()> {
        if !streams.output_is_terminal {
            return write!(streams.output, "{}", self.with_tabs());
        }
        let fitted = self.fitted(width(), too_long);
        for line in &fitted.lines {
            writeln!(streams.output, "{}", line.trim_end())?;
        }
        fitted.note(other).map_or(Ok(()), |note| writeln!(streams.errors, "{note}"))
    }

    /// Its lines for a terminal of this width, with a note where a column has no room.
    pub(crate) fn lines(&self, width: u16, too_long: TooLong, other: &str) -> Vec<String> {
        let fitted = self.fitted(width, too_long);
        let lines = fitted.lines.iter().map(|line| line.trim_end().to_owned());
        lines.chain(fitted.note(other)).collect()
    }

    /// With tabs between columns.
    pub(crate) fn with_tabs(&self) -> String {
        let titles: Vec<&str> = self.columns.iter().map(|column| column.title).collect();
        let mut text = titles.join("\t") + "\n";
        for row in &self.rows {
            text.push_str(&row.join("\t"));
            text.push('\n');
        }
        text
    }

    /// For a terminal of this width.
    pub(crate) fn fitted(&self, width: u16, too_long: TooLong) -> Fitted {
        let kept = self.kept(width);
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        grid.set_width(width).set_truncation_indicator("…");
        grid.set_header(kept.iter().map(|at| self.columns[*at].title));
        for row in &self.rows {
            let mut cells = Row::from(kept.iter().map(|at| row.get(*at).map_or("", String::as_str)));
            if too_long == TooLong::Cut {
                cells.max_height(1);
            }
            grid.add_row(cells);
        }
        let widths = self.widths(&kept, width);
        for (at, column) in grid.column_iter_mut().enumerate() {
            let gap = if at + 1 == kept.len() { 0 } else { GAP };
            column.set_padding((0, gap));
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(widths[at].saturating_add(gap))));
            if self.columns[kept[at]].fit == Fit::Number {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let left_out = (0..self.columns.len()).filter(|at| !kept.contains(at)).map(|at| self.columns[at].title);
        Fitted { lines: grid.lines().collect(), left_out: left_out.collect() }
    }

    /// The columns that there is room for.
    fn kept(&self, width: u16) -> Vec<usize> {
        let needs = self.needs();
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        loop {
            let first_to_go = kept.iter().copied().max_by_key(|at| self.columns[*at].spare);
            match first_to_go.filter(|at| self.columns[*at].spare > 0) {
                Some(at) if with_gaps(kept.iter().map(|at| needs[*at].0)) > width => kept.retain(|kept| *kept != at),
                _ => return kept,
            }
        }
    }

    /// How wide these columns become: what is left over goes to those that lack least, so that most are whole.
    fn widths(&self, kept: &[usize], width: u16) -> Vec<u16> {
        let needs = self.needs();
        let mut widths: Vec<u16> = kept.iter().map(|at| needs[*at].0).collect();
        let lacks = |at: usize| needs[kept[at]].1 - needs[kept[at]].0;
        let mut rest = width.saturating_sub(with_gaps(widths.iter().copied()));
        let mut order: Vec<usize> = (0..kept.len()).collect();
        order.sort_by_key(|at| lacks(*at));
        for at in order {
            let more = lacks(at).min(rest);
            widths[at] += more;
            rest -= more;
        }
        widths
    }

    /// The least width of each column, and that of its widest text.
    fn needs(&self) -> Vec<(u16, u16)> {
        let mut grid = Grid::new();
        grid.set_header(self.columns.iter().map(|column| column.title));
        for row in &self.rows {
            grid.add_row(row);
        }
        let contents = grid.column_max_content_widths();
        let need = |(column, whole): (&Column, u16)| match column.fit {
            Fit::Whole | Fit::Number => (whole, whole),
            Fit::Text(least) => (least.max(columns(column.title)).min(whole), whole),
        };
        self.columns.iter().zip(contents).map(need).collect()
    }
}

impl Fitted {
    /// What says which columns are left out, and which command shows them.
    fn note(&self, other: &str) -> Option<String> {
        let names = self.left_out.join(", ");
        let note = || format!("note: no room for {names}: see `{other}`, or widen the terminal");
        (!self.left_out.is_empty()).then(note)
    }
}

fn with_gaps(widths: impl Iterator<Item = u16>) -> u16 {
    widths.fold(0, |all: u16, width| all.saturating_add(width).saturating_add(GAP)).saturating_sub(GAP)
}

/// How many columns of a terminal a text takes, as comfy-table measures it.
fn columns(text: &str) -> u16 {
    let mut grid = Grid::new();
    grid.add_row([text]);
    grid.column_max_content_widths().first().copied().unwrap_or(0)
}

/// How wide the terminal is that standard output is.
pub(crate) fn width() -> u16 {
    let size = tcgetwinsize(std::io::stdout().as_fd());
    size.ok().map(|size| size.ws_col).filter(|columns| *columns > 0).unwrap_or(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(vec![
            Column { title: "name", fit: Fit::Text(8), spare: 0 },
            Column { title: "実行", fit: Fit::Number, spare: 2 },
            Column { title: "id", fit: Fit::Whole, spare: 0 },
            Column { title: "description", fit: Fit::Text(10), spare: 1 },
        ]);
        table.row(["average", "3", "dt_0123", "Takes the mean of numbers"].map(str::to_owned));
        table.row(
            ["kana-henkan", "1200", "dt_4567", "ひらがなをカタカナに変換します。ＡＢＣと絵文字👩‍👩‍👧も"].map(str::to_owned),
        );
        table.row(["odd", "", "dt_89ab", "two\nlines\tand \u{1b}[31mred\u{202e}"].map(str::to_owned));
        table
    }

    #[test]
    fn every_line_is_as_wide_as_the_others_and_fits() {
        for width in 30..140 {
            let fitted = table().fitted(width, TooLong::Cut);
            assert_eq!(fitted.lines.len(), 4, "{:?}", fitted.lines);
            let widths: Vec<u16> = fitted.lines.iter().map(|line| columns(line)).collect();
            assert!(widths.iter().all(|one| *one == widths[0] && *one <= width), "{width}: {:?}", fitted.lines);
        }
    }

    #[test]
    fn what_is_too_long_is_cut_or_wrapped() {
        let cut = table().fitted(44, TooLong::Cut);
        assert!(cut.left_out.is_empty());
        assert_eq!(cut.lines[1].trim_end(), "average         3  dt_0123  Takes the mean…");
        let wrapped = table().fitted(44, TooLong::Wrap);
        assert!(wrapped.lines.len() > 4 && wrapped.lines[2].trim() == "of numbers", "{:?}", wrapped.lines);
    }

    #[test]
    fn columns_without_room_are_left_out_and_named() {
        assert_eq!(table().fitted(30, TooLong::Cut).left_out, ["実行"]);
        assert_eq!(table().fitted(20, TooLong::Cut).left_out, ["実行", "description"]);
        assert!(table().fitted(140, TooLong::Cut).left_out.is_empty());
    }

    #[test]
    fn tabs_separate_columns_for_programs_and_nothing_is_cut() {
        let text = table().with_tabs();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "name\t実行\tid\tdescription");
        assert_eq!(lines[3], "odd\t\tdt_89ab\ttwo lines and \\u{1b}[31mred\\u{202e}");
        assert!(lines.iter().all(|line| line.matches('\t').count() == 3), "{text}");
    }
}
