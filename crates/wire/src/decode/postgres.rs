//! PostgreSQL's protocol 3, as far as a client's requests go: a start-up message, and then messages of a letter, a
//! length and a body (the manual's chapter "Frontend/Backend Protocol").

use std::collections::HashMap;
use std::sync::Arc;

use super::frames::{Frames, Then};
use super::{Ask, Obstacle, text};

/// The codes that stand in place of a version in a first message.
const CANCEL: u32 = 80_877_102;
const ENCRYPT: [u32; 2] = [80_877_103, 80_877_104];
/// The major version of the protocol.
const VERSION: u32 = 3;
/// The first byte of TLS, where a client begins with it unasked.
const TLS: u8 = 22;
/// The longest message; PostgreSQL refuses longer ones.
const LONGEST: usize = 1 << 30;

/// A connection.
#[derive(Debug, Default)]
pub struct PostgresDecoder {
    frames: Frames,
    phase: Phase,
    prepared: HashMap<Vec<u8>, Arc<str>>,
    portals: HashMap<Vec<u8>, Portal>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A message without a letter is next.
    #[default]
    Start,
    /// The client has asked for encryption, and waits for one byte.
    Asked,
    /// Messages with letters follow.
    Messages,
    /// Nothing follows that would be read.
    Over,
}

/// A statement bound to its values.
#[derive(Debug)]
struct Portal {
    statement: Arc<str>,
    /// Executed again, it goes on where it stopped.
    has_begun: bool,
}

impl PostgresDecoder {
    pub fn client(&mut self, bytes: &[u8], asked: &mut Vec<Ask>) -> Result<(), Obstacle> {
        let mut frames = std::mem::take(&mut self.frames);
        let mut added = bytes.to_vec();
        loop {
            let phase = self.phase;
            let heard = match phase {
                Phase::Start => frames.add(&added, start_length, |message| self.start(message)),
                Phase::Messages => frames.add(&added, length, |message| {
                    self.message(message, asked);
                    Ok(Then::Continue)
                }),
                // Bytes that come before the answer are read after it.
                Phase::Asked => frames.add(&added, |_| Ok(None), |_| Ok(Then::Stop)),
                Phase::Over => {
                    frames.rest();
                    Ok(())
                }
            };
            heard?;
            if self.phase == phase {
                self.frames = frames;
                return Ok(());
            }
            added = frames.rest();
        }
    }

    pub fn server(&mut self, bytes: &[u8], asked: &mut Vec<Ask>) -> Result<(), Obstacle> {
        match (self.phase, bytes.first()) {
            (Phase::Asked, Some(b'S' | b'G')) => Err(Obstacle::Encrypted),
            (Phase::Asked, Some(_)) => {
                self.phase = Phase::Start;
                self.client(&[], asked)
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, message: &[u8]) -> Result<Then, Obstacle> {
        let code = number(&message[4..]).ok_or(Obstacle::Foreign)?;
        self.phase = match code {
            CANCEL => Phase::Over,
            code if ENCRYPT.contains(&code) => Phase::Asked,
            code if code >> 16 == VERSION => Phase::Messages,
            _ => return Err(Obstacle::Foreign),
        };
        Ok(Then::Stop)
    }

    fn message(&mut self, message: &[u8], asked: &mut Vec<Ask>) {
        let (letter, mut body) = (message[0], &message[5..]);
        match letter {
            b'Q' => asked.push(Ask::Execute(text(body))),
            b'P' => {
                let (name, statement) = (word(&mut body), text(word(&mut body)));
                asked.push(Ask::Prepare(Arc::clone(&statement)));
                self.prepared.insert(name.to_vec(), statement);
            }
            b'B' => {
                let (portal, name) = (word(&mut body), word(&mut body));
                let statement = self.prepared.get(name).cloned().unwrap_or_default();
                self.portals.insert(portal.to_vec(), Portal { statement, has_begun: false });
            }
            b'E' => {
                if let Some(portal) = self.portals.get_mut(word(&mut body))
                    && !portal.has_begun
                {
                    portal.has_begun = true;
                    asked.push(Ask::Execute(Arc::clone(&portal.statement)));
                }
            }
            b'C' => {
                match body.split_first() {
                    Some((b'S', mut name)) => drop(self.prepared.remove(word(&mut name))),
                    Some((_, mut name)) => drop(self.portals.remove(word(&mut name))),
                    None => {}
                };
            }
            _ => {}
        }
    }
}

/// The size of a message without a letter.
fn start_length(message: &[u8]) -> Result<Option<usize>, Obstacle> {
    if message.first() == Some(&TLS) {
        return Err(Obstacle::Encrypted);
    }
    match number(message) {
        Some(size) if !(8..=10_000).contains(&size) => Err(Obstacle::Foreign),
        size => Ok(size.map(|size| size as usize)),
    }
}

/// The size of a message with a letter, which its length does not count.
fn length(message: &[u8]) -> Result<Option<usize>, Obstacle> {
    match message.get(1..).and_then(number).map(|size| size as usize) {
        Some(size) if !(4..=LONGEST).contains(&size) => Err(Obstacle::Foreign),
        size => Ok(size.map(|size| size + 1)),
    }
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Takes the bytes up to the next zero, and it.
fn word<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (word, rest) = bytes.split_at(end);
    *bytes = rest.get(1..).unwrap_or_default();
    word
}
