//! The shares of suspects in differences, as sentences and as rows of text.

use dyno_verdict::{Causes, ExplainedDifference, Explains, SuspectShare, Verdict};

use super::words;
use crate::grid::Grid;
use crate::plain::plain;
use crate::report::words::counted;
use crate::table_options::TableOptions;
use crate::units;
use crate::wrapped;

/// The name of all tests together.
const TOGETHER: &str = "all";

/// The sentences of the difference that matters most and, where there are several tests, a table of all of them.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let Some(causes) = &verdict.views.causes else { return Vec::new() };
    let mut texts = vec![sentences(causes)];
    if causes.differences.len() > 1 {
        texts.push(plain(&shares(causes)));
    }
    texts
}

/// The output of `dyno causes`: heading, sentences, table and notes. `None` if the run is no experiment.
pub fn render(verdict: &Verdict) -> Option<String> {
    let causes = verdict.views.causes.as_ref()?;
    let blocks = causes.differences.iter().map(|found| found.blocks).max().unwrap_or(0);
    let heading = format!(
        "{}: {} compared with {}, {}",
        verdict.about.suite.name,
        causes.contender,
        causes.baseline,
        counted(blocks, "block")
    );
    let mut texts = vec![wrapped(&heading, "", "  ")];
    texts.extend(tables(verdict, TableOptions::default()));
    let failures = verdict.failures.iter().map(|failures| {
        let label = verdict.label(failures.contender);
        format!("{label} failed in {} of {} trials: {}", failures.failed, failures.trials, failures.message)
    });
    let notes = failures.chain(words::notes(verdict));
    texts.extend(notes.map(|note| wrapped(&format!("{note}."), "", "  ")));
    Some(texts.join("\n\n") + "\n")
}

/// The sentences of all tests together, or else of each test.
fn sentences(causes: &Causes) -> String {
    let first = causes.differences.first().filter(|found| found.test.is_none());
    let found: Vec<&ExplainedDifference> = match first {
        Some(together) => vec![together],
        None => causes.differences.iter().collect(),
    };
    let paragraph = |found: &&ExplainedDifference| {
        let difference = wrapped(&words::difference(causes, found), "", "  ");
        let shares = found.shares.iter().map(|share| wrapped(&words::share(share), "  ", "    "));
        [difference].into_iter().chain(shares).collect::<Vec<_>>().join("\n")
    };
    let mut paragraphs: Vec<String> = found.iter().map(paragraph).collect();
    if paragraphs.is_empty() {
        paragraphs.push("Both have no sample of one block, so there is no difference to explain.".into());
    }
    paragraphs.extend(causes.not_tried.iter().map(|left| wrapped(&words::not_tried(left), "", "  ")));
    paragraphs.join("\n\n")
}

/// A row for each difference.
fn shares(causes: &Causes) -> Grid {
    let suspects = causes.tried.iter().map(|how| how.suspect().name().to_owned());
    let row = |found: &ExplainedDifference| {
        let mut row = vec![found.test.clone().unwrap_or_else(|| TOGETHER.to_owned()), difference(found)];
        row.extend(match found.shares.is_empty() {
            true => vec!["–".to_owned(); causes.tried.len()],
            false => found.shares.iter().map(cell).collect(),
        });
        row
    };
    Grid {
        header: [String::new(), "difference".to_owned()].into_iter().chain(suspects).collect(),
        rows: causes.differences.iter().map(row).collect(),
    }
}

/// A difference with its sign; a dash where none is shown.
fn difference(found: &ExplainedDifference) -> String {
    let sign = if found.difference_ns < 0.0 { "−" } else { "+" };
    match found.shares.is_empty() {
        true => "not shown".to_owned(),
        false => format!("{sign}{}", units::duration(found.difference_ns.abs())),
    }
}

/// A share with its interval; `?` where it cannot be told.
fn cell(share: &SuspectShare) -> String {
    match (share.explains, share.share, share.interval) {
        (Explains::CannotBeTold, ..) | (_, None, _) | (_, _, None) => "?".to_owned(),
        (_, Some(value), Some(interval)) => words::percents(value, interval),
    }
}
