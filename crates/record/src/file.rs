//! Run files on disk.

mod line;
mod page;
mod reader;
mod seal;
mod writer;

use std::path::{Path, PathBuf};

pub use line::Line;
pub use page::{PackedRun, is_page, packed_runs};
pub use reader::{load, load_found, parse};
pub use seal::{Break, Seals};
pub use writer::{Writer, whole};

/// The folder of run files unless the user names another: `results/` in the working folder.
pub fn results_folder() -> PathBuf {
    PathBuf::from("results")
}

/// True if a file is a run file, by its name: `.jsonl`, or `.json` as dyno called them once.
pub fn is_run_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json")
}
