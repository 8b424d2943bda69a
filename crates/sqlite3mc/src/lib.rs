//! SQLite3 Multiple Ciphers, compiled by `build.rs` into `libdyno_sqlite3mc.so` next to the programs.
//!
//! No package depends on this one and no program links the library: the runner for SQLite loads it when a contender is
//! `sqlite@mc`. So it can never replace the plain SQLite.
