//! The section of a mix in one process: all of its clients made ready, let go at once, and brought together again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use dyno_protocol::{MixWork, Sample};

use super::Steps;
use super::board::{Board, Window};
use super::classes::{firsts, names};
use super::client_thread::{
    Lines, ProcessClients, Shared, ThreadOrders, be_clients, be_lone_client, be_visitor,
};
use super::counts::Sum;
use super::program::Program;
use super::recorder::Recorder;
use super::reporter::Reporter;
use super::short_session::Sessions;
use super::suspension::{sleep_until, wait_for_socket};
use super::timing;
use crate::clock::Clock;
use crate::orders::OrderSource;
use crate::test_context::TestContext;
use crate::{Engine, Session};

/// The time between the announcement of the start to the clients and the start, so that all of them have it in time.
const NOTICE: Duration = Duration::from_millis(5);

/// The source of the orders to begin and to go on, where other processes have the rest of the clients.
type Orders<'a> = Option<&'a OrderSource<'a>>;

/// Does a mix.
pub fn perform<E: Engine>(mix: &MixWork, bench: &mut TestContext<E>) -> Result<Sample> {
    let TestContext { session, engine, orders, clock, .. } = bench;
    let mut perform = |own: Option<&mut E::Session>| {
        let next = AtomicU64::new(0);
        let next = (mix.steps.len() < mix.clients as usize || mix.session.is_some()).then_some(&next);
        let before = mix.part.map_or(0, |part| part.before as usize);
        let orders = mix.part.map(|_| *orders);
        perform_part(mix, engine, own, clock, &ProcessClients { before, next }, orders)
    };
    let mut done = Err(anyhow!("a session does nothing while it is away: this is an error in the runner"));
    match mix.session {
        None => done = perform(Some(session)),
        // Only clients that come and go are connected.
        Some(_) => session.step_aside(&mut || done = perform(None))?,
    }
    let sample = done?;
    // dyno looks at the sum of all processes.
    if mix.part.is_some() {
        return Ok(sample);
    }
    let failures = sample.classes.iter().map(|class| class.failure.as_str());
    let why = failures.filter(|why| !why.is_empty()).take(1).map(|why| format!(": {why}"));
    ensure!(sample.operations > 0, "no operation succeeded within the time{}", why.collect::<String>());
    Ok(sample)
}

/// Does the part of a mix that the clients of this process have. `own` is a session that is open already.
fn perform_part<E: Engine>(
    mix: &MixWork,
    engine: &mut E,
    own: Option<&mut E::Session>,
    clock: &Clock,
    part: &ProcessClients,
    orders: Orders,
) -> Result<Sample> {
    let steps = Steps::load(mix)?;
    let clients = mix.clients as usize;
    ensure!(clients > 0, "a mix of no clients");
    ensure!(
        steps.len() == 1 || steps.len() == clients,
        "there are {} files of steps for {clients} clients",
        steps.len()
    );
    let window = match mix.lasts {
        Some(lasts) => Window { from: lasts.warm_up_ns, until: lasts.warm_up_ns + lasts.duration_ns },
        None => Window { from: 0, until: u64::MAX },
    };
    let names = names(mix);
    let board = Board::new(window, names.len(), mix.interval_ns.is_some());
    let programs = mix.classes.iter().map(|class| Program::new(mix, class)).collect::<Result<_>>()?;
    let (stop, firsts) = (AtomicBool::new(false), firsts(mix));
    let timed = timing::counts(mix);
    let shared = Shared { mix, steps: &steps, part, window, stop, firsts, programs, board: &board, timed };
    let shared = &shared;
    let (sum, sample) = match mix.session {
        Some(each) => {
            let sessions = Sessions::new(mix, each, &steps[0])?;
            let connector = engine.connector()?;
            let (sessions, connector) = (&sessions, &*connector);
            let visitors =
                (0..clients).map(|place| move |lines| be_visitor(place, sessions, connector, shared, lines));
            together(visitors, shared, clock, orders)?
        }
        None => {
            let there = usize::from(own.is_some());
            let open = |place| engine.session().with_context(|| format!("client {place} of {clients}"));
            let mut others: Vec<E::Session> =
                (part.before + there + 1..=part.before + clients).map(open).collect::<Result<_>>()?;
            let sessions = own.into_iter().chain(&mut others).collect();
            let done = at_work(sessions, shared, clock, orders)?;
            others.into_iter().try_for_each(Session::close)?;
            done
        }
    };
    let mut classes = sum.reported(&names);
    for (class, reported) in mix.classes.iter().zip(&mut classes) {
        timing::name(class, &mut reported.statements);
    }
    // To connect is no operation of the suite.
    let operations = classes.iter().take(mix.classes.len()).map(|class| class.done).sum();
    Ok(Sample { operations, classes, ticks: board.reported(&names), ..sample })
}

/// Has clients work, each by its session, on threads that they share where they can.
fn at_work<S: Session>(
    mut sessions: Vec<&mut S>,
    shared: &Shared,
    clock: &Clock,
    orders: Orders,
) -> Result<(Sum, Sample)> {
    if share_threads(shared.mix, &mut sessions)? {
        let groups = groups(sessions, threads(shared.mix)?);
        let lives = groups.map(|(first, sessions)| move |lines| be_clients(first, sessions, shared, lines));
        return together(lives, shared, clock, orders);
    }
    let sessions = sessions.into_iter().enumerate();
    let lives = sessions.map(|(place, session)| move |lines| be_lone_client(place, session, shared, lines));
    together(lives, shared, clock, orders)
}

