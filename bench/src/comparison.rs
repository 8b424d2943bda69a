//! The times of a contender and of the program that it is compared with, pair by pair.

use dyno_lab::trial::Trial;

use crate::loads::Load;

/// The largest share of a duration for which a process may wait for a processor: dyno leaves out a pair that waited longer.
const MOST_WAIT: f64 = 0.03;

/// One duration, and the wait and the work within it, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// Wall-clock time.
    pub nanoseconds: u64,
    /// Time spent waiting for a processor.
    pub wait_ns: u64,
    /// CPU time.
    pub cpu_ns: u64,
    /// The number of operations; 0 where a program does not say.
    pub operations: u64,
}

impl Time {
    fn is_disturbed(self) -> bool {
        self.wait_ns as f64 > MOST_WAIT * self.nanoseconds as f64
    }
}

/// The measurements of one contender and one kind of work.
#[derive(Debug)]
pub struct Comparison {
    /// The position among the contenders of the plan.
    pub contender: usize,
    /// The contender's name.
    pub label: String,
    /// The rows that are loaded; none where the suite is measured.
    pub load: Option<Load>,
    /// True if the engine is a server, which shares a processor with its client.
    pub is_server: bool,
    /// For each test and round dyno's and C's nanoseconds, or none where either was disturbed.
    pub pairs: Vec<Vec<Option<(f64, f64)>>>,
    /// The same for their CPU time.
    pub cpu: Vec<Vec<Option<(f64, f64)>>>,
}

/// The times of the samples of a trial.
pub fn times(trial: &Trial) -> Vec<Time> {
    let time = |sample: &dyno_protocol::Sample| Time {
        nanoseconds: sample.section.nanoseconds,
        wait_ns: sample.section.client.wait_ns,
        cpu_ns: sample.section.client.user_ns + sample.section.client.system_ns,
        operations: sample.operations,
    };
    trial.samples.iter().map(time).collect()
}

impl Comparison {
    /// Adds a round: the times of dyno and of C, test by test.
    pub fn add(&mut self, dyno: &[Time], reference: &[Time]) {
        for (test, (dyno, reference)) in dyno.iter().zip(reference).enumerate() {
            // A client waits for the processor while its server uses it, and that is no disturbance.
            let disturbed = !self.is_server && (dyno.is_disturbed() || reference.is_disturbed());
            let pair = |figure: fn(&Time) -> u64| {
                (!disturbed).then_some((figure(dyno) as f64, figure(reference) as f64))
            };
            self.pairs[test].push(pair(|time| time.nanoseconds));
            self.cpu[test].push(pair(|time| time.cpu_ns));
        }
    }
}
