//! Requests to a node of rqlite by its [HTTP API](https://rqlite.io/docs/api/api/).

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{Server, Value};
use serde_json::{Value as Json, json};

use super::http::HttpLink;
use super::store::StoreLink;
use crate::subject::{Contents, data};

/// The table of pairs.
const PAIRS: &str = "pair";
/// The time between looks whether a node has done what the leader has.
const LOOK: Duration = Duration::from_millis(5);

/// A connection to a node.
pub struct RqliteLink {
    link: HttpLink,
    /// The consistency level of reads.
    reads: String,
    /// True if writes are acknowledged when they are in the node's queue.
    is_queued: bool,
}

impl RqliteLink {
    /// Connects to a node.
    ///
    /// # Errors
    /// It accepts no connection.
    pub fn open(server: &Server, reads: &str, is_queued: bool) -> Result<RqliteLink> {
        Ok(RqliteLink { link: HttpLink::open(server)?, reads: reads.to_owned(), is_queued })
    }

    /// Does statements as the contender does.
    fn write(&self, statements: &Json, limit: Duration) -> Result<()> {
        let path = if self.is_queued { "/db/execute?queue" } else { "/db/execute?transaction" };
        done(&self.link.post(path, statements, limit)?)
    }

    /// Does statements, which are there when this returns.
    fn execute(&self, statements: &Json, limit: Duration) -> Result<()> {
        done(&self.link.post("/db/execute?transaction", statements, limit)?)
    }

    /// The rows of a query at a consistency level.
    fn rows(&self, query: &Json, reads: &str, limit: Duration) -> Result<Vec<Vec<Json>>> {
        let path = format!("/db/query?level={reads}");
        let mut answer = self.link.post(&path, &json!([query]), limit)?;
        done(&answer)?;
        // Where there is no row, there are no values.
        let values = answer.pointer_mut("/results/0/values").map(Json::take);
        values.map_or(Ok(Vec::new()), serde_json::from_value).context("rqlite's answer has no rows")
    }
}

impl StoreLink for RqliteLink {
    fn prepare(&self, limit: Duration) -> Result<()> {
        let commits =
            format!("CREATE TABLE {}(n INTEGER, part INTEGER, v TEXT, PRIMARY KEY(n, part))", data::NAME);
        self.execute(&json!([commits, format!("CREATE TABLE {PAIRS}(k TEXT PRIMARY KEY, v TEXT)")]), limit)
    }

    fn commit(&self, number: u64, limit: Duration) -> Result<()> {
        let insert = format!("INSERT INTO {} VALUES(?, ?, ?)", data::NAME);
        let part = |part| json!([insert, number, part, data::value(number, part)]);
        self.write(&(0..data::PARTS).map(part).collect(), limit)
    }

    fn remove(&self, number: u64, limit: Duration) -> Result<()> {
        self.execute(&json!([[format!("DELETE FROM {} WHERE n = ?", data::NAME), number]]), limit)?;
        // The leader has done it, and this node does it a little later.
        let left = json!([format!("SELECT 1 FROM {} WHERE n = ?", data::NAME), number]);
        let deadline = Instant::now() + limit;
        while !self.rows(&left, "none", limit)?.is_empty() {
            ensure!(Instant::now() < deadline, "commit {number} does not go away");
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// What is still in the node's queue is waited for: it is late, and not lost.
    fn contents(&self, limit: Duration) -> Result<Contents> {
        if self.is_queued {
            let path = format!("/db/execute?queue&wait&timeout={}s", limit.as_secs());
            self.link.post(&path, &json!([]), limit)?;
        }
        let query = json!([format!("SELECT n, part, v FROM {} ORDER BY n, part", data::NAME)]);
        let rows: Vec<_> = self.rows(&query, "none", limit)?.into_iter().map(row).collect();
        Ok(data::read_rows(&rows, data::PARTS))
    }

    fn put(&self, key: &str, value: &str, limit: Duration) -> Result<()> {
        let put = format!("INSERT INTO {PAIRS} VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v");
        self.write(&json!([[put, key, value]]), limit)
    }

    fn get(&self, key: &str, limit: Duration) -> Result<Option<String>> {
        let query = json!([format!("SELECT v FROM {PAIRS} WHERE k = ?"), key]);
        let rows = self.rows(&query, &self.reads, limit)?;
        let value = rows.first().and_then(|row| row.first());
        value.map(|value| text(value).context("a value of rqlite is no text")).transpose()
    }

    fn status(&self, limit: Duration) -> Result<[String; 2]> {
        let store = self.link.get("/status?key=store", limit)?;
        let node = text(&store["node_id"]).context("rqlite does not say which node it is")?;
        Ok([node, text(&store["leader"]["node_id"]).unwrap_or_default()])
    }

    fn hand_over(&self, to: &str, limit: Duration) -> Result<()> {
        self.link.post("/leader?wait", &json!({ "id": to }), limit).map(drop)
    }
}

/// # Errors
/// A statement was refused.
fn done(answer: &Json) -> Result<()> {
    let results = answer["results"].as_array().map_or(&[][..], Vec::as_slice);
    match results.iter().chain([answer]).find_map(|one| one["error"].as_str()) {
        Some(error) => bail!("rqlite says: {error}"),
        None => Ok(()),
    }
}

fn text(value: &Json) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A row of an answer as a row of the table that other clusters have.
fn row(cells: Vec<Json>) -> Vec<Value> {
    let value = |cell: Json| match cell.as_i64() {
        Some(number) => Value::Integer(number),
        None => Value::Text(text(&cell).unwrap_or_else(|| cell.to_string())),
    };
    cells.into_iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_was_refused_is_no_commit() {
        done(&json!({"results": [{"rows_affected": 1}, {}], "sequence_number": 7})).unwrap();
        let said = |answer: Json| done(&answer).unwrap_err().to_string();
        assert_eq!(said(json!({"results": [{}, {"error": "no such table"}]})), "rqlite says: no such table");
        assert_eq!(
            said(json!({"results": [], "error": "leader not found"})),
            "rqlite says: leader not found"
        );
    }

    #[test]
    fn rows_are_read_as_the_commits_that_they_are_of() {
        let of = |number, part| row(vec![json!(number), json!(part), json!(data::value(number, part))]);
        let found = data::read_rows(&[of(7, 0), of(7, 1), of(100_009, 0)], data::PARTS);
        assert_eq!(found.commits, [7].into());
        assert_eq!(found.troubles.len(), 1, "{:?}", found.troubles);
    }
}
