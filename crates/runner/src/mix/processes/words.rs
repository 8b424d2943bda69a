//! What the runner and its client processes say to each other: a line of JSON each.

use std::path::PathBuf;

use dyno_protocol::{Job, Sample};
use serde::{Deserialize, Serialize};

/// What a client does.
#[derive(Serialize, Deserialize)]
pub struct ClientJob {
    /// The trial's job, with the mix as its one test: this client's part of it.
    pub job: Job,
    /// How many clients come before this one.
    pub before: usize,
    /// Where all have a part in one file of steps: the file in memory that says which is the next.
    pub next: Option<PathBuf>,
    /// The process whose client this is.
    pub parent: i32,
}

/// What a client says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// It is connected and has prepared its statements.
    Ready,
    /// It has done its part, and keeps its connection until nobody has anything more to say to it: a server's costs are
    /// read before, and those of a connection that has ended are known to the tick only.
    Done(Box<Sample>),
    /// It has closed the database.
    Closed,
    /// What went wrong.
    Failed(String),
}
