//! A way by TCP to a server, on which something happens to the bytes. It keeps what clients sent.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A fault on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// MySQL's server offers no encryption: its bit of the greeting is cleared.
    StripMySql,
    /// PostgreSQL's server refuses encryption.
    StripPostgres,
    /// After this many connections the next are closed at once.
    Refuse(usize),
    /// After this many bytes of the server the connection is closed.
    Cut(usize),
    /// After this many bytes of the server the rest are noise.
    Garbage(usize),
    /// After this many bytes of the server nothing more comes.
    Stall(usize),
    /// Everything that the server sends comes this many milliseconds late.
    Slow(u64),
    /// The server gets the statement COMMIT, and the connection is closed before its answer.
    CutAtCommit,
}

impl Fault {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Fault::None => "open",
            Fault::StripMySql | Fault::StripPostgres => "without encryption",
            Fault::Refuse(_) => "refused",
            Fault::Cut(_) => "cut",
            Fault::Garbage(_) => "noise",
            Fault::Stall(_) => "silent",
            Fault::Slow(_) => "slow",
            Fault::CutAtCommit => "cut at the commit",
        }
    }
}

/// PostgreSQL's requests for encryption by TLS and by GSSAPI: a length and a number.
const REQUESTS: [[u8; 8]; 2] = [[0, 0, 0, 8, 4, 210, 22, 47], [0, 0, 0, 8, 4, 210, 22, 48]];
/// The statement COMMIT alone, as PostgreSQL's and MySQL's clients send it.
const COMMITS: [&[u8]; 2] = [b"Q\0\0\0\x0bCOMMIT\0", b"\x03COMMIT"];
/// MySQL's greeting: where the version begins, the bytes between its end and the capabilities' second byte, and the bit
/// of encryption there.
const VERSION: usize = 5;
const TO_CAPABILITIES: usize = 15;
const CLIENT_SSL: u8 = 0x08;

/// A proxy, which ends with the program.
pub struct Proxy {
    pub port: u16,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    /// Listens at 127.0.0.1, and leads to a socket of the file system.
    pub fn start(socket: &Path, fault: Fault) -> Proxy {
        Proxy::at("127.0.0.1", socket, fault)
    }

    /// Listens at an address.
    pub fn at(address: &str, socket: &Path, fault: Fault) -> Proxy {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let proxy = Proxy { port: listener.local_addr().unwrap().port(), seen: Arc::default() };
        let (seen, socket) = (proxy.seen.clone(), PathBuf::from(socket));
        let count = AtomicUsize::new(0);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let number = count.fetch_add(1, Ordering::Relaxed);
                if matches!(fault, Fault::Refuse(after) if number >= after) {
                    continue;
                }
                let (seen, socket) = (seen.clone(), socket.clone());
                thread::spawn(move || lead(client, &socket, fault, &seen));
            }
        });
        proxy
    }

    /// All that clients sent, of all connections.
    pub fn seen(&self) -> Vec<u8> {
        self.seen.lock().unwrap().clone()
    }

    /// Forgets it.
    pub fn forget(&self) {
        self.seen.lock().unwrap().clear();
    }
}

/// Carries bytes both ways until a side leaves.
fn lead(client: TcpStream, socket: &Path, fault: Fault, seen: &Mutex<Vec<u8>>) {
    let Ok(server) = UnixStream::connect(socket) else { return };
    let (Ok(back), Ok(answers)) = (client.try_clone(), server.try_clone()) else { return };
    let to_client = thread::spawn(move || {
        let _ = from_server(answers, &back, fault);
        let _ = back.shutdown(Shutdown::Both);
    });
    let _ = from_client(&client, &server, fault, seen);
    let _ = server.shutdown(Shutdown::Both);
    let _ = to_client.join();
}

fn from_client(
    mut client: &TcpStream,
    mut server: &UnixStream,
    fault: Fault,
    seen: &Mutex<Vec<u8>>,
) -> std::io::Result<()> {
    let mut buffer = [0; 65_536];
    loop {
        let length = client.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let bytes = &buffer[..length];
        seen.lock().unwrap().extend(bytes);
        if fault == Fault::StripPostgres && REQUESTS.iter().any(|request| bytes == request) {
            client.write_all(b"N")?;
        } else {
            let is_commit = COMMITS.iter().any(|commit| bytes.ends_with(commit));
            if is_commit && fault == Fault::CutAtCommit {
                client.shutdown(Shutdown::Both)?;
            }
            server.write_all(bytes)?;
        }
    }
}

fn from_server(mut server: UnixStream, mut client: &TcpStream, fault: Fault) -> std::io::Result<()> {
    let mut buffer = [0; 65_536];
    let mut done = 0;
    loop {
        let length = server.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let bytes = &mut buffer[..length];
        let good = |limit: usize| limit.saturating_sub(done).min(length);
        match fault {
            Fault::StripMySql if done == 0 => strip(bytes),
            Fault::Cut(limit) if done + length > limit => return client.write_all(&bytes[..good(limit)]),
            Fault::Garbage(limit) => {
                let noise = &mut bytes[good(limit)..];
                noise.iter_mut().enumerate().for_each(|(place, byte)| *byte ^= (place * 37 + 91) as u8);
            }
            Fault::Stall(limit) if done + length > limit => {
                client.write_all(&bytes[..good(limit)])?;
                // The other side goes first.
                return server.read_to_end(&mut Vec::new()).map(drop);
            }
            Fault::Slow(milliseconds) => thread::sleep(Duration::from_millis(milliseconds)),
            _ => {}
        }
        client.write_all(bytes)?;
        done += length;
    }
}

/// Clears the bit in the greeting that offers encryption.
fn strip(greeting: &mut [u8]) {
    let end = greeting[VERSION..].iter().position(|&byte| byte == 0).unwrap();
    greeting[VERSION + end + TO_CAPABILITIES] &= !CLIENT_SSL;
}
