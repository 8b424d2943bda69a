//! All of dyno that touches the machine: what it is and what disturbs on it, where processes run, servers, keys,
//! mounts, the proofs of encryption, trials, and the run that puts them in turn.
//!
//! It measures and writes down. What a record means is the business of `dyno_verdict`, which is not linked here.

pub mod agent;
mod around;
pub mod content;
pub mod doctor;
pub mod file_system;
mod interference;
pub mod key;
pub mod machine;
pub mod metronome;
pub mod placement;
pub mod probe;
pub mod proof;
pub mod run;
pub mod scratch;
pub mod server;
pub mod traffic;
pub mod trial;
mod waits;
