//! The results as rows of text: what the terminal table and Markdown have in common.

use dyno_record::{Commits, ContenderRecord, Figure, OwnCache, Tuning};
use dyno_verdict::statistics::{Difference, Ratio};
use dyno_verdict::{
    AddedTime, Cell, CellStanding, Measure, MeasureLine, ResponseVerdict, SummaryVerdict, TestVerdict,
    Verdict,
};

use super::views::sustained::words;
use super::{measure, units};

/// A table of text. The first two columns name the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The header of each column; several lines where needed.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// The amount of detail in a contender's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Median, spread, ratio and its interval.
    Interval,
    /// Median, spread and ratio.
    Ratio,
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
    for (test, line) in lines(verdict) {
        let mut row = match line.response {
            None => vec![test.id.clone(), test.title.clone()],
            Some(response) => vec![String::new(), response.title()],
        };
        for &place in places {
            let cell = &line.cells[place];
            row.push(figure(line.measure, cell));
            if cell.contender != baseline {
                row.push(ratio_of(line.measure, cell, detail));
            }
        }
        rows.push(row);
    }
    if verdict.summaries.iter().any(|summary| summary.geometric_mean.is_some()) {
        rows.push(summary_row(verdict, places, baseline, detail));
    }
    Grid { header, rows }
}

/// Everything that is judged of the tests, test by test.
fn lines(verdict: &Verdict) -> impl Iterator<Item = (&TestVerdict, MeasureLine<'_>)> {
    verdict.tests.iter().flat_map(|test| test.lines().map(move |line| (test, line)))
}

/// The cells of all measures of all tests.
pub fn cells(verdict: &Verdict) -> impl Iterator<Item = &Cell> {
    lines(verdict).flat_map(|(_, line)| line.cells)
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
    header.extend(judged.responses.iter().map(ResponseVerdict::title));
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
            None => row.extend([figure(judged.measure(), cell), String::new(), String::new()]),
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
            let seconds = cell.figures.summary.map(|summary| summary.median / 1e9).filter(|&s| s > 0.0);
            row.push(seconds.map(|s| units::rate(amount.count as f64 / s)).unwrap_or_default());
            row.push(seconds.map(|s| units::throughput(amount.bytes as f64 / s)).unwrap_or_default());
        }
        row.push(if index == verdict.baseline {
            "1".into()
        } else {
            ratio_of(judged.measure(), cell, Detail::Interval)
        });
        let responses = judged.responses.iter().map(|response| &response.cells[place]);
        row.extend(responses.map(|cell| figure(Measure::Time, cell)));
        row
    });
    Grid { header, rows: rows.collect() }
}

/// The name of a contender's safety level, as in headers.
pub fn level_name(contender: &ContenderRecord) -> String {
    if contender.harness {
        return "the harness".into();
    }
    match &contender.safety {
        None => "safety unknown".into(),
        Some(safety) => {
            let caveat = if safety.caveat.is_some() { " †" } else { "" };
            format!("{}{caveat}", safety.name())
        }
    }
}

/// The size of a commit, as in headers.
pub fn commit_size(commits: Commits) -> String {
    match commits {
        Commits::Each(operations) => format!("commits of {}", units::whole(operations)),
        Commits::Whole => "one commit".to_owned(),
    }
}

/// The cache that a store manages itself, as in headers; `None` in runs without stores, where caches are settings like
/// any other.
pub fn cache_size(verdict: &Verdict, contender: &ContenderRecord) -> Option<String> {
    let size = cache(contender).filter(|_| has_stores(verdict))?;
    Some(if size == NO_CACHE { "no cache of its own".into() } else { format!("cache {size}") })
}

/// The standard by which a contender is tuned, as in headers; `None` in runs without stores, and where it is not known.
pub fn tuning(verdict: &Verdict, contender: &ContenderRecord) -> Option<String> {
    standard(verdict, contender).map(|tuning| tuning_words(tuning).to_owned())
}

/// The standard by which a contender is tuned, in runs of stores, where that decides who is ranked with whom.
pub fn standard(verdict: &Verdict, contender: &ContenderRecord) -> Option<Tuning> {
    contender.tuning.filter(|_| has_stores(verdict) && !contender.harness)
}

/// The words for a standard of tuning.
pub fn tuning_words(tuning: Tuning) -> &'static str {
    match tuning {
        Tuning::Default => "default options",
        Tuning::Tuned => "tuned",
        Tuning::Own => "options of one's own",
    }
}

/// The size of a contender's cache, in a column; `None` for a contender that never answered, and for the harness.
fn cache(contender: &ContenderRecord) -> Option<String> {
    contender.hello.as_ref().filter(|_| !contender.harness)?;
    Some(match contender.cache {
        Some(OwnCache { bytes, default: true }) => format!("{} (default)", units::bytes(bytes as f64)),
        Some(OwnCache { bytes, .. }) => units::bytes(bytes as f64),
        None => NO_CACHE.to_owned(),
    })
}

/// The text in place of a cache size where there is no cache.
const NO_CACHE: &str = "none";

/// True if a run has a test of a store.
fn has_stores(verdict: &Verdict) -> bool {
    verdict.tests.iter().any(|test| test.model.starts_with(STORES))
}

/// The prefix of the names of models of stores.
const STORES: &str = "kv-";

/// The column of commit sizes.
const COMMIT: &str = "commit";

