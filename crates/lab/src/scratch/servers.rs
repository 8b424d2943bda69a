//! Ends what is left of a dead run's servers, where neither dyno nor a server's guard lived to do it.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;

use dyno_files::HeldFolder;
use dyno_launch::ServerMark;

use crate::server::{SERVER_PREFIX, SOCKETS};

/// The depth down to which folders are looked through: of a run, of what it does there, of a disk or a server in that.
const DEPTH: u32 = 3;

/// Ends the processes of the servers whose folders lie in a dead run's, in which nothing is mounted.
pub(super) fn end_all(folder: &HeldFolder) {
    end_within(folder, DEPTH);
}

fn end_within(folder: &HeldFolder, depth: u32) {
    for name in folder.names().unwrap_or_default() {
        let Ok(inner) = folder.folder(&name) else { continue };
        if name.to_str().is_some_and(|name| name.starts_with(SERVER_PREFIX)) {
            end(&name, &inner);
        } else if depth > 1 {
            end_within(&inner, depth - 1);
        }
    }
}

/// Ends the processes of the server that has a folder. The folder of its socket belongs to its account.
fn end(name: &OsStr, folder: &HeldFolder) {
    let of_account = folder.folder(SOCKETS).and_then(|sockets| sockets.about());
    if let (Ok(own), Ok(sockets)) = (folder.about(), of_account) {
        ServerMark::of(name, &own).end_all(sockets.uid());
    }
}
