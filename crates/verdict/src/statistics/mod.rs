//! Statistics of durations: medians and their intervals, ratios and whether they are differences.
//!
//! Everything below is a pure function of its arguments: nothing here reads a clock, a file or the
//! environment, and every resampling takes its seed. Durations are nanoseconds.

mod best;
mod bootstrap;
mod change;
mod detectable;
mod explained;
mod paired;
mod ratio;
mod share;
mod signed_rank;
mod significance;
mod summary;
mod threshold;
mod trimmed;

pub use best::{Best, Shown, differences};
pub use bootstrap::{CONFIDENCE, Interval, MIN_BLOCKS};
pub use change::{Change, FEWEST_RUNS, changes};
pub use detectable::{POWER, detectable};
pub use explained::{CentralDifference, ExplainedShare, explained_share};
pub use paired::{geometric_mean_ratio, paired_ratio, ratio_of_logs};
pub use ratio::{Difference, NoDifference, Ratio, fewest_for, independent_ratio};
pub use share::share;
pub use significance::{Compared, significant};
pub use summary::{Summary, median, summarize};
pub use threshold::Threshold;