/// True if contenders are ranked only with those that have the same commit size.
pub fn ranks_by_commits(verdict: &Verdict) -> bool {
    verdict.classes.iter().flatten().any(|class| class.commits.is_some())
}

/// True if contenders are ranked only with those that have the same isolation.
pub fn ranks_by_isolation(verdict: &Verdict) -> bool {
    verdict.classes.iter().flatten().any(|class| class.isolation.is_some())
}

/// The isolation of a contender's transactions, in a column.
fn isolation(verdict: &Verdict, contender: usize) -> String {
    verdict.isolation(contender).map_or_else(String::new, |isolation| isolation.name().to_owned())
}

/// The number of operations in a contender's commit, in a column.
fn per_commit(verdict: &Verdict, contender: usize) -> String {
    match verdict.commits(contender) {
        Some(Commits::Each(operations)) => units::whole(operations),
        Some(Commits::Whole) => "all".to_owned(),
        None => String::new(),
    }
}

/// The events that a contender's commits survive and, if it differs, the size of its commits.
pub fn survives(verdict: &Verdict, contender: usize) -> String {
    let level = level_name(&verdict.contenders[contender]);
    let isolation = verdict.isolation(contender).map(|isolation| isolation.name().to_owned());
    let parts = [Some(level), isolation, verdict.commits(contender).map(commit_size)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `312 ms ±3%` or `1.23M/s ±3%` with its marks.
pub fn figure(shown_as: Measure, cell: &Cell) -> String {
    if let Some(outcome) = &cell.sustained {
        return format!("{}{}", words::outcome(outcome), marks(cell));
    }
    let Some(summary) = &cell.figures.summary else { return missing(cell) };
    let spread = match summary.spread {
        Some(spread) if summary.median > 0.0 => format!(" ±{}", units::percent(spread / summary.median)),
        _ => String::new(),
    };
    format!("{}{spread}{}", measure::text(shown_as, summary.median), marks(cell))
}

fn missing(cell: &Cell) -> String {
    if matches!(cell.standing, CellStanding::Missing(_)) { "failed".into() } else { "–".into() }
}

/// The marks of a figure: worked out, wrong, hiding what clients waited, of the trials that did not fail, fastest.
pub fn marks(cell: &Cell) -> String {
    let mark = match cell.standing {
        CellStanding::Wrong(_) | CellStanding::Disputed(_) => " ✗",
        CellStanding::Uneven(_) => " §",
        _ if cell.failed => " !",
        _ if cell.fastest => " *",
        _ => "",
    };
    format!("{}{mark}", if cell.figures.extrapolated { " ~" } else { "" })
}

/// The mark of a comparison that shows no difference: close, or open.
pub fn mark_of(difference: Option<Difference>) -> &'static str {
    match difference {
        Some(difference) if difference.is_open() => OPEN,
        Some(Difference::None(_)) => CLOSE,
        _ => "",
    }
}

/// The mark of a part of the price of encryption, a driver or settings.
pub fn mark_of_added(added: &AddedTime) -> &'static str {
    match (added.is_difference, added.is_close) {
        (true, _) => "",
        (false, true) => CLOSE,
        (false, false) => OPEN,
    }
}

/// No difference, and any that exists lies within the margin.
const CLOSE: &str = " ≈";
/// The samples do not decide.
const OPEN: &str = " ?";

/// `2.29× (2.10–2.41)`, marked if no difference is shown.
///
/// Where figures are rates it is in words, `2.29× slower (2.10–2.41)`: readers would take a ratio of times for one of
/// rates.
pub fn ratio_of(shown_as: Measure, cell: &Cell, detail: Detail) -> String {
    match (&cell.standing, &cell.ratio) {
        (CellStanding::Wrong(_), _) => "wrong".into(),
        (CellStanding::Disputed(_), _) => "disputed".into(),
        (CellStanding::NotEncrypted, _) => "not encrypted".into(),
        (CellStanding::NotIsolated, _) => "not isolated".into(),
        (_, None) => "–".into(),
        (_, Some(ratio)) => {
            let mark = mark_of(cell.difference);
            format!("{}{mark}", in_words(ratio, detail, matches!(shown_as, Measure::Rate(_))))
        }
    }
}

/// A ratio of times as it is or, where figures are rates, in words.
fn in_words(ratio: &Ratio, detail: Detail, words: bool) -> String {
    match words {
        false => with_interval(ratio, detail),
        true => {
            let (word, larger) =
                if ratio.ratio < 1.0 { ("faster", ratio.inverse()) } else { ("slower", *ratio) };
            let text = with_interval(&larger, detail);
            match text.split_once(' ') {
                Some((figure, interval)) => format!("{figure} {word} {interval}"),
                None => format!("{text} {word}"),
            }
        }
    }
}

/// `2.29× (2.10–2.41)`.
pub fn with_interval(ratio: &Ratio, detail: Detail) -> String {
    let text = units::ratio(ratio.ratio);
    match ratio.interval.filter(|_| detail == Detail::Interval) {
        Some(interval) => {
            format!("{text} ({}–{})", units::significant(interval.low), units::significant(interval.high))
        }
        None => text,
    }
}

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
    let mark = match (summary.same_level, summary.difference) {
        (false, _) => " ‡",
        (true, difference) => mark_of(difference),
    };
    format!("{}{mark}", in_words(ratio, detail, rates))
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
