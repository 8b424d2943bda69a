//! Finds the folder with the suites, engines and runners, and the folders of dyno's data.

use std::env;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_files::{BuildFolder, check_guarded, is_trusted, notice, user_name};
use nix::unistd::Uid;

/// The sources of this crate.
#[used]
#[unsafe(link_section = ".dyno.folders")]
static SOURCES: BuildFolder = BuildFolder::new(env!("CARGO_MANIFEST_DIR"));

/// The folders of a home, in which there are programs that dyno runs.
const PARTS: [&str; 3] = ["suites", "engines", "runners"];
/// The bit of a mode by which every user writes, and the same of a folder such as `/tmp`, which all share.
const ALL_WRITE: u32 = 0o002;
const ALL_SHARE: u32 = 0o1002;

/// The folders that hold `suites/`, `engines/` and `runners/`, and the one that holds the programs.
#[derive(Debug, Clone)]
pub struct Home {
    /// The root of a clone or of an installation.
    pub root: PathBuf,
    /// The user's folder, which may have some of the same: `~/.config/dyno`.
    pub own: Option<PathBuf>,
    /// The folder of dyno's own program and of the Rust runners.
    pub programs: PathBuf,
}

impl Home {
    /// `DYNO_HOME` if it is set; else the nearest folder above the program, above the working folder, or
    /// above the sources that it was built from, that has what is looked for. But for the one above the program, which
    /// the user runs, another user's is passed over with a notice: to work in a stranger's folder is not to ask for that
    /// stranger's programs. The user's folder in `~/.config` is searched too, unless another user can change it.
    pub fn find() -> Result<Home> {
        let program = env::current_exe().context("cannot find the program's own file")?;
        let programs = program.parent().map(Path::to_owned).unwrap_or_default();
        if let Some(root) = env::var_os("DYNO_HOME").map(PathBuf::from) {
            if !is_home(&root) {
                bail!("DYNO_HOME is {}, which has no suites/, engines/ and runners/", root.display());
            }
            return Ok(Home { root, own: own_folder(), programs });
        }
        let working = env::current_dir().unwrap_or_default();
        let sources = SOURCES.path().into_iter().flat_map(Path::ancestors);
        let mut others = working.ancestors().chain(sources);
        let root = programs.ancestors().find(|folder| is_home(folder));
        let root = root.or_else(|| others.find(|folder| is_home(folder) && is_safe(folder)));
        let root = root.context(
            "cannot find the folders suites/, engines/ and runners/ above the program or the working \
             folder; set DYNO_HOME to the clone of dyno",
        )?;
        Ok(Home { root: root.to_owned(), own: own_folder(), programs })
    }

    /// All that is in `suites/`, `engines/` or `runners/`, by name: dyno's, then the user's.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn entries(&self, part: &str) -> Result<Vec<PathBuf>> {
        let mut found = entries(&self.root.join(part))?;
        if let Some(own) = self.own.as_ref().map(|own| own.join(part)).filter(|own| own.is_dir()) {
            found.extend(entries(&own)?);
        }
        Ok(found)
    }

    /// The files of all suites.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn suites(&self) -> Result<Vec<PathBuf>> {
        let mut files = self.entries("suites")?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        Ok(files)
    }

    /// The file of a suite by its name: dyno's, or else the user's, which need not be there.
    pub fn suite(&self, name: &str) -> PathBuf {
        let own = self.root.join("suites").join(format!("{name}.toml"));
        match &self.own {
            Some(folder) if !own.is_file() => folder.join("suites").join(format!("{name}.toml")),
            _ => own,
        }
    }

    /// True if a word is the name of a suite of dyno's or the user's.
    pub fn has_suite(&self, word: &str) -> bool {
        !word.contains('/') && self.suite(word).is_file()
    }
}

/// The folder of the user's configuration: `$XDG_CONFIG_HOME/dyno`, else `~/.config/dyno`. `None` without a home.
pub fn config_folder() -> Option<PathBuf> {
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(folder.join("dyno"))
}

/// The folder of suites, engines and runners that the user wrote; `None` if there is none, or another user can change it.
fn own_folder() -> Option<PathBuf> {
    let folder = config_folder()?;
    let mut parts = PARTS.map(|name| folder.join(name)).into_iter().filter(|part| part.is_dir()).peekable();
    parts.peek()?;
    let Some(fault) = first_fault([folder.clone()].into_iter().chain(parts)) else { return Some(folder) };
    notice(&format!("{fault}, so dyno reads no suites, engines and runners there"));
    None
}

/// The folder in a variable, if it is an absolute path.
fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listing = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = listing.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The folder for the user's data: `$XDG_DATA_HOME/dyno`, else `~/.local/share/dyno`. Root's folder is that of the
/// machine, because root's servers run under accounts that may not enter its home, and root runs the programs in it: one
/// that another user could change is passed over, as the `XDG_DATA_HOME` that `sudo -E` keeps. `None` without a home.
pub fn data_folder() -> Option<PathBuf> {
    let is_root = Uid::effective().is_root();
    if let Some(folder) = absolute("XDG_DATA_HOME").map(|folder| folder.join("dyno")) {
        match check_guarded(&folder) {
            Err(why) if is_root => notice(&format!(
                "root keeps no data in {}, because {why:#}; they are in {}",
                folder.display(),
                machine_folder().display()
            )),
            _ => return Some(folder),
        }
    }
    match is_root {
        true => Some(machine_folder()),
        false => absolute("HOME").map(|home| home.join(".local/share/dyno")),
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

/// True if a folder has what a home has. In a folder such as `/tmp` any user could put that together.
fn is_home(folder: &Path) -> bool {
    let is_shared = |found: Metadata| found.mode() & ALL_SHARE == ALL_SHARE;
    PARTS.iter().all(|name| folder.join(name).is_dir()) && !fs::metadata(folder).is_ok_and(is_shared)
}

/// True if a home and its folders belong to root, to the user who runs dyno, or to the one who has `sudo` run it. Says
/// which one does not.
fn is_safe(home: &Path) -> bool {
    let folders = [home.to_owned()].into_iter().chain(PARTS.map(|name| home.join(name)));
    let Some(fault) = first_fault(folders) else { return true };
    notice(&format!(
        "{fault}, so its programs are not run; if you trust them, set DYNO_HOME={}",
        home.display()
    ));
    false
}

/// The first of some folders in which programs may be a stranger's, and why.
fn first_fault(mut folders: impl Iterator<Item = PathBuf>) -> Option<String> {
    folders.find_map(|folder| Some(format!("{} {}", folder.display(), fault(&folder)?)))
}

/// Why the programs in a folder may be a stranger's.
fn fault(folder: &Path) -> Option<String> {
    let is_theirs = |found: &Metadata| !is_trusted(found.uid());
    match fs::metadata(folder) {
        Ok(found) if is_theirs(&found) => Some(format!("belongs to {}", user_name(found.uid()))),
        Ok(found) if found.mode() & ALL_WRITE != 0 => Some("can be written to by every user".to_owned()),
        Ok(_) => None,
        Err(error) => Some(format!("cannot be looked at: {error}")),
    }
}
