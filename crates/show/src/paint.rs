//! Colours of a terminal: the winner green, what is open yellow, what is wrong red, and notes grey.
//!
//! Text is laid out without colours and painted afterwards, so that colours cannot move a column.

const BOLD: &str = "1";
const GREY: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";

/// A part of what a table's command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TablePart {
    /// The suite and the conditions of the run.
    Heading,
    /// The answer that the samples give.
    Answer,
    /// Rows of figures.
    Table,
    /// The meaning of marks, and everything that went wrong.
    Notes,
}

/// A part in colours.
pub fn paint(part: TablePart, text: &str) -> String {
    match part {
        TablePart::Heading => text.to_owned(),
        TablePart::Answer => lines(text, |line| coloured(BOLD, line)),
        TablePart::Table => lines(text, row),
        TablePart::Notes => notes(text),
    }
}

fn lines(text: &str, paint: impl FnMut(&str) -> String) -> String {
    text.lines().map(paint).collect::<Vec<_>>().join("\n")
}

fn coloured(code: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\u{1b}[{code}m{text}\u{1b}[0m") }
}

/// Notes in grey, but for those about failures.
fn notes(text: &str) -> String {
    let mut code = GREY;
    lines(text, |line| {
        // A line that is set in belongs to the one above.
        if !line.starts_with(' ') {
            let is_bad = ["Wrong:", "Failed:", "Not encrypted:"].iter().any(|word| line.starts_with(word));
            code = if is_bad {
                RED
            } else if line.starts_with("Disturbed:") {
                YELLOW
            } else {
                GREY
            };
        }
        coloured(code, line)
    })
}

/// A row whose cells, which two blanks or more keep apart, have the colours of their marks.
fn row(line: &str) -> String {
    let mut painted = String::new();
    let mut rest = line;
    while let Some(begin) = rest.find(|letter| letter != ' ') {
        painted.push_str(&rest[..begin]);
        rest = &rest[begin..];
        let end = rest.find("  ").unwrap_or(rest.len());
        let cell = &rest[..end];
        painted.push_str(&colour_of(cell).map_or_else(|| cell.to_owned(), |code| coloured(code, cell)));
        rest = &rest[end..];
    }
    painted + rest
}

fn colour_of(cell: &str) -> Option<&'static str> {
    let is_bad = cell.ends_with('✗') || ["failed", "wrong", "not encrypted", "not isolated"].contains(&cell);
    match cell {
        _ if is_bad => Some(RED),
        _ if cell.ends_with(" *") => Some(GREEN),
        _ if cell.ends_with(" ≈") || cell.ends_with(" ?") => Some(YELLOW),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_the_colours_of_their_marks() {
        let painted = paint(TablePart::Table, "1  A title     2.0 ms ±1% *   1.00× ≈  failed");
        assert_eq!(
            painted,
            "1  A title     \u{1b}[32m2.0 ms ±1% *\u{1b}[0m   \u{1b}[33m1.00× ≈\u{1b}[0m  \u{1b}[31mfailed\u{1b}[0m"
        );
        let notes = paint(TablePart::Notes, "* fastest\nFailed: 1\n  of 2");
        assert_eq!(
            notes,
            "\u{1b}[2m* fastest\u{1b}[0m\n\u{1b}[31mFailed: 1\u{1b}[0m\n\u{1b}[31m  of 2\u{1b}[0m"
        );
    }
}
