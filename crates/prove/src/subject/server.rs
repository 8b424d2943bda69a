//! A server whose data are on the disk. dyno starts it there and is its client: the commits are made by a thread that
//! says on the recorder's output when it begins one and when the server has acknowledged it.

mod check;
mod folder;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use dyno_client::{mysql, postgres};
use dyno_engine::{Contender, Protocol};
use dyno_lab::server::{Installation, PrivateServer};
use dyno_launch::Interrupts;
use dyno_protocol::{Build, Server, Setting};
use dyno_record::Placement;
use nix::sys::signal::Signal;
use nix::unistd::Uid;

use super::link::Link;
use super::{Contents, Subject, UPKEEP, WorkMode, WorkOutcome, data};
use crate::history::{Line, words};
use crate::phase::PhaseMarker;
pub use folder::keep;
use folder::{accounts, left};

/// The database on servers of MySQL's kind, which have none for everybody.
pub const DATABASE: &str = "dyno_proof";
/// The setting by which MySQL's kind of server chooses how tables are stored, and the ways that know no transactions.
const STORAGE: &str = "default_storage_engine";
const WITHOUT_TRANSACTIONS: [&str; 2] = ["Aria", "MyISAM"];
/// The commit that is made beforehand.
const FIRST: u64 = 0;
/// The interval at which a condition is polled.
const STEP: Duration = Duration::from_millis(1);

/// A contender whose engine is a server.
#[derive(Debug)]
pub struct PrivateSubject {
    /// The contender.
    pub contender: Contender,
    /// Its programs.
    pub installation: Installation,
    /// The number of commits that it makes.
    pub commits: u64,
    /// The number of clients that make them at once, each its share.
    pub clients: u64,
    /// The placement of the server's processes.
    pub placement: Placement,
    /// The time limit of its start and of all its work, each.
    pub patience: Duration,
    /// By which it is ended.
    pub interrupts: Interrupts,
}

impl PrivateSubject {
    /// Its protocol.
    pub fn speaks(&self) -> Protocol {
        self.installation.engine.speaks
    }

    /// True if commits of several clients share accounts.
    fn has_accounts(&self) -> bool {
        self.clients > 1 && self.parts() > data::ONE
    }

    /// The number of rows of a commit.
    fn parts(&self) -> u64 {
        let stored = self.contender.settings.iter().rfind(|setting| setting.name == STORAGE);
        let is_without = |setting: &Setting| {
            WITHOUT_TRANSACTIONS.iter().any(|name| name.eq_ignore_ascii_case(&setting.value))
        };
        if stored.is_some_and(is_without) { data::ONE } else { data::PARTS }
    }

    fn connect(&self, server: &Server) -> Result<Link> {
        let database = postgres::maintenance(server);
        Ok(match self.speaks() {
            Protocol::Postgres => {
                let api = Arc::new(postgres::load(&Build::System)?);
                Link::Postgres(postgres::connect(&api, server, database)?)
            }
            Protocol::MySql => {
                let api = Arc::new(mysql::load(&Build::System)?);
                Link::MySql(mysql::connect(&api, server, false)?)
            }
        })
    }

    /// A connection to a server that may still be recovering its data.
    fn reach(&self, server: &mut PrivateServer) -> Result<Link> {
        let address = server.connection("").server;
        let deadline = Instant::now() + self.patience;
        loop {
            match self.connect(&address) {
                Ok(link) => return Ok(link),
                Err(error) => {
                    self.interrupts.check()?;
                    if !server.is_alive() {
                        return Err(error.context(server.death().unwrap_or_default()));
                    }
                    if Instant::now() > deadline {
                        return Err(error);
                    }
                }
            }
            thread::sleep(STEP);
        }
    }

    fn resume(&self, folder: &Path, data: &Path) -> Result<PrivateServer> {
        let settings = &self.contender.settings;
        let key = self.contender.engine_key();
        PrivateServer::resume(
            &self.installation,
            settings,
            key,
            data,
            folder,
            &self.placement,
            &self.interrupts,
        )
    }

    /// Ends a server in order, so that all is written; to be stopped as dyno stops it elsewhere is a crash to some.
    fn end(&self, server: &mut PrivateServer) {
        server.signal(Signal::SIGTERM);
        let deadline = Instant::now() + self.patience;
        while server.is_alive() && Instant::now() < deadline && self.interrupts.signal().is_none() {
            thread::sleep(STEP);
        }
        server.stop();
    }

    /// Goes to the database of the proof.
    fn enter(&self, link: &Link) -> Result<()> {
        match self.speaks() {
            Protocol::Postgres => Ok(()),
            Protocol::MySql => link.rows(&format!("USE {DATABASE}")).map(drop),
        }
    }

