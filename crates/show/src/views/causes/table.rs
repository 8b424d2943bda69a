//! The shares of suspects in differences, as sentences and as rows of text.

use dyno_verdict::{Causes, ExplainedDifference, Explains, SuspectShare, Verdict};

use super::words;
use crate::grid::Grid;
use crate::plain::plain;
use crate::table_options::TableOptions;
use crate::units;
use crate::wrapped;

/// The name of all tests together.
const TOGETHER: &str = "all";

/// The sentences of the difference that matters most and, where there are several tests, a table of all of them.
pub fn tables(verdict: &Verdict, _options: TableOptions) -> Vec<String> {
    let Some(causes) = &verdict.views.causes else { return Vec::new() };
    let paragraphs: Vec<String> = sentences(causes).iter().map(|paragraph| lines(paragraph)).collect();
    let mut texts = vec![paragraphs.join("\n\n")];
    if causes.differences.len() > 1 {
        texts.push(plain(&shares(causes)));
    }
    texts
}

/// The sentences of all tests together, or else of each test: a difference and the shares in it are a paragraph.
pub fn sentences(causes: &Causes) -> Vec<Vec<String>> {
    let first = causes.differences.first().filter(|found| found.test.is_none());
    let found: Vec<&ExplainedDifference> = match first {
        Some(together) => vec![together],
        None => causes.differences.iter().collect(),
    };
    let paragraph = |found: &&ExplainedDifference| {
        let shares = found.shares.iter().map(words::share);
        [words::difference(causes, found)].into_iter().chain(shares).collect()
    };
    let mut paragraphs: Vec<Vec<String>> = found.iter().map(paragraph).collect();
    if paragraphs.is_empty() {
        paragraphs
            .push(vec!["Both have no sample of one block, so there is no difference to explain.".into()]);
    }
    paragraphs.extend(causes.not_tried.iter().map(|left| vec![words::not_tried(left)]));
    paragraphs
}

/// A paragraph as lines: what follows its first sentence is indented.
fn lines(paragraph: &[String]) -> String {
    let indents = [("", "  ")].into_iter().chain(std::iter::repeat(("  ", "    ")));
    let wrapped = paragraph.iter().zip(indents).map(|(line, (first, next))| wrapped(line, first, next));
    wrapped.collect::<Vec<_>>().join("\n")
}

/// A row for each difference.
pub fn shares(causes: &Causes) -> Grid {
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

/// A share with its interval; `?` where it is not known.
fn cell(share: &SuspectShare) -> String {
    match (share.explains, share.share, share.interval) {
        (Explains::CannotBeTold, ..) | (_, None, _) | (_, _, None) => "?".to_owned(),
        (_, Some(value), Some(interval)) => words::percents(value, interval),
    }
}
