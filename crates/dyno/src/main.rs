//! The command `dyno`.
fn main() {}
