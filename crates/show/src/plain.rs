//! Grids as aligned text.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::grid::Grid;
use crate::labels::fold;
use crate::layout::{cut, width as limit, wrapped};

/// The shorter length, for when it saves a second table.
pub(crate) const SHORT_TITLE: usize = 24;

/// A grid as aligned text, readable in the width of the terminal: one that is wider becomes several tables, each of which
/// repeats the first two columns.
pub fn plain(grid: &Grid) -> String {
    pieces(grid, usize::MAX).join("\n\n")
}

/// The same with texts in the second column, which are cut where that saves a table.
pub(crate) fn with_texts(grid: &Grid) -> String {
    pieces(grid, SHORT_TITLE).join("\n\n")
}

/// Tables that fit and together hold all columns of a grid. What stands in the second column is cut to no less than
/// `shortest` letters.
fn pieces(grid: &Grid, shortest: usize) -> Vec<String> {
    if let Some(text) = fitting(grid, shortest) {
        return vec![text];
    }
    let mut grid = grid.clone();
    if shortest == usize::MAX {
        fold_names(&mut grid, limit() / 2);
    }
    let above = title_above(&mut grid);
    let mut texts = Vec::new();
    let mut columns: Vec<usize> = (0..grid.header.len().min(3)).collect();
    for column in columns.len()..grid.header.len() {
        columns.push(column);
        if fitting(&pick(&grid, &columns), shortest).is_none() {
            columns.pop();
            texts.push(columns);
            columns = vec![0, 1, column];
        }
    }
    texts.push(columns);
    let draw = |columns: &Vec<usize>| {
        let picked = pick(&grid, columns);
        fitting(&picked, shortest).unwrap_or_else(|| aligned(&cut_titles(picked, shortest)))
    };
    let texts = texts.iter().map(draw);
    texts.enumerate().map(|(nth, text)| if nth == 0 { format!("{above}{text}") } else { text }).collect()
}

/// A grid as text, its second column cut to what is left for it; `None` if that is less than `shortest` letters.
fn fitting(grid: &Grid, shortest: usize) -> Option<String> {
    let text = aligned(grid);
    let over = width(&text).saturating_sub(limit());
    if over == 0 {
        return Some(text);
    }
    let left = longest_title(grid).saturating_sub(over);
    let text = aligned(&cut_titles(grid.clone(), left));
    (left >= shortest && width(&text) <= limit()).then_some(text)
}

/// Long names in the second column continue on further lines.
fn fold_names(grid: &mut Grid, longest: usize) {
    for row in &mut grid.rows {
        row[1] = fold(&row[1], longest);
    }
}

/// Takes the title of a table, which stands over the second column, if it is what makes that column wide: a line for it.
fn title_above(grid: &mut Grid) -> String {
    if grid.header[1].chars().count() <= longest_title(grid) {
        return String::new();
    }
    wrapped(&std::mem::take(&mut grid.header[1]), "    ", "    ") + "\n"
}

/// The letters of the longest text in the second column, without its header.
pub(crate) fn longest_title(grid: &Grid) -> usize {
    grid.rows.iter().map(|row| width(&row[1])).max().unwrap_or(0)
}

fn pick(grid: &Grid, columns: &[usize]) -> Grid {
    let choose = |row: &Vec<String>| columns.iter().map(|&column| row[column].clone()).collect();
    Grid { header: choose(&grid.header), rows: grid.rows.iter().map(choose).collect() }
}

/// A grid as text, however wide: the first two columns to the left, figures to the right.
pub(crate) fn aligned(grid: &Grid) -> String {
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
        row[1] = cut(&row[1], longest);
    }
    grid
}

/// The width of a text: that of its longest line, in characters.
pub(crate) fn width(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["postgres/sqlalchemy:serializable", "sqlite:wal"];

    /// A grid of two contenders and as many figures of nine letters as `columns`.
    fn grid(title: &str, names: [&str; 2], columns: usize) -> Grid {
        let figures = |row: usize| (0..columns).map(move |column| format!("{row}{column:02}.00 ms"));
        let header = [String::new(), title.to_owned()].into_iter();
        let rows = names.iter().enumerate().map(|(row, name)| {
            ["1".to_owned(), (*name).to_owned()].into_iter().chain(figures(row)).collect()
        });
        let heads = (0..columns).map(|column| format!("p{column}"));
        Grid { header: header.chain(heads).collect(), rows: rows.collect() }
    }

    #[test]
    fn a_grid_that_is_too_wide_becomes_tables_that_fit_and_name_every_row() {
        assert!(!plain(&grid("latency", NAMES, 4)).contains("\n\n"));
        let text = plain(&grid("latency", NAMES, 14));
        assert!(text.contains("\n\n") && width(&text) <= limit(), "{text}");
        let tables: Vec<&str> = text.split("\n\n").collect();
        for name in NAMES {
            assert!(tables.iter().all(|table| table.contains(name)), "{text}");
        }
        for (row, column) in (0..2).flat_map(|row| (0..14).map(move |column| (row, column))) {
            assert_eq!(text.matches(&format!("{row}{column:02}.00 ms")).count(), 1, "{text}");
        }
    }

    #[test]
    fn a_long_title_stands_above_its_table() {
        let title = "a1: what insert, update, delete and the index that comes after them all put off";
        let text = plain(&grid(title, NAMES, 4));
        assert!(text.starts_with(&format!("    {title}\n")), "{text}");
        assert!(width(&text) <= limit() && !text.contains("\n\n"), "{text}");
    }

    #[test]
    fn a_name_as_wide_as_the_terminal_continues_on_the_next_line() {
        let setting = ",synchronous=OFF,journal_mode=MEMORY,index=last,cache_size=20000,temp_store=MEMORY,page_size=65536";
        let text = plain(&grid("over sqlite", [&format!("sqlite/c+nocopy{setting}"), "sqlite:wal"], 9));
        assert!(width(&text) <= limit(), "{text}");
        assert!(text.contains("page_size=65536") && text.matches("000.00 ms").count() == 1, "{text}");
    }

    #[test]
    fn texts_are_cut_no_more_than_they_must_be() {
        let long = "SELECT a, b, c FROM t1 WHERE a = ? AND b > ? ORDER BY c";
        let text = with_texts(&grid("statement", [long, "DROP TABLE"], 6));
        assert_eq!((width(&text), text.contains("\n\n")), (limit(), false), "{text}");
        assert!(text.contains("SELECT a, b, c FROM t1") && text.contains('…'), "{text}");
        assert_eq!(with_texts(&grid("statement", [long, "DROP TABLE"], 2)).matches('…').count(), 0);
    }
}
