//! The results as rows of text: what the terminal table and Markdown have in common.

use dyno_record::{ContenderRecord, Figure, Quantity};
use dyno_verdict::statistics::Ratio;
use dyno_verdict::{Cell, SummaryVerdict, TestVerdict, Verdict};

use super::figure::{Detail, figure, in_words, mark_of, marks, ratio_of};
use super::headings::{
    cache, cache_size, commit_size, has_stores, isolation, level_name, per_commit, ranks_by_commits,
    ranks_by_isolation, tuning,
};
use super::{measure, units};

/// A table of text. The first two columns name the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The header of each column; several lines where needed.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// The grid of some of the contenders, given by their places among those shown.
pub fn results(verdict: &Verdict, places: &[usize], detail: Detail) -> Grid {
    let shown: Vec<(usize, &ContenderRecord)> = verdict.shown_contenders().collect();
    let baseline = verdict.baseline;
    let mut header = vec![String::new(), "test".to_owned()];
    for &place in places {
        let (index, contender) = shown[place];
        let isolation = verdict.isolation(index).map(|isolation| isolation.name().to_owned());
        let commits = verdict.commits(index).map(commit_size);
        let cache = cache_size(verdict, contender);
        let tuning = tuning(verdict, contender);
        let lines =
            [Some(contender.label.clone()), Some(level_name(contender)), isolation, commits, tuning, cache];
        header.push(lines.into_iter().flatten().collect::<Vec<_>>().join("\n"));
        if index != baseline {
            header.push("ratio\n".to_owned());
        }
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for test in &verdict.tests {
        for (nth, (quantity, cells)) in
            test.lines().filter(|(quantity, cells)| has_some(quantity, cells)).enumerate()
        {
            let mut row = match nth {
                0 => vec![test.id.clone(), test.title.clone()],
                _ => vec![String::new(), quantity.to_string()],
            };
            for cell in places.iter().map(|&place| &cells[place]) {
                row.push(figure(quantity, cell));
                if cell.contender != baseline {
                    row.push(ratio_of(quantity, cell, detail));
                }
            }
            rows.push(row);
        }
    }
    if verdict.summaries.iter().any(|summary| summary.geometric_mean.is_some()) {
        rows.push(summary_row(verdict, places, baseline, detail));
    }
    Grid { header, rows }
}

/// False for an event that occurred in no contender's section.
fn has_some(quantity: &Quantity, cells: &[Cell]) -> bool {
    let occurred = |cell: &Cell| cell.figures.summary.is_some_and(|summary| summary.max > 0.0);
    quantity.scatters() || cells.iter().any(occurred)
}

/// The cells of all quantities of all tests.
pub fn cells(verdict: &Verdict) -> impl Iterator<Item = &Cell> {
    verdict.tests.iter().flat_map(TestVerdict::lines).flat_map(|(_, cells)| cells)
}

/// One test with a row for each contender, which has room for everything that is known of its time.
pub fn one_test(verdict: &Verdict, test: usize) -> Grid {
    let judged = &verdict.tests[test];
    let amount = judged.amount.as_ref();
    let title = format!("{} {}", judged.id, judged.title);
    let mut header = ["", &title, "survives"].map(String::from).to_vec();
    let ranks_by_isolation = ranks_by_isolation(verdict);
    header.extend(ranks_by_isolation.then(|| "isolation".to_owned()));
    header.extend(ranks_by_commits(verdict).then(|| COMMIT.to_owned()));
    let has_caches = has_stores(verdict);
    header.extend(has_caches.then(|| ["tuning", "cache"].map(String::from)).into_iter().flatten());
    header.extend(["median", "min", "max"].map(String::from));
    if let Some(amount) = amount {
        header.extend([format!("{}/s", amount.unit), "bytes/s".into()]);
    }
    header.push("ratio".into());
    header.extend(judged.further().map(|measure| measure.quantity.to_string()));
    let shown = verdict.shown_contenders().zip(&judged.cells).enumerate();
    let rows = shown.map(|(place, ((index, contender), cell))| {
        let mut row = vec![String::new(), contender.label.clone(), level_name(contender)];
        row.extend(ranks_by_isolation.then(|| isolation(verdict, index)));
        row.extend(ranks_by_commits(verdict).then(|| per_commit(verdict, index)));
        if has_caches {
            row.push(tuning(verdict, contender).unwrap_or_default());
            row.push(cache(contender).unwrap_or_default());
        }
        match &cell.figures.summary {
            None => row.extend([figure(&judged.quantity, cell), String::new(), String::new()]),
            Some(summary) => {
                let spread = summary
                    .spread
                    .map(|spread| format!(" ± {}", units::duration(spread)))
                    .unwrap_or_default();
                row.push(format!("{}{spread}{}", units::duration(summary.median), marks(cell)));
                row.extend([summary.min, summary.max].map(units::duration));
            }
        }
        if let Some(amount) = amount {
            let seconds =
                cell.figures.summary.map(|summary| measure::seconds(summary.median)).filter(|&s| s > 0.0);
            row.push(seconds.map(|s| units::rate(amount.count as f64 / s)).unwrap_or_default());
            row.push(seconds.map(|s| units::throughput(amount.bytes as f64 / s)).unwrap_or_default());
        }
        row.push(if index == verdict.baseline {
            "1".into()
        } else {
            ratio_of(&judged.quantity, cell, Detail::Interval)
        });
        row.extend(judged.further().map(|measure| figure(&measure.quantity, &measure.cells[place])));
        row
    });
    Grid { header, rows: rows.collect() }
}

/// The column of commit sizes.
const COMMIT: &str = "commit";

/// The geometric mean of every contender's ratios, a row each; `None` without means.
pub fn means(verdict: &Verdict) -> Option<Grid> {
    let tests = verdict.summaries.first().map_or(0, |summary| summary.tests);
    let rates = shows_rates(verdict);
    let mean = |summary: &SummaryVerdict| {
        Some(mean_of(summary, summary.geometric_mean.as_ref()?, Detail::Interval, rates))
    };
    verdict.summaries.iter().find_map(mean)?;
    let mut header = ["", &mean_title(tests), "survives"].map(String::from).to_vec();
    header.extend(ranks_by_commits(verdict).then(|| COMMIT.to_owned()));
    header.push("ratio".to_owned());
    let rows = verdict.shown_contenders().zip(&verdict.summaries).map(|((index, contender), summary)| {
        let none = if index == verdict.baseline { "1" } else { "–" };
        let ratio = mean(summary).unwrap_or_else(|| none.to_owned());
        let mut row = vec![String::new(), contender.label.clone(), level_name(contender)];
        row.extend(ranks_by_commits(verdict).then(|| per_commit(verdict, index)));
        row.push(ratio);
        row
    });
    Some(Grid { header, rows: rows.collect() })
}

fn mean_title(tests: usize) -> String {
    format!("geometric mean, {tests} test{}", if tests == 1 { "" } else { "s" })
}

/// True if the figures of a suite are rates.
pub fn shows_rates(verdict: &Verdict) -> bool {
    verdict.about.suite.figure == Figure::Rate
}

fn mean_of(summary: &SummaryVerdict, ratio: &Ratio, detail: Detail, rates: bool) -> String {
    let unequal = if summary.same_level { "" } else { " ‡" };
    format!("{}{}{unequal}", in_words(ratio, detail, rates), mark_of(summary.difference))
}

fn summary_row(verdict: &Verdict, places: &[usize], baseline: usize, detail: Detail) -> Vec<String> {
    let tests = verdict.summaries.first().map_or(0, |summary| summary.tests);
    let mut row = vec![String::new(), mean_title(tests)];
    for &place in places {
        let summary = &verdict.summaries[place];
        row.push(String::new());
        if summary.contender != baseline {
            let mean = summary.geometric_mean.as_ref();
            let rates = shows_rates(verdict);
            row.push(mean.map_or("–".into(), |ratio| mean_of(summary, ratio, detail, rates)));
        }
    }
    row
}
