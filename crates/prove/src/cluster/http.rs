//! Requests over HTTP/1.1 to a server on this machine, and their answers.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::Server;
use httparse::{EMPTY_HEADER, Header, Response, Status, parse_chunk_size};
use nix::poll::PollFlags;
use serde_json::Value as Json;

use super::{patience, probe};

/// The most fields that the head of an answer has.
const FIELDS: usize = 32;
/// The end of a part of a body.
const LINE: &[u8] = b"\r\n";
/// The number of bytes that are read at once.
const PART: usize = 1 << 16;

/// A connection to a node that is asked in JSON.
pub struct HttpLink(UnixStream);

impl HttpLink {
    /// Connects to a node.
    ///
    /// # Errors
    /// It accepts no connection.
    pub fn open(server: &Server) -> Result<HttpLink> {
        let stream = probe::reach(server);
        Ok(HttpLink(stream.with_context(|| format!("cannot connect to {}", server.host))?))
    }

    /// The answer to a request that sends JSON.
    ///
    /// # Errors
    /// The node does not answer within the limit, or refuses.
    pub fn post(&self, path: &str, body: &Json, limit: Duration) -> Result<Json> {
        let body = body.to_string();
        let fields = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        self.request("POST", path, &(fields + "\r\n" + &body), limit)
    }

    /// The answer to a request without a body.
    ///
    /// # Errors
    /// As for [`HttpLink::post`].
    pub fn get(&self, path: &str, limit: Duration) -> Result<Json> {
        self.request("GET", path, "\r\n", limit)
    }

    fn request(&self, method: &str, path: &str, rest: &str, limit: Duration) -> Result<Json> {
        patience::limit(limit);
        let whole = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{rest}");
        (&self.0).write_all(whole.as_bytes()).context("cannot send a request")?;
        let mut bytes = Vec::new();
        let mut part = vec![0; PART];
        let answer = loop {
            if let Some(answer) = answer(&bytes)? {
                break answer;
            }
            ensure!(patience::is_ready(self.0.as_fd(), PollFlags::POLLIN), "the node did not answer in time");
            let count = (&self.0).read(&mut part)?;
            ensure!(count > 0, "the node closed the connection");
            bytes.extend_from_slice(&part[..count]);
        };
        match (answer.status, &answer.body[..]) {
            (200, []) => Ok(Json::Null),
            (200, body) => serde_json::from_slice(body).context("the node's answer is no JSON"),
            (status, body) => {
                bail!("the node answers with {status}: {}", String::from_utf8_lossy(body).trim())
            }
        }
    }
}

/// An answer.
#[derive(Debug, PartialEq, Eq)]
struct HttpAnswer {
    /// Its status.
    status: u16,
    /// Its body.
    body: Vec<u8>,
}

/// The answer that bytes hold; `None` as long as some are missing.
///
/// # Errors
/// The bytes are no answer.
fn answer(bytes: &[u8]) -> Result<Option<HttpAnswer>> {
    let mut fields = [EMPTY_HEADER; FIELDS];
    let mut head = Response::new(&mut fields);
    let Status::Complete(end) = head.parse(bytes).context("the server does not speak HTTP")? else {
        return Ok(None);
    };
    let status = head.code.context("the server's answer has no status")?;
    let rest = &bytes[end..];
    let body = match field(head.headers, "transfer-encoding") {
        Some(b"chunked") => chunks(rest)?,
        _ => {
            let length = field(head.headers, "content-length").map(str::from_utf8).transpose()?;
            let length: usize = length.map_or(Ok(0), str::parse).context("an answer has no length")?;
            rest.get(..length).map(<[u8]>::to_vec)
        }
    };
    Ok(body.map(|body| HttpAnswer { status, body }))
}

fn field<'a>(fields: &[Header<'a>], name: &str) -> Option<&'a [u8]> {
    fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}

/// A body of parts, each after its length; `None` as long as some are missing.
fn chunks(mut rest: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let size = parse_chunk_size(rest).ok().context("a part of an HTTP answer has no length")?;
        let Status::Complete((begins, size)) = size else { return Ok(None) };
        let part = &rest[begins..];
        let Some(end) = part.get(size as usize..).filter(|end| end.len() >= LINE.len()) else {
            return Ok(None);
        };
        ensure!(end.starts_with(LINE), "a part of an HTTP answer is longer than it says");
        if size == 0 {
            return Ok(Some(body));
        }
        body.extend_from_slice(&part[..size as usize]);
        rest = &end[LINE.len()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_when_they_are_complete() {
        let plain = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbody";
        let parts =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n";
        for (bytes, status, body) in [(&plain[..], 503, "body"), (parts, 200, "abc0123456789")] {
            for end in 0..bytes.len() {
                assert_eq!(answer(&bytes[..end]).unwrap(), None, "{end}");
            }
            let body = body.as_bytes().to_vec();
            assert_eq!(answer(bytes).unwrap(), Some(HttpAnswer { status, body }));
        }
        assert!(answer(b"nonsense\r\n\r\n").is_err());
        assert!(answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n").is_err());
    }
}
