//! The contract between dyno and a runner: one [`Job`] as JSON on the runner's standard input, then
//! [`Event`]s as JSON Lines on its standard output.
//!
//! This crate holds types only. It never reads a file, starts a process or measures anything, so
//! that a runner in Rust shares exactly what `docs/protocol.md` promises to runners in every language.
//!
//! Units: durations are nanoseconds, sizes are bytes.

mod event;
mod input;
mod job;
mod mix;
mod model;
mod response;
mod sample;
mod sink;
mod store;
mod test;

pub use event::{
    ClientsReady, EngineRefusal, Event, Failed, Hello, InForce, Interval, Operation, ReadBackAnswer, Value,
    Waiting,
};
pub use input::{Cells, Column, FieldKind, FileColumn, KeyKind, Pairs, RowFile, Store};
pub use job::{
    Build, ClientOrder, Job, JobStatement, Maintenance, ReadBackQuery, Secret, Server, Setting, SliceGrant,
};
pub use mix::{
    CONNECT, ClientPart, LoopSource, MixClass, MixLoop, MixRows, MixStatement, MixValue, MixWork, NamedQuery,
    Pause, Purpose, QueryProtocol, STEP_CLASS, STEP_HEAD, StepField, StepFile, StepKind, StepList,
    TimeWindow,
};
pub use model::Model;
pub use response::{NoHistogram, Response, empty_histogram, quantile};
pub use sample::{Class, Cost, SERVER_EVENTS, Sample, Section, StatementTimes, Tick};
pub use sink::{RowCollector, Sink};
pub use store::{StoreCount, StoreDoes, StoreInvariant};
pub use test::{Commits, ImportWork, LoadWork, Reads, Test, Work};

/// The version of the contract. It rises when a runner written for the previous one would misread
/// a job or be misread; new optional fields do not raise it.
pub const PROTOCOL: u32 = 3;
