//! The table for the terminal, readable in 100 columns.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use dyno_verdict::Verdict;

use super::grid::{self, Detail, Grid};
use super::views::{self, ladder::table as ladder};
use super::{WIDTH, notes};

/// Where a test's title is cut.
const TITLE: usize = 36;
/// Where it may be cut if that saves a second table.
pub(crate) const SHORT_TITLE: usize = 24;

/// What a table shows beside its figures.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableOptions {
    /// The notes that most readers do not need.
    pub notes: bool,
    /// Published figures beside today's.
    pub published: bool,
    /// What each test used beside time.
    pub costs: bool,
    /// How much more time each driver of an engine takes than its lowest-level one.
    pub tax: bool,
}

/// Heading, tables and notes.
pub fn render(verdict: &Verdict, options: TableOptions) -> String {
    let mut parts = vec![notes::paragraph(&notes::heading(verdict))];
    parts.extend(ladder::tables(verdict, options));
    let is_shown = ladder::shows_all(verdict);
    if !is_shown {
        parts.extend(tables(verdict));
    }
    parts.extend(views::tables(verdict, options));
    if !is_shown {
        parts.push(notes::paragraph(&notes::legend(verdict, options.notes)));
    }
    parts.join("\n\n") + "\n"
}

/// How many contenders stand beside each other at most; with more, each test gets a table of its own.
const IN_A_ROW: usize = 5;

/// A table of contenders for each test, and one of the geometric means.
fn by_test(verdict: &Verdict) -> Vec<String> {
    let mut tables: Vec<String> = (0..verdict.tests.len())
        .map(|test| fitting(cut_titles(grid::one_test(verdict, test), TITLE)))
        .collect();
    tables.extend(grid::means(verdict).map(|grid| plain(&grid)));
    tables
}

/// A test's table, without the columns that can be missed where it would be too wide.
fn fitting(mut grid: Grid) -> String {
    for missed in ["bytes/s", "min", "max"] {
        let text = plain(&grid);
        if width(&text) <= WIDTH {
            return text;
        }
        if let Some(column) = grid.header.iter().position(|name| name == missed) {
            grid.header.remove(column);
            grid.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
    plain(&grid)
}

/// One table where everything fits; else without intervals; else as many as are needed.
fn tables(verdict: &Verdict) -> Vec<String> {
    let places: Vec<usize> = (0..verdict.shown_contenders().count()).collect();
    if places.len() > IN_A_ROW {
        return by_test(verdict);
    }
    for (detail, title) in
        [(Detail::Interval, TITLE), (Detail::Interval, SHORT_TITLE), (Detail::Ratio, TITLE)]
    {
        let text = plain(&cut_titles(grid::results(verdict, &places, detail), title));
        if width(&text) <= WIDTH {
            return vec![text];
        }
    }
    let mut tables = Vec::new();
    let mut group: Vec<usize> = Vec::new();
    let draw =
        |group: &[usize]| plain(&cut_titles(grid::results(verdict, group, Detail::Ratio), SHORT_TITLE));
    for place in places {
        group.push(place);
        if group.len() > 1 && width(&draw(&group)) > WIDTH {
            group.pop();
            tables.push(draw(&group));
            group = vec![place];
        }
    }
    tables.push(draw(&group));
    tables
}

/// Tables of at most 100 columns that together hold all columns of a grid; each repeats the first two.
pub(crate) fn chunks(grid: &Grid) -> Vec<String> {
    let pick = |columns: &[usize]| {
        let choose = |row: &Vec<String>| columns.iter().map(|&column| row[column].clone()).collect();
        let grid = Grid { header: choose(&grid.header), rows: grid.rows.iter().map(choose).collect() };
        plain(&cut_titles(grid, SHORT_TITLE))
    };
    let mut texts = Vec::new();
    let mut columns = vec![0, 1];
    for column in 2..grid.header.len() {
        columns.push(column);
        if columns.len() > 3 && width(&pick(&columns)) > WIDTH {
            columns.pop();
            texts.push(pick(&columns));
            columns = vec![0, 1, column];
        }
    }
    texts.push(pick(&columns));
    texts
}

/// A grid as aligned text: the first two columns to the left, figures to the right.
pub fn plain(grid: &Grid) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(&grid.header);
    table.add_rows(&grid.rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        let left = if index == 0 { 0 } else { 1 };
        column.set_padding((left, 1));
        if index >= 2 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// The same with titles of a few letters at most.
pub(crate) fn cut_titles(mut grid: Grid, longest: usize) -> Grid {
    for row in &mut grid.rows {
        if row[1].chars().count() > longest {
            row[1] = row[1].chars().take(longest - 1).chain(['…']).collect();
        }
    }
    grid
}

fn width(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}
