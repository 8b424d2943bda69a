//! Grids as aligned text.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::grid::Grid;
use crate::layout::{cut, width as limit};

/// The shorter length, for when it saves a second table.
pub(crate) const SHORT_TITLE: usize = 24;

/// Tables that fit and together hold all columns of a grid; each repeats the first two.
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
        if columns.len() > 3 && width(&pick(&columns)) > limit() {
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
        row[1] = cut(&row[1], longest);
    }
    grid
}

/// The width of a text: that of its longest line, in characters.
pub(crate) fn width(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}
