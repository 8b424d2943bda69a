//! Commits of a runner, one of which meets a fault, and the account of them afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use dyno_engine::{Contender, ScratchServer};
use dyno_lab::scratch::Scratch;
use dyno_lab::server::{Installation, PrivateServer, scratch_name};
use dyno_lab::trial::{InspectedServer, Outcome, Trial, TrialOptions, wire_protocol};
use dyno_plan::probe;
use dyno_protocol::{Job, Maintenance, Test, Value, Work};

use super::injector::FaultInjector;
use super::{DriverFault, slow_statements};

/// The silence of a runner after which it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of commits, and the one in which something fails.
const COMMITS: u64 = 6;
const FAULTY: u64 = 4;
const CREATE: &str = "CREATE TABLE marks(n INTEGER NOT NULL)";
const READ: &str = "SELECT n, count(*) FROM marks GROUP BY n ORDER BY n";
/// The id of the test whose statement takes too long.
const SLOW: &str = "slow";

/// The outcome of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultFinding {
    /// The fault.
    pub fault: DriverFault,
    /// The driver's reaction.
    pub outcome: DriverOutcome,
    /// The commits that were acknowledged and are not there.
    pub lost: Vec<u64>,
    /// The commits that are there more than once.
    pub repeated: Vec<u64>,
    /// True if the commit that was begun and not acknowledged is there; absent if every commit was acknowledged.
    pub kept: Option<bool>,
}

/// The reaction of a driver to a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverOutcome {
    /// Every commit was acknowledged: the client noticed nothing, or tried again.
    GoesOn,
    /// It reported an error, with this message of the runner.
    Reports(String),
    /// Neither an answer nor an error came within the patience.
    Hangs,
    /// The fault does not apply to the server.
    NotApplicable,
    /// The fault could not be tried to its end, for this reason.
    Untried(String),
}

impl FaultFinding {
    /// A finding about a fault in which nothing was written.
    pub(super) fn without_writes(fault: DriverFault, outcome: DriverOutcome) -> FaultFinding {
        FaultFinding { fault, outcome, lost: Vec::new(), repeated: Vec::new(), kept: None }
    }
}

/// Tries a fault with a contender's driver.
///
/// # Errors
/// The server does not start, the table cannot be read, or the fault did not come about.
pub fn try_fault(
    contender: &Contender,
    fault: DriverFault,
    scratch: &Scratch,
    conduct: &TrialOptions,
) -> Result<FaultFinding> {
    if fault == DriverFault::Timeout && slow_statements(contender).is_none() {
        return Ok(FaultFinding::without_writes(fault, DriverOutcome::NotApplicable));
    }
    let conduct = TrialOptions { timeout: PATIENCE, ..conduct.clone() };
    let mut servers = conduct.servers(scratch);
    let (server, installation) = servers.alone(contender)?;
    let placement = servers.placement().clone();
    let served = server.connection(&scratch_name());
    let mut subject = FaultTrial { contender, fault, scratch, conduct, served, server, installation };
    let trial = subject.commit(&placement)?;
    let rows = subject.read()?;
    finding(fault, &trial, &rows)
}

/// The means of a trial with a fault.
struct FaultTrial<'a> {
    contender: &'a Contender,
    fault: DriverFault,
    scratch: &'a Scratch,
    conduct: TrialOptions,
    served: ScratchServer,
    server: PrivateServer,
    installation: Installation,
}

