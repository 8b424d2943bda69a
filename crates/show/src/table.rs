//! The table for the terminal, readable in its width.

use dyno_verdict::Verdict;

use super::figure::Detail;
use super::grid::{self, Grid};
use super::labels::{LABEL, fold_labels};
use super::layout::width as limit;
use super::notes;
use super::paint::TablePart;
use super::plain::{SHORT_TITLE, aligned, cut_titles, longest_title, plain, width};
use super::report::answer::answers;
use super::table_options::TableOptions;
use super::views::{self, ladder::table as ladder};

/// The length at which a test's title is cut.
const TITLE: usize = 36;
/// The shortest length, for narrow terminals.
const LEAST_TITLE: usize = 12;
/// The shortest length at which a label continues on the next line.
const LEAST_LABEL: usize = 12;

/// Heading, answer, tables and notes, each ready to be painted.
pub fn parts(verdict: &Verdict, options: TableOptions) -> Vec<(TablePart, String)> {
    let mut parts = vec![(TablePart::Heading, notes::paragraph(&notes::heading(verdict)))];
    if verdict.shown_contenders().count() > 1 {
        parts.push((TablePart::Answer, notes::paragraph(&answers(verdict))));
    }
    let table = |text: String| (TablePart::Table, text);
    parts.extend(ladder::tables(verdict, options).into_iter().map(table));
    let is_shown = ladder::shows_all(verdict);
    if !is_shown {
        parts.extend(tables(verdict).into_iter().map(table));
    }
    parts.extend(views::tables(verdict, options).into_iter().map(table));
    if !is_shown {
        parts.push((TablePart::Notes, notes::paragraph(&notes::legend(verdict, options.notes))));
    }
    parts
}

/// The same as one text.
pub fn render(verdict: &Verdict, options: TableOptions) -> String {
    let texts: Vec<String> = parts(verdict, options).into_iter().map(|(_, text)| text).collect();
    texts.join("\n\n") + "\n"
}

/// The number of contenders in a row at most; with more, each test gets a separate table.
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
        let text = aligned(&grid);
        if width(&text) <= limit() {
            return text;
        }
        if let Some(column) = grid.header.iter().position(|name| name == missed) {
            grid.header.remove(column);
            grid.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
    plain(&grid)
}

/// A way to draw a table: with intervals or without, titles and labels cut or whole.
struct Way {
    detail: Detail,
    title: usize,
    label: usize,
}

/// The ways in which a table is tried, the best first.
const WAYS: [Way; 10] = [
    Way { detail: Detail::Interval, title: usize::MAX, label: usize::MAX },
    Way { detail: Detail::Interval, title: TITLE, label: usize::MAX },
    Way { detail: Detail::Interval, title: SHORT_TITLE, label: usize::MAX },
    Way { detail: Detail::Interval, title: TITLE, label: LABEL },
    Way { detail: Detail::Interval, title: SHORT_TITLE, label: LABEL },
    Way { detail: Detail::Ratio, title: usize::MAX, label: usize::MAX },
    Way { detail: Detail::Ratio, title: TITLE, label: LABEL },
    Way { detail: Detail::Ratio, title: SHORT_TITLE, label: LABEL },
    Way { detail: Detail::Ratio, title: LEAST_TITLE, label: LABEL },
    Way { detail: Detail::Ratio, title: LEAST_TITLE, label: LEAST_LABEL },
];

impl Way {
    /// Titles have at least the letters of this way, and those for which there is room.
    fn draw(&self, verdict: &Verdict, places: &[usize]) -> String {
        let grid = fold_labels(grid::results(verdict, places, self.detail), self.label);
        let text = aligned(&cut_titles(grid.clone(), self.title));
        let room = limit().saturating_sub(width(&text));
        if room == 0 || longest_title(&grid) <= self.title {
            return text;
        }
        aligned(&cut_titles(grid, self.title.saturating_add(room)))
    }
}

/// A table of these contenders in the best way that fits.
fn fit(verdict: &Verdict, places: &[usize]) -> Option<String> {
    WAYS.iter().map(|way| way.draw(verdict, places)).find(|text| width(text) <= limit())
}

/// One table if everything fits; else the number that is needed.
fn tables(verdict: &Verdict) -> Vec<String> {
    let mut left: Vec<usize> = (0..verdict.shown_contenders().count()).collect();
    if left.len() > IN_A_ROW {
        return by_test(verdict);
    }
    let mut tables = Vec::new();
    while !left.is_empty() {
        let most = (1..=left.len()).rev().find_map(|count| Some((count, fit(verdict, &left[..count])?)));
        // A contender that fits in no way gets a table that is too wide.
        let (count, text) = most.unwrap_or_else(|| (1, WAYS[WAYS.len() - 1].draw(verdict, &left[..1])));
        tables.push(text);
        left.drain(..count);
    }
    tables
}
