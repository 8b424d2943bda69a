//! The skeleton of a Rust runner.
