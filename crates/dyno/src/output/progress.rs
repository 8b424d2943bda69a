//! Progress on standard error while a run goes on: a live line on a terminal, plain lines elsewhere,
//! nothing when asked to be quiet.
//!
//! It draws when a test begins or a trial ends and never by itself, so that it takes no processor time
//! from a trial.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::units;
use crate::record::{Failure, Run, TrialRecord};
use crate::run::Observer;

/// Shows how far a run is.
#[derive(Debug)]
pub struct Progress {
    kind: Kind,
    began: Instant,
    doing: String,
    block: u32,
    /// What the trials of this block took, in the order in which they ended.
    block_times: Vec<(String, f64)>,
}

#[derive(Debug)]
enum Kind {
    Quiet,
    Lines,
    Live(ProgressBar),
}

impl Progress {
    /// Progress that fits where standard error goes.
    pub fn new(quiet: bool) -> Progress {
        let kind = match quiet {
            true => Kind::Quiet,
            false if stderr().is_terminal() => Kind::Live(bar()),
            false => Kind::Lines,
        };
        Progress { kind, began: Instant::now(), doing: String::new(), block: 0, block_times: Vec::new() }
    }

    /// Takes the live line away.
    pub fn finish(&mut self) {
        self.end_block();
        if let Kind::Live(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }

    fn say(&self, line: &str) {
        match &self.kind {
            Kind::Quiet => {}
            Kind::Lines => eprintln!("{line}"),
            Kind::Live(bar) => bar.println(line),
        }
    }

    fn draw(&self, run: &Run) {
        let Kind::Live(bar) = &self.kind else { return };
        let elapsed = self.began.elapsed();
        let (done, whole) = match (run.schedule.trials, run.schedule.budget_ns) {
            (Some(trials), _) => {
                (run.trials.len() as u64, u64::from(trials + 1) * run.contenders.len() as u64)
            }
            (None, budget) => {
                let budget = Duration::from_nanos(budget.unwrap_or_default());
                (elapsed.min(budget).as_millis() as u64, budget.as_millis() as u64)
            }
        };
        bar.set_length(whole.max(1));
        bar.set_position(done);
        bar.set_message(format!("{} {}", clock(elapsed, run), self.doing));
        bar.tick();
    }

    /// Tells what the block that has ended took.
    fn end_block(&mut self) {
        let times = std::mem::take(&mut self.block_times);
        if times.is_empty() {
            return;
        }
        let times: Vec<String> =
            times.into_iter().map(|(label, time)| format!("{label} {}", units::duration(time))).collect();
        let name = if self.block == 0 { "warm-up".to_owned() } else { format!("block {}", self.block) };
        self.say(&format!("{name}: {}", times.join(", ")));
    }
}

impl Observer for Progress {
    fn block_begins(&mut self, block: u32, _run: &Run) {
        self.end_block();
        self.block = block;
    }

    fn trial_begins(&mut self, contender: usize, run: &Run) {
        self.doing = run.contenders[contender].label.clone();
        self.draw(run);
    }

    fn test_begins(&mut self, test: usize, run: &Run) {
        let contender = self.doing.split(" · ").next().unwrap_or_default().to_owned();
        self.doing = format!("{contender} · {} {}", run.tests[test].id, run.tests[test].title);
        self.draw(run);
    }

    fn trial_ends(&mut self, trial: &TrialRecord, run: &Run) {
        let contender = &run.contenders[trial.contender];
        if contender.named {
            let time = trial.samples.iter().map(|sample| sample.duration_ns()).sum();
            self.block_times.push((contender.label.clone(), time));
        }
        if let Some(failure) = &trial.failure {
            self.say(&format!("{} failed: {}", contender.label, failure.message));
        }
        self.draw(run);
    }

    fn dropped(&mut self, contender: usize, _failure: &Failure, run: &Run) {
        let label = &run.contenders[contender].label;
        self.say(&format!("{label} failed again and is tried no more; the others go on"));
    }

    fn warn(&mut self, message: &str) {
        // Even when quiet: what is lost must be told.
        match &self.kind {
            Kind::Live(bar) => bar.println(format!("dyno: {message}")),
            _ => eprintln!("dyno: {message}"),
        }
    }
}

fn bar() -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:24} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(1).with_style(style)
}

/// Time used and, where there is a budget, time allowed.
fn clock(elapsed: Duration, run: &Run) -> String {
    let text = |duration: Duration| format!("{}:{:02}", duration.as_secs() / 60, duration.as_secs() % 60);
    match run.schedule.budget_ns {
        Some(budget) => format!("{} of at most {}", text(elapsed), text(Duration::from_nanos(budget))),
        None => text(elapsed),
    }
}
