//! What people see while something goes on.

mod import;
mod live;
mod run;

pub use import::ImportProgress;
pub use run::Progress;
