//! Requests over HTTP/1.1 to a server on this machine, and their answers.

use anyhow::{Context, Result, ensure};
use httparse::{EMPTY_HEADER, Header, Response, Status, parse_chunk_size};

/// The most fields that the head of an answer has.
const FIELDS: usize = 32;
/// The end of a part of a body.
const LINE: &[u8] = b"\r\n";

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

/// A request that sends JSON.
pub fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    (head + body).into_bytes()
}

/// The answer that bytes hold; `None` as long as some are missing.
///
/// # Errors
/// The bytes are no answer.
pub fn answer(bytes: &[u8]) -> Result<Option<HttpAnswer>> {
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
