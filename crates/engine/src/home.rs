//! Finds the folder with the suites, engines and runners.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The folder that holds `suites/`, `engines/` and `runners/`, and the one that holds the programs.
#[derive(Debug, Clone)]
pub struct Home {
    /// The root of a clone or of an installation.
    pub root: PathBuf,
    /// Where dyno's own program and the Rust runners are.
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

fn is_home(folder: &Path) -> bool {
    ["suites", "engines", "runners"].iter().all(|name| folder.join(name).is_dir())
}
