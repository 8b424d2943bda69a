//! The first words of agents: whether all of them are there, and of the same build as this dyno.

use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::ARCH;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::super::launcher::Launcher;
use super::super::reports::{LineLost, ReportReader};
use super::super::wire::{AgentHello, AgentReport, BEAT};
use super::roster::{Roster, Seat, beat, end_all, unheard};
use crate::interrupts::Interrupts;
use crate::process::{Ending, Inbox, Message, Process};

/// The time in which all agents answer. A scheduler may take some of it to find a place for them.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval at which dyno looks whether it was interrupted.
const LOOKS: Duration = Duration::from_millis(100);
/// The most launchers whose output a message quotes.
const SHOWN_COURSES: usize = 3;
/// The number of bytes that are kept of what launchers write and agents do not.
const KEPT: usize = 1000;

/// The build that agents must be of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedBuild {
    /// The version.
    pub version: String,
    /// The commit.
    pub commit: String,
}

/// The agents that have answered.
struct Greeted<'a> {
    launcher: &'a Launcher,
    commands: Vec<(Option<&'a str>, Vec<String>)>,
    /// Each with its launcher's number and the name that it has given itself.
    hellos: Vec<(usize, String, AgentHello)>,
    /// The other output of each launcher.
    others: BTreeMap<usize, String>,
}

/// Starts launchers and waits until all agents have answered.
pub fn greet(
    launcher: &Launcher,
    expected: &ExpectedBuild,
    (inbox, reader): (&Inbox, &mut ReportReader),
    interrupts: &Interrupts,
) -> Result<(Vec<(String, AgentHello)>, Roster)> {
    let commands = launcher.commands();
    let started =
        commands.iter().enumerate().map(|(number, (_, words))| Process::launch(words, (inbox, number)));
    let mut launchers: Vec<Process> = started.collect::<Result<_>>()?;
    let mut greeted = Greeted { launcher, commands, hellos: Vec::new(), others: BTreeMap::new() };
    match greeted.wait(expected, &mut launchers, (inbox, reader), interrupts) {
        Ok(()) if greeted.are_all_there() => Ok(greeted.seated(launchers)),
        Ok(()) => bail!(greeted.silent(&end_all(launchers))),
        Err(error) => {
            // Agents that were not killed remove their folders.
            end_all(launchers);
            Err(error)
        }
    }
}

