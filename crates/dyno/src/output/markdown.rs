//! The results as Markdown, for a README or a pull request.

use super::grid::{self, Detail, Grid};
use super::table::NONE_PUBLISHED;
use super::{encryption, ladder, latency, notes, tax};
use crate::cli::ShowOptions;
use crate::record::Run;
use crate::verdict::Verdict;

/// Heading, table and notes.
pub fn render(run: &Run, verdict: &Verdict, options: &ShowOptions) -> String {
    let places: Vec<usize> = (0..run.shown_contenders().count()).collect();
    let mut parts = vec![list(&notes::heading(run))];
    parts.extend(verdict.ladders.iter().map(|rungs| table(&ladder::grid(run, verdict, rungs, false))));
    if !verdict.ladders.is_empty() {
        parts.push(list(&ladder::legend(run, verdict)));
    }
    let is_told = !verdict.ladders.is_empty() && !ladder::leaves_out(run, verdict);
    if !is_told {
        parts.push(table(&grid::results(run, verdict, &places, Detail::Interval)));
    }
    parts.extend(encryption::overhead(run, verdict).map(|grid| table(&grid)));
    if let Some(grid) = grid::published(run, verdict).filter(|_| options.published) {
        parts.push("Seconds, today's beside those published: other hardware, other versions.".into());
        parts.push(table(&grid));
        parts.push(list(&notes::published(run)));
    }
    if options.published && verdict.ladders.is_empty() && grid::published(run, verdict).is_none() {
        parts.push(NONE_PUBLISHED.into());
    }
    for place in (0..run.shown_contenders().count()).filter(|_| options.costs) {
        parts.push(table(&grid::costs(run, verdict, place)));
    }
    parts.extend(latency::grids(run).iter().map(table));
    if options.tax {
        parts.extend(tax::grids(run, verdict).iter().map(table));
    }
    if !is_told {
        parts.push(list(&notes::legend(run, verdict)));
    }
    parts.join("\n\n") + "\n"
}

/// Tables and the notes below them.
pub fn comparison(grids: &[Grid], legend: &[String]) -> String {
    let mut parts: Vec<String> = grids.iter().map(table).collect();
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

fn escape(text: &str) -> String {
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
