//! The database that `--into` names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use dyno_engine::{Home, Protocol, ServerUrl, UrlError, is_address};
use dyno_import::{MySql, Postgres, Safety, Sqlite, Target, escaped, with_ending};

use crate::cli::{ImportArgs, SafetyArg};
use crate::commands::outcome::AsInput;
use crate::commands::registry;
use crate::terminal::say;

/// The most connections that fill a table, unless more are asked for.
const MOST_CONNECTIONS: usize = 4;

/// The time to wait for other programs that have a SQLite database locked, unless another is asked for.
const SQLITE_WAIT: Duration = Duration::from_secs(5);

/// The database that `--into` names.
pub fn target(arguments: &ImportArgs) -> Result<Box<dyn Target>> {
    let safety = match arguments.safety {
        SafetyArg::None => Safety::None,
        SafetyArg::ProcessCrash => Safety::ProcessCrash,
        SafetyArg::PowerLoss => Safety::PowerLoss,
    };
    // Written with one slash by mistake it is no file either: its name would hold the password.
    let url = match is_address(&arguments.into.to_string_lossy()) {
        true => {
            let into = arguments
                .into
                .to_str()
                .context("--into holds bytes that are not UTF-8, and no URL does")
                .input()?;
            let servers = registry(&Home::find()?)?.servers();
            // dyno import brings its own clients, and reaches no URL of another driver.
            let url = ServerUrl::parse(into, &servers).and_then(|url| match url.driver {
                Some(_) => Err(UrlError::Scheme),
                None => Ok(url),
            });
            Some(url.context("--into").input()?)
        }
        false => None,
    };
    if arguments.connections.is_some()
        && url.as_ref().is_none_or(|url| url.engine.speaks != Protocol::Postgres)
    {
        return Err(anyhow::anyhow!("--connections is for a new table of PostgreSQL")).input();
    }
    if let Some(url) = url {
        dyno_lab::key::limit_core_dumps();
        url.warnings.iter().for_each(|warning| say(&format!("dyno: {warning}")));
        let server = url.own_connection();
        let wait = arguments.wait.map(Duration::from_secs);
        return Ok(match url.engine.speaks {
            Protocol::Postgres => Box::new(Postgres::connect(&server, safety, connections(arguments), wait)?),
            Protocol::MySql => Box::new(MySql::connect(&server, wait)?),
        });
    }
    database(arguments, &arguments.into, safety)
}

/// Names that SQLite gives to files next to a database, in the message that refuses them.
const OWN: &str = "a file of SQLite's";

/// The file of the SQLite database that `--into` names; None if it names a server.
pub fn file(into: &OsStr) -> Option<&Path> {
    let is_server = is_address(&into.to_string_lossy());
    (!is_server).then(|| Path::new(without_scheme(into)))
}

fn without_scheme(into: &OsStr) -> &OsStr {
    into.as_bytes().strip_prefix(b"sqlite:").map_or(into, OsStr::from_bytes)
}

/// The SQLite database of a path.
fn database(arguments: &ImportArgs, path: &OsStr, safety: Safety) -> Result<Box<dyn Target>> {
    let path = without_scheme(path);
    let shown = escaped(path);
    // A slip in a URL, and not the name of a file.
    let scheme = shown.split_once(':').map_or("", |(scheme, _)| scheme);
    if scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_lowercase()) && !Path::new(path).exists() {
        return Err(anyhow::anyhow!(
            "--into {scheme}:… is no database that dyno knows: name a file, a server (postgres://, mariadb://, mysql://), or \
             write ./{shown} for a file of this name"
        ))
        .input();
    }
    if path.is_empty() {
        return Err(anyhow::anyhow!("--into names no database")).input();
    }
    // SQLite takes what lies under these names for a journal of the database, and deletes it.
    for (ending, said) in [("", "the same file"), ("-journal", OWN), ("-wal", OWN), ("-shm", OWN)] {
        let own = with_ending(path, ending);
        if arguments.rejects.as_ref().is_some_and(|rejects| dyno_files::is_same_file(rejects, own.as_ref())) {
            return Err(anyhow::anyhow!(
                "--rejects and --into name {said}, {shown}{ending}: --rejects names another"
            ))
            .input();
        }
    }
    let wait = arguments.wait.map_or(SQLITE_WAIT, Duration::from_secs);
    Ok(Box::new(Sqlite::new(path.as_ref(), safety, wait)?))
}

/// The number of connections that fill a new table: one more than there are processors, so that one which waits for the
/// device leaves none of them idle. Where the server is elsewhere its processors are not known.
fn connections(arguments: &ImportArgs) -> usize {
    let here = || std::thread::available_parallelism().map_or(1, usize::from) + 1;
    arguments.connections.map_or_else(|| here().min(MOST_CONNECTIONS), usize::from)
}
