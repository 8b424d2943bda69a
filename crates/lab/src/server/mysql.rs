//! The peculiarities of private servers of MySQL and MariaDB.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::folders::Folders;

/// The socket's name within its folder.
pub const SOCKET: &str = "mysql.sock";

/// The suffix of MariaDB's versions; the package's own version follows it.
const MARIADB: &str = "-MariaDB";

/// The version in `mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)`. MariaDB's
/// program is called `mysqld` in many places.
pub fn version(said: &str) -> Option<String> {
    let (_, version) = said.split_once(" Ver ")?;
    let version = version.split_whitespace().next()?;
    let end = version.find(MARIADB).map_or(version.len(), |at| at + MARIADB.len());
    Some(version[..end].to_owned())
}

/// Returns true if the server greets a new connection.
pub fn is_ready(folders: &Folders) -> bool {
    let greeting = || -> std::io::Result<[u8; 5]> {
        let mut stream = UnixStream::connect(folders.sockets.join(SOCKET))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        Ok(head)
    };
    // Three bytes of length, the number of the packet, and the version of the protocol; where that
    // would be, a refusal has 255.
    matches!(greeting(), Ok([_, _, _, 0, 10]))
}
