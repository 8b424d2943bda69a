//! What is particular to PostgreSQL's servers.
//!
//! Who may connect: the socket lies in a folder that only the server's account and root can enter, so
//! every local connection is trusted and no password exists. The superuser is `postgres`.

use std::fs;
use std::path::Path;
use std::process::Command;

use dyno_protocol::Setting;
use nix::sys::signal::Signal;

use super::folders::Folders;
use super::installation::Installation;

/// The superuser.
pub const USER: &str = "postgres";
/// A database that every server has.
pub const DATABASE: &str = "postgres";
/// The port, which on a socket is a part of its name only.
pub const PORT: u16 = 5432;
/// The socket's name within its folder.
pub const SOCKET: &str = ".s.PGSQL.5432";

/// *Immediate shutdown* in the manual's words: all processes end, and the socket is removed. A slower one
/// would first write out everything, for data that are thrown away.
pub const STOP: Signal = Signal::SIGQUIT;

/// A setting that is decided when the data folder is made.
const CHECKSUMS: &str = "data_checksums";

/// The arguments with which `initdb` makes a data folder. Text sorts by its bytes, as in SQLite and
/// whatever the machine's language; all else is the engine's default.
pub fn init_arguments(installation: &Installation, settings: &[Setting]) -> Vec<String> {
    let mut arguments = vec![
        "--auth=trust".to_owned(),
        format!("--username={USER}"),
        "--encoding=UTF8".to_owned(),
        "--locale=C".to_owned(),
        // The copy that the server runs on is synced as a whole.
        "--no-sync".to_owned(),
    ];
    let checksums = settings.iter().rev().find(|setting| setting.name == CHECKSUMS);
    let major: u32 = installation
        .version
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .and_then(|major| major.parse().ok())
        .unwrap_or(0);
    match checksums.map(|setting| is_on(&setting.value)) {
        Some(true) => arguments.push("--data-checksums".to_owned()),
        // On is the default from 18 on, and only then can it be refused.
        Some(false) if major >= 18 => arguments.push("--no-data-checksums".to_owned()),
        _ => {}
    }
    arguments
}

/// The command that makes a data folder.
pub fn init_command(installation: &Installation, arguments: &[String], data: &Path) -> Command {
    let mut command = installation.command(&installation.initializer);
    command.args(arguments).arg("-D").arg(data);
    command
}

/// The command that runs the server. dyno's own settings come last, so that none asked for opens the
/// server to a network.
pub fn start_command(installation: &Installation, settings: &[Setting], folders: &Folders) -> Command {
    let mut command = installation.command(&installation.server);
    command.arg("-D").arg(&folders.data);
    for Setting { name, value } in settings.iter().filter(|setting| setting.name != CHECKSUMS) {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    let sockets = folders.sockets.to_string_lossy().replace('"', "\"\"");
    command.args(["-c", "listen_addresses=", "-c", &format!("port={PORT}")]);
    command.arg("-c").arg(format!("unix_socket_directories=\"{sockets}\""));
    command
}

/// Whether the server accepts connections, as it says in its own file of state.
pub fn is_ready(folders: &Folders) -> bool {
    let state = fs::read_to_string(folders.data.join("postmaster.pid")).unwrap_or_default();
    state.lines().nth(7).is_some_and(|line| line.trim() == "ready")
}

fn is_on(value: &str) -> bool {
    ["on", "true", "yes", "1"].contains(&value.to_ascii_lowercase().as_str())
}
