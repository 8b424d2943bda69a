//! The price of one thing, such as the driver: contenders over the one that differs only in it, in percent.

use dyno_verdict::{AddedTime, Against, Verdict};

use super::parts::View;
use crate::csv_column::{Column, ratio};
use crate::report::charts::{self, Figure, Row};
use crate::report::words;

/// The words of a view for its families.
pub struct AgainstWords {
    /// The first part of each view's fragment; its number follows.
    pub anchor: &'static str,
    /// The title, but for the label of the contender over which the others are counted.
    pub title: fn(&str) -> String,
    /// The property that the members of a family share.
    pub shared: &'static str,
}

/// Those that are counted over the same contender, together.
pub fn families(all: &[Against]) -> impl Iterator<Item = &[Against]> {
    all.chunk_by(|a, b| a.over == b.over)
}

/// A view for each family of which some have passed a test. None next to a ladder, which shows the effect of each change.
pub fn pages(verdict: &Verdict, all: &[Against], words: &AgainstWords) -> Vec<View> {
    if !verdict.views.ladders.is_empty() {
        return Vec::new();
    }
    let view = |(place, family)| view(verdict, place, family, words);
    families(all).enumerate().filter_map(view).collect()
}

fn view(verdict: &Verdict, place: usize, family: &[Against], said: &AgainstWords) -> Option<View> {
    let reference = verdict.label(family.first()?.over);
    let counted: Vec<(&Against, &AddedTime)> =
        family.iter().filter_map(|against| Some((against, against.geometric_mean.as_ref()?))).collect();
    if counted.is_empty() {
        return None;
    }
    let lines = counted.iter().map(|(against, mean)| {
        let mark = if against.same_level { "" } else { " ‡" };
        let label = format!("{}{mark}", verdict.label(against.contender));
        let mut row =
            charts::ratio_row(&label, charts::colour(verdict, against.contender), &mean.ratio, true);
        row.text = words::marked_change(mean);
        Row::Line(row)
    });
    let spoken: Vec<String> = counted
        .iter()
        .map(|(against, mean)| {
            format!("{}: {}", verdict.label(against.contender), words::marked_change(mean))
        })
        .collect();
    let mut header = vec![String::new(), "test".to_owned()];
    header.extend(counted.iter().map(|(against, _)| verdict.label(against.contender).to_owned()));
    let compared = format!("Time compared with {reference}, for the same engine and {}", said.shared);
    let text = format!(
        "{compared}. The chart shows the geometric mean over the tests that both passed; it is a mean of unlike things, so \
         look at each test in the table below the chart. ≈ marks what is close: the interval excludes \
         changes beyond the run's margin. ? marks what the trials do not show: the interval includes no change, or it may be \
         chance among all comparisons of the table.{}",
        if counted.iter().any(|(against, _)| !against.same_level) {
            " ‡ marks contenders that are not ranked with it, because they differ in safety or in what else decides a rank: their bars are \
             prices."
        } else {
            ""
        }
    );
    Some(View {
        anchor: format!("{}-{place}", said.anchor),
        title: (said.title)(reference),
        text,
        choices: Vec::new(),
        figure: Figure::new(
            format!("{compared}. {}", spoken.join("; ")),
            "Change of time in percent, with its 95% interval; to the left is faster.",
            counted.len(),
            &charts::ratios(lines.collect(), true),
        ),
        details: "Each test",
        header,
        rows: table(verdict, counted.iter().map(|(against, _)| *against)),
        notes: Vec::new(),
    })
}

/// A row for each test, its id, its title, and the change of each contender; then their geometric means.
pub fn table<'a>(verdict: &Verdict, all: impl Iterator<Item = &'a Against> + Clone) -> Vec<Vec<String>> {
    let change = |added: &Option<AddedTime>| added.as_ref().map_or("–".into(), words::marked_change);
    let mean =
        |against: &Against| against.geometric_mean.as_ref().map_or("–".into(), words::change_with_interval);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (place, test) in verdict.tests.iter().enumerate() {
        let row = [test.id.clone(), test.title.clone()];
        rows.push(row.into_iter().chain(all.clone().map(|against| change(&against.tests[place]))).collect());
    }
    rows.push([String::new(), "geometric mean".into()].into_iter().chain(all.map(mean)).collect());
    rows
}

/// The names of a view's columns of CSV.
pub struct Names {
    /// Over whom a contender is counted.
    pub over: &'static str,
    /// Its time over that one's in the test, with the interval.
    pub ratio: [&'static str; 3],
    /// The geometric mean over the tests.
    pub mean: [&'static str; 3],
}

impl Names {
    /// The columns of a contender in a test, by their places.
    pub fn columns(&self, verdict: &Verdict, all: &[Against], contender: usize, test: usize) -> Vec<Column> {
        let found = all.iter().find(|against| against.contender == contender);
        let in_test = found.and_then(|found| found.tests[test].as_ref()).map(|added| &added.ratio);
        let mean = found.and_then(|found| found.geometric_mean.as_ref()).map(|added| &added.ratio);
        let mut columns = vec![(self.over, found.map(|found| verdict.label(found.over)).into())];
        columns.extend(ratio(self.ratio, in_test));
        columns.extend(ratio(self.mean, mean));
        columns
    }
}
