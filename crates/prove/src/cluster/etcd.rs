//! Requests to a node of etcd by its [gateway](https://etcd.io/docs/latest/dev-guide/api_grpc_gateway/): JSON over HTTP, on the
//! node's socket.

use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dyno_protocol::{Server, Value};
use serde_json::{Value as Json, json};

use super::http::HttpLink;
use super::store::StoreLink;
use crate::subject::{Contents, data};

/// The beginning of the keys of commits, and the first key after all of them.
const COMMITS: &str = "commit/";
const BEHIND: &str = "commit0";
/// The number of pairs that are read by one request.
const PAGE: usize = 1000;

/// A connection to a node.
pub struct EtcdLink {
    link: HttpLink,
    /// True if the node answers reads with what it holds itself.
    reads_locally: bool,
}

impl EtcdLink {
    /// Connects to a node by its socket.
    ///
    /// # Errors
    /// It accepts no connection.
    pub fn open(server: &Server, reads_locally: bool) -> Result<EtcdLink> {
        Ok(EtcdLink { link: HttpLink::open(server)?, reads_locally })
    }
}

impl StoreLink for EtcdLink {
    fn prepare(&self, _: Duration) -> Result<()> {
        Ok(())
    }

    fn commit(&self, number: u64, limit: Duration) -> Result<()> {
        let put = |part| {
            json!({"requestPut": {
                "key": coded(&key(number, part)), "value": coded(&data::value(number, part)),
            }})
        };
        let puts: Vec<Json> = (0..data::PARTS).map(put).collect();
        self.link.post("/v3/kv/txn", &json!({ "success": puts }), limit).map(drop)
    }

    fn remove(&self, number: u64, limit: Duration) -> Result<()> {
        let (first, behind) = (key(number, 0), key(number, data::PARTS));
        let range = json!({"key": coded(&first), "range_end": coded(&behind)});
        self.link.post("/v3/kv/deleterange", &range, limit).map(drop)
    }

    fn contents(&self, limit: Duration) -> Result<Contents> {
        let mut rows = Vec::new();
        let mut from = COMMITS.to_owned();
        loop {
            let range = json!({
                "key": coded(&from), "range_end": coded(BEHIND), "limit": PAGE, "serializable": true,
            });
            let answer = self.link.post("/v3/kv/range", &range, limit)?;
            let pairs = answer["kvs"].as_array().map_or(&[][..], Vec::as_slice);
            for pair in pairs {
                from = decoded(&pair["key"])?;
                rows.push(row(&from, decoded(&pair["value"])?));
            }
            if pairs.len() < PAGE {
                return Ok(data::read_rows(&rows, data::PARTS));
            }
            // The next key after the last.
            from.push('\0');
        }
    }

    fn put(&self, key: &str, value: &str, limit: Duration) -> Result<()> {
        let pair = json!({"key": coded(key), "value": coded(value)});
        self.link.post("/v3/kv/put", &pair, limit).map(drop)
    }

    fn get(&self, key: &str, limit: Duration) -> Result<Option<String>> {
        let asked = json!({"key": coded(key), "serializable": self.reads_locally});
        let answer = self.link.post("/v3/kv/range", &asked, limit)?;
        let pair = answer["kvs"].as_array().and_then(|pairs| pairs.first());
        pair.map(|pair| decoded(&pair["value"])).transpose()
    }

    fn status(&self, limit: Duration) -> Result<[String; 2]> {
        let answer = self.link.post("/v3/maintenance/status", &json!({}), limit)?;
        let member = answer["header"]["member_id"].as_str().context("etcd does not report its number")?;
        // The gateway leaves numbers out that are 0, as this one is while no node leads.
        let leader = answer["leader"].as_str().unwrap_or_default();
        Ok([member.to_owned(), leader.to_owned()])
    }

    fn hand_over(&self, to: &str, limit: Duration) -> Result<()> {
        self.link.post("/v3/maintenance/transfer-leadership", &json!({ "targetID": to }), limit).map(drop)
    }
}

/// The key of a part of a commit: keys are in the order of the numbers.
fn key(number: u64, part: u64) -> String {
    format!("{COMMITS}{number:012}/{part}")
}

/// A pair as a row of the table that other clusters have.
fn row(key: &str, value: String) -> Vec<Value> {
    let numbers = key.trim_start_matches(COMMITS).split_once('/');
    let number = |text: &str| text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Integer);
    match numbers {
        Some((commit, part)) => vec![number(commit), number(part), Value::Text(value)],
        None => vec![Value::Text(key.to_owned()), Value::Text(value)],
    }
}

fn coded(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

fn decoded(value: &Json) -> Result<String> {
    let text = value.as_str().context("a pair of etcd's answer is incomplete")?;
    Ok(String::from_utf8(BASE64_STANDARD.decode(text)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_as_the_commits_that_they_are_of() {
        let pair = |number, part| row(&key(number, part), data::value(number, part));
        let rows = [pair(7, 0), pair(7, 1), pair(100_008, 0), pair(100_008, 1), pair(100_009, 0)];
        let found = data::read_rows(&rows, data::PARTS);
        assert_eq!(found.commits, [7, 100_008].into());
        assert_eq!(found.troubles.len(), 1, "{:?}", found.troubles);
        assert!(key(9, 0) < key(10, 0) && key(10, 1) < key(11, 0));
        assert!(key(999_999, 1).as_str() < BEHIND && COMMITS < key(0, 0).as_str());
    }
}
