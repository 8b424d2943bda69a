//! The databases that `--keep` keeps.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{Place, Result};
use crate::engines::Running;

const BANK: &str = "run bank --set accounts=50 --set warm_up=0.1 --duration 0.3s --only transfer --trials 2 --no-warm-up --keep";

/// The path under which a run says that it kept the database of a contender.
fn kept(place: &Place, result: &Result, label: &str) -> PathBuf {
    let start = format!("The database of {label} is kept in ");
    let line = result.stderr.lines().find_map(|line| line.strip_prefix(&start));
    place.path(line.unwrap_or_else(|| panic!("{}", result.stderr)).trim_end_matches('.'))
}

#[test]
fn files_are_moved_to_a_folder_of_the_user() {
    let place = Place::new();
    let with = "--with sqlite:wal,sqlite:memory,lmdb";
    let run = "run ycsb --only a --clients 1 --set records=100 --set warm_up=0 --duration 0.2s --trials 2 --no-warm-up --keep";
    let result = place.dyno(&format!("{run} {with}"));
    let result = result.exits(0).without_panic();
    for label in ["sqlite:wal", "lmdb"] {
        let folder = kept(&place, &result, label);
        assert!(folder.starts_with(place.path("results")), "{}", folder.display());
        let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty(), "{}", folder.display());
    }
    result.says("sqlite:memory left no file");
}

#[test]
fn a_database_that_is_kept_is_that_of_the_run() {
    let place = Place::new();
    let result = place.dyno(&format!("{BANK} --with sqlite:wal")).exits(0).without_panic();
    let folder = kept(&place, &result, "sqlite:wal");
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let file =
        files.into_iter().find(|file| fs::read(file).unwrap().starts_with(b"SQLite format 3")).unwrap();
    let count = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM accounts').fetchone())";
    let output = Command::new("python3").args(["-c", count]).arg(file).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "500\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mode = fs::metadata(folder.parent().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    place.assert_clean();
}

#[test]
fn what_goes_with_the_run_is_refused() {
    let place = Place::new();
    let refused = place.dyno(&format!("{BANK} --with postgres")).exits(2);
    refused.says("the server of postgres is one that dyno starts and removes");
    assert!(!place.path("results").exists());
}

#[test]
fn a_database_on_somebodys_server_stays_until_it_is_dropped() {
    let place = Place::new();
    let server = Running::start("postgres");
    let before = server.databases();
    let (folder, port, user) = server.reach();
    let url = format!("--url postgres://{user}@/postgres?host={folder}&port={port}");
    // Two contenders on one server have a database each.
    let both = format!("{url} {}", url.replace("postgres://", "postgres+pgx://"));
    let result = place.dyno(&format!("{BANK} {both}")).exits(0).without_panic();
    let said = result.stderr.split("; DROP DATABASE ").skip(1);
    let names: Vec<&str> = said.map(|rest| rest.split(' ').next().unwrap()).collect();
    assert_eq!(names.len(), 2, "{}", result.stderr);
    for name in &names {
        assert!(name.starts_with("dyno_scratch_") && server.databases().contains(name), "{name}");
        server.execute(&format!("DROP DATABASE {name}"));
    }
    assert_eq!(server.databases(), before);
    place.assert_clean();
}
