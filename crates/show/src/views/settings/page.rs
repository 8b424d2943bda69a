//! Each engine's settings against its own default ones.

use dyno_verdict::{JointVerdict, Verdict};

use crate::views::against::{AgainstWords, pages};
use crate::views::parts::View;

const WORDS: AgainstWords = AgainstWords {
    anchor: "settings",
    title: |reference| format!("What settings cost and buy: {reference}"),
    shared: "driver",
};

/// A view for each driver that ran with its engine's own settings and others.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    pages(verdict, &verdict.views.settings, &WORDS)
}
