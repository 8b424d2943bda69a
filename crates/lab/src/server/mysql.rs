//! What is particular to the servers of MariaDB and MySQL.
//!
//! Who may connect: the socket lies in a folder that only the server's account and root can enter, and the
//! server's `root` has no password.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use dyno_engine::ServerEngine;
use dyno_protocol::Setting;
use nix::sys::signal::Signal;

use super::folders::Folders;
use super::installation::Installation;

/// The superuser.
pub const USER: &str = "root";
/// The socket's name within its folder.
pub const SOCKET: &str = "mysql.sock";

/// An orderly end, which `innodb_fast_shutdown` keeps short.
pub const STOP: Signal = Signal::SIGTERM;

/// Settings that shape the files of an empty data folder, so that it is made with them.
const SHAPING: &[&str] = &[
    "innodb_checksum_algorithm",
    "innodb_data_file_path",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "innodb_undo_tablespaces",
    "lower_case_table_names",
];

/// Settings for which the servers have no option: the runner sets them for its session.
const OF_SESSIONS: &[&str] = &["foreign_key_checks", "unique_checks"];

/// The arguments with which a data folder is made.
pub fn init_arguments(installation: &Installation, settings: &[Setting]) -> Vec<String> {
    // No file of the machine's is read. The option must come first.
    let mut arguments = vec!["--no-defaults".to_owned()];
    match installation.engine {
        ServerEngine::MySql => arguments.push("--initialize-insecure".to_owned()),
        _ => {
            arguments.push("--auth-root-authentication-method=normal".to_owned());
            arguments.push("--skip-test-db".to_owned());
            // Else it asks the network for the machine's name.
            arguments.push("--skip-name-resolve".to_owned());
        }
    }
    let shaping = settings.iter().filter(|setting| SHAPING.contains(&normal(&setting.name).as_str()));
    arguments.extend(shaping.map(option));
    arguments
}

/// The command that makes a data folder. What it puts aside goes into the folder around it: a MariaDB
/// that starts removes what it finds in `/tmp` of another.
pub fn init_command(installation: &Installation, arguments: &[String], data: &Path) -> Command {
    let mut command = installation.command(&installation.initializer);
    command.args(arguments);
    command.arg(assignment("--basedir", &installation.base)).arg(assignment("--datadir", data));
    command.args(data.parent().map(|around| assignment("--tmpdir", around)));
    command
}

/// The command that runs the server. dyno's own settings come last, so that none asked for opens the
/// server to a network.
pub fn start_command(installation: &Installation, settings: &[Setting], folders: &Folders) -> Command {
    let mut command = installation.command(&installation.server);
    // Ends without writing out what nobody will read. It has no say while the server runs.
    command.args(["--no-defaults", "--innodb-fast-shutdown=2"]);
    // Files may be loaded from anywhere: Debian's folder for them need not exist.
    command.arg("--secure-file-priv=");
    // By LOAD DATA LOCAL rows come from a client's memory. MariaDB allows it unless told otherwise, MySQL does
    // not; it has no other effect.
    command.arg("--local-infile=ON");
    let options = settings.iter().filter(|setting| !OF_SESSIONS.contains(&normal(&setting.name).as_str()));
    command.args(options.map(option));
    command.arg("--skip-networking");
    if installation.engine == ServerEngine::MySql {
        // The X protocol has a port and a socket of its own.
        command.arg("--mysqlx=OFF");
    }
    let places = [
        ("--basedir", &installation.base),
        ("--datadir", &folders.data),
        ("--tmpdir", &folders.temporary),
        ("--socket", &folders.sockets.join(SOCKET)),
        ("--pid-file", &folders.temporary.join("pid")),
    ];
    command.args(places.map(|(name, path)| assignment(name, path)));
    command
}

/// Whether the server greets who connects.
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

/// A setting as an option of the command line. The binary log is a variable that can be read as `OFF`
/// but whose option takes a file's name, so that turning it off has an option of its own.
fn option(setting: &Setting) -> String {
    let Setting { name, value } = setting;
    let off = ["off", "0", "false"].contains(&value.to_ascii_lowercase().as_str());
    if normal(name) == "log_bin" && off {
        return "--skip-log-bin".to_owned();
    }
    format!("--{name}={value}")
}

/// A setting's name as the server shows it: options may be written with hyphens.
fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

fn assignment(name: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(name);
    argument.push("=");
    argument.push(path);
    argument
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_log_is_turned_off_by_an_option_of_its_own() {
        let setting = |name: &str, value: &str| Setting { name: name.into(), value: value.into() };
        assert_eq!(option(&setting("log_bin", "OFF")), "--skip-log-bin");
        assert_eq!(option(&setting("log-bin", "0")), "--skip-log-bin");
        assert_eq!(option(&setting("log_bin", "ON")), "--log_bin=ON");
        assert_eq!(
            option(&setting("innodb_flush_log_at_trx_commit", "2")),
            "--innodb_flush_log_at_trx_commit=2"
        );
    }
}
