//! The counts of recordings that are known.

use super::*;
use crate::inspect::Inspector;

fn query(text: &str) -> Vec<u8> {
    [&b"Q"[..], &(text.len() as u32 + 5).to_be_bytes(), text.as_bytes(), b"\0"].concat()
}

/// Reads at moments of a connection that has started.
fn reads(of: &[(u64, PeerRole, Vec<u8>)]) -> Vec<RecordedRead> {
    let start = b"\0\0\0\x09\0\x03\0\0\0".to_vec();
    let began = [(0, PeerRole::Client, start)];
    let read = |(at_ns, origin, bytes): &(u64, PeerRole, Vec<u8>)| RecordedRead {
        at_ns: *at_ns,
        origin: *origin,
        bytes: bytes.clone(),
    };
    began.iter().chain(of).map(read).collect()
}

fn counted(of: &[(u64, PeerRole, Vec<u8>)], windows: &[RangeInclusive<u64>]) -> Vec<Traffic> {
    let mut counting: Vec<Counting> = windows.iter().map(|_| Counting::default()).collect();
    count_connection(&reads(of), WireProtocol::Postgres, windows, &mut counting);
    counting.into_iter().map(|counting| counting.traffic).collect()
}

#[test]
fn a_round_trip_is_a_wait_and_answers_belong_to_their_requests() {
    use PeerRole::{Client, Server};
    let of = [
        (5, Client, query("SET x")),
        (6, Server, vec![0; 10]),
        // Two requests for which the client waits once, with the answer in two pieces.
        (10, Client, query("SELECT 1")),
        (11, Client, query("SELECT 22")),
        (12, Server, vec![0; 3]),
        (13, Server, vec![0; 4]),
        (20, Client, query("UPDATE t SET a = 'it''s', b = -5")),
        // It comes when the window is over.
        (31, Server, vec![0; 5]),
        (40, Client, query("UPDATE t SET a = 'x', b = 17")),
        (41, Server, vec![0; 6]),
    ];
    let counted = counted(&of, &[10..=30, 40..=50]);
    let figures = |traffic: &Traffic| (traffic.round_trips, traffic.sends, traffic.received_bytes);
    assert_eq!((figures(&counted[0]), figures(&counted[1])), ((2, 3, 12), (1, 1, 6)));
    let sent: usize = of[2..7].iter().filter(|read| read.1 == Client).map(|read| read.2.len()).sum();
    assert_eq!(counted[0].sent_bytes, sent as u64);
    let texts = |traffic: &Traffic| -> Vec<(String, u64)> {
        traffic.statements.iter().map(|sent| (sent.text.to_string(), sent.count)).collect()
    };
    let update = ("UPDATE t SET a = 'it''s', b = -5".to_owned(), 1);
    assert_eq!(texts(&counted[0]), [("SELECT 1".to_owned(), 2), update]);
    let beyond = counted[0].beyond(&counted[1]);
    assert_eq!((figures(&beyond), texts(&beyond)), ((1, 2, 6), vec![("SELECT 1".to_owned(), 2)]));
    assert_eq!((counted[0].executed(), counted[0].prepares, counted[0].obstacle), (3, 0, None));
}

#[test]
fn an_encrypted_connection_is_not_read() {
    let recording = Recording::default();
    recording.inspect(0, PeerRole::Client, b"\0\0\0\x08\x04\xd2\x16\x2f");
    recording.inspect(0, PeerRole::Server, b"S");
    recording.inspect(0, PeerRole::Client, b"secret");
    let traffic = count(&recording, WireProtocol::Postgres, &[0..=u64::MAX]).unwrap().remove(0);
    assert_eq!((traffic.obstacle, traffic.executed()), (Some(Obstacle::Encrypted), 0));
    assert_eq!((traffic.sends, traffic.sent_bytes, traffic.received_bytes), (2, 14, 1));
}
