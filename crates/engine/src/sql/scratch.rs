//! The trial's own database on a server, as statements that the measured driver executes on an administrative
//! connection.

use dyno_protocol::{Hello, Job, JobStatement, Maintenance, ReadBackQuery, Server, Setting};

use super::syntax::{SettingSyntax, quoted};
use super::version::{is_mariadb, is_postgres, numbers};
use crate::server::Protocol;

/// The database that every PostgreSQL has for administrators.
const ADMINISTRATIVE: &str = "postgres";
/// The first version of PostgreSQL whose CREATE DATABASE can name the provider of collations.
const WITH_PROVIDERS: u32 = 15;
/// MySQL's code: the connection to end does not exist.
const NO_SUCH_THREAD: &str = "1094";
/// The words of a maintenance's statement before the name of a setting.
pub const SET: &str = "set ";
/// The setting by which MariaDB encrypts its tables with threads in the background.
const ENCRYPT_TABLES: &str = "innodb_encrypt_tables";

/// A server, and the name of the one database on it that belongs to a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScratchServer {
    /// The protocol that it speaks.
    pub speaks: Protocol,
    /// Its address. The database is one that exists and in which nothing is changed.
    pub server: Server,
    /// The name of the trial's database.
    pub scratch: String,
    /// True if that database is left there.
    pub keep: bool,
    /// The statements by which each connection waits until its node has what was committed before.
    pub catch_up: Vec<JobStatement>,
}

impl ScratchServer {
    /// A job that asks a server for its version and makes nothing there.
    pub fn question(&self, job: &Job) -> Job {
        let syntax = self.syntax();
        let queries = syntax
            .facts()
            .iter()
            .map(|(name, query)| ReadBackQuery { name: (*name).to_owned(), query: (*query).to_owned() });
        Job { read_back: queries.collect(), ..self.administrative(job) }
    }

    /// A job that only removes the trial's database, if it is there.
    pub fn removal(&self, job: &Job) -> Job {
        let maintenance = Maintenance { before: self.remove(), ..self.maintenance() };
        Job { maintenance: Some(maintenance), ..self.administrative(job) }
    }

    /// Has a job work in the trial's database, which it makes anew on a server of this version and removes unless it is
    /// kept. `asked` are the settings of the contender.
    pub fn serve(&self, job: &mut Job, asked: &[Setting], version: &str) {
        let before = match self.speaks {
            Protocol::Postgres => self.make_in_postgres(asked, version),
            Protocol::MySql => self.make_in_mysql(&job.on_connect, asked, version),
        };
        let before = self.remove().into_iter().chain(before).collect();
        let after = if self.keep { Vec::new() } else { self.remove() };
        job.maintenance = Some(Maintenance { before, after, ..self.maintenance() });
        job.server = Some(Server { database: Some(self.scratch.clone()), ..self.server.clone() });
        job.database_bytes = self.database_bytes();
        job.on_connect.extend(self.catch_up.iter().cloned());
    }

    /// The version in the answer to the [question](ScratchServer::question).
    pub fn version(hello: &Hello) -> Option<&str> {
        hello.build.get("version").and_then(|words| words.first()).map(String::as_str)
    }

    fn syntax(&self) -> SettingSyntax {
        match self.speaks {
            Protocol::Postgres => SettingSyntax::Postgres,
            Protocol::MySql => SettingSyntax::MySql,
        }
    }

    fn administrative_database(&self) -> Option<String> {
        let usual = (self.speaks == Protocol::Postgres).then(|| ADMINISTRATIVE.to_owned());
        self.server.database.clone().or(usual)
    }

    fn administrative(&self, job: &Job) -> Job {
        Job {
            on_connect: Vec::new(),
            read_back: Vec::new(),
            database_bytes: Vec::new(),
            turns: false,
            answers_only: false,
            tests: Vec::new(),
            maintenance: None,
            server: Some(Server { database: self.administrative_database(), ..self.server.clone() }),
            ..job.clone()
        }
    }

    fn maintenance(&self) -> Maintenance {
        Maintenance { database: self.administrative_database(), ..Maintenance::default() }
    }