impl Greeted<'_> {
    fn wait(
        &mut self,
        expected: &ExpectedBuild,
        launchers: &mut Vec<Process>,
        (inbox, reader): (&Inbox, &mut ReportReader),
        interrupts: &Interrupts,
    ) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut beaten = Instant::now();
        while !self.are_all_there() && Instant::now() < deadline {
            interrupts.check()?;
            // An agent that was quick ends where dyno is silent until the last one is there.
            if beaten.elapsed() >= BEAT {
                beat(launchers.iter());
                beaten = Instant::now();
            }
            match inbox.next(Instant::now() + LOOKS) {
                Some((number, Message::Line(text))) => self.read(number, (&text, reader), expected)?,
                Some((number, Message::End)) => {
                    let ending = launchers.swap_remove(number).finish();
                    bail!(self.not_started(number, &ending.description));
                }
                Some((number, Message::Unreadable(what))) => bail!(self.not_started(number, &what)),
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    fn read(
        &mut self,
        number: usize,
        (text, reader): (&[u8], &mut ReportReader),
        expected: &ExpectedBuild,
    ) -> Result<()> {
        match reader.read(text) {
            Some((agent, Ok(AgentReport::Hello(hello)))) => {
                let host = self.commands[number].0.map_or_else(|| hello.host.clone(), str::to_owned);
                let hello = check(*hello, expected, &host)?;
                ensure!(
                    self.commands[number].0.is_none() || !self.has_answered(number),
                    "the command for {host} has started a second agent, on {}: name each host in --hosts, or leave {{host}} \
                     out of --on",
                    hello.host
                );
                self.hellos.push((number, agent, hello));
            }
            Some((_, Ok(AgentReport::Trouble { host, message }))) => {
                let typed = self.commands[number].0.map(str::to_owned);
                bail!("the agent on {} {message}", typed.or(host).unwrap_or_else(|| self.place(number)));
            }
            Some((_, Err(LineLost))) => bail!(unheard(&self.place(number))),
            Some(_) => {}
            None => {
                let kept = self.others.entry(number).or_default();
                if kept.len() < KEPT {
                    kept.push_str(&String::from_utf8_lossy(&text[..text.len().min(KEPT)]));
                }
            }
        }
        Ok(())
    }

    /// The name of an agent's host: as it was typed, or as the host calls itself.
    fn host(&self, number: usize, hello: &AgentHello) -> String {
        self.commands[number].0.map_or_else(|| hello.host.clone(), str::to_owned)
    }

    /// The hosts of a launcher in words.
    fn place(&self, number: usize) -> String {
        match self.commands[number].0 {
            Some(host) => host.to_owned(),
            None if self.launcher.has_names() => self.launcher.hosts().join(", "),
            None => format!("one of {} hosts", self.launcher.agents()),
        }
    }

    fn are_all_there(&self) -> bool {
        self.hellos.len() >= self.launcher.agents()
    }

    /// True if an agent of a launcher has answered.
    fn has_answered(&self, number: usize) -> bool {
        self.hellos.iter().any(|(launcher, ..)| *launcher == number)
    }

    /// The command of a launcher, how it ended, and what it wrote.
    fn course(&self, number: usize, how: &str) -> String {
        let command = shlex::try_join(self.commands[number].1.iter().map(String::as_str)).unwrap_or_default();
        let wrote = self.others.get(&number).map_or("", |text| text.trim());
        let wrote = if wrote.is_empty() { String::new() } else { format!("; on standard output: {wrote}") };
        format!("`{command}` {how}{wrote}")
    }

    fn not_started(&self, number: usize, how: &str) -> String {
        format!(
            "the agent on {} did not start: {}. The same version of dyno must be there, on its \
             PATH or where --agent says, and the command must start it without asking for anything",
            self.place(number),
            self.course(number, how)
        )
    }

    /// The launchers whose agents did not answer in time, with what they wrote until dyno ended them.
    fn silent(&self, endings: &[Ending]) -> String {
        let missing: Vec<usize> = (0..self.commands.len())
            .filter(|number| self.commands.len() == 1 || !self.has_answered(*number))
            .collect();
        let places: Vec<String> = missing.iter().map(|number| self.place(*number)).collect();
        let courses: Vec<String> = missing
            .iter()
            .filter_map(|&number| Some(self.course(number, &endings.get(number)?.description)))
            .take(SHOWN_COURSES)
            .collect();
        format!(
            "{} of {} agents answered within {} s; there is no answer from {}: do these hosts answer, and is dyno on them? \
             When dyno gave up, {}",
            self.hellos.len(),
            self.launcher.agents(),
            PATIENCE.as_secs(),
            places.join(", "),
            courses.join("; ")
        )
    }

    /// The agents by rank: in the order of the hosts as typed, or else of the names that the hosts have.
    fn seated(mut self, launchers: Vec<Process>) -> (Vec<(String, AgentHello)>, Roster) {
        sort(&mut self.hellos);
        let mut agents: Vec<(String, AgentHello)> = Vec::new();
        let mut seats = Vec::new();
        for (launcher, name, hello) in &self.hellos {
            let known = self.host(*launcher, hello);
            let same = agents.iter().filter(|(_, other)| other.host == hello.host).count();
            let is_repeated = agents.iter().any(|(host, _)| *host == known);
            let host = if is_repeated { format!("{known}-{}", same + 1) } else { known };
            agents.push((host.clone(), hello.clone()));
            let (name, launcher, heard) = (name.clone(), *launcher, Instant::now());
            seats.push(Seat { name, host, launcher, heard, files: BTreeSet::new(), route: None, lost: None });
        }
        (agents, Roster::new(seats, launchers))
    }
}

/// Sorts agents by rank. Those on one host are in the order of the processors that they may use: their names are others
/// after each start.
fn sort(hellos: &mut [(usize, String, AgentHello)]) {
    hellos.sort_by(|(launcher, name, hello), (other_launcher, other_name, other)| {
        launcher
            .cmp(other_launcher)
            .then_with(|| hello.host.cmp(&other.host))
            .then_with(|| hello.machine.cpu.allowed.cmp(&other.machine.cpu.allowed))
            .then_with(|| name.cmp(other_name))
    });
}

/// Refuses an agent of another build, or on a machine that cannot run the runners of this one.
fn check(hello: AgentHello<Value>, expected: &ExpectedBuild, host: &str) -> Result<AgentHello> {
    let of = |version: &str, commit: &str| format!("dyno {version} of commit {commit}");
    ensure!(
        (&hello.version, &hello.commit) == (&expected.version, &expected.commit),
        "the agent on {host} is {}, and this is {}: put this one there, or name it with --agent",
        of(&hello.version, &hello.commit),
        of(&expected.version, &expected.commit)
    );
    let hello =
        hello.read().with_context(|| format!("the agent on {host} describes its machine in another way"))?;
    let architecture = &hello.machine.cpu.architecture;
    ensure!(
        architecture == ARCH,
        "{host} has processors of {architecture}, and the runners here are for {ARCH}: take hosts of the same architecture"
    );
    Ok(hello)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_on_one_host_keep_their_ranks_under_other_names() {
        for names in [["1", "2"], ["2", "1"]] {
            let agent = |name: &str, cpus: &[usize]| (0, name.to_owned(), AgentHello::on("node", "x", cpus));
            let mut hellos = [agent(names[1], &[2, 3]), agent(names[0], &[0, 1])];
            sort(&mut hellos);
            assert_eq!(hellos.map(|(_, _, hello)| hello.machine.cpu.allowed), [[0, 1], [2, 3]], "{names:?}");
        }
    }
}
