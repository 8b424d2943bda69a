//! Finds the folder with the suites, engines and runners.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::unistd::Uid;

/// The folder that holds `suites/`, `engines/` and `runners/`, and the one that holds the programs.
#[derive(Debug, Clone)]
pub struct Home {
    /// The root of a clone or of an installation.
    pub root: PathBuf,
    /// The folder of dyno's own program and of the Rust runners.
    pub programs: PathBuf,
}

impl Home {
    /// `DYNO_HOME` if it is set; else the nearest folder above the program, above the working folder, or
    /// above the sources that it was built from, that has what is looked for.
    pub fn find() -> Result<Home> {
        let program = env::current_exe().context("cannot find the program's own file")?;
        let programs = program.parent().map(Path::to_owned).unwrap_or_default();
        if let Some(root) = env::var_os("DYNO_HOME").map(PathBuf::from) {
            if !is_home(&root) {
                bail!("DYNO_HOME is {}, which has no suites/, engines/ and runners/", root.display());
            }
            return Ok(Home { root, programs });
        }
        let working = env::current_dir().unwrap_or_default();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut candidates = programs.ancestors().chain(working.ancestors()).chain(sources.ancestors());
        let root = candidates.find(|folder| is_home(folder));
        let root = root.context(
            "cannot find the folders suites/, engines/ and runners/ above the program or the working \
             folder; set DYNO_HOME to the clone of dyno",
        )?;
        Ok(Home { root: root.to_owned(), programs })
    }

    /// The folder of suites.
    pub fn suites(&self) -> PathBuf {
        self.root.join("suites")
    }
}

/// The folder for the user's data: `$XDG_DATA_HOME/dyno`, else `~/.local/share/dyno`. Root's folder is that of the
/// machine, because root's servers run under accounts that may not enter its home. `None` without a home.
pub fn data_folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(folder) = set("XDG_DATA_HOME") {
        return Some(folder.join("dyno"));
    }
    match Uid::effective().is_root() {
        true => Some(machine_folder()),
        false => set("HOME").map(|home| home.join(".local/share/dyno")),
    }
}

/// Root's folder, which serves all users of the machine.
fn machine_folder() -> PathBuf {
    PathBuf::from("/var/lib/dyno")
}

/// The files that may hold a result found on this machine, this user's first: only the file that the variable names, if
/// it is set; otherwise a file of this name in dyno's data folder, and the one that root made for all users.
pub fn kept_files(variable: &str, name: &str) -> Vec<PathBuf> {
    if let Some(path) = env::var_os(variable).filter(|path| !path.is_empty()) {
        return vec![path.into()];
    }
    let mut folders: Vec<PathBuf> = data_folder().into_iter().chain([machine_folder()]).collect();
    folders.dedup();
    folders.into_iter().map(|folder| folder.join(name)).collect()
}

fn is_home(folder: &Path) -> bool {
    ["suites", "engines", "runners"].iter().all(|name| folder.join(name).is_dir())
}
