//! The command: reads what was typed and calls the stages in order. Each stage is a separate crate, and
//! `docs/architecture.md` is their map.

pub mod cli;
pub mod commands;
pub mod progress;
pub mod terminal;
