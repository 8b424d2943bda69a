//! Lets something fail at a given commit of a client.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dyno_wire::{Ask, Conversation, Inspector, Passage, PeerRole, WireProtocol};

use super::DriverFault;

/// The longest restart of a server: longer than it may take to stop and to start.
const RESTART: Duration = Duration::from_secs(300);

/// Reads what clients ask of their server, and lets something fail once.
#[derive(Debug)]
pub struct FaultInjector {
    protocol: WireProtocol,
    fault: DriverFault,
    /// The transaction, counted from 1, in which it fails.
    transaction: u64,
    progress: Mutex<FaultProgress>,
}

/// The progress of the clients.
#[derive(Debug)]
struct FaultProgress {
    conversations: HashMap<u64, Conversation>,
    begun: u64,
    committed: u64,
    /// The connection on which it failed.
    failed: Option<u64>,
    /// Asks for the restart of the server, and says when it is done.
    restart: (Sender<()>, Receiver<()>),
}

impl FaultInjector {
    /// One that lets `fault` happen in a transaction, counted from 1. For a restart it sends on the first channel, and
    /// waits for the second.
    pub fn new(
        protocol: WireProtocol,
        fault: DriverFault,
        transaction: u64,
        restart: (Sender<()>, Receiver<()>),
    ) -> FaultInjector {
        let (conversations, begun, committed, failed) = (HashMap::new(), 0, 0, None);
        let progress = Mutex::new(FaultProgress { conversations, begun, committed, failed, restart });
        FaultInjector { protocol, fault, transaction, progress }
    }

    /// True once it has failed.
    pub fn has_failed(&self) -> bool {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).failed.is_some()
    }

    /// The fate of a request in whose transaction it fails.
    fn strike(&self, progress: &FaultProgress) -> Passage {
        match self.fault {
            DriverFault::CutBefore => Passage::Cut,
            DriverFault::Restart => {
                // If the other end is gone, the trial is over.
                let _ = progress.restart.0.send(());
                match progress.restart.1.recv_timeout(RESTART) {
                    Err(RecvTimeoutError::Timeout) => Passage::Cut,
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => Passage::Pass,
                }
            }
            DriverFault::CutAfter | DriverFault::Silence | DriverFault::Timeout => Passage::Pass,
        }
    }
}

impl Inspector for FaultInjector {
    fn inspect(&self, connection: u64, origin: PeerRole, bytes: &[u8]) -> Passage {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.failed == Some(connection) {
            return match self.fault {
                DriverFault::Silence => Passage::Drop,
                DriverFault::CutAfter => Passage::Cut,
                DriverFault::Restart | DriverFault::CutBefore | DriverFault::Timeout => Passage::Pass,
            };
        }
        let conversations = &mut progress.conversations;
        let conversation =
            conversations.entry(connection).or_insert_with(|| Conversation::new(self.protocol));
        let asked = conversation.hear(origin, bytes);
        let count = |word: &str| {
            let is_it =
                |ask: &&Ask| matches!(ask, Ask::Execute(text) if text.trim().eq_ignore_ascii_case(word));
            asked.iter().filter(is_it).count() as u64
        };
        progress.begun += count("BEGIN");
        progress.committed += count("COMMIT");
        let reached = match self.fault {
            DriverFault::Timeout => return Passage::Pass,
            DriverFault::Restart => progress.begun,
            DriverFault::CutBefore | DriverFault::CutAfter | DriverFault::Silence => progress.committed,
        };
        if progress.failed.is_some() || reached < self.transaction {
            return Passage::Pass;
        }
        progress.failed = Some(connection);
        self.strike(&progress)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn injector(fault: DriverFault) -> FaultInjector {
        let (ask, _) = mpsc::channel();
        let (_, done) = mpsc::channel();
        FaultInjector::new(WireProtocol::Postgres, fault, 2, (ask, done))
    }

    fn query(text: &str) -> Vec<u8> {
        [&b"Q"[..], &(text.len() as u32 + 5).to_be_bytes(), text.as_bytes(), b"\0"].concat()
    }

    /// The passage of each of the client's requests and of an answer after each.
    fn passages(fault: DriverFault) -> Vec<Passage> {
        let injector = injector(fault);
        injector.inspect(0, PeerRole::Client, b"\0\0\0\x09\0\x03\0\0\0");
        let requests = ["BEGIN", "commit", "BEGIN", "INSERT INTO marks VALUES(2)", "COMMIT"].map(query);
        let mut passages = Vec::new();
        for request in requests {
            passages.push(injector.inspect(0, PeerRole::Client, &request));
            passages.push(injector.inspect(0, PeerRole::Server, b"answer"));
        }
        assert_eq!(injector.has_failed(), fault != DriverFault::Timeout);
        // Another connection is left alone.
        assert_eq!(injector.inspect(1, PeerRole::Server, b"other"), Passage::Pass);
        passages
    }

    #[test]
    fn it_fails_in_the_commit_that_is_named_and_at_no_other() {
        let last = |fault| {
            let passages = passages(fault);
            assert_eq!(passages[..8], [Passage::Pass; 8]);
            (passages[8], passages[9])
        };
        assert_eq!(last(DriverFault::CutBefore).0, Passage::Cut);
        assert_eq!(last(DriverFault::CutAfter), (Passage::Pass, Passage::Cut));
        assert_eq!(last(DriverFault::Silence), (Passage::Pass, Passage::Drop));
        assert_eq!(last(DriverFault::Restart), (Passage::Pass, Passage::Pass));
        assert_eq!(last(DriverFault::Timeout), (Passage::Pass, Passage::Pass));
    }
}