    /// Removes the database if it is there. What a killed runner left running in it is ended first: PostgreSQL would
    /// wait five seconds for it and then refuse, and in MySQL it would hold the tables for as long as it runs.
    fn remove(&self) -> Vec<JobStatement> {
        let name = &self.scratch;
        let end = format!("end what works in the database {name}");
        let end = match self.speaks {
            Protocol::Postgres => JobStatement {
                name: end,
                sql: format!(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = {}",
                    quoted(name)
                ),
                // Engines that only speak the protocol may not know how; if it is needed, the next statement fails.
                ignores: vec!["*".to_owned()],
                ..JobStatement::default()
            },
            Protocol::MySql => JobStatement {
                name: end,
                sql: format!(
                    "SELECT concat('KILL ', id) FROM information_schema.processlist WHERE db = {}",
                    quoted(name)
                ),
                ignores: vec![NO_SUCH_THREAD.to_owned()],
                each: true,
                ..JobStatement::default()
            },
        };
        let sql = format!("DROP DATABASE IF EXISTS {}", self.identifier());
        vec![end, statement(format!("remove the database {name}"), sql)]
    }

    fn identifier(&self) -> String {
        match self.speaks {
            Protocol::Postgres => format!("\"{}\"", self.scratch),
            Protocol::MySql => format!("`{}`", self.scratch),
        }
    }

    fn make(&self, rest: &str) -> JobStatement {
        let sql = format!("CREATE DATABASE {}{rest}", self.identifier());
        statement(format!("make the database {}", self.scratch), sql)
    }

    /// From the unmodified template. Texts are UTF-8 and compare by their bytes, whatever the server was set up with:
    /// so answers are in the same order as SQLite's, and the locale of the machine where `initdb` ran is no part of the
    /// measurement. Other systems that speak PostgreSQL's protocol have rules of their own.
    fn make_in_postgres(&self, asked: &[Setting], version: &str) -> Vec<JobStatement> {
        if !is_postgres(version) {
            return vec![self.make("")];
        }
        let locale = |name: &str| {
            let found = asked.iter().rev().find(|setting| setting.name == name);
            quoted(found.map_or("C", |setting| setting.value.as_str()))
        };
        let provider = if numbers(version).0 >= WITH_PROVIDERS { " LOCALE_PROVIDER libc" } else { "" };
        vec![self.make(&format!(
            " TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE {} LC_CTYPE {}{provider}",
            locale("lc_collate"),
            locale("lc_ctype")
        ))]
    }

    /// Texts are in utf8mb4 and compare by the engine's own rules for it (the setting `collation_server` where its
    /// character set is that one), which MySQL's users live with: letters that differ by case are equal, unlike in the
    /// other engines. The database is made by some of the session's settings.
    fn make_in_mysql(
        &self,
        settings: &[JobStatement],
        asked: &[Setting],
        version: &str,
    ) -> Vec<JobStatement> {
        let JobStatement { name, sql, .. } = self.make(" CHARACTER SET utf8mb4");
        let sql = format!(
            "SELECT concat({}, CASE WHEN @@character_set_server = 'utf8mb4' THEN concat(' COLLATE ', @@collation_server) \
             ELSE '' END)",
            quoted(&sql)
        );
        let make = JobStatement { name, sql, each: true, ..JobStatement::default() };
        let encrypts = asked.iter().rev().find(|setting| setting.name.eq_ignore_ascii_case(ENCRYPT_TABLES));
        let encrypts = encrypts.is_some_and(|setting| ["ON", "1", "FORCE"].contains(&setting.value.as_str()));
        let wait = (encrypts && is_mariadb(version)).then(|| {
            statement(
                "wait until the server's own tables are encrypted".to_owned(),
                AWAIT_ENCRYPTION.to_owned(),
            )
        });
        let set = |one: &JobStatement| JobStatement { name: format!("{SET}{}", one.name), ..one.clone() };
        settings.iter().map(set).chain([make]).chain(wait).collect()
    }

    /// PostgreSQL's own function; of MySQL InnoDB's list of files, which takes a privilege, or else its statistics,
    /// which need none and lag behind.
    fn database_bytes(&self) -> Vec<String> {
        match self.speaks {
            Protocol::Postgres => vec!["SELECT pg_database_size(current_database())".to_owned()],
            Protocol::MySql => {
                let files = |list: &str| {
                    format!(
                        "SELECT (SELECT coalesce(sum(file_size), 0) FROM information_schema.{list} \
                         WHERE name LIKE concat(replace(database(), '_', '\\_'), '/%')) \
                         + (SELECT coalesce(sum(data_length + index_length), 0) FROM information_schema.tables \
                         WHERE table_schema = database() AND engine <> 'InnoDB')"
                    )
                };
                let tables = "SELECT coalesce(sum(data_length + index_length), 0) FROM information_schema.tables \
                              WHERE table_schema = database()";
                vec![files("innodb_sys_tablespaces"), files("innodb_tablespaces"), tables.to_owned()]
            }
        }
    }
}

