//! The life of one client in a section: it gets ready, begins at the given instant, does its work, reports the outcome,
//! and stays until it may leave.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use anyhow::{Error, Result, anyhow};
use dyno_protocol::MixWork;

use super::Steps;
use super::board::{Board, Window};
use super::client::Client;
use super::executor::{Executor, Sql};
use super::kept::KeptRows;
use super::program::Program;
use super::recorder::Recorder;
use super::reporting::ReportingExecutor;
use super::scheduler::{Scheduler, with_clients};
use super::short_session::{Connector, Sessions, visit};
use super::store::StoreClient;
use super::suspension::{meet, sleep_until};
use super::timing::TimingExecutor;
use crate::{Answer, Session};

/// The clients of one process, which may be some of several processes.
pub struct ProcessClients<'a> {
    /// The number of clients in the processes before this one.
    pub before: usize,
    /// The next unclaimed step, where clients share one file of steps.
    pub next: Option<&'a AtomicU64>,
}

/// The state that all clients of a process share.
pub struct Shared<'a> {
    pub mix: &'a MixWork,
    pub steps: &'a [Steps],
    pub part: &'a ProcessClients<'a>,
    pub window: Window,
    pub stop: AtomicBool,
    pub firsts: Vec<usize>,
    pub programs: Vec<Option<Program>>,
    pub board: &'a Board,
    /// For each class the number of statements that are timed; empty where none are.
    pub timed: Vec<usize>,
}

/// The channels of a client, or of several that share a thread, to the thread that starts it.
pub struct Lines {
    /// It is ready, or why it is not.
    pub ready: Sender<Result<()>>,
    /// It has done its work, or why not.
    pub done: Sender<Result<()>>,
    pub orders: ThreadOrders,
}

/// The orders to a thread of clients from the one that starts it.
pub struct ThreadOrders {
    /// The instant at which to begin. If the channel closes first, the client ends.
    pub begin: Receiver<Instant>,
    /// Closed when its thread may end, whose counters are gone with it.
    pub leave: Receiver<()>,
}

/// The source of a client's orders to begin and to leave.
enum Signals<'g> {
    /// Those of its thread, which it has to itself.
    Own(ThreadOrders),
    /// Its thread takes them when all of its clients have met, and leaves the first here.
    Shared(&'g Cell<Option<Instant>>),
}

/// The channels of one client.
struct ClientLines<'g> {
    ready: Sender<Result<()>>,
    done: Sender<Result<()>>,
    signals: Signals<'g>,
}

impl From<Lines> for ClientLines<'_> {
    fn from(Lines { ready, done, orders }: Lines) -> Self {
        ClientLines { ready, done, signals: Signals::Own(orders) }
    }
}

impl Signals<'_> {
    /// Waits for the instant at which to begin; `None` if the client is to end.
    fn begin(&self) -> Option<Instant> {
        match self {
            Signals::Own(orders) => orders.begin.recv().ok(),
            Signals::Shared(began) => {
                meet();
                began.get()
            }
        }
    }

    /// Waits until the client may leave.
    fn leave(&self) {
        match self {
            // It closes.
            Signals::Own(orders) => drop(orders.leave.recv()),
            Signals::Shared(_) => meet(),
        }
    }
}

/// The lives of clients that share this thread: those from position `first` on. Returns what they have recorded.
pub fn be_clients<'b, S: Session>(
    first: usize,
    sessions: Vec<&mut S>,
    shared: &Shared<'b>,
    lines: Lines,
) -> Vec<Recorder<'b>> {
    let began = Cell::new(None);
    let lives = (first..).zip(sessions).map(|(place, session)| {
        let (ready, done) = (lines.ready.clone(), lines.done.clone());
        let lines = ClientLines { ready, done, signals: Signals::Shared(&began) };
        let life: Box<dyn FnOnce() -> Option<Recorder<'b>> + '_> = Box::new(move || {
            let recorder = be_client(place, &mut *session, shared, lines);
            // A connection that is lost says so when it is used next.
            let _ = session.wait_by(None);
            recorder
        });
        life
    });
    let lives: Vec<_> = lives.collect();
    with_clients(lives, |clients| lead(clients, &began, lines))
}

