//! The functions of two builds, as blocks below their files.

use std::collections::BTreeMap;

use dyno_verdict::{ComparedFunctions, FunctionComparison, JointVerdict, Verdict};

use super::table;
use crate::grid::Grid;
use crate::report::charts::{Chart, Figure, FunctionBlock, TestLines};
use crate::views::parts::View;

/// The block of all functions that are in no other block.
const OTHERS: &str = "all others";
/// About how many rows of other charts this one is high.
const LINES: usize = 4;

/// A section for each two builds.
pub fn page(verdict: &Verdict, _beside: &JointVerdict) -> Vec<View> {
    let comparisons = verdict.views.functions.iter().enumerate();
    comparisons.map(|(place, comparison)| section(verdict, place, comparison)).collect()
}

fn section(verdict: &Verdict, place: usize, comparison: &FunctionComparison) -> View {
    let [over, label] = [comparison.over, comparison.contender].map(|place| verdict.label(place));
    let name = |compared: &ComparedFunctions| match &compared.test {
        None => "All tests together".to_owned(),
        Some(test) => format!("{test} {}", verdict.test(test).map_or("", |test| &test.title)),
    };
    let series = comparison
        .tests
        .iter()
        .map(|compared| TestLines { name: name(compared), rows: blocks(compared) })
        .collect::<Vec<_>>();
    let tests: Vec<&ComparedFunctions> = comparison.tests.iter().collect();
    let Grid { header, rows } = table::functions(verdict, comparison, &tests);
    View {
        anchor: if place == 0 { "functions".into() } else { format!("functions-{}", place + 1) },
        // Without the label, which may be wider than a narrow window.
        title: if place == 0 { "Functions".into() } else { format!("Functions ({})", place + 1) },
        text: format!(
            "The instructions of each function of {label} over those of {over}: what was gained and lost, and where. A \
             function has its own instructions, without those of functions that it called."
        ),
        choices: series.iter().map(|series| series.name.clone()).collect(),
        figure: Figure::new(
            format!(
                "Instructions of each function of {label} and of {over}. The table below has the figures."
            ),
            "The upper blocks are files, the lower ones their functions; who called them is not shown. A block is as wide as \
             the larger one of both counts. Orange: it gained instructions; blue: it lost some; the darker, the more; grey: \
             it has as many as before.",
            LINES,
            &Chart::Functions { series },
        ),
        details: "Functions",
        header,
        rows,
        notes: table::notes(verdict),
    }
}

/// The blocks of a test: the widest file first, and in it the widest function; all others are the last.
fn blocks(compared: &ComparedFunctions) -> Vec<FunctionBlock> {
    let block = |file: &str, label: String, before: f64, now: f64| FunctionBlock {
        file: file.to_owned(),
        text: table::signed(now - before),
        label,
        before,
        now,
    };
    let width = |block: &FunctionBlock| block.before.max(block.now);
    let mut blocks: Vec<FunctionBlock> = compared
        .functions
        .iter()
        .map(|change| {
            block(table::file_in_words(&change.file), table::name(change), change.before, change.now)
        })
        .collect();
    let mut files: BTreeMap<String, f64> = BTreeMap::new();
    for block in &blocks {
        *files.entry(block.file.clone()).or_default() += width(block);
    }
    let of_file = |block: &FunctionBlock| files.get(&block.file).copied().unwrap_or_default();
    blocks.sort_by(|one, other| {
        let by_file = of_file(other).total_cmp(&of_file(one)).then_with(|| one.file.cmp(&other.file));
        by_file.then_with(|| width(other).total_cmp(&width(one)))
    });
    let (before, now) = compared.besides(compared.functions.iter());
    if before.max(now) >= 1.0 {
        blocks.push(block(OTHERS, OTHERS.to_owned(), before.max(0.0), now.max(0.0)));
    }
    blocks
}
