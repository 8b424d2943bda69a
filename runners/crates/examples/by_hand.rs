//! The shortest honest loops for the work of bench/crates.py, written with each library as its manual says. It prints two
//! numbers: nanoseconds by the clock, and of the processor.
//!
//!     by_hand CONTENDER rows|mix FOLDER [USER HOST PORT DATABASE]

use std::env::args;
use std::fs::read;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use mysql_async::prelude::Queryable;
use nix::sys::resource::{UsageWho, getrusage};
use sqlx::{ConnectOptions, Connection, Row};
use tokio::runtime::Builder;

/// The length of a step, and where its number is.
const STEP: usize = 24;
const NUMBER: usize = 16;

/// The cells of each row.
fn rows(folder: &Path) -> Result<Vec<[String; 3]>> {
    let text = String::from_utf8(read(folder.join("rows"))?)?;
    let cell = |row: usize, column: usize| text[row * 24 + column * 8..][..8].to_owned();
    Ok((0..text.len() / 24).map(|row| [0, 1, 2].map(|column| cell(row, column))).collect())
}

/// The number of each step.
fn numbers(folder: &Path) -> Result<Vec<i64>> {
    let bytes = read(folder.join("steps"))?;
    let number = |step: &[u8]| Ok(i64::from_le_bytes(step[NUMBER..STEP].try_into()?));
    bytes.chunks_exact(STEP).map(number).collect()
}

/// Nanoseconds of the processor.
fn spent() -> Result<i64> {
    let used = getrusage(UsageWho::RUSAGE_SELF)?;
    let nanoseconds = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1000;
    Ok(nanoseconds(used.user_time()) + nanoseconds(used.system_time()))
}

/// The work in both loops of sqlx, whose calls differ by the types of a database alone.
macro_rules! with_sqlx {
    ($connection:expr, $kind:expr, $folder:expr, $find:literal, $insert:literal, $number:ty) => {{
        let mut connection = $connection;
        let (rows, numbers) = (rows($folder)?, numbers($folder)?);
        let (before, began) = (spent()?, Instant::now());
        if $kind == "rows" {
            sqlx::raw_sql("BEGIN").execute(&mut connection).await?;
            for [a, b, c] in &rows {
                sqlx::query($insert).bind(a).bind(b).bind(c).execute(&mut connection).await?;
            }
            sqlx::raw_sql("COMMIT").execute(&mut connection).await?;
        } else {
            let (mut found, mut times) = (0, Vec::new());
            let mut free = Instant::now();
            for number in numbers {
                let mut answer = sqlx::query($find).bind(number as $number).fetch(&mut connection);
                while let Some(row) = answer.next().await {
                    let row = row?;
                    found += row.try_get::<$number, _>(0)? as usize + row.try_get::<&str, _>(1)?.len();
                }
                drop(answer);
                let ended = Instant::now();
                times.push((free, ended));
                free = ended;
            }
            std::hint::black_box((found, times));
        }
        println!("[{}, {}]", began.elapsed().as_nanos(), spent()? - before);
        connection.close().await?;
    }};
}

async fn with_mysql_async(mut connection: mysql_async::Conn, kind: &str, folder: &Path) -> Result<()> {
    let (rows, numbers) = (rows(folder)?, numbers(folder)?);
    let insert = connection.prep("INSERT INTO r (a1, b2, c3) VALUES (?, ?, ?)").await?;
    let find = connection.prep("SELECT n, s FROM t WHERE id = ?").await?;
    let (before, began) = (spent()?, Instant::now());
    if kind == "rows" {
        connection.query_drop("BEGIN").await?;
        for [a, b, c] in &rows {
            connection.exec_drop(&insert, (a, b, c)).await?;
        }
        connection.query_drop("COMMIT").await?;
    } else {
        let (mut found, mut times) = (0, Vec::new());
        let mut free = Instant::now();
        for number in numbers {
            let mut answer = connection.exec_iter(&find, (number,)).await?;
            answer
                .for_each(|row| {
                    let (number, text): (i64, String) = mysql_async::from_row(row);
                    found += number as usize + text.len();
                })
                .await?;
            drop(answer);
            let ended = Instant::now();
            times.push((free, ended));
            free = ended;
        }
        std::hint::black_box((found, times));
    }
    println!("[{}, {}]", began.elapsed().as_nanos(), spent()? - before);
    Ok(connection.disconnect().await?)
}

async fn work(all: &[String]) -> Result<()> {
    let [contender, kind, folder, server @ ..] = all else { bail!("three arguments are missing") };
    let folder = Path::new(folder);
    if contender == "sqlite/sqlx" {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("dyno.db"));
        let connection = options.foreign_keys(false).connect().await?;
        with_sqlx!(
            connection,
            kind,
            folder,
            "SELECT n, s FROM t WHERE id = ?1",
            "INSERT INTO r (a1, b2, c3) VALUES (?1, ?2, ?3)",
            i64
        );
        return Ok(());
    }
    let [user, host, port, database] = server else { bail!("the server is missing") };
    let port = port.parse().context("the port")?;
    match contender.as_str() {
        "postgres/sqlx" => {
            let options = sqlx::postgres::PgConnectOptions::new().host(host).port(port).username(user);
            let options = options.database(database).ssl_mode(sqlx::postgres::PgSslMode::Disable);
            with_sqlx!(
                options.connect().await?,
                kind,
                folder,
                "SELECT n, s FROM t WHERE id = $1",
                "INSERT INTO r (a1, b2, c3) VALUES ($1, $2, $3)",
                i32
            );
        }
        "mariadb/sqlx" => {
            let options = sqlx::mysql::MySqlConnectOptions::new().host(host).port(port).username(user);
            let options = options.database(database).ssl_mode(sqlx::mysql::MySqlSslMode::Disabled);
            with_sqlx!(
                options.connect().await?,
                kind,
                folder,
                "SELECT n, s FROM t WHERE id = ?",
                "INSERT INTO r (a1, b2, c3) VALUES (?, ?, ?)",
                i64
            );
        }
        _ => {
            let options = mysql_async::OptsBuilder::default().ip_or_hostname(host).tcp_port(port);
            let options = options.user(Some(user)).db_name(Some(database)).prefer_socket(false);
            with_mysql_async(mysql_async::Conn::new(options).await?, kind, folder).await?;
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let all: Vec<String> = args().skip(1).collect();
    Builder::new_current_thread().enable_all().build()?.block_on(work(&all))
}
