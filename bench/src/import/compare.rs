//! Contenders that take turns, and the table of their medians.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

/// A way to load, or what it is held against.
pub struct Contender {
    name: String,
    work: Box<dyn Fn() -> Result<()>>,
    /// The preparation before each timing.
    before: Box<dyn Fn() -> Result<()>>,
    seconds: Vec<f64>,
}

impl Contender {
    /// One that does some work in this process.
    pub fn of(
        name: impl Into<String>,
        work: impl Fn() -> Result<()> + 'static,
        before: impl Fn() -> Result<()> + 'static,
    ) -> Contender {
        Contender { name: name.into(), work: Box::new(work), before: Box::new(before), seconds: Vec::new() }
    }

    /// One that is a command.
    pub fn new(
        name: impl Into<String>,
        command: impl Fn() -> Command + 'static,
        before: impl Fn() -> Result<()> + 'static,
    ) -> Contender {
        Contender::of(name, move || executed(command()), before)
    }
}

/// Executes a command that must succeed.
pub fn executed(mut command: Command) -> Result<()> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Runs all of them in turn and prints the medians. The last column is the median of the ratios to the first contender
/// within a round, with its 95 % interval.
pub fn compare(title: &str, mut contenders: Vec<Contender>, rounds: usize) -> Result<()> {
    for round in 0..=rounds {
        // Each goes first in its turn.
        for turn in 0..contenders.len() {
            let place = (round + turn) % contenders.len();
            let contender = &mut contenders[place];
            (contender.before)()?;
            let began = Instant::now();
            (contender.work)()?;
            let seconds = began.elapsed().as_secs_f64();
            // The first round fills caches.
            if round > 0 {
                contender.seconds.push(seconds);
            }
        }
    }
    println!("### {title}\n\n| | median | min–max | over dyno |\n| --- | --- | --- | --- |");
    let first = contenders[0].seconds.clone();
    for Contender { name, seconds, .. } in contenders {
        let mut ratios: Vec<f64> = seconds.iter().zip(&first).map(|(one, first)| one / first).collect();
        let mut seconds = seconds;
        let (middle, ratio) = (median(&mut seconds), median(&mut ratios));
        let (min, max) = (seconds[0], seconds[seconds.len() - 1]);
        let cut = outside(ratios.len());
        let (low, high) = (ratios[cut], ratios[ratios.len() - 1 - cut]);
        println!("| {name} | {middle:.3} s | {min:.3}–{max:.3} s | {ratio:.2}× ({low:.2}–{high:.2}) |");
    }
    println!();
    Ok(())
}

/// Sorts figures and gives the one in the middle.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    let half = figures.len() / 2;
    if figures.len() % 2 == 1 { figures[half] } else { (figures[half - 1] + figures[half]) / 2.0 }
}

/// The number of `count` figures that may be left out at either end such that the rest hold the true median with 95 %:
/// each figure is above that or below it, as a coin falls.
fn outside(count: usize) -> usize {
    let (mut chance, mut sum, mut cut) = (0.5f64.powi(count as i32), 0.0, 0);
    while cut < count / 2 {
        sum += chance;
        if sum > 0.025 {
            break;
        }
        chance *= (count - cut) as f64 / (cut + 1) as f64;
        cut += 1;
    }
    cut.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_the_median_leaves_out_what_tables_of_the_binomial_say() {
        // The 2nd of 9 and the 3rd of 12 have 96 %; of 6 or 7 all are needed.
        assert_eq!([6, 7, 9, 12, 15, 25].map(outside), [0, 0, 1, 2, 3, 7]);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
    }
}
