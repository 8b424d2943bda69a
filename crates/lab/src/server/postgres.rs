//! The peculiarities of private servers of PostgreSQL, and of engines derived from it.

use super::folders::Folders;
use super::process::read_owned;

/// A database that every server has.
pub const DATABASE: &str = "postgres";
/// The port, which on a socket is a part of its name only.
pub const PORT: u16 = 5432;
/// The socket's name within its folder.
pub const SOCKET: &str = ".s.PGSQL.5432";

/// The version in `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`.
pub fn version(said: &str) -> Option<String> {
    let (_, version) = said.split_once("(PostgreSQL)")?;
    version.split_whitespace().next().map(str::to_owned)
}

/// Returns true if the server accepts connections, according to its own state file.
pub fn is_ready(folders: &Folders) -> bool {
    let state = read_owned(&folders.data.join("postmaster.pid"));
    state.lines().nth(7).is_some_and(|line| line.trim() == "ready")
}
