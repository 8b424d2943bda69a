//! Engines and the runners that reach them: what `engines/*.toml` and `runners/*/runner.toml` say, and
//! the contenders that people name.
//!
//! Reads files; starts nothing.

mod arguments;
mod build;
mod cache;
mod cluster;
mod contender;
mod delay;
mod encryption;
mod engine;
mod file_system;
mod home;
mod isolation;
mod key;
mod level;
mod memory;
mod name;
mod own_settings;
mod passwords;
mod profile;
pub mod proofs;
mod registry;
mod runner;
mod secret;
mod server;
mod server_memory;
mod settings;
mod sql;
mod start;
mod tuned;
mod upkeep;
mod url;

pub use arguments::Argument;
pub use cache::CacheKnob;
pub use cluster::{ClusterRecovery, ClusterStart, Failover, NodeFile, NodePermit, NodePlaces};
pub use contender::Contender;
pub use delay::delay;
pub use encryption::Encryption;
pub use engine::{Engine, NamedBuild};
pub use file_system::FileSystem;
pub use home::{Home, config_folder, data_folder, kept_files};
pub use key::{Key, RAW_DIGITS};
pub use name::split_list;
pub use own_settings::ClientThreads;
pub use profile::Profile;
pub use registry::Registry;
pub use runner::{Driver, Runner, Variant};
pub use server::{Protocol, ServerEngine, Url};
pub use settings::{SettingDifference, parse_setting};
pub use sql::{ScratchServer, SettingSyntax, VersionRule, advice};
pub use start::{KeyGift, Memory, Start};
pub use tuned::{Tuned, TunedOption};
pub use upkeep::Upkeep;
pub use url::{ServerUrl, UrlError, is_address, may_hold_password, repeatable};
