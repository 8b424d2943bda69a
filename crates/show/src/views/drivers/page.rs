//! Each engine's drivers against its own C interface.

use dyno_verdict::{JointVerdict, Verdict};

use crate::views::against::{AgainstWords, pages};
use crate::views::parts::View;

const WORDS: AgainstWords = AgainstWords {
    anchor: "drivers",
    title: |reference| format!("What the drivers of {reference} cost"),
    shared: "settings",
};

/// A view for each engine of which several drivers ran with the same settings.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    pages(verdict, &verdict.views.drivers, &WORDS)
}
