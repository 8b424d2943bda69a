//! SQLCipher, compiled by `build.rs` into `libdyno_sqlcipher.so` beside the programs.
//!
//! Nothing depends on this package and nothing links the library: the runner for SQLite loads it when a
//! contender is `sqlite@sqlcipher`. So it can never take the plain SQLite's place.
