//! The folder of installations of dyno's own, and those in it.

use std::path::{Component, Path, PathBuf};

use dyno_engine::data_folder;

/// The folder of installations, `engines` in dyno's folder of data; `None` without a home. `scripts/install-mysql.sh` has the
/// same rule.
pub fn engines_folder() -> Option<PathBuf> {
    data_folder().map(|folder| folder.join("engines"))
}

/// The folder of an installed version, as `18` of `postgres`; `None` if no folder has that name.
pub fn installed(engine: &str, version: &str) -> Option<PathBuf> {
    let is_name = matches!(Path::new(version).components().collect::<Vec<_>>()[..], [Component::Normal(_)]);
    let folder = engines_folder()?.join(format!("{engine}@{version}"));
    (is_name && folder.is_dir()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_looked_for_among_the_installed() {
        for version in ["", "/", "../x", "/usr", "a/b"] {
            assert_eq!(installed("postgres", version), None);
        }
    }
}
