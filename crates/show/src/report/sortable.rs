//! A figure in a table of the page.

use dyno_record::Quantity;
use serde::Serialize;

use crate::measure;

/// The text of a figure, and the number by which its column is sorted; none for a figure that is missing.
#[derive(Debug, Serialize)]
pub(super) struct Sortable {
    pub text: String,
    pub number: Option<f64>,
}

impl Sortable {
    /// A number and the text that says it, or a dash where it is missing.
    pub(super) fn new(number: Option<f64>, text: impl Fn(f64) -> String) -> Sortable {
        Sortable { text: number.map_or_else(|| "–".to_owned(), text), number }
    }

    /// The figure for a number that is judged.
    pub(super) fn of(quantity: &Quantity, judged: Option<f64>) -> Sortable {
        Sortable {
            number: judged.map(|judged| quantity.figure(judged)),
            ..Sortable::new(judged, |judged| measure::text(quantity, judged))
        }
    }
}
