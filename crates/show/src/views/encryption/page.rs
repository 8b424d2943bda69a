//! The cost of encryption: contenders that encrypt over the same engine without encryption, in percent, and the evidence
//! in their files.

use dyno_verdict::{Against, JointVerdict, Verdict};

use super::proofs::proofs;
use crate::report::charts::{self, Figure, RatioRow, grouped};
use crate::report::words;
use crate::views::against::table;
use crate::views::parts::View;

/// The view of a run in which an engine takes part with encryption and without.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let overheads = &verdict.views.overheads;
    if overheads.is_empty() {
        return Vec::new();
    }
    let label = |index: usize| verdict.label(index);
    let mut plain: Vec<usize> = Vec::new();
    for overhead in overheads {
        if !plain.contains(&overhead.over) {
            plain.push(overhead.over);
        }
    }
    let heads: Vec<String> = plain.iter().map(|&over| format!("Over {}", label(over))).collect();
    let groups = plain.iter().zip(&heads).map(|(&over, head)| {
        let of_engine = overheads.iter().filter(|overhead| overhead.over == over);
        (head.as_str(), of_engine.filter_map(|overhead| row(verdict, overhead)).collect::<Vec<_>>())
    });
    let rows = grouped(groups.collect(), true);
    let spoken: Vec<String> = overheads
        .iter()
        .filter_map(|overhead| {
            let mean = overhead.geometric_mean.as_ref()?;
            Some(format!("{}: {}", label(overhead.contender), words::marked_change(mean)))
        })
        .collect();
    let mut header = vec![String::new(), "test".to_owned()];
    header.extend(
        overheads
            .iter()
            .map(|overhead| format!("{} over {}", marked(verdict, overhead), label(overhead.over))),
    );
    vec![View {
        anchor: "encryption".into(),
        title: "What encryption costs: more time than unencrypted".into(),
        text: "Each contender that encrypts is compared with the same engine and driver unencrypted, at the same safety \
               where there is one; ‡ marks those without an equal: a part of what they cost is not the price \
               of encryption. The chart shows the geometric mean over the tests that both passed, without opening: a key is derived \
               once, and that is slow on purpose. A mean mixes unlike tests, so look at each of them in the table. ≈ marks what is close: the interval excludes \
               changes beyond the run's margin. ? marks what the trials do not show: the interval includes no change, or it may be \
               chance among all comparisons of the table."
            .into(),
        choices: Vec::new(),
        figure: Figure::new(
            format!("Time compared with no encryption. {}", spoken.join("; ")),
            "More time than without encryption, with its 95% interval; further to the left is faster.",
            rows.len(),
            &charts::ratios(rows, true),
        ),
        details: "Each test",
        header,
        rows: table(verdict, overheads.iter()),
        notes: proofs(verdict),
    }]
}

fn row(verdict: &Verdict, overhead: &Against) -> Option<RatioRow> {
    let colour = charts::colour(verdict, overhead.contender);
    let mut row =
        charts::ratio_row(&marked(verdict, overhead), colour, &overhead.geometric_mean.as_ref()?.ratio, true);
    row.text = words::marked_change(overhead.geometric_mean.as_ref()?);
    Some(row)
}

/// The label of a contender, marked where it is not as safe as the one without encryption.
fn marked(verdict: &Verdict, overhead: &Against) -> String {
    let mark = if overhead.same_level { "" } else { " ‡" };
    format!("{}{mark}", verdict.label(overhead.contender))
}
