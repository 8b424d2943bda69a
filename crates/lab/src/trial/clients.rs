//! A mix whose clients are in several processes: the runner's, which has set up, and others that join it. dyno starts
//! them, compares their clocks with its own, has all of them begin at one instant, and adds up what they report. While
//! their clocks run they are sent nothing.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Error;
use dyno_gauge::{Before, Gauge};
use dyno_launch::clients::{ClockExchange, ClockOffset, clock_ns};
use dyno_protocol::{Class, ClientOrder, Cost, Interval, Response, Sample, TimeWindow, Work};
use dyno_record::{AgentShare, Others};

use super::reader::{ClientPhase, EventMeaning, OutputEnd};
use super::running::Running;
use super::{Report, Trial};

/// The time between the order to begin and the beginning, so that all processes have it in time.
const NOTICE: Duration = Duration::from_millis(20);
/// The number of times that each process is asked for its clock.
const EXCHANGES: usize = 8;

/// The sum of what each process has reported of an interval, by its end, with the number of those that have.
#[derive(Default)]
struct Intervals(BTreeMap<u64, (usize, Interval)>);

impl Intervals {
    /// Adds what a process reports; returns the sum if it was the last of `members`.
    fn add(&mut self, interval: Interval, members: usize) -> Option<Interval> {
        let end = interval.elapsed_ns;
        let (count, sum) = match self.0.remove(&end) {
            None => (1, interval),
            Some((count, mut sum)) => {
                sum.classes.iter_mut().zip(&interval.classes).for_each(|(all, one)| all.add(one));
                (count + 1, sum)
            }
        };
        if count >= members {
            return Some(sum);
        }
        self.0.insert(end, (count, sum));
        None
    }
}

fn trouble(error: Error) -> OutputEnd {
    OutputEnd::Trouble(format!("{error:#}"))
}

impl Running {
    /// Does a mix of which the runner's process has the first client, which is ready.
    pub(super) fn share(&mut self, on_report: &mut impl FnMut(Report)) -> Result<(), OutputEnd> {
        let test = self.samples();
        for (rank, job) in self.parts.others(test) {
            self.add(rank, &job, None).map_err(trouble)?;
        }
        let connected = Instant::now() + self.patience();
        self.wait_for(ClientPhase::Ready, connected, &mut |_, _| {})?;
        let offsets = (0..self.members.len()).map(|place| self.compare_clocks(place));
        let offsets: Vec<ClockOffset> = offsets.collect::<Result<_, _>>()?;
        let (server, agreed_ns) = self.work(test, &offsets, on_report)?;
        let ranks: Vec<usize> = self.members.iter().map(|member| member.rank).collect();
        let clients: Vec<u32> = self.members.iter().map(|member| member.reader.clients_of(test)).collect();
        let (mut samples, others) = self.end_others()?;
        self.members[0].send(&ClientOrder::GoOn).map_err(trouble)?;
        let reported = Instant::now() + self.patience();
        while self.samples() == test {
            if self.hear_well(reported, &mut |_, _| {})?.is_none() {
                return Err(self.silent(0));
            }
        }
        let trial = &mut self.members[0].reader.trial;
        samples.iter_mut().zip(&offsets[1..]).for_each(|(sample, offset)| on_dynos_clock(sample, *offset));
        on_dynos_clock(&mut trial.samples[test], offsets[0]);
        if let Some(fleet) = &self.agents {
            let all = [&trial.samples[test]].into_iter().chain(&samples).zip(others);
            let shares = all.enumerate().map(|(place, (sample, others))| AgentShare {
                agent: ranks[place],
                clients: clients[place],
                others: others.filter(|_| !fleet.shares_processors(ranks[place])),
                clock_ahead_ns: offsets[place].ahead_ns,
                clock_error_ns: offsets[place].error_ns,
                late_start_ns: late_start(sample, agreed_ns),
                ..share_of(sample)
            });
            trial.agents.extend(shares.collect::<Vec<_>>());
        }
        add_up(trial, test, &samples, server);
        match nothing_done(&trial.samples[test]) {
            None => Ok(()),
            Some(why) => Err(self.members[0].reader.refuse_sample(why)),
        }
    }

