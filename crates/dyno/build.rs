//! Names the commit that dyno is built from, so that a run file says which program wrote it.
//!
//! `DYNO_COMMIT` names it where there is no repository, as in an archive of the sources. In a repository it is the
//! commit that is checked out, with `-dirty` where a file that goes into the program differs from it. Cargo runs this
//! script again only after a commit, a checkout, or a change of such a file, after which the program is compiled again
//! anyway.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The files that go into the program, from the repository's root, as Git's patterns.
const SOURCES: [&str; 8] = [
    ":(glob)crates/*/src/**",
    ":(glob)crates/*/templates/**",
    ":(glob)crates/*/report/**",
    ":(glob)crates/*/build.rs",
    "Cargo.lock",
    "Cargo.toml",
    ":(exclude)crates/runner",
    ":(exclude)crates/gauge",
];

/// The features of the package that a user may lack.
const FEATURES: [&str; 1] = ["parquet"];

/// Crates that go into runners only.
const OF_RUNNERS: [&str; 2] = ["runner", "gauge"];

fn main() {
    println!("cargo:rerun-if-env-changed=DYNO_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let commit = std::env::var("DYNO_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = commit.or_else(|| checked_out(&root));
    if let Some(commit) = &commit {
        println!("cargo:rustc-env=DYNO_BUILT_FROM={commit}");
    }
    println!("cargo:rustc-env=DYNO_COMMIT_OR_UNKNOWN={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo:rustc-env=DYNO_FEATURES={}", features());
}

/// The features of the package, each with `+` where it is in the program and `-` where it is not.
fn features() -> String {
    let is_in = |name: &str| std::env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some();
    let marked = FEATURES.map(|name| format!("{}{name}", if is_in(name) { '+' } else { '-' }));
    marked.join(" ")
}

/// The commit that is checked out; none where `root` is no repository of dyno, or Git is not there.
fn checked_out(root: &Path) -> Option<String> {
    // In an archive that was unpacked within another repository, Git would name a commit of that one.
    if !root.join(".git").exists() {
        return None;
    }
    let commit = git(root, &["rev-parse", "--verify", "HEAD"])?;
    let arguments: Vec<&str> = ["status", "--porcelain", "--"].into_iter().chain(SOURCES).collect();
    let changed = git(root, &arguments)?;
    watch(root);
    let suffix = if changed.is_empty() { "" } else { "-dirty" };
    Some(format!("{commit}{suffix}"))
}

/// Names the files whose change may change the answer. Cargo would run the script at each build for one that is
/// missing.
fn watch(root: &Path) {
    let folder = git(root, &["rev-parse", "--absolute-git-dir"]).map(PathBuf::from);
    // A commit and a checkout both add a line there.
    let log = folder.map(|folder| folder.join("logs/HEAD")).filter(|log| log.exists());
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let crates = crates.filter(|found| !OF_RUNNERS.iter().any(|name| found.file_name() == *name));
    let sources = crates
        .flat_map(|found| ["src", "templates", "report", "build.rs"].map(|name| found.path().join(name)));
    let others = ["Cargo.lock", "Cargo.toml"].map(|name| root.join(name));
    for path in log.into_iter().chain(sources).chain(others).filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// The output of Git, without the line's end; none where it fails. Nothing of the caller's environment names another
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(arguments).env("GIT_OPTIONAL_LOCKS", "0");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(variable);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}
