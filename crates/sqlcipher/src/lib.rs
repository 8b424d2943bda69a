//! SQLCipher, compiled by `build.rs` into `libdyno_sqlcipher.so` next to the programs.
//!
//! No package depends on this one and no program links the library: the runner for SQLite loads it when a contender is
//! `sqlite@sqlcipher`. So it can never replace the plain SQLite.