    /// Has all clients begin, and waits until they are done. Returns the server's costs, if they can be read, and the
    /// moment at which the section was to begin, on dyno's clock.
    fn work(
        &mut self,
        test: usize,
        offsets: &[ClockOffset],
        on_report: &mut impl FnMut(Report),
    ) -> Result<(Option<Cost>, u64), OutputEnd> {
        let window = match &self.parts.first().tests[test].work {
            Work::Mix(mix) => mix.lasts,
            _ => None,
        };
        let TimeWindow { duration_ns, warm_up_ns } =
            window.unwrap_or(TimeWindow { duration_ns: 0, warm_up_ns: 0 });
        let gauge = Gauge::open(&self.parts.server());
        let ready = gauge.prepare();
        let read: Option<Before> = (warm_up_ns == 0).then(|| gauge.before_by(&ready));
        // The order must be there in time, also where the way is long.
        let way = offsets.iter().map(|offset| offset.error_ns).max().unwrap_or(0);
        let notice = NOTICE + Duration::from_nanos(4 * way);
        let (began, began_ns) = (Instant::now() + notice, clock_ns() + notice.as_nanos() as u64);
        for (member, offset) in self.members.iter().zip(offsets) {
            member.send(&ClientOrder::Begin { at_ns: offset.there(began_ns) }).map_err(trouble)?;
        }
        let (mut intervals, members) = (Intervals::default(), self.members.len());
        let mut report = |_, report| {
            if let Report::Interval(interval) = report
                && let Some(sum) = intervals.add(interval, members)
            {
                on_report(Report::Interval(sum));
            }
        };
        let deadline = began + self.lasts() + self.patience();
        let measured = began + Duration::from_nanos(warm_up_ns);
        let ended = measured + Duration::from_nanos(duration_ns);
        self.hear_until(measured, &mut report)?;
        let before = read.unwrap_or_else(|| gauge.before_at_work(&ready));
        if window.is_some() {
            self.hear_until(ended, &mut report)?;
        } else {
            self.wait_for(ClientPhase::Done, deadline, &mut report)?;
        }
        let (_, server) = gauge.after(&before);
        self.wait_for(ClientPhase::Done, deadline, &mut report)?;
        Ok((server, began_ns + warm_up_ns))
    }

    /// Asks a process for its clock.
    fn compare_clocks(&mut self, place: usize) -> Result<ClockOffset, OutputEnd> {
        let mut exchanges = Vec::new();
        while exchanges.len() < EXCHANGES {
            let asked_ns = clock_ns();
            self.members[place].send(&ClientOrder::Clock).map_err(trouble)?;
            let deadline = Instant::now() + self.patience();
            loop {
                match self.hear_well(deadline, &mut |_, _| {})? {
                    Some((from, EventMeaning::Ready(ready))) if from == place => {
                        let heard_ns = clock_ns();
                        exchanges.push(ClockExchange { asked_ns, heard_ns, read_ns: ready.clock_ns });
                        break;
                    }
                    Some((from, EventMeaning::Done)) => {
                        let who = self.members[from].reader.who();
                        return Err(OutputEnd::Trouble(format!("{who} was done before it had begun")));
                    }
                    Some(_) => {}
                    None => return Err(self.silent(place)),
                }
            }
        }
        Ok(ClockOffset::of(&exchanges))
    }

    /// Has the processes that joined go on to their end, before the first one looks at what all have left. Returns
    /// their samples, and what others took of each process's machine where agents have looked; the first one is still
    /// at work.
    fn end_others(&mut self) -> Result<(Vec<Sample>, Vec<Option<Others>>), OutputEnd> {
        for member in &self.members[1..] {
            member.send(&ClientOrder::GoOn).map_err(trouble)?;
        }
        let deadline = Instant::now() + self.patience();
        while let Some(place) = (1..self.members.len()).find(|&place| !self.members[place].reader.is_over()) {
            if self.hear_well(deadline, &mut |_, _| {})?.is_none() {
                return Err(self.silent(place));
            }
        }
        let (mut samples, mut others) = (Vec::new(), vec![None]);
        for member in self.members.drain(1..) {
            let (reader, ending) = member.finish();
            if let Some(what) = reader.trouble_at_end(ending.success, || ending.description.clone()) {
                return Err(OutputEnd::Trouble(what));
            }
            samples.extend(reader.trial.samples);
            others.push(ending.others);
        }
        Ok((samples, others))
    }

