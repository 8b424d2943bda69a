//! The probes as a table of the page.

use dyno_verdict::{JointVerdict, Probed, Verdict};

use super::table;
use crate::report::charts::Figure;
use crate::views::parts::View;

/// The view of a run whose contenders were probed.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    if verdict.views.probes.is_empty() {
        return Vec::new();
    }
    let header = [String::new(), "contender".into()].into_iter().chain(table::columns());
    vec![View {
        anchor: "isolation".into(),
        title: "What transactions see of one another".into(),
        text: "Before the first trial, four clients ran small transactions that recorded what they read. The table says how \
               many of them saw an anomaly, or lost their change by it. A ✗ marks an anomaly that the contender's isolation \
               level forbids: dyno does not rank the contender. An anomaly that was not seen may still happen."
            .into(),
        choices: Vec::new(),
        figure: Figure::none(),
        details: "Probes",
        header: header.collect(),
        rows: table::rows(verdict),
        notes: verdict.views.probes.iter().flat_map(|probed| anomaly_notes(verdict, probed)).collect(),
    }]
}

/// A note for each anomaly that was seen, with the contender, the anomaly, and the transactions that show it, and for each
/// probe that failed.
fn anomaly_notes(verdict: &Verdict, probed: &Probed) -> Vec<String> {
    let label = verdict.label(probed.contender);
    let seen = probed.probes.iter().flat_map(|probe| &probe.seen);
    let seen = seen.map(|seen| format!("{label}, {}: {}.", seen.anomaly.name(), seen.shows));
    seen.chain(table::failures(label, probed)).collect()
}
