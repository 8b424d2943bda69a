//! Conversations in pieces of any size, with what is known of each.

use proptest::prelude::*;

use super::*;

/// A message of PostgreSQL.
fn message(letter: u8, body: &[u8]) -> Vec<u8> {
    [&[letter][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

fn start(code: u32, body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 + 8).to_be_bytes()[..], &code.to_be_bytes(), body].concat()
}

/// A packet of MySQL.
fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes()[..3], &[sequence], body].concat()
}

type Talk = Vec<(PeerRole, Vec<u8>)>;

fn said(protocol: WireProtocol, talk: &Talk) -> (Vec<String>, Option<Obstacle>) {
    let mut conversation = Conversation::new(protocol);
    let asked: Vec<Ask> = talk.iter().flat_map(|(origin, bytes)| conversation.hear(*origin, bytes)).collect();
    let text = |ask: &Ask| match ask {
        Ask::Prepare(text) => format!("prepare {text}"),
        Ask::Execute(text) => format!("execute {text}"),
    };
    (asked.iter().map(text).collect(), conversation.obstacle())
}

fn postgres() -> Talk {
    use PeerRole::{Client, Server};
    let batch = [
        message(b'P', b"s1\0SELECT $1\0\0\0"),
        message(b'B', b"\0s1\0\0\0\0\0\0\0"),
        message(b'D', b"P\0"),
        message(b'E', b"\0\0\0\0\x0a"),
        message(b'E', b"\0\0\0\0\x0a"),
        message(b'S', b""),
        message(b'B', b"p\0s1\0\0\0\0\0\0\0"),
        message(b'E', b"p\0\0\0\0\0"),
        message(b'C', b"Ss1\0"),
        message(b'S', b""),
    ];
    vec![
        (Client, start(80_877_103, b"")),
        (Server, b"N".to_vec()),
        (Client, start(3 << 16, b"user\0u\0\0")),
        (Server, message(b'R', &[0; 4])),
        (Client, message(b'Q', b"BEGIN\0")),
        (Server, message(b'Z', b"T")),
        (Client, batch.concat()),
        (Server, message(b'Z', b"T")),
        (Client, message(b'd', b"Q\0\0\0\x0aSELECT\0")),
        (Client, message(b'Q', b"COMMIT\0")),
    ]
}

fn mysql() -> Talk {
    use PeerRole::{Client, Server};
    let prepared = |id: u32| [&[0][..], &id.to_le_bytes(), &[0; 7]].concat();
    // Servers that may leave out the descriptions of columns say whether they do.
    let longer = [&prepared(8)[..], &[1]].concat();
    let execute = |id: u32| packet(0, &[&[0x17][..], &id.to_le_bytes(), &[0; 5]].concat());
    vec![
        (Server, packet(0, &[10; 80])),
        (Client, packet(1, &[0; 40])),
        (Server, packet(2, &[0; 7])),
        (Client, packet(0, b"\x03SET a")),
        (Server, packet(1, &[0; 7])),
        (Client, packet(0, b"\x16SELECT ?")),
        (Server, [packet(1, &prepared(7)), packet(2, &[3; 50])].concat()),
        (Client, [execute(7), packet(0, b"\x19\x07\0\0\0"), packet(0, b"\x16DELETE")].concat()),
        (Server, [packet(1, &[1; 1]), packet(1, &longer)].concat()),
        (Client, execute(u32::MAX)),
        (Server, packet(1, &[0; 7])),
        (Client, packet(0, b"\x16BAD")),
        (Server, packet(1, b"\xff\x01\x02no")),
        (Client, packet(0, b"\x03\0\x01LOAD")),
        (Server, packet(1, b"\xfbfile")),
        (Client, [packet(2, b"x"), packet(0, b"\x03not SQL"), packet(1, b"")].concat()),
        (Server, packet(2, &[0; 7])),
        (Client, [execute(8), packet(0, b"\x0e")].concat()),
    ]
}

const POSTGRES: [&str; 5] =
    ["execute BEGIN", "prepare SELECT $1", "execute SELECT $1", "execute SELECT $1", "execute COMMIT"];
const MYSQL: [&str; 8] = [
    "execute SET a",
    "prepare SELECT ?",
    "execute SELECT ?",
    "prepare DELETE",
    "execute DELETE",
    "prepare BAD",
    "execute LOAD",
    "execute DELETE",
];

#[test]
fn requests_are_read_in_both_protocols() {
    assert_eq!(said(WireProtocol::Postgres, &postgres()), (POSTGRES.map(String::from).to_vec(), None));
    assert_eq!(said(WireProtocol::MySql, &mysql()), (MYSQL.map(String::from).to_vec(), None));
}

#[test]
fn obstacles_are_named() {
    let found = |protocol, talk: &[(PeerRole, Vec<u8>)]| said(protocol, &talk.to_vec()).1;
    let encrypted = [(PeerRole::Client, start(80_877_103, b"")), (PeerRole::Server, b"S".to_vec())];
    assert_eq!(found(WireProtocol::Postgres, &encrypted), Some(Obstacle::Encrypted));
    let tls = [(PeerRole::Client, b"\x16\x03\x01\x02\x00\x01".to_vec())];
    assert_eq!(found(WireProtocol::Postgres, &tls), Some(Obstacle::Encrypted));
    let other = [(PeerRole::Client, b"GET / HTTP/1.1\r\n".to_vec())];
    assert_eq!(found(WireProtocol::Postgres, &other), Some(Obstacle::Foreign));
    let asks = |capabilities: u32| {
        [(PeerRole::Client, packet(1, &[&capabilities.to_le_bytes()[..], &[0; 28]].concat()))]
    };
    assert_eq!(found(WireProtocol::MySql, &asks(1 << 11)), Some(Obstacle::Encrypted));
    assert_eq!(found(WireProtocol::MySql, &asks(1 << 5)), Some(Obstacle::Compressed));
    assert_eq!(found(WireProtocol::MySql, &asks(1 << 9)), None);
}

/// The same bytes in other pieces.
fn in_pieces(talk: &Talk, sizes: &[usize]) -> Talk {
    let mut sizes = sizes.iter().cycle();
    let mut pieces = Vec::new();
    for (origin, bytes) in talk {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            pieces.push((*origin, piece.to_vec()));
            rest = behind;
        }
    }
    pieces
}

proptest! {
    #[test]
    fn pieces_make_no_difference(sizes in prop::collection::vec(1_usize..30, 1..20)) {
        prop_assert_eq!(said(WireProtocol::Postgres, &in_pieces(&postgres(), &sizes)).0, POSTGRES);
        prop_assert_eq!(said(WireProtocol::MySql, &in_pieces(&mysql(), &sizes)).0, MYSQL);
    }

    #[test]
    fn foreign_bytes_are_read_alike_in_pieces(
        talk in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..60)), 0..20),
        sizes in prop::collection::vec(1_usize..9, 1..9),
    ) {
        let origin = |is_client| if is_client { PeerRole::Client } else { PeerRole::Server };
        let talk: Talk = talk.into_iter().map(|(is_client, bytes)| (origin(is_client), bytes)).collect();
        for protocol in [WireProtocol::Postgres, WireProtocol::MySql] {
            prop_assert_eq!(said(protocol, &talk), said(protocol, &in_pieces(&talk, &sizes)));
        }
    }
}
