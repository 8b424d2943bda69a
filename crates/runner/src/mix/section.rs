//! The section of a mix: all clients made ready, let go at once, and brought together again.

use std::iter;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow, ensure};
use dyno_protocol::{MixWork, Sample};

use super::Steps;
use super::client::Client;
use super::doer::{Doer, Sql};
use super::kept::Kept;
use super::program::Program;
use super::recorder::{Board, Recorder, Sum, Window};
use super::store::StoreClient;
use super::told::Told;
use crate::clock::Clock;
use crate::trial::Bench;
use crate::{Answer, Engine, Session};

/// How long before they begin the clients are told to, so that all of them have heard it.
const NOTICE: Duration = Duration::from_millis(5);

/// What all clients of a section share.
struct Shared<'a> {
    mix: &'a MixWork,
    steps: &'a [Steps],
    next: AtomicU64,
    window: Window,
    stop: AtomicBool,
    firsts: Vec<usize>,
    programs: Vec<Option<Program>>,
    board: &'a Board,
}

/// A client's lines to whoever lets it go.
struct Lines {
    /// It is ready, or why it is not.
    ready: Sender<Result<()>>,
    /// When it is to begin. Where nobody says so any more it ends.
    begin: Receiver<Instant>,
    /// It has done its work, or why not.
    done: Sender<Result<()>>,
    /// Closed when its thread may end, whose counters are gone with it.
    leave: Receiver<()>,
}

/// Does a mix.
pub fn perform<E: Engine>(mix: &MixWork, bench: &mut Bench<E>) -> Result<Sample> {
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
    let board = Board::new(window, mix.classes.len());
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let programs = mix.classes.iter().map(|class| Program::new(mix, class)).collect::<Result<_>>()?;
    let firsts = firsts(mix);
    let shared = Shared { mix, steps: &steps, next, window, stop, firsts, programs, board: &board };
    let Bench { session, engine, clock, .. } = bench;
    let open = |place| engine.session().with_context(|| format!("client {place} of {clients}"));
    let mut others: Vec<E::Session> = (2..=clients).map(open).collect::<Result<_>>()?;
    let (sum, sample) = together(iter::once(session).chain(&mut others), &shared, clock)?;
    others.into_iter().try_for_each(Session::close)?;
    ensure!(sum.done() > 0, "no operation succeeded within the time{}", sum.failure());
    let names: Vec<&str> = mix.classes.iter().map(|class| class.name.as_str()).collect();
    let (classes, operations) = (sum.told(&names), sum.done());
    Ok(Sample { operations, classes, ticks: board.told(&names), ..sample })
}

/// The position of each class's first statement among those of all classes.
fn firsts(mix: &MixWork) -> Vec<usize> {
    let ends = mix.classes.iter().scan(0, |end, class| {
        *end += class.statements.len();
        Some(*end)
    });
    iter::once(0).chain(ends).take(mix.classes.len()).collect()
}

/// Makes a client of each session, lets all of them go at once, and waits for the end.
fn together<'s, S: Session + 's>(
    sessions: impl Iterator<Item = &'s mut S>,
    shared: &Shared,
    clock: &Clock,
) -> Result<(Sum, Sample)> {
    let (mix, window, clients) = (shared.mix, shared.window, shared.mix.clients as usize);
    thread::scope(|scope| {
        let (ready, is_ready) = mpsc::channel();
        let (done, is_done) = mpsc::channel();
        let (mut begins, mut leaves, mut threads) = (Vec::new(), Vec::new(), Vec::new());
        for (place, session) in sessions.enumerate() {
            let ((begin, begins_at), (leave, may_leave)) = (mpsc::channel(), mpsc::channel());
            begins.push(begin);
            leaves.push(leave);
            let lines =
                Lines { ready: ready.clone(), begin: begins_at, done: done.clone(), leave: may_leave };
            threads.push(scope.spawn(move || be_client(place, session, shared, lines)));
        }
        drop((ready, done));
        is_ready.iter().take(clients).collect::<Result<()>>()?;
        let began = Instant::now() + NOTICE;
        // A client that does not listen has failed, and says so at the end.
        for begin in &begins {
            let _ = begin.send(began);
        }
        sleep_until(began + Duration::from_nanos(window.from));
        let ((ended, took), mut sample) =
            clock.time(|| (wait(&is_done, clients, began, window), began.elapsed()));
        shared.stop.store(true, Ordering::Relaxed);
        let ended = ended.and_then(|missing| is_done.iter().take(missing).collect::<Result<()>>());
        drop(leaves);
        let mut sum = Sum::default();
        for thread in threads {
            match thread.join() {
                Ok(Some(recorder)) => recorder.end(&mut sum),
                Ok(None) => {}
                Err(_) => return Err(anyhow!("a client panicked, which is an error in the runner")),
            }
        }
        ended?;
        sample.section.nanoseconds = match mix.lasts {
            // What ended later does not count.
            Some(lasts) => lasts.duration_ns,
            // The clients began before whoever looks at the clock was awake.
            None => took.as_nanos() as u64,
        };
        Ok((sum, sample))
    })
}

