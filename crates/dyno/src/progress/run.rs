//! Progress on standard error while a run goes on: a live table on a terminal, plain lines elsewhere, nothing
//! when asked to be quiet.
//!
//! It draws only when a test begins or a trial ends, so that it takes no processor time
//! from a trial.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use dyno_lab::run::{Observer, USEFUL_TRIALS};
use dyno_protocol::{Class, Interval, quantile};
use dyno_record::{Failure, Run, SampleRecord, TrialRecord};
use dyno_show::units;

use super::copies::by_number;
use super::live::{Live, Now};
use crate::terminal;

/// Inputs of as many bytes take a few seconds.
const LARGE: u64 = 500_000_000;
/// Bytes of inputs that are written and checked in a second, roughly: 60 to 300 million were measured.
const RATE: f64 = 1e8;
/// Work that takes longer than this is announced.
const MOMENT: Duration = Duration::from_secs(1);
/// Time without a line after which the trials of a block are reported before it ends.
const LONG: Duration = Duration::from_secs(20);

/// Shows how far a run is.
#[derive(Debug)]
pub struct Progress {
    kind: Kind,
    began: Instant,
    now: Now,
    /// The time of the last line that reported trials.
    shown_at: Instant,
    /// The durations of the trials of this block that no line has reported, in the order in which they ended.
    block_times: Vec<(String, f64)>,
}

#[derive(Debug)]
enum Kind {
    Quiet,
    Lines,
    Live(Live),
}

impl Progress {
    /// Progress that fits where standard error goes.
    pub fn new(quiet: bool) -> Progress {
        let kind = match quiet {
            true => Kind::Quiet,
            false if stderr().is_terminal() => Kind::Live(Live::new()),
            false => Kind::Lines,
        };
        let began = Instant::now();
        Progress { kind, began, now: Now::default(), shown_at: began, block_times: Vec::new() }
    }

    /// Announces the size of the inputs, where writing them takes a noticeable time.
    pub fn announces(&self, bytes: u64) {
        if bytes >= LARGE {
            let (size, seconds) = (bytes as f64, bytes as f64 / RATE);
            let (size, time) = (units::bytes(size), units::duration(seconds * 1e9));
            self.say(&format!(
                "The inputs of this run take {size}; dyno writes and checks them in about {time}."
            ));
        }
    }

    /// Shows how many bytes of the inputs are written, of about how many in all, unless that takes but a moment.
    pub fn prepares(&mut self, written: u64, bytes: u64) {
        let elapsed = self.began.elapsed();
        if elapsed < MOMENT || written == 0 {
            return;
        }
        let share = (written as f64 / bytes.max(written) as f64).min(1.0);
        let size = |bytes: u64| units::bytes(bytes as f64);
        let left = units::duration(elapsed.as_nanos() as f64 * (1.0 / share - 1.0));
        let line = match written < bytes {
            true => format!("writing the inputs: {} of {}, about {left} left", size(written), size(bytes)),
            false => "working out the right answers of the inputs".to_owned(),
        };
        match &mut self.kind {
            Kind::Live(live) => live.prepares(&line, share),
            _ if self.shown_at == self.began || self.shown_at.elapsed() > LONG => {
                self.shown_at = Instant::now();
                self.say(&line);
            }
            _ => {}
        }
    }

    /// Takes the live view away.
    pub fn finish(&mut self) {
        self.print_times();
        if let Kind::Live(live) = &self.kind {
            live.clear();
        }
    }

    fn say(&self, line: &str) {
        match &self.kind {
            Kind::Quiet => {}
            Kind::Lines => terminal::say(&by_number(line)),
            Kind::Live(live) => live.say(&by_number(line)),
        }
    }

    fn draw(&mut self, run: &Run) {
        let elapsed = self.began.elapsed();
        let Kind::Live(live) = &mut self.kind else { return };
        let (share, left) = done(run, elapsed);
        live.draw(run, self.now, share, left);
    }

    /// Reports the rates at which operations arrived in a trial, and whether the target held: a search goes by these.
    fn print_rates(&self, trial: &TrialRecord, label: &str) {
        let rate = |sample: &SampleRecord| {
            let sought = sample.sought?;
            let held = if sought.held { "held" } else { "did not hold" };
            Some(format!("{} at {} {held}", sample.sample.test, units::rate(sought.rate)))
        };
        let rates: Vec<String> = trial.samples.iter().filter_map(rate).collect();
        if !rates.is_empty() {
            self.say(&format!("block {}: {label}, {}", trial.block, rates.join(", ")));
        }
    }

    /// Reports the durations of the trials that have ended since the last line; the live table shows them anyway.
    fn print_times(&mut self) {
        self.shown_at = Instant::now();
        let times = std::mem::take(&mut self.block_times);
        if times.is_empty() || matches!(self.kind, Kind::Live(_)) {
            return;
        }
        let times: Vec<String> =
            times.into_iter().map(|(label, time)| format!("{label} {}", units::duration(time))).collect();
        self.say(&format!("{}: {}", block_name(self.now.block), times.join(", ")));
    }
}

/// The purpose of a trial whose time is part of no figure.
fn purpose(trial: &TrialRecord) -> &'static str {
    if trial.counted {
        " (counting)"
    } else if trial.latency {
        " (timing each operation)"
    } else if trial.watched {
        " (looking at what it waits for)"
    } else {
        ""
    }
}

