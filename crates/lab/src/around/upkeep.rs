//! Counts an engine's own maintenance: checkpoints, compactions, flushes, as far as the engine reports them.
//!
//! Servers that dyno started report it over a connection. Engines within a runner's process are not asked: SQLite
//! counts in the head of its log how often the log began anew, and RocksDB writes what it has done into its `LOG`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use dyno_client::{Sql, mysql, postgres};
use dyno_protocol::{Build, Job, Server, Work};

const CHECKPOINTS: &str = "checkpoints";
const COMPACTIONS: &str = "compactions";
const FLUSHES: &str = "flushes";

/// The delay, per client, before dyno opens its own connection, so that it never takes a slot that a client needs: a
/// server limits its connections.
const CONNECT_DELAY_PER_CLIENT: Duration = Duration::from_millis(10);

/// The source of an engine's counters.
pub enum Upkeep {
    /// The files of the database's folder.
    Files(Files),
    /// The server's status.
    Server(MonitoredServer),
    /// Nothing.
    Nothing,
}

impl Upkeep {
    /// Chooses the source for the engine of a job.
    pub fn of(job: &Job) -> Upkeep {
        let Some(server) = &job.server else {
            return Upkeep::Files(Files { folder: job.directory.clone(), logs: BTreeMap::new() });
        };
        // A server that dyno did not start gets no extra connection, since its user did not ask for one.
        let speaks = job.speaks.as_deref().filter(|_| server.process.is_some());
        let clients = job.tests.iter().map(|test| match &test.work {
            Work::Mix(mix) => mix.clients,
            _ => 1,
        });
        let from = Instant::now()
            + Duration::from_millis(250)
            + CONNECT_DELAY_PER_CLIENT * clients.max().unwrap_or(1);
        // The trial's own database is made and removed meanwhile.
        let database = job.maintenance.as_ref().and_then(|maintenance| maintenance.database.clone());
        let address = Box::new(Server { database, ..server.clone() });
        match speaks {
            Some("postgres") => Upkeep::Server(MonitoredServer {
                address,
                speaks: ServerCounters::Postgres,
                from,
                link: None,
            }),
            Some("mysql") => Upkeep::Server(MonitoredServer {
                address,
                speaks: ServerCounters::MySql(LogMoves::default()),
                from,
                link: None,
            }),
            _ => Upkeep::Nothing,
        }
    }

    /// The count of each kind of maintenance so far.
    pub fn read(&mut self) -> BTreeMap<String, u64> {
        match self {
            Upkeep::Files(files) => files.read(),
            Upkeep::Server(asked) => {
                asked.read().map(|count| (CHECKPOINTS.to_owned(), count)).into_iter().collect()
            }
            Upkeep::Nothing => BTreeMap::new(),
        }
    }
}

/// The files of an engine within a runner's process.
pub struct Files {
    folder: PathBuf,
    /// Those of RocksDB, by their paths.
    logs: BTreeMap<PathBuf, Log>,
}

impl Files {
    fn read(&mut self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        let mut count = |name: &str, times: u64| *counts.entry(name.to_owned()).or_default() += times;
        for path in files(&self.folder) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.ends_with("-wal") {
                if let Some(times) = log_resets(&path) {
                    count(CHECKPOINTS, times);
                }
            } else if name == "LOG" {
                let log = self.logs.entry(path.clone()).or_default();
                log.read(&path);
                count(COMPACTIONS, log.compactions);
                count(FLUSHES, log.flushes);
            }
        }
        counts
    }
}

/// The files of a folder and of those within it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder)
            .map_or(Vec::new(), |entries| entries.flatten().map(|entry| entry.path()).collect())
    };
    let mut found = paths(folder);
    for inner in found.clone().iter().filter(|path| path.is_dir()) {
        found.extend(paths(inner));
    }
    found
}

/// The number of times that a SQLite log began anew since its first head was written, as its head counts: a checkpoint
/// was complete before (https://www.sqlite.org/fileformat2.html#the_write_ahead_log). Another process's reading takes
/// no lock and ends none.
fn log_resets(path: &Path) -> Option<u64> {
    const MAGIC: [u32; 2] = [0x377f_0682, 0x377f_0683];
    let mut head = [0; 16];
    File::open(path).ok()?.read_exact_at(&mut head, 0).ok()?;
    let number = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    MAGIC.contains(&number(0)).then(|| u64::from(number(12)))
}

/// The events that a `LOG` of RocksDB has recorded so far.
#[derive(Default)]
struct Log {
    /// The number of its bytes read so far.
    read: u64,
    compactions: u64,
    flushes: u64,
}