    /// Makes the commits of a client and says so.
    fn commit_all(
        &self,
        (client, after): (u64, Option<u64>),
        address: &Server,
        mut output: File,
    ) -> Result<()> {
        let link = self.connect(address)?;
        self.enter(&link)?;
        let numbers: Vec<u64> = match after {
            Some(after) => data::later(after).collect(),
            None => data::numbers(client, self.clients, self.commits).collect(),
        };
        for number in numbers {
            let statements = match self.has_accounts() {
                true => data::shared(number, "BEGIN"),
                false => data::statements(number, self.parts()),
            };
            output.write_all(format!("begin {number}\n").as_bytes())?;
            link.execute(&statements)?;
            output.write_all(format!("ack {number}\n").as_bytes())?;
            if client == 0 && data::is_followed_by_upkeep(number) {
                self.keep_up(&link, &mut output)?;
            }
        }
        Ok(())
    }

    /// Makes each upkeep happen.
    fn keep_up(&self, link: &Link, output: &mut File) -> Result<()> {
        let Contender { engine, settings, .. } = &self.contender;
        for upkeep in engine.upkeep(settings) {
            output.write_all(format!("{UPKEEP}{}\n", upkeep.name).as_bytes())?;
            link.execute(&upkeep.statements)?;
        }
        Ok(())
    }

    /// Starts the server on the data that are there, for those who work and say so in `output`. Cuts come after that:
    /// where the data are is dyno's doing, and no engine answers for it.
    pub fn begin(&self, folder: &Path, output: &File, manner: WorkMode) -> Result<PrivateServer> {
        let data = left(folder)?.context("the folder of the data is gone")?;
        let mut server = self.resume(folder, &data)?;
        drop(self.reach(&mut server)?);
        if manner.after.is_some() {
            // Whatever of the recovery is to be durable, the server has to see to.
            return Ok(server);
        }
        // The server's folder is new, and no other program makes it durable. An encrypting file system does not pass
        // such a call on.
        for system in [Some(folder), manner.below].into_iter().flatten() {
            nix::unistd::syncfs(File::open(system)?)?;
        }
        // Of files that are recorded themselves, that says nothing of names.
        for named in [folder, server.folder()] {
            File::open(named)?.sync_all()?;
        }
        PhaseMarker::Begins.set(output)?;
        Ok(server)
    }
}

impl Subject for PrivateSubject {
    fn prepare(&self, folder: &Path) -> Result<()> {
        let settings = &self.contender.settings;
        let mut server = PrivateServer::start_with_key(
            &self.installation,
            settings,
            self.contender.engine_key(),
            folder,
            &self.placement,
            &self.interrupts,
        )?;
        let link = self.reach(&mut server)?;
        if self.speaks() == Protocol::MySql {
            link.rows(&format!("CREATE DATABASE {DATABASE}"))?;
            self.enter(&link)?;
        }
        link.rows(&data::table())?;
        if self.has_accounts() {
            link.execute(&data::accounts())?;
        }
        link.execute(&data::statements(FIRST, self.parts()))?;
        drop(link);
        self.end(&mut server);
        keep(&server, folder)
    }

    fn work(&self, folder: &Path, output: File, manner: WorkMode) -> Result<WorkOutcome> {
        let mut server = self.begin(folder, &output, manner)?;
        let address = server.connection("").server;
        manner.watch.map_or(Ok(()), |watch| watch.begin(server.process()))?;
        let kill_after = manner.kill_after;
        let start = Instant::now();
        let done = thread::scope(|scope| {
            let (address, output) = (&address, &output);
            let one = move |client| self.commit_all((client, manner.after), address, output.try_clone()?);
            let work: Vec<_> = (0..self.clients).map(|client| scope.spawn(move || one(client))).collect();
            let end = kill_after.unwrap_or(self.patience);
            let is_finished = || work.iter().all(thread::ScopedJoinHandle::is_finished);
            while !is_finished() && start.elapsed() < end && self.interrupts.signal().is_none() {
                thread::sleep(Duration::from_micros(100));
            }
            if kill_after.is_some() || !is_finished() {
                server.kill();
            }
            let ended = work
                .into_iter()
                .map(|client| client.join().unwrap_or_else(|_| Err(anyhow!("a client panicked"))));
            ended.collect::<Result<Vec<_>>>()
        });
        drop(output);
        let took = start.elapsed();
        self.interrupts.check()?;
        // A server that was killed is not closed in order.
        if kill_after.is_none() && done.is_ok() {
            self.end(&mut server);
        }
        server.stop();
        keep(&server, folder)?;
        let failure = done.err().map(|error| format!("{error:#}"));
        Ok(WorkOutcome { failure: failure.filter(|_| kill_after.is_none()), took })
    }

    fn read(&self, line: &str) -> Line {
        line.strip_prefix(UPKEEP).map_or_else(|| words(line), |name| Line::Upkeep(name.to_owned()))
    }

    fn check(&self, folder: &Path) -> Result<Contents> {
        self.check_by(folder, |link| self.look_with(link))
    }

    fn before(&self) -> Option<u64> {
        Some(FIRST)
    }

    fn accounts(&self) -> Option<Vec<Uid>> {
        Some(accounts(&self.installation))
    }

    fn can_go_on(&self) -> bool {
        self.clients == 1
    }

    fn is_in_order(&self) -> bool {
        true
    }
}
