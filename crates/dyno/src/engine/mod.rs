//! Engines and the runners that reach them: what `engines/*.toml` and `runners/*/runner.toml` say, and
//! the contenders that people name.
//!
//! Reads files; starts nothing.

mod contender;
mod encryption;
mod level;
mod memory;
mod registry;
mod settings;
mod ways;

pub use contender::{Contender, split_list};
pub use encryption::Encryption;
pub use level::{Level, Safety, Standing};
pub use registry::{Driver, Engine, NamedBuild, Profile, Registry, Runner, Variant};
pub use settings::{Difference, parse_setting};