/// MariaDB encrypts what its data folder was made with by threads in the background: nothing is measured before they
/// have come to an end. The count of all shows that the list is there: while the server starts, it is empty.
const AWAIT_ENCRYPTION: &str = "BEGIN NOT ATOMIC
  DECLARE looks INT DEFAULT 0;
  WHILE (SELECT if(count(*) = 0, 1, sum(min_key_version = 0 OR rotating_or_flushing <> 0))
      FROM information_schema.innodb_tablespaces_encryption) <> 0 DO
    SET looks = looks + 1;
    IF looks > 3000 THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
        'the server has not encrypted its own tables within 60 s: are there innodb_encryption_threads?';
    END IF;
    DO sleep(0.02);
  END WHILE;
END";

fn statement(name: String, sql: String) -> JobStatement {
    JobStatement { name, sql, ..JobStatement::default() }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use dyno_protocol::Build;

    use super::*;

    fn served(speaks: Protocol, asked: &[&str], version: &str) -> Job {
        let asked: Vec<Setting> = asked.iter().map(|text| crate::parse_setting(text).unwrap()).collect();
        let server = Server {
            host: "h".into(),
            port: None,
            user: "u".into(),
            password: None,
            database: None,
            options: Default::default(),
            process: None,
            further: Vec::new(),
            further_processes: Vec::new(),
        };
        let scratch =
            ScratchServer { speaks, server, scratch: "dyno_x".into(), keep: false, catch_up: Vec::new() };
        let mut job = Job::new("e", "d", Build::System, PathBuf::new());
        job.on_connect = scratch.syntax().on_connect(asked.iter());
        scratch.serve(&mut job, &asked, version);
        job
    }

    fn before(job: &Job) -> Vec<&str> {
        job.maintenance.as_ref().unwrap().before.iter().map(|statement| statement.sql.as_str()).collect()
    }

    #[test]
    fn a_database_of_postgresql_compares_by_bytes_unless_a_locale_is_asked_for() {
        let made = |asked: &[&str], version: &str| {
            before(&served(Protocol::Postgres, asked, version)).last().unwrap().to_string()
        };
        let start = r#"CREATE DATABASE "dyno_x" TEMPLATE template0 ENCODING 'UTF8'"#;
        assert_eq!(made(&[], "PostgreSQL 14.2 on x"), format!("{start} LC_COLLATE 'C' LC_CTYPE 'C'"));
        assert_eq!(
            made(&["lc_collate=de'DE"], "PostgreSQL 15.1 on x"),
            format!("{start} LC_COLLATE 'de''DE' LC_CTYPE 'C' LOCALE_PROVIDER libc")
        );
        assert_eq!(made(&[], "CockroachDB CCL v23"), r#"CREATE DATABASE "dyno_x""#);
    }

    #[test]
    fn a_database_of_mysql_is_made_with_the_sessions_settings() {
        let asked = ["collation_server=utf8mb4_bin", "innodb_encrypt_tables=ON"];
        let job = served(Protocol::MySql, &asked, "10.11.19-MariaDB");
        let before = before(&job);
        assert!(before[2].starts_with("SET SESSION collation_server"), "{before:?}");
        assert_eq!(job.maintenance.as_ref().unwrap().before[2].name, "set collation_server");
        assert!(before[4].contains("CREATE DATABASE `dyno_x`") && before[5].starts_with("BEGIN NOT ATOMIC"));
        assert_eq!(served(Protocol::MySql, &asked, "8.0.36").maintenance.unwrap().before.len(), 5);
    }

    #[test]
    fn what_is_made_is_removed_unless_it_is_kept() {
        let job = served(Protocol::Postgres, &[], "PostgreSQL 15.1 on x");
        let Maintenance { database, after, .. } = job.maintenance.unwrap();
        assert_eq!(database.as_deref(), Some("postgres"));
        assert_eq!(after.last().unwrap().sql, r#"DROP DATABASE IF EXISTS "dyno_x""#);
        assert_eq!(job.server.unwrap().database.as_deref(), Some("dyno_x"));
    }
}
