//! The messages between the runner and its client processes: a line of JSON each.

use std::path::PathBuf;

use dyno_protocol::{Job, Sample};
use serde::{Deserialize, Serialize};

/// The runner's message to a client: its work.
#[derive(Serialize, Deserialize)]
pub struct ClientJob {
    /// The trial's job, with the mix as its one test: this client's part of it.
    pub job: Job,
    /// The number of clients before this one.
    pub before: usize,
    /// Where all clients share one file of steps: the file in memory that holds the number of the next step.
    pub next: Option<PathBuf>,
    /// The process whose client this is.
    pub parent: i32,
}

/// A client's messages.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// It is connected and has prepared its statements.
    Ready,
    /// It has done its part, and keeps its connection until the runner closes its input: a server's costs are read
    /// before, and those of a connection that has ended are known to the tick only.
    Done(Box<Sample>),
    /// It has closed the database.
    Closed,
    /// The error message.
    Failed(String),
}
