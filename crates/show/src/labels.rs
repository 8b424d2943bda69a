//! Labels of contenders in the header of a table, in lines of a few letters.

use super::grid::Grid;

/// The length at which a label in a header continues on the next line.
pub(crate) const LABEL: usize = 22;

/// A table with the labels of its header in lines of a few letters, broken where their parts begin.
pub(crate) fn fold_labels(mut grid: Grid, longest: usize) -> Grid {
    for name in grid.header.iter_mut().skip(2) {
        *name = name.lines().map(|line| fold(line, longest)).collect::<Vec<_>>().join("\n");
        // An empty second line keeps the width of a ratio's header.
        if name == "ratio" {
            name.push('\n');
        }
    }
    grid
}

/// A line as several, broken where its parts begin.
pub(crate) fn fold(line: &str, longest: usize) -> String {
    let mut lines = vec![String::new()];
    for part in line.split_inclusive(['/', ',', ':', '@', '-', '.', ' ', '+']) {
        let last = lines.len() - 1;
        if !lines[last].is_empty()
            && lines[last].chars().count().saturating_add(part.chars().count()) > longest
        {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        lines[last].push_str(part);
    }
    lines.join("\n")
}
