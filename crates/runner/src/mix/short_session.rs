//! The loop of a client that comes and goes: it connects when a session is due, does the session's steps and leaves.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{CONNECT, MixWork};

use super::Steps;
use super::classes::firsts;
use super::client::{Client, since, wait, wake_in_time};
use super::executor::{Executor, Sql};
use super::recorder::Recorder;
use super::timing::TimingExecutor;
use super::totals::Times;
use crate::Session;

/// Lets sessions in, from any thread.
pub type Connector<'d, S> = dyn Fn() -> Result<S> + Send + Sync + 'd;

/// By position of a class, true if a session has steps of it.
type Classes = Vec<bool>;

/// The sessions of a mix: what each prepares is what it executes, as a program does that comes for a moment.
pub struct Sessions {
    /// The number of steps of each session.
    each: u64,
    /// For what sessions execute, the mix with the statements of these classes alone, and the positions of each class's
    /// first statement in it.
    needs: BTreeMap<Classes, (MixWork, Vec<usize>)>,
}

impl Sessions {
    /// Those of a mix with its steps.
    ///
    /// # Errors
    /// The steps are not those of sessions.
    pub fn new(mix: &MixWork, each: u32, steps: &Steps) -> Result<Sessions> {
        let each = u64::from(each);
        ensure!(
            each > 0 && steps.count().is_multiple_of(each),
            "there are {} steps in sessions of {each}: this is an error in dyno",
            steps.count()
        );
        if mix.store.is_some() {
            bail!("stores of keys and values have no sessions that come and go");
        }
        let mut needs = BTreeMap::new();
        let mut classes = vec![false; mix.classes.len()];
        for session in 0..steps.count() / each {
            ensure!(steps.get(session * each).due() > 0, "session {session} is due at no time");
            classes_of(steps, session * each, each, &mut classes);
            if !needs.contains_key(&classes) {
                needs.insert(classes.clone(), needed(mix, &classes));
            }
        }
        Ok(Sessions { each, needs })
    }
}

/// Finds the classes of the steps of the session that begins at a position.
fn classes_of(steps: &Steps, place: u64, each: u64, classes: &mut Classes) {
    classes.fill(false);
    (place..place + each).for_each(|step| classes[steps.get(step).class()] = true);
}

/// The mix with the statements of these classes alone. The classes keep their positions.
fn needed(mix: &MixWork, classes: &Classes) -> (MixWork, Vec<usize>) {
    let mut needed = MixWork { steps: Vec::new(), ..mix.clone() };
    for (class, _) in needed.classes.iter_mut().zip(classes).filter(|(_, is_needed)| !**is_needed) {
        class.statements.clear();
    }
    let firsts = firsts(&needed);
    (needed, firsts)
}

/// Takes sessions, one after another, until the time is up or none is left. `began` is when the clients began.
///
/// # Errors
/// A session was not let in, or an operation failed in a way that another try does not mend.
pub fn visit<'a, S: Session>(
    client: &mut Client<'a>,
    sessions: &'a Sessions,
    connector: &Connector<S>,
    began: Instant,
    recorder: &mut Recorder,
) -> Result<()> {
    wake_in_time();
    let (steps, until) = (client.steps, client.window.until);
    let next = client.next.context("sessions are shared by all clients: this is an error in dyno")?;
    let connect = client.mix.classes.len();
    let mut classes = vec![false; connect];
    let mut free = since(began);
    while free < until && !client.stop.load(Ordering::Relaxed) {
        let place = next.fetch_add(sessions.each, Ordering::Relaxed);
        if place >= steps.count() {
            break;
        }
        classes_of(steps, place, sessions.each, &mut classes);
        let (mix, firsts) =
            sessions.needs.get(&classes).context("a session that was not looked at before")?;
        client.firsts = firsts;
        let due = steps.get(place).due();
        if due.max(free) >= until {
            break;
        }
        let sent = if due > free { wait(began, due) } else { free };
        let mut session = connector().context(CONNECT)?;
        let doer = Sql(session.prepare(mix).context(CONNECT)?);
        let done = since(began);
        recorder.done(connect, Times { due: Some(due), free, sent, done }, 0, false);
        let own = place..place + sessions.each;
        if mix.times_statements {
            take(client, TimingExecutor::new(doer), own, (began, done), recorder)?;
        } else {
            take(client, doer, own, (began, done), recorder)?;
        }
        session.close().context("leaving")?;
        free = since(began);
    }
    client.leave(0, sessions.each, recorder, |_| connect);
    Ok(())
}

/// Takes the steps of one session, one after another, from the moment at which it could send the first.
fn take(
    client: &mut Client,
    mut doer: impl Executor,
    own: Range<u64>,
    (began, mut done): (Instant, u64),
    recorder: &mut Recorder,
) -> Result<()> {
    for step in own {
        if done >= client.window.until || client.stop.load(Ordering::Relaxed) {
            break;
        }
        let sent = if recorder.count_if_due() { since(began) } else { done };
        done = client.step(&mut doer, &client.steps.get(step), (None, done, sent), began, recorder)?;
    }
    Ok(())
}