impl FaultTrial<'_> {
    /// Makes the commits, through a proxy that lets something fail.
    fn commit(&mut self, placement: &dyno_record::Placement) -> Result<Trial> {
        let inputs = self.scratch.trial()?;
        let protocol = wire_protocol(self.served.speaks);
        let (ask, asked) = channel();
        let (done, is_done) = channel();
        let injector = Arc::new(FaultInjector::new(protocol, self.fault, FAULTY, (ask, is_done)));
        let inspected = InspectedServer::new(
            self.served.clone(),
            Duration::ZERO,
            Arc::clone(&injector) as _,
            self.scratch.folder(),
        )?;
        let directory = self.scratch.trial()?;
        let mut job = self.job(&inspected.served, directory.path())?;
        // The database stays for the reading.
        job.maintenance = job.maintenance.map(|known| Maintenance { after: Vec::new(), ..known });
        job.tests = tests(self.contender, self.fault, inputs.path())?;
        let trial = self.run(&job, (asked, done), placement)?;
        ensure!(
            self.fault == DriverFault::Timeout || injector.has_failed(),
            "the runner did not come so far that something could fail: {}",
            message(&trial)
        );
        Ok(trial)
    }

    /// Runs the job in another thread, and restarts the server when that is asked for: the kernel ends a server with
    /// the thread that started it. It takes its ends of the channels, so that a proxy that asks too late waits for
    /// nothing.
    fn run(
        &mut self,
        job: &Job,
        (asked, done): (Receiver<()>, Sender<()>),
        placement: &dyno_record::Placement,
    ) -> Result<Trial> {
        let (contender, conduct) = (self.contender, &self.conduct);
        thread::scope(|scope| {
            let running = scope.spawn(move || conduct.run(contender, job, |_| {}));
            while !running.is_finished() {
                match asked.recv_timeout(Duration::from_millis(20)) {
                    Ok(()) => {
                        let (settings, key) = (&contender.settings, contender.engine_key());
                        let restarted = self.server.restart(&self.installation, settings, key, placement);
                        // The proxy waits for it, whether it succeeded or not.
                        let _ = done.send(());
                        restarted?;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            running.join().unwrap_or_else(|_| bail!("the thread of the trial panicked"))
        })
    }

    /// The number of times that each commit is in the table, read from the server itself.
    fn read(&self) -> Result<BTreeMap<u64, u64>> {
        let (directory, inputs) = (self.scratch.trial()?, self.scratch.trial()?);
        let mut job = self.job(&self.served, directory.path())?;
        job.maintenance = job.maintenance.map(|known| Maintenance { before: Vec::new(), ..known });
        let mut test = test("read", &["SELECT 1".to_owned()], inputs.path())?;
        test.check = Some(READ.to_owned());
        job.tests = vec![test];
        let trial = self.conduct.run(self.contender, &job, |_| {})?;
        ensure!(trial.outcome == Outcome::Finished, "the table cannot be read: {}", message(&trial));
        let answer = trial.answers.first().context("the runner sent no answer")?;
        let row = |row: &Vec<Value>| match row[..] {
            [Value::Integer(number), Value::Integer(count)] => {
                Ok((number.cast_unsigned(), count.cast_unsigned()))
            }
            _ => bail!("the table holds {row:?}"),
        };
        answer.kept.iter().map(row).collect()
    }

    /// A job on the contender's server, which is looked at by nothing but its clients.
    fn job(&self, served: &ScratchServer, directory: &Path) -> Result<Job> {
        let mut job = probe(self.contender, directory);
        let known = Some(self.server.version().to_owned());
        self.conduct.serve_version(self.contender, &mut job, served, known)?;
        job.database_bytes.clear();
        // It has another process after a restart.
        job.server.iter_mut().for_each(|server| server.process = None);
        Ok(job)
    }
}

/// The tests of a fault: commits, or a statement that takes too long between two of them.
fn tests(contender: &Contender, fault: DriverFault, inputs: &Path) -> Result<Vec<Test>> {
    let commit = |number: u64| {
        let insert = format!("INSERT INTO marks VALUES({number})");
        test(&number.to_string(), &["BEGIN".to_owned(), insert, "COMMIT".to_owned()], inputs)
    };
    let mut tests = (1..=COMMITS).map(commit).collect::<Result<Vec<_>>>()?;
    tests[0].setup.push(CREATE.to_owned());
    if let (DriverFault::Timeout, Some(slow)) = (fault, slow_statements(contender)) {
        tests.insert(FAULTY as usize, test(SLOW, &slow.map(str::to_owned), inputs)?);
    }
    Ok(tests)
}

fn test(id: &str, statements: &[String], inputs: &Path) -> Result<Test> {
    let file = inputs.join(format!("{id}.statements"));
    let text: String = statements.iter().map(|statement| format!("{statement}\0")).collect();
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    let work = Work::Statements { file, count: statements.len() as u64 };
    Ok(Test { id: id.to_owned(), setup: Vec::new(), work, check: None })
}

fn message(trial: &Trial) -> String {
    match &trial.outcome {
        Outcome::Failed { message, .. } => message.clone(),
        Outcome::Finished => "it finished".to_owned(),
        Outcome::Interrupted => "it was interrupted".to_owned(),
    }
}

/// The outcome of a fault, by the runner's report and the rows in the table.
fn finding(fault: DriverFault, trial: &Trial, rows: &BTreeMap<u64, u64>) -> Result<FaultFinding> {
    let acknowledged: Vec<u64> = trial.samples.iter().filter_map(|sample| sample.test.parse().ok()).collect();
    let outcome = match &trial.outcome {
        Outcome::Finished => DriverOutcome::GoesOn,
        Outcome::Interrupted => bail!("interrupted"),
        Outcome::Failed { message, .. } if message.contains("was silent for") => DriverOutcome::Hangs,
        Outcome::Failed { message, .. } => DriverOutcome::Reports(message.clone()),
    };
    let count = |number: u64| rows.get(&number).copied().unwrap_or(0);
    let begun = match &trial.outcome {
        Outcome::Failed { test: Some(test), .. } => test.parse().ok(),
        _ => None,
    };
    Ok(FaultFinding {
        fault,
        outcome,
        lost: acknowledged.into_iter().filter(|&number| count(number) == 0).collect(),
        repeated: rows.iter().filter(|(_, count)| **count > 1).map(|(number, _)| *number).collect(),
        kept: begun.map(|number| count(number) > 0),
    })
}

#[cfg(test)]
mod tests {
    use dyno_protocol::Sample;

    use super::*;

    #[test]
    fn what_is_acknowledged_is_held_against_the_table() {
        let sample = |test: &str| Sample { test: test.into(), ..Sample::default() };
        let failed = Outcome::Failed { test: Some("3".into()), message: "gone".into() };
        let samples = vec![sample("1"), sample("2"), sample(SLOW)];
        let mut trial = Trial::default();
        (trial.samples, trial.outcome) = (samples, failed);
        let found = |rows: &[(u64, u64)]| {
            finding(DriverFault::CutAfter, &trial, &rows.iter().copied().collect()).unwrap()
        };
        let well = found(&[(1, 1), (2, 1), (3, 1)]);
        assert_eq!((well.lost, well.repeated, well.kept), (vec![], vec![], Some(true)));
        let ill = found(&[(1, 2)]);
        assert_eq!((ill.lost, ill.repeated, ill.kept), (vec![2], vec![1], Some(false)));
        assert_eq!(ill.outcome, DriverOutcome::Reports("gone".into()));
    }
}
