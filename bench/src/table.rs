//! The tables, as Markdown.

use std::fmt::Write;

use crate::inputs::Input;
use crate::statistics::{Median, geometric_mean, median};

/// Most that the geometric mean of the ratios may be.
const MEAN_AIM: f64 = 1.01;
/// Most that the ratio of one test may be, and how long it must take for that to be asked.
const TEST_AIM: f64 = 1.02;
const LONG_NS: f64 = 5e6;

/// Nanoseconds: for each round those of each test.
#[derive(Debug, Default)]
pub struct Durations(Vec<Vec<u64>>);

impl Durations {
    /// Adds a round.
    pub fn push(&mut self, times: Vec<u64>) {
        self.0.push(times);
    }

    fn of(&self, test: usize) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().map(move |times| times[test] as f64)
    }

    fn fastest(&self, test: usize) -> f64 {
        self.of(test).fold(f64::INFINITY, f64::min)
    }
}

/// What was measured in one profile.
#[derive(Debug)]
pub struct Profile {
    name: String,
    /// The C program's times.
    pub reference: Durations,
    /// The runner's times.
    pub dyno: Durations,
}

impl Profile {
    /// A profile in which nothing has been measured yet.
    pub fn new(name: &str) -> Profile {
        Profile { name: name.to_owned(), reference: Durations::default(), dyno: Durations::default() }
    }

    fn ratios(&self, test: usize) -> impl Iterator<Item = f64> + '_ {
        self.dyno.of(test).zip(self.reference.of(test)).map(|(dyno, reference)| dyno / reference)
    }
}

/// dyno beside C, test by test.
pub fn compare(profile: &Profile, inputs: &[Input]) -> String {
    let mut text = format!("\n**{}**, {} rounds\n\n", profile.name, profile.dyno.0.len());
    text +=
        "| test | C ms | dyno ms | dyno/C | 95 % interval | fastest/fastest |\n|---|--:|--:|--:|:-:|--:|\n";
    let mut ratios = Vec::new();
    let mut above = Vec::new();
    for (test, input) in inputs.iter().enumerate() {
        let (reference, dyno) = (median(profile.reference.of(test)), median(profile.dyno.of(test)));
        let ratio = median(profile.ratios(test));
        let fastest = profile.dyno.fastest(test) / profile.reference.fastest(test);
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} {} | {:.2} | {:.2} | {:.3} | {} | {fastest:.3} |",
            input.id,
            input.title,
            reference.value / 1e6,
            dyno.value / 1e6,
            ratio.value,
            interval(ratio),
        );
        if reference.value >= LONG_NS && ratio.value > TEST_AIM {
            above.push(input.id.as_str());
        }
        ratios.push(ratio.value);
    }
    let mean = geometric_mean(ratios);
    let rounds = profile.dyno.0.len();
    let by_round = median((0..rounds).map(|round| {
        geometric_mean(
            (0..inputs.len())
                .map(|test| profile.dyno.0[round][test] as f64 / profile.reference.0[round][test] as f64),
        )
    }));
    let _ = writeln!(
        text,
        "\nGeometric mean of the ratios: {mean:.4} (by round {:.4}, {}); aim at most {MEAN_AIM}: {}.",
        by_round.value,
        interval(by_round),
        if mean <= MEAN_AIM { "reached" } else { "missed" },
    );
    let missed =
        if above.is_empty() { "reached".to_owned() } else { format!("missed by {}", above.join(", ")) };
    let _ = writeln!(text, "Tests of 5 ms and more, aim at most {TEST_AIM}: {missed}.");
    text
}

/// The null runner's cost for the same statements.
pub fn null(durations: &Durations, inputs: &[Input]) -> String {
    let mut text =
        "\n**The null runner**\n\n| test | statements | ns | ns per statement |\n|---|--:|--:|--:|\n"
            .to_owned();
    for (test, input) in inputs.iter().enumerate() {
        let time = median(durations.of(test)).value;
        let each = time / input.count as f64;
        let _ = writeln!(text, "| {} {} | {} | {time:.0} | {each:.2} |", input.id, input.title, input.count);
    }
    text
}

fn interval(median: Median) -> String {
    format!("{:.3}–{:.3}", median.low, median.high)
}
