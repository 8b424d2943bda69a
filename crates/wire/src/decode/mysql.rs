//! The protocol of MySQL and MariaDB, as far as a client's requests go: packets of three bytes of length, a number in
//! their sequence, and a body, of which a command's first byte says what it asks.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::frames::{Frames, Then};
use super::{Ask, Obstacle, text};

/// Bytes before a packet's body.
const HEAD: usize = 4;
/// Commands.
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const CLOSE: u8 = 0x19;
const EXECUTE_MANY: u8 = 0xfa;
/// Capabilities of a client.
const COMPRESS: u32 = 1 << 5;
const ENCRYPT: u32 = 1 << 11;
const COMPRESS_ZSTD: u32 = 1 << 26;
/// The number by which MariaDB's clients name the statement prepared last.
const LATEST: u32 = u32::MAX;
/// The first byte of an answer that asks for a file of the client.
const SEND_FILE: u8 = 0xfb;
/// The size of the answer to a preparation.
const PREPARED: usize = 12;
/// The bytes before the text of a statement that has no attributes, where the client may send some.
const NO_ATTRIBUTES: [u8; 2] = [0, 1];

/// A connection.
#[derive(Debug, Default)]
pub struct MySqlDecoder {
    client: Frames,
    server: Heads,
    has_greeted: bool,
    /// The client has sent a statement, and the first packet of the answer is next.
    awaits: bool,
    /// The client sends a file, up to an empty packet.
    sends_file: bool,
    /// Preparations without an answer.
    preparing: VecDeque<Arc<str>>,
    latest: Arc<str>,
    prepared: HashMap<u32, Arc<str>>,
}

impl MySqlDecoder {
    pub fn client(&mut self, bytes: &[u8], asked: &mut Vec<Ask>) -> Result<(), Obstacle> {
        let mut frames = std::mem::take(&mut self.client);
        let heard = frames.add(bytes, length, |packet| self.packet(packet[3], &packet[HEAD..], asked));
        self.client = frames;
        heard
    }

    pub fn server(&mut self, bytes: &[u8]) -> Result<(), Obstacle> {
        let mut heads = std::mem::take(&mut self.server);
        heads.add(bytes, |head| self.answer(head));
        self.server = heads;
        Ok(())
    }

    fn packet(&mut self, sequence: u8, body: &[u8], asked: &mut Vec<Ask>) -> Result<Then, Obstacle> {
        if !self.has_greeted {
            self.has_greeted = true;
            return greeting(body);
        }
        if self.sends_file {
            self.sends_file = !body.is_empty();
        } else if let (0, Some((&command, body))) = (sequence, body.split_first()) {
            // A packet with another number goes on with something: a statement, or the proof of a password.
            self.command(command, body, asked);
        }
        Ok(Then::Continue)
    }

    fn command(&mut self, command: u8, body: &[u8], asked: &mut Vec<Ask>) {
        self.awaits = command == QUERY;
        match command {
            QUERY => {
                asked.push(Ask::Execute(text(body.strip_prefix(&NO_ATTRIBUTES).unwrap_or(body))));
            }
            PREPARE => {
                self.latest = text(body);
                self.preparing.push_back(Arc::clone(&self.latest));
                asked.push(Ask::Prepare(Arc::clone(&self.latest)));
            }
            EXECUTE | EXECUTE_MANY => {
                let statement = match number(body) {
                    Some(LATEST) => Some(&self.latest),
                    Some(id) => self.prepared.get(&id),
                    None => None,
                };
                asked.push(Ask::Execute(statement.cloned().unwrap_or_default()));
            }
            CLOSE => {
                number(body).and_then(|id| self.prepared.remove(&id));
            }
            _ => {}
        }
    }

    /// Reads the first bytes of a packet of the server.
    fn answer(&mut self, head: &Head) {
        let is_first = std::mem::take(&mut self.awaits);
        let kind = head.body.first();
        if is_first && kind == Some(&SEND_FILE) && head.length > 1 {
            self.sends_file = true;
        }
        if head.sequence != 1 || self.preparing.is_empty() {
            return;
        }
        match (kind, number(head.body.get(1..).unwrap_or_default())) {
            (Some(0), Some(id)) if head.length >= PREPARED => {
                let statement = self.preparing.pop_front().unwrap_or_default();
                self.prepared.insert(id, statement);
            }
            (Some(0xff), _) => drop(self.preparing.pop_front()),
            _ => {}
        }
    }
}

/// Reads the capabilities in a client's first packet.
fn greeting(body: &[u8]) -> Result<Then, Obstacle> {
    let capabilities = number(body).ok_or(Obstacle::Foreign)?;
    if capabilities & ENCRYPT != 0 {
        return Err(Obstacle::Encrypted);
    }
    if capabilities & (COMPRESS | COMPRESS_ZSTD) != 0 {
        return Err(Obstacle::Compressed);
    }
    Ok(Then::Continue)
}

/// The size of a packet with its head.
fn length(packet: &[u8]) -> Result<Option<usize>, Obstacle> {
    Ok(packet.first_chunk::<HEAD>().map(|&[low, middle, high, _]| HEAD + size(low, middle, high)))
}

fn size(low: u8, middle: u8, high: u8) -> usize {
    u32::from_le_bytes([low, middle, high, 0]) as usize
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// The beginnings of a server's packets; their bodies may be large, and are not kept.
#[derive(Debug, Default)]
struct Heads {
    head: Vec<u8>,
    /// Bytes of the body that are still to come, beyond those that are kept.
    skipped: usize,
}

/// The beginning of a packet.
struct Head<'a> {
    sequence: u8,
    length: usize,
    /// The first bytes of the body.
    body: &'a [u8],
}

impl Heads {
    fn add(&mut self, mut bytes: &[u8], mut each: impl FnMut(&Head)) {
        loop {
            let skipped = self.skipped.min(bytes.len());
            self.skipped -= skipped;
            bytes = &bytes[skipped..];
            let wanted = match self.head[..] {
                [low, middle, high, _, ..] => HEAD + size(low, middle, high).min(PREPARED),
                _ => HEAD,
            };
            let taken = (wanted - self.head.len()).min(bytes.len());
            self.head.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if self.head.len() < wanted {
                return;
            }
            let [low, middle, high, sequence, ref body @ ..] = self.head[..] else { continue };
            let length = size(low, middle, high);
            if body.len() < length.min(PREPARED) {
                continue;
            }
            each(&Head { sequence, length, body });
            self.skipped = length - body.len();
            self.head.clear();
        }
    }
}
