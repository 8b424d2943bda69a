//! The commands that make a data folder and run a server, from the arguments in the engine's file.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;

use dyno_engine::Argument;
use dyno_protocol::Setting;

use super::cluster::node::ClusterNode;
use super::folders::Folders;
use super::installation::Installation;
use super::protocol;

/// The command that makes a data folder.
pub fn init_command(installation: &Installation, arguments: &[Argument], data: &Path) -> Command {
    let mut command = installation.command(&installation.initializer);
    let made = data.parent().unwrap_or(data);
    let places = [
        ("data", data.as_os_str()),
        ("made", made.as_os_str()),
        ("base", installation.base.as_os_str()),
        ("user", OsStr::new(&installation.start.user)),
    ];
    command.args(arguments.iter().map(|argument| argument.filled(&places)));
    command
}

/// The command that runs the server.
pub fn start_command(
    installation: &Installation,
    settings: &[Setting],
    folders: &Folders,
    node: Option<&ClusterNode>,
) -> Command {
    let mut command = installation.command(&installation.server);
    let socket = folders.sockets.join(protocol::socket(installation.engine.speaks));
    let quoted = quoted(folders.sockets.as_os_str());
    let mut places = vec![
        ("data", folders.data.as_os_str()),
        ("sockets", folders.sockets.as_os_str()),
        ("quoted_sockets", quoted.as_os_str()),
        ("socket", socket.as_os_str()),
        ("temporary", folders.temporary.as_os_str()),
        ("base", installation.base.as_os_str()),
        ("user", OsStr::new(&installation.start.user)),
    ];
    if let Some(ClusterNode { places: addresses, .. }) = node {
        places.push(("address", OsStr::new(&addresses.address)));
        places.push(("first", OsStr::new(&addresses.first)));
        places.push(("addresses", OsStr::new(&addresses.addresses)));
    }
    let arguments = installation.start.start_arguments(settings);
    let of_node = node.map_or(&[][..], ClusterNode::arguments);
    command.args(arguments.iter().chain(of_node).map(|argument| argument.filled(&places)));
    command
}

/// A path in quotation marks, those in it doubled.
fn quoted(path: &OsStr) -> OsString {
    let doubled = path.as_bytes().iter().flat_map(|&byte| vec![byte; if byte == b'"' { 2 } else { 1 }]);
    OsString::from_vec([b'"'].into_iter().chain(doubled).chain([b'"']).collect())
}
