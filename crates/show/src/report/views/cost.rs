//! What a driver costs over the lowest-level one of its engine, and what settings cost over the engine's own:
//! in percent, over the tests that both passed.

use dyno_record::{ContenderRecord, Run};
use dyno_verdict::statistics::Ratio;
use dyno_verdict::{CellStanding, Verdict, contenders_ratio, mean_over};

use super::{View, mean_row};
use crate::report::charts::{self, Figure, Row};
use crate::report::words;

/// Contenders that are alike but for one thing.
struct Family {
    /// The one that the others are measured against, by its position in the run.
    reference: usize,
    /// The others.
    others: Vec<usize>,
}

/// Each engine's drivers against its own C interface.
pub(in crate::report) fn driver_tax(run: &Run, verdict: &Verdict) -> Vec<View> {
    // A label names a variant where it is not the usual one.
    let is_lowest = |contender: &ContenderRecord| contender.lowest && !contender.label.contains('+');
    let alike = |a: &ContenderRecord, b: &ContenderRecord| {
        (&a.engine, &a.build, &a.profile, &a.asked, &a.url, &a.file_system, a.per_commit)
            == (&b.engine, &b.build, &b.profile, &b.asked, &b.url, &b.file_system, b.per_commit)
    };
    let families = families(run, alike, is_lowest);
    let view = |(place, family): (usize, &Family)| {
        let reference = &run.contenders[family.reference];
        view(
            run,
            verdict,
            family,
            format!("drivers-{place}"),
            format!("What the drivers of {} cost", reference.label),
            format!("Time compared with {}, for the same engine and settings", reference.label),
        )
    };
    families.iter().enumerate().filter_map(view).collect()
}

/// Each engine's settings against its own default ones. What encryption costs has a view of its own.
pub(in crate::report) fn settings(run: &Run, verdict: &Verdict) -> Vec<View> {
    let encrypts = |contender: &ContenderRecord| contender.proof.as_ref().is_some_and(|proof| proof.encrypts);
    let is_plain = |contender: &ContenderRecord| !contender.label.contains(':') && !encrypts(contender);
    let alike = |a: &ContenderRecord, b: &ContenderRecord| {
        (&a.engine, &a.build, &a.driver, &a.variant, &a.url, encrypts(a))
            == (&b.engine, &b.build, &b.driver, &b.variant, &b.url, encrypts(b))
    };
    let families = families(run, alike, is_plain);
    let view = |(place, family): (usize, &Family)| {
        let reference = &run.contenders[family.reference];
        view(
            run,
            verdict,
            family,
            format!("settings-{place}"),
            format!("What settings cost and buy: {}", reference.label),
            format!("Time compared with {}, for the same engine and driver", reference.label),
        )
    };
    families.iter().enumerate().filter_map(view).collect()
}

/// The families of two contenders or more.
fn families(
    run: &Run,
    alike: impl Fn(&ContenderRecord, &ContenderRecord) -> bool,
    is_reference: impl Fn(&ContenderRecord) -> bool,
) -> Vec<Family> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, contender) in run.shown_contenders().filter(|(_, contender)| !contender.harness) {
        match groups.iter_mut().find(|group| alike(&run.contenders[group[0]], contender)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let family = |group: Vec<usize>| {
        let reference = group.iter().find(|index| is_reference(&run.contenders[**index])).copied()?;
        let others: Vec<usize> = group.into_iter().filter(|index| *index != reference).collect();
        (!others.is_empty()).then_some(Family { reference, others })
    };
    groups.into_iter().filter_map(family).collect()
}

fn view(
    run: &Run,
    verdict: &Verdict,
    family: &Family,
    anchor: String,
    title: String,
    said: String,
) -> Option<View> {
    let means: Vec<(usize, Ratio)> = family
        .others
        .iter()
        .filter_map(|&other| Some((other, mean(run, verdict, other, family.reference)?)))
        .collect();
    if means.is_empty() {
        return None;
    }
    let rows: Vec<Row<_>> = means
        .iter()
        .map(|(other, ratio)| {
            let label = &run.contenders[*other].label;
            Row::Line(charts::ratio_row(
                &marked(run, *other, family.reference, label),
                charts::colour(run, *other),
                ratio,
                true,
            ))
        })
        .collect();
    let spoken: Vec<String> = means
        .iter()
        .map(|(other, ratio)| format!("{}: {}", run.contenders[*other].label, words::change(ratio.ratio)))
        .collect();
    let mut header = vec![String::new(), "test".to_owned()];
    header.extend(means.iter().map(|(other, _)| run.contenders[*other].label.clone()));
    let others: Vec<usize> = means.iter().map(|(other, _)| *other).collect();
    let mut rows_of_tests = table(run, verdict, &others, family.reference);
    rows_of_tests.push(mean_row(means.iter().map(|(_, mean)| Some(mean))));
    let text = format!(
        "{said}. The chart shows the geometric mean over the tests that both passed; it is a mean of unlike things, so \
         look at each test in the table below the chart. ≈ marks what is too close to call: the interval includes no \
         change.{}",
        if others.iter().any(|&other| differs(run, other, family.reference)) {
            " ‡ marks contenders that are safer or less safe: their bars show the price of safety, and rank nobody."
        } else {
            ""
        }
    );
    Some(View {
        anchor,
        title,
        text,
        choices: Vec::new(),
        figure: Figure::new(
            format!("{said}. {}", spoken.join("; ")),
            "Change of time in percent, with its 95 % interval; to the left is faster.",
            rows.len(),
            &charts::ratios(rows, true),
        ),
        details: "Each test",
        header,
        rows: rows_of_tests,
        notes: Vec::new(),
    })
}

/// A row for each test: its id, its title, and the change of each contender.
fn table(run: &Run, verdict: &Verdict, others: &[usize], reference: usize) -> Vec<Vec<String>> {
    let cell = |test: &str, other: usize| match contenders_ratio(run, other, reference, test) {
        Some(ratio) if passed(verdict, test, other) && passed(verdict, test, reference) => {
            words::marked_change(&ratio)
        }
        _ => "–".into(),
    };
    let row = |test: &dyno_verdict::TestVerdict| {
        let mut row = vec![test.id.clone(), test.title.clone()];
        row.extend(others.iter().map(|&other| cell(&test.id, other)));
        row
    };
    verdict.tests.iter().map(row).collect()
}

/// The geometric mean over the tests that both passed.
fn mean(run: &Run, verdict: &Verdict, contender: usize, reference: usize) -> Option<Ratio> {
    let tests = verdict.tests.iter().map(|test| test.id.as_str());
    let both = |test: &&str| passed(verdict, test, contender) && passed(verdict, test, reference);
    mean_over(run, &tests.filter(both).collect::<Vec<_>>(), contender, reference)
}

fn passed(verdict: &Verdict, test: &str, contender: usize) -> bool {
    let tests = verdict.tests.iter().filter(|judged| judged.id == test);
    let mut cells = tests.flat_map(|test| &test.cells).filter(|cell| cell.contender == contender);
    cells.all(|cell| cell.standing == CellStanding::Counts)
}

fn differs(run: &Run, a: usize, b: usize) -> bool {
    words::level(&run.contenders[a]) != words::level(&run.contenders[b])
}

fn marked(run: &Run, contender: usize, reference: usize, label: &str) -> String {
    if differs(run, contender, reference) { format!("{label} ‡") } else { label.to_owned() }
}
