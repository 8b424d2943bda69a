//! Texts in CSV that no spreadsheet takes for a formula and no terminal for a command: a run file may come from a stranger.

use std::borrow::Cow;

use crate::safe;

/// With these a spreadsheet begins a formula, or skips white space to one.
const BEGINNINGS: [char; 5] = ['=', '+', '-', '@', '\t'];

/// A text with an apostrophe before it where a spreadsheet would work it out, and with its control characters spelled
/// out. It is for texts only: a number may begin with a sign.
pub fn without_formula(text: &str) -> Cow<'_, str> {
    let text = safe(text);
    match text.starts_with(BEGINNINGS) {
        true => Cow::Owned(format!("'{text}")),
        false => text,
    }
}

/// CSV in which no text begins a formula.
///
/// # Errors
/// It is no CSV.
pub fn without_formulas(text: &[u8]) -> csv::Result<Vec<u8>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text);
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in reader.records() {
        let record = record?;
        let is_number = |cell: &str| cell.parse::<f64>().is_ok();
        let cells = record
            .iter()
            .map(|cell| if is_number(cell) { Cow::Borrowed(cell) } else { without_formula(cell) });
        writer.write_record(cells.map(Cow::into_owned))?;
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_a_formula_is_defused_and_nothing_else_is_changed() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"] {
            assert_eq!(without_formula(formula), format!("'{formula}"));
        }
        for text in ["", "sqlite:memory", "a=1", "'=1"] {
            assert_eq!(without_formula(text), text);
        }
        assert_eq!(without_formula("\r=1"), "\\r=1");
        assert_eq!(without_formula("=\u{1b}]0;x\u{7}"), "'=\\u{1b}]0;x\\u{7}");
        let text = b"title,n\n=1+1,-5\n\"@a,\"\"b\",-0.5\n";
        let safe = String::from_utf8(without_formulas(text).unwrap()).unwrap();
        assert_eq!(safe, "title,n\n'=1+1,-5\n\"'@a,\"\"b\",-0.5\n");
    }
}