/// Runs the clients of this thread, which meet before they begin and before they leave.
fn lead<'b>(
    clients: io::Result<Scheduler<Option<Recorder<'b>>>>,
    began: &Cell<Option<Instant>>,
    lines: Lines,
) -> Vec<Recorder<'b>> {
    let Lines { ready, done, orders } = lines;
    let report = |to: Sender<Result<()>>, error: io::Error| {
        let _ = to.send(Err(anyhow!("several clients cannot share a thread: {error}")));
        Vec::new()
    };
    let mut clients = match clients.and_then(|mut clients| clients.run().map(|()| clients)) {
        Ok(clients) => clients,
        Err(error) => return report(ready, error),
    };
    // Each sender that is there looks like a client that is not ready, or at work.
    drop(ready);
    began.set(orders.begin.recv().ok());
    if let Err(error) = clients.run() {
        return report(done, error);
    }
    drop(done);
    // It closes.
    let _ = orders.leave.recv();
    // Those that cannot leave in order are unwound.
    let _ = clients.run();
    clients.results().into_iter().flatten().collect()
}

/// The life of one client that has this thread to itself. Returns what it has recorded, if it came to work.
pub fn be_lone_client<'b, S: Session>(
    place: usize,
    session: &mut S,
    shared: &Shared<'b>,
    lines: Lines,
) -> Vec<Recorder<'b>> {
    be_client(place, session, shared, lines.into()).into_iter().collect()
}

/// The life of one client. Returns what it has recorded, if it came to work.
fn be_client<'b, S: Session>(
    place: usize,
    session: &mut S,
    shared: &Shared<'b>,
    lines: ClientLines,
) -> Option<Recorder<'b>> {
    let mix = shared.mix;
    let failed = |error| {
        let _ = lines.ready.send(Err(client(shared, place, error)));
        None
    };
    match &mix.store {
        None => match session.prepare(mix) {
            Ok(statements) if mix.times_statements => {
                be_doer(place, TimingExecutor::new(Sql(statements)), shared, lines)
            }
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
fn be_doer<'b, D: Executor>(
    place: usize,
    doer: D,
    shared: &Shared<'b>,
    lines: ClientLines,
) -> Option<Recorder<'b>> {
    match shared.mix.reports {
        None => be_at_work(place, doer, shared, lines),
        Some(field) => be_at_work(place, ReportingExecutor::new(doer, field), shared, lines),
    }
}

fn be_at_work<'b, D: Executor>(
    place: usize,
    mut doer: D,
    shared: &Shared<'b>,
    lines: ClientLines,
) -> Option<Recorder<'b>> {
    let is_due = shared.steps[0].get(0).due() > 0;
    live(place, is_due, shared, lines, |client, began, recorder| client.work(&mut doer, began, recorder))
}

/// The life of one client that comes and goes.
pub fn be_visitor<'a, 'b, S: Session>(
    place: usize,
    sessions: &'a Sessions,
    connector: &Connector<S>,
    shared: &'a Shared<'b>,
    lines: Lines,
) -> Vec<Recorder<'b>> {
    let recorder = live(place, true, shared, lines.into(), |client, began, recorder| {
        visit(client, sessions, connector, began, recorder)
    });
    recorder.into_iter().collect()
}

/// The life of one client from when it is ready. Returns what it has recorded, if it came to work.
fn live<'a, 'b>(
    place: usize,
    is_due: bool,
    shared: &'a Shared<'b>,
    ClientLines { ready, done, signals }: ClientLines,
    work: impl FnOnce(&mut Client<'a>, Instant, &mut Recorder) -> Result<()>,
) -> Option<Recorder<'b>> {
    let Shared { mix, steps, part, window, stop, firsts, programs, board, timed } = shared;
    let mut answer = Answer::new();
    answer.begin(false);
    let classes = mix.classes.len() + usize::from(mix.session.is_some());
    let mut recorder = Recorder::new(board, classes, is_due);
    recorder.time_statements(timed);
    let steps = &steps[if part.next.is_some() { 0 } else { place }];
    let room = |program: &Option<Program>| program.as_ref().map_or_else(Vec::new, Program::room);
    let kept: Vec<Vec<KeptRows>> = programs.iter().map(room).collect();
    let mut at_work =
        Client { mix, steps, next: part.next, window: *window, stop, firsts, programs, kept, answer };
    let _ = ready.send(Ok(()));
    // The waiting thread counts clients by their senders: one that has done its part must not look as if it were at work.
    drop(ready);
    let began = signals.begin()?;
    sleep_until(began);
    let worked = work(&mut at_work, began, &mut recorder).map_err(|error| client(shared, place, error));
    let _ = done.send(worked);
    drop(done);
    signals.leave();
    Some(recorder)
}

fn client(shared: &Shared, place: usize, error: Error) -> Error {
    error.context(format!("client {}", shared.part.before + place + 1))
}
