//! What a runner measures with, whatever its language: the kernel's counters of its process and of a server, sums
//! that tell what a table or a store holds, and a histogram of durations.
//!
//! Runners in Rust use it as a crate. Others load the shared library beside the programs, whose C ABI
//! `include/dyno_gauge.h` describes. The clock itself is read in the runner's own language: a call through the ABI
//! would stand between the clock and the work.
//!
//! Units: durations are nanoseconds, sizes are bytes.

mod abi;
mod counters;
mod histogram;
mod section;
mod server_cost;
mod sums;

pub use counters::field;
pub use histogram::Histogram;
pub use section::{Before, Gauge, Ready};
pub use sums::{StoreSums, TableSums};
