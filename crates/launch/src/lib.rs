//! Starts processes and ends them: runners, with their limits on memory and all that they start in turn, the processes
//! that share the clients of a mix, here or by agents on other machines, and private servers.
//!
//! It knows no engine and judges nothing. What a process writes are lines to it; `dyno-lab` reads the events.

pub mod agents;
pub mod clients;
mod descendants;
pub mod environment;
mod family;
mod guard;
mod inheritance;
mod interrupts;
mod killing;
mod memory_cap;
pub mod placed;
mod process;
mod server_mark;
mod server_process;
pub mod waiting;

pub use descendants::{descendants, stopped_descendants};
pub use guard::Guard;
pub use inheritance::inherit;
pub use interrupts::{Interrupts, WakeGuard};
pub use memory_cap::{MemoryCap, sweep as sweep_memory_caps};
pub use process::{Ending, Inbox, Message, Process};
pub use server_mark::{ServerMark, user_of};
pub use server_process::ServerProcess;