impl Log {
    /// Reads the lines that were added. The last may be half written: it is read the next time.
    fn read(&mut self, path: &Path) {
        let mut text = Vec::new();
        let Ok(file) = File::open(path) else { return };
        let mut at = self.read;
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = file.read_at(&mut buffer, at) {
            text.extend_from_slice(&buffer[..length]);
            at += length as u64;
        }
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.read += whole as u64;
        for line in
            String::from_utf8_lossy(&text[..whole]).lines().filter(|line| line.contains("EVENT_LOG_v1"))
        {
            self.compactions += u64::from(line.contains("\"compaction_finished\""));
            self.flushes += u64::from(line.contains("\"flush_finished\""));
        }
    }
}

/// A server that is asked.
pub struct MonitoredServer {
    address: Box<Server>,
    speaks: ServerCounters,
    /// The time from which the connection may be opened.
    from: Instant,
    link: Option<Link>,
}

enum ServerCounters {
    Postgres,
    MySql(LogMoves),
}

enum Link {
    Postgres(postgres::Connection),
    MySql(mysql::Connection),
}

/// The number of times that a place in a log has moved.
#[derive(Default)]
struct LogMoves {
    place: Option<String>,
    times: u64,
}

impl LogMoves {
    fn see(&mut self, place: String) -> u64 {
        if self.place.as_ref().is_some_and(|before| *before != place) {
            self.times += 1;
        }
        self.place = Some(place);
        self.times
    }
}

/// The number of checkpoints that PostgreSQL has made, since version 17 and before
/// (https://www.postgresql.org/docs/current/monitoring-stats.html).
const POSTGRES: [&str; 2] = [
    "SELECT num_timed + num_requested FROM pg_stat_checkpointer",
    "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter",
];
/// The place of InnoDB's last checkpoint in its log, as MariaDB and as MySQL call it.
const INNODB: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_lsn_last_checkpoint', 'Innodb_redo_log_checkpoint_lsn')";

impl MonitoredServer {
    /// The number of checkpoints; none if the server does not report it.
    fn read(&mut self) -> Option<u64> {
        if self.link.is_none() && Instant::now() >= self.from {
            // Once more the next time, if it does not let anybody in.
            self.link = self.open().ok();
        }
        match (self.link.as_ref()?, &mut self.speaks) {
            (Link::Postgres(link), _) => {
                let reported = POSTGRES.iter().find_map(|query| link.value(query).ok().flatten());
                reported.and_then(|count| count.parse().ok())
            }
            (Link::MySql(link), ServerCounters::MySql(moved)) => {
                let row = link.rows(INNODB).ok()?.into_iter().next()?;
                Some(moved.see(format!("{:?}", row.get(1)?)))
            }
            (Link::MySql(_), ServerCounters::Postgres) => None,
        }
    }

    fn open(&self) -> Result<Link> {
        Ok(match self.speaks {
            ServerCounters::Postgres => {
                let api = Arc::new(postgres::load(&Build::System)?);
                Link::Postgres(postgres::connect(&api, &self.address, postgres::maintenance(&self.address))?)
            }
            ServerCounters::MySql(_) => {
                let api = Arc::new(mysql::load(&Build::System)?);
                Link::MySql(mysql::connect(&api, &self.address, false)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_of_a_log_are_counted_once_and_only_when_they_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store").join("LOG");
        fs::create_dir(path.parent().unwrap()).unwrap();
        let mut file = File::create(&path).unwrap();
        let line = |event: &str| format!("12:00 EVENT_LOG_v1 {{\"job\": 1, \"event\": \"{event}\"}}\n");
        let mut files = Files { folder: folder.path().to_owned(), logs: BTreeMap::new() };
        write!(
            file,
            "{}{}{}",
            line("flush_finished"),
            line("compaction_started"),
            &line("compaction_finished")[..30]
        )
        .unwrap();
        assert_eq!(files.read(), BTreeMap::from([(COMPACTIONS.into(), 0), (FLUSHES.into(), 1)]));
        write!(file, "{}{}", &line("compaction_finished")[30..], line("flush_finished")).unwrap();
        assert_eq!(files.read(), BTreeMap::from([(COMPACTIONS.into(), 1), (FLUSHES.into(), 2)]));
    }

    #[test]
    fn only_a_log_of_sqlites_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db-wal");
        fs::write(&path, [0x37, 0x7f, 6, 0x82, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 9, 9]).unwrap();
        assert_eq!(log_resets(&path), Some(258));
        fs::write(&path, [0; 32]).unwrap();
        assert_eq!(log_resets(&path), None);
        fs::write(&path, []).unwrap();
        assert_eq!(log_resets(&path), None);
    }

    #[test]
    fn a_place_that_moves_is_counted() {
        let mut moved = LogMoves::default();
        let seen = ["7", "7", "9", "9", "12"].map(|place| moved.see(place.to_owned()));
        assert_eq!(seen, [0, 0, 1, 1, 2]);
    }
}
