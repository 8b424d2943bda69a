//! Measuring for runners in all languages: the kernel's counters of the runner's process and of a server, checksums of
//! tables and stores, and a histogram of durations.
//!
//! Runners in Rust use it as a crate. Others load the shared library next to the programs, whose C ABI
//! `include/dyno_gauge.h` describes. The runner reads the clock in its own language: a call through the ABI would add
//! time between the clock and the work.
//!
//! Units: durations are nanoseconds, sizes are bytes.

mod abi;
mod counters;
mod counting;
mod histogram;
mod section;
mod server_cost;
mod sums;

pub use counters::field;
pub use counting::ProcessorCounter;
pub use histogram::Histogram;
pub use section::{Before, Gauge, Ready};
pub use sums::{StoreSums, TableSums};
