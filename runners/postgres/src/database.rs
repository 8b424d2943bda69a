//! The trial's own database: how it is made and removed.

use anyhow::{Context, Error, Result, anyhow, ensure};
use dyno_client::Sql;
use dyno_client::postgres::{Connection, ServerError};
use dyno_protocol::Server;

/// The oldest version that is served, as libpq numbers them.
const OLDEST: i32 = 100_000;
/// The first version whose CREATE DATABASE can name the provider of collations.
const WITH_PROVIDERS: i32 = 150_000;

/// Error code: the user may not do that.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// The order of texts and the kinds of letters that a database has, fixed when it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Locale {
    /// The order in which texts compare.
    pub collate: String,
    /// The classes of characters: letters, and which of them differ by case.
    pub ctype: String,
}

/// Makes the trial's database.
pub fn make(maintenance: &Connection, engine: &str, server: &Server, locale: &Locale) -> Result<()> {
    let version = maintenance.server_version();
    ensure!(
        version >= OLDEST,
        "the server is PostgreSQL {}.{}, and dyno works with version 10 and later",
        version / 10_000,
        version / 100 % 100
    );
    let reported = maintenance.value("SELECT version()").context("the server does not tell its version")?;
    let reported = reported.unwrap_or_default();
    ensure!(
        server.version.allows(&reported),
        "the server is {reported}, not {engine}: name the engine that it is, or another server"
    );
    let sql = create(&reported, maintenance.server_version(), &server.scratch, locale);
    maintenance.rows(&sql).map(drop).map_err(|error| explain(error, server))
}

/// The statement that makes the database, from the unmodified template.
///
/// Texts are UTF-8 and compare by their bytes, whatever the server was set up with: so answers are in
/// the same order as SQLite's, and the locale of the machine where `initdb` ran is no part of the
/// measurement. Other systems that speak PostgreSQL's protocol have rules of their own.
fn create(reported: &str, version: i32, name: &str, locale: &Locale) -> String {
    if !reported.starts_with("PostgreSQL") {
        return format!("CREATE DATABASE \"{name}\"");
    }
    let quoted = |text: &str| text.replace('\'', "''");
    let provider = if version >= WITH_PROVIDERS { " LOCALE_PROVIDER libc" } else { "" };
    format!(
        "CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE '{}' LC_CTYPE '{}'{provider}",
        quoted(&locale.collate),
        quoted(&locale.ctype)
    )
}

/// Removes a database if it is there. Where a runner that was killed has left a statement running in
/// it, that is ended first: PostgreSQL would wait five seconds for it and then refuse.
pub fn remove(maintenance: &Connection, name: &str) -> Result<()> {
    let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    // Engines that only speak the protocol may not know how; if it is needed, the next statement fails.
    let _ = maintenance.rows(&end);
    let dropped = maintenance.rows(&format!("DROP DATABASE IF EXISTS \"{name}\""));
    dropped.map(drop).with_context(|| format!("cannot remove the database {name}"))
}

fn explain(error: Error, server: &Server) -> Error {
    let name = &server.scratch;
    match error.downcast_ref::<ServerError>() {
        Some(ServerError { code, .. }) if code == INSUFFICIENT_PRIVILEGE => anyhow!(
            "cannot make the database {name}: {error}; dyno works in a database of its own, so let an \
             administrator run: ALTER ROLE \"{}\" CREATEDB",
            server.user
        ),
        _ => error.context(format!("cannot make the database {name}")),
    }
}
