//! Whole pages of runs whose truth is known, judged and worded by the code of `dyno show`: what the first sentence, the
//! stars, the marks and the means say of equals, and what they find.

use std::path::Path;

use dyno_record::{Run, TestRecord, TrialRecord};
use dyno_verdict::judge;
use dyno_verdict::statistics::Difference;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::{SCALE, margin, normal};

/// The scatter of a page's samples around their truth: logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scatter {
    /// Normal.
    Normal(f64),
    /// Student's t with two degrees of freedom: heavy tails, and no variance.
    Heavy(f64),
    /// Cauchy: no mean.
    Cauchy(f64),
    /// Lognormal logarithms: a long tail to one side.
    Skewed(f64),
    /// Two modes 15 % apart.
    Bimodal,
}

impl Scatter {
    fn draw(self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Scatter::Normal(size) => size * normal(rng),
            Scatter::Heavy(size) => {
                let squares = (normal(rng).powi(2) + normal(rng).powi(2)) / 2.0;
                size * normal(rng) / squares.sqrt()
            }
            Scatter::Cauchy(size) => size * normal(rng) / normal(rng),
            Scatter::Skewed(size) => size * (normal(rng).exp() - 1.0),
            Scatter::Bimodal => 0.01 * normal(rng) + if rng.random::<f64>() < 0.3 { 0.15 } else { 0.0 },
        }
    }
}

/// A page: this many contenders, tests and blocks.
#[derive(Clone, Copy)]
pub(super) struct Page {
    pub(super) contenders: usize,
    pub(super) tests: usize,
    pub(super) blocks: u32,
    pub(super) scatter: Scatter,
}

impl Page {
    /// A run of it; `factor` is the time of a contender in a test and a block, of one of equals 1.
    pub(super) fn run(self, rng: &mut ChaCha8Rng, factor: impl Fn(usize, usize, u32) -> f64) -> Run {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let (contender, test) = (run.contenders[1].clone(), run.tests[0].clone());
        let trial = run.trials.iter().find(|trial| trial.block > 0 && !trial.latency).unwrap().clone();
        let sample = trial.samples[0].clone();
        run.contenders = (0..self.contenders)
            .map(|place| {
                let mut contender = contender.clone();
                contender.label = format!("c{place}");
                contender
            })
            .collect();
        run.baseline = "c0".to_owned();
        run.tests = (0..self.tests).map(|id| TestRecord { id: id.to_string(), ..test.clone() }).collect();
        run.trials.clear();
        for block in 1..=self.blocks {
            let speed = 0.1 * normal(rng);
            for contender in 0..self.contenders {
                let samples = run.tests.iter().enumerate().map(|(place, test)| {
                    let mut sample = sample.clone();
                    sample.sample.test = test.id.clone();
                    let time = SCALE * 1e3 * (speed + self.scatter.draw(rng)).exp();
                    // A clock does not show more than a day, nor less than a nanosecond.
                    let time = (time * factor(contender, place, block)).clamp(1.0, 1e14);
                    sample.sample.section.nanoseconds = time as u64;
                    sample
                });
                let samples = samples.collect();
                run.trials.push(TrialRecord { contender, block, samples, ..trial.clone() });
            }
        }
        run
    }
}

/// The false sentences of a page of equals.
#[derive(Debug, Default)]
struct Errors {
    /// The sentence that it begins with names a fastest.
    named: f64,
    /// A row has a star.
    starred: f64,
    /// A ratio or a mean is called a difference.
    different: f64,
    /// Any of them.
    any: f64,
}

/// The shares of pages of equals that err.
fn errors(page: Page, pages: u64) -> Errors {
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(page.blocks));
    let mut found = Errors::default();
    for _ in 0..pages {
        let verdict = judge(&page.run(&mut rng, |_, _, _| 1.0));
        let named = dyno_show::answers(&verdict)[0].contains("is fastest");
        assert_eq!(named, verdict.rankings[0].ranks.iter().any(|rank| rank.fastest));
        let cells = || verdict.tests.iter().flat_map(|test| &test.cells);
        let starred = cells().any(|cell| cell.fastest);
        let differences = cells().map(|cell| cell.difference);
        let mut differences =
            differences.chain(verdict.summaries.iter().map(|mean| mean.difference)).flatten();
        let different = differences.any(|found| matches!(found, Difference::Faster | Difference::Slower));
        let shares = [
            (&mut found.named, named),
            (&mut found.starred, starred),
            (&mut found.different, different),
            (&mut found.any, named || starred || different),
        ];
        for (share, happened) in shares {
            *share += f64::from(u8::from(happened)) / pages as f64;
        }
    }
    found
}

fn assert_few_errors(page: Page, pages: u64) {
    let found = errors(page, pages);
    println!(
        "| {:?} | {} | {} | {:.1} % | {:.1} % | {:.1} % |",
        page.scatter,
        page.contenders,
        page.blocks,
        found.named * 100.0,
        found.starred * 100.0,
        found.different * 100.0
    );
    assert!(found.any <= 0.05 + margin(0.05, pages), "{:?}: {found:?}", page.scatter);
}

#[test]
fn a_page_of_equals_names_no_fastest_and_no_difference() {
    for (contenders, blocks, scatter) in [
        (2, 6, Scatter::Normal(0.1)),
        (2, 8, Scatter::Bimodal),
        (2, 12, Scatter::Normal(0.08)),
        (5, 8, Scatter::Heavy(0.03)),
    ] {
        assert_few_errors(Page { contenders, tests: 15, blocks, scatter }, 60);
    }
}