/// The life of one client. Returns what it has recorded, if it came to work.
fn be_client<'b, S: Session>(
    place: usize,
    session: &mut S,
    shared: &Shared<'b>,
    lines: Lines,
) -> Option<Recorder<'b>> {
    let mix = shared.mix;
    let failed = |error| {
        let _ = lines.ready.send(Err(client(place, error)));
        None
    };
    match &mix.store {
        None => match session.prepare(mix) {
            Ok(statements) => be_doer(place, Sql(statements), shared, lines),
            Err(error) => failed(error),
        },
        Some(store) => match session.store(store).and_then(|store| StoreClient::new(store, mix)) {
            Ok(client) => be_doer(place, client, shared, lines),
            Err(error) => failed(error),
        },
    }
}

/// The life of one client with who does its statements, and perhaps says so.
fn be_doer<'b, D: Doer>(place: usize, doer: D, shared: &Shared<'b>, lines: Lines) -> Option<Recorder<'b>> {
    match shared.mix.tells {
        None => be_at_work(place, doer, shared, lines),
        Some(field) => be_at_work(place, Told::new(doer, field), shared, lines),
    }
}

fn be_at_work<'b, D: Doer>(place: usize, doer: D, shared: &Shared<'b>, lines: Lines) -> Option<Recorder<'b>> {
    let Shared { mix, steps, next, window, stop, firsts, programs, board } = shared;
    let mut answer = Answer::new();
    answer.begin(false);
    let is_due = steps[0].get(0).due() > 0;
    let mut recorder = Recorder::new(board, mix.classes.len(), is_due);
    let shares = steps.len() < mix.clients as usize;
    let steps = &steps[if shares { 0 } else { place }];
    let next = shares.then_some(next);
    let room = |program: &Option<Program>| program.as_ref().map_or_else(Vec::new, Program::room);
    let kept: Vec<Vec<Kept>> = programs.iter().map(room).collect();
    let mut client_at_work =
        Client { mix, doer, steps, next, window: *window, stop, firsts, programs, kept, answer };
    let _ = lines.ready.send(Ok(()));
    let began = lines.begin.recv().ok()?;
    sleep_until(began);
    let done = client_at_work.work(began, &mut recorder).map_err(|error| client(place, error));
    let _ = lines.done.send(done);
    // Whoever waits for those that are still at work sees by their lines that there is one.
    drop(lines.done);
    let _ = lines.leave.recv();
    Some(recorder)
}

/// Waits until the time is up, or all clients are done, or one has failed. Returns how many are still at work.
fn wait(is_done: &Receiver<Result<()>>, clients: usize, began: Instant, window: Window) -> Result<usize> {
    let mut missing = clients;
    let end = (window.until != u64::MAX).then(|| began + Duration::from_nanos(window.until));
    while missing > 0 {
        let left = end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        match is_done.recv_timeout(left) {
            Ok(done) => done?,
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return Ok(0),
        }
        missing -= 1;
    }
    // Clients whose steps came to an end before their time leave the rest of it empty.
    if let Some(end) = end {
        sleep_until(end);
    }
    Ok(missing)
}

fn sleep_until(moment: Instant) {
    thread::sleep(moment.saturating_duration_since(Instant::now()));
}

fn client(place: usize, error: Error) -> Error {
    error.context(format!("client {}", place + 1))
}
