//! A dynamometer for database engines.
//!
//! The modules follow the way of the data: a [`suite`] and its contenders ([`engine`]) become a
//! [`plan`], the plan becomes [`trial`]s within a [`run`], a run is kept as a [`record`], the
//! [`verdict`] judges the record, and [`output`] and [`report`] show the verdict. No stage reaches back.
//! `docs/architecture.md` is the map.

pub mod answers;
pub mod cli;
pub mod commands;
pub mod conformance;
pub mod doctor;
pub mod engine;
pub mod environment;
pub mod file_system;
pub mod home;
pub mod interrupts;
pub mod key;
pub mod machine;
pub mod nearest;
pub mod output;
pub mod pairing;
pub mod placement;
pub mod plan;
pub mod proof;
pub mod record;
pub mod report;
pub mod run;
pub mod scratch;
pub mod server;
pub mod statistics;
pub mod suite;
pub mod terminal;
pub mod trial;
pub mod verdict;
pub mod waiting;
pub mod watch;
