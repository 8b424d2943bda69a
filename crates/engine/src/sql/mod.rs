//! The SQL of a job: the statements that set and read settings, and those that make and remove the trial's
//! database on a server. Runners execute them as they are; what their answers mean is said here, once for all
//! languages.
//!
//! `asking` is what a contender's job says, `syntax` has the statements of settings, `spelling` knows when two values
//! are one, `greeting` reads what the engine answered, `scratch` makes databases on servers, `version` says which
//! servers are an engine's own, and `advice` what to do about an engine's error.

mod advice;
mod asking;
mod greeting;
mod scratch;
mod spelling;
mod syntax;
mod version;

pub use advice::advice;
pub use scratch::ScratchServer;
pub use syntax::SettingSyntax;
pub use version::VersionRule;
