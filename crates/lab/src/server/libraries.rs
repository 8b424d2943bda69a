//! The libraries of a folder into which packages of a distribution were unpacked, and programs run with them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folders in which programs find their libraries; empty where these are the system's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Libraries {
    folders: Vec<PathBuf>,
    /// The dynamic loader, where the folder contains its own C library: one version's loader cannot
    /// load another's library.
    pub loader: Option<PathBuf>,
}

impl Libraries {
    /// Those of a folder; none where it is no such folder.
    pub fn within(root: &Path) -> Libraries {
        if root == Path::new("/") || !root.join("usr").is_dir() {
            return Libraries::default();
        }
        let mut folders = Vec::new();
        for place in ["usr/lib", "lib"] {
            folders.extend(matching(&root.join(place), |name| name.contains("-linux-gnu")));
        }
        folders
            .extend(["usr/lib64", "lib64"].map(|place| root.join(place)).into_iter().filter(|f| f.is_dir()));
        let loaders = folders.iter().flat_map(|folder| matching(folder, |name| name.starts_with("ld-linux")));
        Libraries { loader: loaders.into_iter().next(), folders }
    }

    /// A command of a program, with an environment in which nothing of the user's has a say.
    pub fn command(&self, program: &Path) -> Command {
        let libraries = env::join_paths(&self.folders).unwrap_or_default();
        let mut command = match &self.loader {
            Some(loader) => {
                let mut command = Command::new(loader);
                command.arg("--library-path").arg(&libraries).arg(program);
                command
            }
            None => Command::new(program),
        };
        // A fixed zone spares PostgreSQL's initdb a search through all zones for the machine's.
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C").env("TZ", "UTC");
        if self.loader.is_none() && !self.folders.is_empty() {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command.stdin(Stdio::null());
        command
    }
}

/// The entries of a folder whose names are wanted, sorted.
pub fn matching(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(&wanted));
    let mut paths: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
