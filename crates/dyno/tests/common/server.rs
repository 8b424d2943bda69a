//! Private servers for tests that only want one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use dyno_lab::placement;
use dyno_lab::server::{Installation, PrivateServer};
use dyno_protocol::{Build, Setting};
use dyno_record::Placement;
use tempfile::TempDir;

use super::installation;

/// A server that runs.
pub struct Started {
    pub server: PrivateServer,
    installation: Installation,
    settings: Vec<Setting>,
    placement: Placement,
    // Last: the server's files are in it.
    pub folder: TempDir,
}

/// Starts a server with settings; where there is none, says so.
pub fn start(engine: &str, build: &Build, settings: &[Setting]) -> Option<Started> {
    let installation = match installation(engine, build) {
        Ok(installation) => installation,
        Err(error) => {
            eprintln!("SKIPPED for {engine}: {error:#}");
            return None;
        }
    };
    let folder = open_folder();
    let placement = placement::choose(None, None).unwrap();
    let server = PrivateServer::start(&installation, settings, folder.path(), &placement).unwrap();
    Some(Started { server, installation, settings: settings.to_vec(), placement, folder })
}

impl Started {
    /// Starts it again on its data, with the same settings.
    pub fn restart(&mut self) {
        self.server.restart(&self.installation, &self.settings, None, &self.placement).unwrap();
    }
}

/// A folder for databases that every account may enter: a server may have one of its own.
pub fn open_folder() -> TempDir {
    let folder = tempfile::Builder::new().prefix("dyno-test-").tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}
