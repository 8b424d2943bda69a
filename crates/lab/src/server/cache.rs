//! The user's cache: what dyno makes once and keeps for later runs, which do without where it is gone.
//!
//! A server begins with what lies there, and dyno removes what is noted there. So a cache that another user could change
//! is done without, as that of a home folder which `sudo` keeps for root.

use std::env;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno_files::{check_guarded, notice};

/// A folder of the cache. `None` without a home, and where another user could change it, of which a notice says so.
pub fn cache_folder(name: &str) -> Option<PathBuf> {
    let folder = place()?.join(name);
    match check_guarded(&folder) {
        Ok(()) => Some(folder),
        Err(why) => {
            notice(&format!(
                "the cache {} is not used, because {why:#}; XDG_CACHE_HOME names another",
                folder.display()
            ));
            None
        }
    }
}

/// The same of a folder that is there.
pub fn existing_folder(name: &str) -> Option<PathBuf> {
    place()?.join(name).is_dir().then(|| cache_folder(name)).flatten()
}

/// Makes a folder of the cache, where it is missing, for its owner alone.
///
/// # Errors
/// It cannot be made, or another user could change it.
pub fn make(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("cannot make {}", folder.display()))?;
    // Another user may have been quicker in a folder that all share.
    check_guarded(folder)
}

fn place() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    cache.is_absolute().then(|| cache.join("dyno"))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_of_the_cache_is_its_owners_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("cache/dyno/servers");
        make(&folder).unwrap();
        for made in [&folder, &place.path().join("cache")] {
            assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
        }
        fs::set_permissions(place.path().join("cache"), Permissions::from_mode(0o777)).unwrap();
        assert!(make(&folder).unwrap_err().to_string().contains("other users can write"));
    }
}