/// The number of threads that the clients of this process share at most.
fn threads(mix: &MixWork) -> Result<usize> {
    match mix.threads {
        Some(count) => Ok(count.max(1) as usize),
        None => Ok(thread::available_parallelism().context("cannot count the CPUs of the clients")?.get()),
    }
}

/// Has sessions wait without their thread, if there are more of them than threads. Returns false if each has a thread:
/// there are enough, or its driver blocks the thread that waits for an answer.
///
/// # Errors
/// The job asks for fewer threads and the driver blocks.
fn share_threads<S: Session>(mix: &MixWork, sessions: &mut [&mut S]) -> Result<bool> {
    if sessions.len() <= threads(mix)? {
        return Ok(false);
    }
    for session in sessions {
        if !session.wait_by(Some(wait_for_socket))? {
            ensure!(
                mix.threads.is_none(),
                "this driver keeps a thread until its answer is there, so that each client needs one: leave \
                 client_threads out"
            );
            return Ok(false);
        }
    }
    Ok(true)
}

/// The sessions of each thread, after the position of the first of them: as many for each as go in equal parts.
fn groups<S>(mut sessions: Vec<S>, threads: usize) -> impl Iterator<Item = (usize, Vec<S>)> {
    let count = sessions.len();
    let starts = (0..threads).map(move |thread| thread * count / threads).rev();
    let parts: Vec<_> = starts.map(|first| (first, sessions.split_off(first))).collect();
    parts.into_iter().rev()
}

/// Starts clients at one instant, each of `lives` in a thread, and waits for the end.
fn together<'b, L>(
    lives: impl Iterator<Item = L>,
    shared: &Shared<'b>,
    clock: &Clock,
    orders: Orders,
) -> Result<(Sum, Sample)>
where
    L: FnOnce(Lines) -> Vec<Recorder<'b>> + Send,
{
    let (mix, window, clients) = (shared.mix, shared.window, shared.mix.clients as usize);
    thread::scope(|scope| {
        let (ready, is_ready) = mpsc::channel();
        let (done, is_done) = mpsc::channel();
        let (mut all_begin, mut leaves, mut threads) = (Vec::new(), Vec::new(), Vec::new());
        for life in lives {
            let ((begins, begins_at), (leave, may_leave)) = (mpsc::channel(), mpsc::channel());
            all_begin.push(begins);
            leaves.push(leave);
            let orders = ThreadOrders { begin: begins_at, leave: may_leave };
            let lines = Lines { ready: ready.clone(), done: done.clone(), orders };
            threads.push(scope.spawn(move || life(lines)));
        }
        drop((ready, done));
        is_ready.iter().take(clients).collect::<Result<()>>()?;
        let counted = clock.count(window.from > 0);
        let began = orders.map_or_else(|| Ok(Instant::now() + NOTICE), OrderSource::begin)?;
        // A client that does not listen has failed, and says so at the end.
        for begins in &all_begin {
            let _ = begins.send(began);
        }
        sleep_until(began + Duration::from_nanos(window.from));
        let ((ended, took), mut sample) =
            clock.time_clients(counted, || (wait(&is_done, clients, began, shared), began.elapsed()));
        shared.stop.store(true, Ordering::Relaxed);
        let ended = ended.and_then(|missing| is_done.iter().take(missing).collect::<Result<()>>());
        // Before a connection is closed: the costs of a server are read now.
        let ended = ended.and_then(|()| orders.map_or(Ok(()), OrderSource::end));
        drop(leaves);
        let (mut sum, count) = (Sum::default(), threads.len());
        for thread in threads {
            match thread.join() {
                Ok(recorders) => recorders.into_iter().for_each(|recorder| recorder.end(&mut sum)),
                Err(_) => return Err(anyhow!("a client panicked, which is an error in the runner")),
            }
        }
        ended?;
        sample.threads = count as u64;
        let section = &mut sample.section;
        match mix.lasts {
            // Operations that ended later do not count.
            Some(lasts) => section.nanoseconds = lasts.duration_ns,
            // The clients began before the thread that reads the clock was awake.
            None => {
                let took = took.as_nanos() as u64;
                section.began_ns = section.began_ns.saturating_sub(took.saturating_sub(section.nanoseconds));
                section.nanoseconds = took;
            }
        }
        Ok((sum, sample))
    })
}

/// Waits until the time is up, or all clients are done, or one has failed. Returns how many are still at work.
fn wait(is_done: &Receiver<Result<()>>, clients: usize, began: Instant, shared: &Shared) -> Result<usize> {
    let (mut missing, until) = (clients, shared.window.until);
    let end = (until != u64::MAX).then(|| began + Duration::from_nanos(until));
    let mut reporter = Reporter::new(shared, began);
    while missing > 0 {
        let next = reporter.as_ref().map(Reporter::next).into_iter().chain(end).min();
        let left = next.map_or(Duration::MAX, |next| next.saturating_duration_since(Instant::now()));
        match is_done.recv_timeout(left) {
            Ok(done) => {
                done?;
                missing -= 1;
            }
            Err(RecvTimeoutError::Timeout) => match &mut reporter {
                Some(reporter) if end.is_none_or(|end| Instant::now() < end) => reporter.report()?,
                _ => break,
            },
            Err(RecvTimeoutError::Disconnected) => return Ok(0),
        }
    }
    // Clients whose steps came to an end before their time leave the rest of it empty.
    if let Some(end) = end {
        sleep_until(end);
    }
    Ok(missing)
}
