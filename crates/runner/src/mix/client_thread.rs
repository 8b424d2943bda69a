//! The life of one client in a section: it gets ready, begins at the given instant, does its work, reports the outcome,
//! and stays until it may leave.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use anyhow::{Error, Result};
use dyno_protocol::MixWork;

use super::Steps;
use super::client::Client;
use super::executor::{Executor, Sql};
use super::kept::KeptRows;
use super::program::Program;
use super::recorder::{Board, Recorder, Window};
use super::reporting::ReportingExecutor;
use super::section::{ProcessClients, sleep_until};
use super::short_session::{Connector, Sessions, visit};
use super::store::StoreClient;
use super::timing::TimingExecutor;
use crate::{Answer, Session};

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

/// A client's channels to the thread that starts it.
pub struct Lines {
    /// It is ready, or why it is not.
    pub ready: Sender<Result<()>>,
    /// The instant at which to begin. If the channel closes first, the client ends.
    pub begin: Receiver<Instant>,
    /// It has done its work, or why not.
    pub done: Sender<Result<()>>,
    /// Closed when its thread may end, whose counters are gone with it.
    pub leave: Receiver<()>,
}

/// The life of one client. Returns what it has recorded, if it came to work.
pub fn be_client<'b, S: Session>(
    place: usize,
    session: &mut S,
    shared: &Shared<'b>,
    lines: Lines,
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
    lines: Lines,
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
    lines: Lines,
) -> Option<Recorder<'b>> {
    let is_due = shared.steps[0].get(0).due() > 0;
    live(place, is_due, shared, lines, |client, began, recorder| client.work(&mut doer, began, recorder))
}

/// The life of one client that comes and goes.
pub fn be_visitor<'a, 'b, S: Session>(
    place: usize,
    sessions: &'a Sessions,
    door: &Connector<S>,
    shared: &'a Shared<'b>,
    lines: Lines,
) -> Option<Recorder<'b>> {
    live(place, true, shared, lines, |client, began, recorder| visit(client, sessions, door, began, recorder))
}

/// The life of one client from when it is ready. Returns what it has recorded, if it came to work.
fn live<'a, 'b>(
    place: usize,
    is_due: bool,
    shared: &'a Shared<'b>,
    lines: Lines,
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
    let _ = lines.ready.send(Ok(()));
    let began = lines.begin.recv().ok()?;
    sleep_until(began);
    let done = work(&mut at_work, began, &mut recorder).map_err(|error| client(shared, place, error));
    let _ = lines.done.send(done);
    // The waiting thread counts clients by their senders: one that has done its part must not look as if it were at work.
    drop(lines.done);
    let _ = lines.leave.recv();
    Some(recorder)
}

fn client(shared: &Shared, place: usize, error: Error) -> Error {
    error.context(format!("client {}", shared.part.before + place + 1))
}