#[test]
#[ignore = "make soak: thousands of pages"]
fn pages_of_equals_err_as_seldom_as_the_methodology_says() {
    let scatters = [
        Scatter::Normal(0.05),
        Scatter::Heavy(0.05),
        Scatter::Cauchy(0.05),
        Scatter::Skewed(0.05),
        Scatter::Bimodal,
    ];
    for scatter in scatters {
        for (contenders, blocks) in [(2, 6), (2, 8), (2, 12), (2, 20), (5, 8), (5, 12)] {
            assert_few_errors(Page { contenders, tests: 15, blocks, scatter }, 400);
        }
    }
}

/// A contender that is less safe is not ranked, and its price is a claim like any other: equals have none, and neither
/// have trials that are too few for an interval.
#[test]
fn a_price_is_said_where_it_is_shown() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut said = |blocks: u32, factor: f64| {
        let page = Page { contenders: 2, tests: 15, blocks, scatter: Scatter::Normal(0.05) };
        let mut run = page.run(&mut rng, |contender, _, _| if contender == 1 { factor } else { 1.0 });
        let safety = run.contenders[1].safety.as_mut().unwrap();
        safety.level = dyno_record::Level::None;
        safety.consistent = false;
        dyno_show::answers(&judge(&run)).join(" ")
    };
    assert!(said(5, 2.0).contains("The trials of c1 are too few"), "{}", said(5, 2.0));
    let mut prices = 0;
    for _ in 0..40 {
        let equals = said(8, 1.0);
        assert!(
            equals.contains("dyno does not rank it, since no other contender here is in its class"),
            "{equals}"
        );
        prices += usize::from(equals.contains("c1 takes "));
    }
    assert!(prices <= 4, "{prices} of 40 pages name a price of equals");
    // The rows below may show differences, so the sentence says that it is about the mean.
    assert!(said(8, 1.0).contains("by the geometric mean over 15 tests"), "{}", said(8, 1.0));
    assert!(
        said(8, 2.0).contains("the time of c0, by the geometric mean over 15 tests."),
        "{}",
        said(8, 2.0)
    );
}

/// A price that is not shown has the mark of one that the trials do not show, next to that of unequal safety.
#[test]
fn a_mean_of_an_unequal_contender_that_shows_nothing_is_marked() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let page = Page { contenders: 2, tests: 3, blocks: 8, scatter: Scatter::Normal(0.3) };
    let mut run = page.run(&mut rng, |_, _, _| 1.0);
    let safety = run.contenders[1].safety.as_mut().unwrap();
    safety.level = dyno_record::Level::None;
    safety.consistent = false;
    let verdict = judge(&run);
    assert!(matches!(verdict.summaries[1].difference, Some(Difference::None(_))));
    let table = dyno_show::render_table(&verdict, dyno_show::TableOptions::default());
    let mean = table.lines().find(|line| line.trim_start().starts_with("geometric mean")).unwrap();
    assert!(mean.contains("? ‡"), "{mean}");
    assert!(table.contains("? the trials do not show which is faster"), "{table}");
}

/// The share of pages on which a second contender that is slower by `factor` is found: by the mean, and in its first
/// test.
fn found(page: Page, pages: u64, factor: impl Fn(usize, usize, u32) -> f64) -> (f64, f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(page.blocks));
    let (mut by_mean, mut in_test) = (0.0, 0.0);
    for _ in 0..pages {
        let verdict = judge(&page.run(&mut rng, &factor));
        let is_slower = |difference: Option<Difference>| difference == Some(Difference::Slower);
        by_mean += f64::from(u8::from(is_slower(verdict.summaries[1].difference))) / pages as f64;
        in_test += f64::from(u8::from(is_slower(verdict.tests[0].cells[1].difference))) / pages as f64;
    }
    (by_mean, in_test)
}

/// Twice the time, and in one block the baseline was disturbed and took five times as long: all blocks but one say so.
#[test]
fn one_bad_block_hides_no_factor_of_two() {
    for blocks in [8, 10, 12] {
        let page = Page { contenders: 2, tests: 15, blocks, scatter: Scatter::Normal(0.05) };
        let (by_mean, in_test) = found(page, 20, |contender, _, block| match (contender, block) {
            (0, 3) => 5.0,
            (0, _) => 1.0,
            _ => 2.0,
        });
        println!("{blocks} blocks, one bad: found by the mean in {by_mean}, in a test in {in_test}");
        assert!(by_mean >= 0.95 && in_test >= 0.9, "{blocks} blocks: {by_mean}, {in_test}");
    }
}

/// A difference that a page says its run could have shown is found in about four runs of five.
#[test]
fn what_a_page_says_it_could_show_is_found_in_four_of_five() {
    for blocks in [8, 20] {
        let page = Page { contenders: 2, tests: 15, blocks, scatter: Scatter::Normal(0.04) };
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let said: Vec<f64> = (0..60)
            .map(|_| judge(&page.run(&mut rng, |_, _, _| 1.0)).detectable.unwrap().mean.unwrap())
            .collect();
        let said = dyno_verdict::statistics::median(&said).unwrap();
        let (by_mean, _) = found(page, 150, |contender, _, _| if contender == 1 { said } else { 1.0 });
        println!("{blocks} blocks: {said} is found in {by_mean}");
        assert!((0.6..=0.97).contains(&by_mean), "{blocks} blocks: {said} is found in {by_mean}");
    }
}
