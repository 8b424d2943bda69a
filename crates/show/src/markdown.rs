//! Tables as Markdown, and text that cannot become markup.

use super::grid::Grid;

/// The conclusions, the tables and the notes below them.
pub fn comparison(conclusions: &[String], grids: &[Grid], legend: &[String]) -> String {
    let first = (!conclusions.is_empty()).then(|| list(conclusions));
    let mut parts: Vec<String> = first.into_iter().chain(grids.iter().map(table)).collect();
    parts.push(list(legend));
    parts.join("\n\n") + "\n"
}

fn table(grid: &Grid) -> String {
    let line = |row: &[String]| {
        let cells: Vec<String> = row.iter().map(|cell| escape(cell.trim_end())).collect();
        format!("| {} |", cells.join(" | "))
    };
    let alignment: Vec<&str> =
        (0..grid.header.len()).map(|index| if index < 2 { "---" } else { "---:" }).collect();
    let mut lines = vec![line(&grid.header), format!("| {} |", alignment.join(" | "))];
    lines.extend(grid.rows.iter().map(|row| line(row)));
    lines.join("\n")
}

/// Each sentence as an item; what came from a suite or an engine cannot become markup.
fn list(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!("- {}", escape(sentence))).collect::<Vec<_>>().join("\n")
}

/// Text in which nothing is markup; a line break is one of HTML.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => escaped.push_str("<br>"),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => escaped.extend(['\\', letter]),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(escape("a|b <script> *x* [y](z)"), "a\\|b &lt;script> \\*x\\* \\[y\\](z)");
        let grid = Grid { header: vec!["a\nb".into(), "c".into()], rows: vec![vec!["1".into(), "2".into()]] };
        assert_eq!(table(&grid), "| a<br>b | c |\n| --- | --- |\n| 1 | 2 |");
    }
}
