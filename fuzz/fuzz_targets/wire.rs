//! Bytes between a client and its server: read in pieces of any size, they ask the same as in one piece. The first byte
//! chooses the protocol and the pieces; each further part begins with a byte that says who sent it and how long it is.
#![no_main]

use dyno_wire::{Ask, Conversation, Obstacle, PeerRole, WireProtocol};
use libfuzzer_sys::fuzz_target;

/// The requests in bytes that are heard in pieces of at most a size.
fn asked(protocol: WireProtocol, mut talk: &[u8], size: usize) -> (Vec<Ask>, Option<Obstacle>) {
    let mut conversation = Conversation::new(protocol);
    let mut asked = Vec::new();
    while let Some((&head, rest)) = talk.split_first() {
        let origin = if head & 1 == 0 { PeerRole::Client } else { PeerRole::Server };
        let (part, behind) = rest.split_at(rest.len().min(usize::from(head >> 1)));
        part.chunks(size).for_each(|piece| asked.extend(conversation.hear(origin, piece)));
        talk = behind;
    }
    (asked, conversation.obstacle())
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, talk)) = bytes.split_first() else { return };
    let protocol = if first & 1 == 0 { WireProtocol::Postgres } else { WireProtocol::MySql };
    let whole = asked(protocol, talk, usize::MAX);
    assert_eq!(asked(protocol, talk, usize::from(first >> 1) % 7 + 1), whole);
});
