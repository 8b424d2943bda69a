//! The agents that are there: hears their lines, and gives up one that is silent.

use std::collections::BTreeSet;
use std::sync::mpsc::{Sender, SyncSender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::super::reports::{LineLost, ReportReader};
use super::super::wire::{AgentOrder, AgentReport, BEAT, SILENCE};
use super::line;
use crate::process::{Ending, Inbox, Message, Process};

/// The interval at which dyno looks whether an agent is silent.
const LOOKS: Duration = Duration::from_millis(250);

/// The time between two looks after which dyno has not heard the agents for a while: it was waiting for something else.
const GAP: Duration = Duration::from_millis(500);

/// The time that launchers have to end. Their agents end their runners and remove their files first, and a launcher that
/// is killed leaves what it made.
const END_TIMEOUT: Duration = Duration::from_secs(30);

/// The same for launchers of agents that are given up: nothing may come of the end of their input.
const LOST_TIMEOUT: Duration = Duration::from_millis(500);

/// The agents and the launchers that are the pipes to them.
pub struct Roster(Mutex<Members>);

/// All of them.
pub struct Members {
    pub seats: Vec<Seat>,
    /// By number; none where one has ended.
    launchers: Vec<Option<Process>>,
    /// The threads that end launchers of agents that were given up.
    ends: Vec<JoinHandle<()>>,
    is_closed: bool,
}

/// An agent.
pub struct Seat {
    /// The name that it has given itself.
    pub name: String,
    /// The name by which messages call it.
    pub host: String,
    /// The number of its launcher.
    pub launcher: usize,
    /// The time at which it was last heard.
    pub heard: Instant,
    /// The files that were sent to it, by digest.
    pub files: BTreeSet<String>,
    /// Its runner.
    pub route: Option<Route>,
    /// The reason that it is lost.
    pub lost: Option<String>,
}

impl Seat {
    /// Marks it as lost, and lets the thread that waits for its runner know.
    fn give_up(&mut self, why: &str) {
        self.lost = Some(why.to_owned());
        if let Some(route) = self.route.take() {
            let _ = route.forward.send(Message::Lost(why.to_owned()));
        }
    }
}

/// The receiver of a runner's lines.
pub struct Route {
    /// The runner's number.
    pub trial: u64,
    /// To the thread that waits for the runner.
    pub forward: Sender<Message>,
    /// To the one that waits for its end.
    pub end: Sender<Ending>,
}

impl Roster {
    pub fn new(seats: Vec<Seat>, launchers: Vec<Process>) -> Roster {
        let launchers = launchers.into_iter().map(Some).collect();
        Roster(Mutex::new(Members { seats, launchers, ends: Vec::new(), is_closed: false }))
    }

    pub fn lock(&self) -> MutexGuard<'_, Members> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of an agent, and the way to its launcher's standard input. It is to be kept for a moment only: the
    /// input ends when nothing more can come.
    pub fn input(&self, rank: usize) -> (String, Option<SyncSender<Vec<u8>>>) {
        let members = self.lock();
        let seat = &members.seats[rank];
        (seat.name.clone(), members.launchers[seat.launcher].as_ref().and_then(Process::input))
    }

    /// Hears the agents until all are to end.
    pub fn listen(&self, inbox: &Inbox, mut reader: ReportReader) {
        let mut looked = Instant::now();
        // The time from which on lines were taken as they came.
        let mut listening = looked;
        while !self.lock().is_closed {
            if let Some((launcher, message)) = inbox.next(Instant::now() + LOOKS) {
                self.take(launcher, message, &mut reader);
            }
            // The end of a launcher takes time. The lines of others wait meanwhile, in the queue and in pipes: an agent
            // that is there is heard within a beat, and none is silent before that is over.
            if looked.elapsed() > GAP {
                listening = Instant::now();
            }
            looked = Instant::now();
            if listening.elapsed() > BEAT {
                self.lose(|seat| (seat.heard.elapsed() > SILENCE).then(|| silent(seat)));
            }
        }
    }

    fn take(&self, launcher: usize, message: Message, reader: &mut ReportReader) {
        match message {
            Message::Line(text) => {
                if let Some((agent, report)) = reader.read(&text) {
                    self.hear(agent, report);
                }
            }
            Message::End => self.launcher_ended(launcher),
            Message::Unreadable(what) => {
                self.lose(|seat| (seat.launcher == launcher).then(|| unreadable(seat, &what)));
            }
            _ => {}
        }
    }

    /// Says to all agents from time to time that dyno is there.
    pub fn pulse(&self) {
        loop {
            {
                let members = self.lock();
                if members.is_closed {
                    return;
                }
                beat(members.launchers.iter().flatten());
            }
            thread::sleep(BEAT);
        }
    }

    /// Ends all agents, whose standard input ends.
    pub fn close(&self) {
        let (launchers, ends) = {
            let mut members = self.lock();
            members.is_closed = true;
            let launchers: Vec<_> = members.launchers.iter_mut().filter_map(Option::take).collect();
            (launchers, std::mem::take(&mut members.ends))
        };
        end_all(launchers);
        ends.into_iter().for_each(|end| drop(end.join()));
    }

    fn hear(&self, agent: String, report: Result<AgentReport, LineLost>) {
        let mut members = self.lock();
        let Some(seat) = members.seats.iter_mut().find(|seat| seat.name == agent) else { return };
        seat.heard = Instant::now();
        let route = |trial: u64| seat.route.as_ref().filter(|route| route.trial == trial);
        let troubled = match report {
            Ok(AgentReport::Output { trial, line }) => {
                if let Some(route) = route(trial) {
                    let _ = route.forward.send(Message::Line(line.into_bytes()));
                }
                None
            }
            Ok(AgentReport::Ended { trial, ending }) => {
                if let Some(route) = route(trial) {
                    let (_, _) = (route.end.send(ending), route.forward.send(Message::End));
                }
                None
            }
            Ok(AgentReport::Trouble { message, .. }) => Some(format!("the agent on {} {message}", seat.host)),
            Ok(AgentReport::Hello(_) | AgentReport::Part { .. } | AgentReport::Beat) => None,
            Err(LineLost) => Some(unheard(&seat.host)),
        };
        drop(members);
        if let Some(why) = troubled {
            self.lose(|seat| (seat.name == agent).then(|| why.clone()));
        }
    }

    fn launcher_ended(&self, number: usize) {
        let Some(launcher) = self.lock().launchers[number].take() else { return };
        let ending = launcher.finish();
        self.lose(|seat| {
            (seat.launcher == number).then(|| {
                format!(
                    "the agent on {} was lost: the program that reached it {}",
                    seat.host, ending.description
                )
            })
        });
    }

    /// Gives up those agents of which `why` gives a reason, and ends their launchers. The other agents of such a launcher end
    /// with it: they are lost for the same reason.
    pub fn lose(&self, why: impl Fn(&Seat) -> Option<String>) {
        let mut members = self.lock();
        let Members { seats, launchers, ends, .. } = &mut *members;
        let reasons: Vec<Option<String>> = seats.iter().map(why).collect();
        let mut lost = Vec::new();
        for (rank, reason) in reasons.iter().enumerate() {
            let Some(reason) = reason.as_ref().filter(|_| seats[rank].lost.is_none()) else { continue };
            seats[rank].give_up(reason);
            let number = seats[rank].launcher;
            let Some(launcher) = launchers[number].take() else { continue };
            lost.push(launcher);
            let others = seats.iter_mut().zip(&reasons);
            let others = others.filter(|(seat, own)| seat.launcher == number && own.is_none());
            others.filter(|(seat, _)| seat.lost.is_none()).for_each(|(seat, _)| seat.give_up(reason));
        }
        if !lost.is_empty() {
            // It takes time, in which the others are to be heard.
            ends.push(thread::spawn(move || drop(end_all_within(lost, LOST_TIMEOUT))));
        }
    }
}

/// Says to the agents of launchers that dyno is there.
pub fn beat<'p>(launchers: impl Iterator<Item = &'p Process>) {
    let Ok(beat) = line(Vec::new(), AgentOrder::Beat) else { return };
    for input in launchers.filter_map(Process::input) {
        // Others that wait to be written say it.
        let _ = input.try_send(beat.clone());
    }
}

/// Ends the input of launchers and waits for all of them at once: their agents remove what they have made, and then
/// end. Returns how each ended.
pub fn end_all(launchers: Vec<Process>) -> Vec<Ending> {
    end_all_within(launchers, END_TIMEOUT)
}

fn end_all_within(launchers: Vec<Process>, patience: Duration) -> Vec<Ending> {
    thread::scope(|scope| {
        let ends: Vec<_> = launchers
            .into_iter()
            .map(|launcher| scope.spawn(move || launcher.end_within(patience)))
            .collect();
        ends.into_iter().map(|end| end.join().unwrap_or_default()).collect()
    })
}

fn silent(seat: &Seat) -> String {
    format!(
        "the agent on {} was silent for {} s: it is stopped, or the network between is cut",
        seat.host,
        SILENCE.as_secs()
    )
}

fn unreadable(seat: &Seat, what: &str) -> String {
    format!("the output of the agent on {} cannot be read: {what}", seat.host)
}

/// The reason to give an agent up of which a line was lost.
pub fn unheard(host: &str) -> String {
    format!(
        "a line of the agent on {host} was lost or changed on its way: the launcher must pass lines of 1000 bytes on as \
         they are"
    )
}

#[cfg(test)]
mod tests;