    /// Reads events until all processes have come to a phase.
    fn wait_for(
        &mut self,
        phase: ClientPhase,
        deadline: Instant,
        on_report: &mut dyn FnMut(usize, Report),
    ) -> Result<(), OutputEnd> {
        while let Some(place) = self.members.iter().position(|member| member.reader.phase() < phase) {
            if self.hear_well(deadline, on_report)?.is_none() {
                return Err(self.silent(place));
            }
        }
        Ok(())
    }

    /// Reads events until a moment.
    fn hear_until(
        &mut self,
        moment: Instant,
        on_report: &mut dyn FnMut(usize, Report),
    ) -> Result<(), OutputEnd> {
        while self.hear_well(moment, on_report)?.is_some() {}
        Ok(())
    }

    /// Reads the next event, after which its process is well.
    fn hear_well(
        &mut self,
        deadline: Instant,
        on_report: &mut dyn FnMut(usize, Report),
    ) -> Result<Option<(usize, EventMeaning)>, OutputEnd> {
        let heard = self.hear(deadline, on_report)?;
        let Some((place, _)) = heard else { return Ok(None) };
        match (place, self.members[place].reader.failure()) {
            (_, None) => Ok(heard),
            // It reports this of itself.
            (0, Some(_)) => Err(OutputEnd::Ended),
            (_, Some(message)) => Err(OutputEnd::Trouble(message)),
        }
    }
}

/// Gives a sample the beginning of its section on dyno's clock.
fn on_dynos_clock(sample: &mut Sample, offset: ClockOffset) {
    if sample.section.began_ns > 0 {
        sample.section.began_ns = offset.here(sample.section.began_ns);
    }
}

/// The nanoseconds from the moment at which a section was to begin until it did; both are on dyno's clock. A runner that
/// does not report the beginning has none.
fn late_start(sample: &Sample, agreed_ns: u64) -> Option<i64> {
    let began_ns = Some(sample.section.began_ns).filter(|began| *began > 0)?;
    Some(began_ns.wrapping_sub(agreed_ns).cast_signed())
}

/// The part of an agent in a sample.
fn share_of(sample: &Sample) -> AgentShare {
    let most = |part: fn(&Class) -> &Response| {
        Response::merged(sample.classes.iter().map(part)).map(|all| all.value_at_quantile(0.99))
    };
    let client = &sample.section.client;
    AgentShare {
        test: sample.test.clone(),
        operations: sample.operations,
        nanoseconds: sample.section.nanoseconds,
        cpu_ns: client.user_ns + client.system_ns,
        late_ns: most(|class| &class.late),
        response_ns: most(|class| &class.response),
        ..AgentShare::default()
    }
}

/// Adds the samples of other processes to the first one's.
fn add_up(trial: &mut Trial, test: usize, others: &[Sample], server: Option<Cost>) {
    let sum = &mut trial.samples[test];
    others.iter().for_each(|other| sum.join(other));
    sum.section.server = server;
}

/// The reason that a sample is of no operation, if it is.
fn nothing_done(sample: &Sample) -> Option<String> {
    let why = sample.classes.iter().map(|class| class.failure.as_str()).find(|why| !why.is_empty());
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    (sample.operations == 0).then(|| format!("no operation succeeded within the time{why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_the_sum_of_all_processes() {
        let interval = |elapsed_ns, done| Interval {
            elapsed_ns,
            nanoseconds: 5,
            classes: vec![Class { class: "read".into(), done, ..Class::default() }],
        };
        let mut intervals = Intervals::default();
        assert_eq!(intervals.add(interval(5, 1), 2), None);
        assert_eq!(intervals.add(interval(10, 2), 2), None);
        assert_eq!(intervals.add(interval(5, 3), 2), Some(interval(5, 4)));
        assert_eq!(intervals.add(interval(10, 4), 2), Some(interval(10, 6)));
    }
}
