//! Agents: dynos on other machines, each of which runs a runner there as [`Process`](crate::Process) does here.
//!
//! A *launcher* is a program of the user's, such as `ssh` or `srun`, that starts agents and is the pipe to them. dyno
//! writes [`AgentOrder`]s to its standard input and reads [`AgentReport`]s from its standard output, one JSON object a
//! line. There is no port, no daemon and no scheduler of dyno's.

mod files;
mod fleet;
mod launcher;
mod pool;
mod remote;
mod reports;
mod wire;

pub use files::{SENT, visit_files};
pub use fleet::{ExpectedBuild, Fleet};
pub use launcher::Launcher;
pub use pool::AgentPool;
pub use remote::{RemoteRunner, Worker};
pub use reports::{LineLost, ReportReader, ReportWriter};
pub use wire::{AgentHello, AgentOrder, AgentReport, BEAT, OrderLine, SILENCE, read_line};
