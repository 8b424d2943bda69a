//! Run files on disk.

mod line;
mod reader;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};

pub use line::Line;
pub use reader::{load, parse};
pub use writer::{Writer, whole};

/// Where run files go when nobody says: `results/` in the working folder.
pub fn results_folder() -> PathBuf {
    PathBuf::from("results")
}

/// Whether a file is a run file, by its name: `.jsonl`, or `.json` as dyno called them once.
pub fn is_run_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json")
}

/// Temporary files are for their owner alone; a run file is like any other file of a user.
pub fn set_usual_permissions(file: &File) -> std::io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(Permissions::from_mode(0o644))
}
