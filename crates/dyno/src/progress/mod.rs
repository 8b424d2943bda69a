//! Progress on the terminal while dyno works.

mod copies;
mod import;
mod live;
mod run;

pub use import::ImportProgress;
pub use run::Progress;