fn block_name(block: u32) -> String {
    if block == 0 { "warm-up".to_owned() } else { format!("block {block}") }
}

/// The work of clients in an interval: `5 s: read 1.2k/s, p99 3 ms; write 300/s, p99 8 ms, 2 failed`.
fn interval_line(interval: &Interval) -> String {
    let class = |class: &Class| {
        let seconds = interval.nanoseconds as f64 / 1e9;
        let mut line = format!("{} {}", class.class, units::rate(class.done as f64 / seconds));
        let response = class.response.histogram().ok().flatten();
        if let Some(slow) = response.and_then(|response| quantile(&response, 0.99, class.failed)) {
            line.push_str(&format!(", p99 {}", units::duration(slow as f64)));
        }
        if class.failed > 0 {
            line.push_str(&format!(", {} failed", class.failed));
        }
        line
    };
    let classes: Vec<String> = interval.classes.iter().map(class).collect();
    format!("{} s: {}", interval.elapsed_ns / 1_000_000_000, classes.join("; "))
}

/// A time as a person waits for it: `75 s`, `12 min`.
fn minutes(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

/// The share of the run that is done, and how long the rest may take: by the trials that are asked for, or by the
/// budget.
fn done(run: &Run, elapsed: Duration) -> (f64, Option<Duration>) {
    let budget = run.schedule.budget_ns.map(Duration::from_nanos);
    let by_budget = budget.map(|budget| budget.saturating_sub(elapsed));
    match run.schedule.trials {
        Some(trials) => {
            let whole = f64::from(trials + u32::from(run.schedule.warm_up)) * run.contenders.len() as f64;
            let share = run.trials.len() as f64 / whole;
            let rest = (share > 0.0).then(|| elapsed.mul_f64((1.0 / share - 1.0).max(0.0)));
            (share, rest.map(|rest| by_budget.map_or(rest, |budget| rest.min(budget))))
        }
        None => {
            let share = budget.map_or(0.0, |budget| elapsed.as_secs_f64() / budget.as_secs_f64().max(1e-9));
            (share, by_budget)
        }
    }
}

impl Observer for Progress {
    fn proof_begins(&mut self, contender: usize, run: &Run) {
        self.say(&format!("checking whether {} encrypts", run.contenders[contender].label));
    }

    fn probe_begins(&mut self, contender: usize, run: &Run) {
        self.say(&format!(
            "checking what transactions of {} see of one another",
            run.contenders[contender].label
        ));
    }

    fn traffic_begins(&mut self, contender: usize, run: &Run) {
        self.say(&format!("counting the round trips of {}", run.contenders[contender].label));
    }

    fn block_begins(&mut self, block: u32, _run: &Run) {
        self.print_times();
        self.now.block = block;
    }

    fn needs(&mut self, time: Duration, run: &Run) {
        let budget = run.schedule.budget_ns.map_or(time, Duration::from_nanos);
        let takes =
            |verb: &str| format!("{USEFUL_TRIALS} trials of each contender {verb} about {}", minutes(time));
        self.say(&match time <= budget {
            true => format!("{}; Ctrl-C earlier keeps what is there", takes("take")),
            false => format!(
                "{}, and the budget ends the run after {}; `--budget {}m` has room for them",
                takes("would take"),
                minutes(budget),
                (time.as_secs_f64() * 1.15 / 60.0).ceil()
            ),
        });
    }

    fn trial_begins(&mut self, contender: usize, run: &Run) {
        self.now.contender = Some(contender);
        self.now.test = None;
        self.draw(run);
    }

    fn test_begins(&mut self, test: usize, run: &Run) {
        self.now.test = Some(test);
        self.draw(run);
    }

    fn interval(&mut self, interval: &Interval, run: &Run) {
        let contender = self.now.contender.map(|contender| &run.contenders[contender]);
        if let Some(contender) = contender.filter(|contender| contender.named) {
            let test = self.now.test.map_or("", |test| &run.tests[test].id);
            let block = block_name(self.now.block);
            self.say(&format!("{block}: {}, {test}, {}", contender.label, interval_line(interval)));
        }
    }

    fn trial_ends(&mut self, trial: &TrialRecord, run: &Run) {
        let contender = &run.contenders[trial.contender];
        if contender.named {
            self.print_rates(trial, &contender.label);
            let time = trial.samples.iter().map(|sample| sample.sample.section.nanoseconds as f64).sum();
            // A trial without a sample took no time that says anything.
            if !trial.samples.is_empty() {
                let label = format!("{}{}", contender.label, purpose(trial));
                self.block_times.push((label, time));
            }
        }
        if let Some(failure) = &trial.failure {
            self.say(&format!("{} failed: {}", contender.label, failure.message));
        }
        if let Kind::Live(live) = &mut self.kind {
            live.fill(run);
        }
        // A block may take an hour; users should see before its end that something happens.
        if self.shown_at.elapsed() > LONG {
            self.print_times();
        }
        self.draw(run);
    }

    fn dropped(&mut self, contender: usize, _failure: &Failure, run: &Run) {
        let label = &run.contenders[contender].label;
        self.say(&format!("dyno does not try {label} again; the others go on"));
    }

    fn warn(&mut self, message: &str) {
        // Even when quiet, a loss must be reported.
        match &self.kind {
            Kind::Live(live) => live.say(&format!("dyno: {message}")),
            _ => terminal::say(&format!("dyno: {message}")),
        }
    }
}
