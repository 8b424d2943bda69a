//! Engines and the runners that reach them: what `engines/*.toml` and `runners/*/runner.toml` say, and
//! the contenders that people name.
//!
//! Reads files; starts nothing.

mod build;
mod contender;
mod encryption;
mod level;
mod memory;
mod name;
mod registry;
mod runner;
mod secret;
mod server;
mod settings;
mod start;
mod ways;

pub use contender::Contender;
pub use encryption::Encryption;
pub use level::{Level, Safety, Standing};
pub use name::split_list;
pub use registry::{Engine, NamedBuild, Profile, Registry};
pub use runner::{Driver, Runner, Variant};
pub use server::{Protocol, ServerEngine, Url};
pub use settings::{Difference, parse_setting};
pub use start::{Argument, KeyGift, Memory, Start};
