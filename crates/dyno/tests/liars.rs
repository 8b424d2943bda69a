//! `dyno prove` against planted programs: it finds each that lies, and accuses none that is honest.

use std::process::Command;

use serde_json::Value;

use crate::common::{Place, is_thorough};
use crate::prove::{count, is_allowed, program, proved, subject};

/// A library that makes the syncs of a SQLite database in WAL mode do nothing, as a checkpoint that forgets them would.
const UNSYNCED_CHECKPOINTS: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int is_database(int fd) {
    char link[64], path[4200];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 4096);
    if (length < 3 || memcmp(path + length - 3, ".db", 3) != 0) return 0;
    strcpy(path + length, "-wal");
    return access(path, F_OK) == 0;
}
int fsync(int fd) { return is_database(fd) ? 0 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return is_database(fd) ? 0 : (int)syscall(SYS_fdatasync, fd); }
"#;

/// A library that syncs nothing in a process that found a write-ahead log when it opened the database: what was
/// acknowledged before a power cut is safe, and what was acknowledged after it is not.
const UNSYNCED_AFTER_RECOVERY: &str = r#"
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static int found = -1;
static int look(const char *path, int flags, va_list rest) {
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    size_t length = strlen(path);
    struct stat is;
    if (found < 0 && fd >= 0 && length > 4 && strcmp(path + length - 4, "-wal") == 0 && fstat(fd, &is) == 0)
        found = is.st_size > 0;
    return fd;
}
int open(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); int fd = look(path, flags, rest); va_end(rest); return fd;
}
int open64(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); int fd = look(path, flags, rest); va_end(rest); return fd;
}
int fsync(int fd) { return found == 1 ? 0 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return found == 1 ? 0 : (int)syscall(SYS_fdatasync, fd); }
"#;

/// A library that syncs nothing in a process that starts after a sync has failed: only what is acknowledged after a
/// restart is unsafe.
const UNSYNCED_AFTER_FAILURE: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int after = -1;
static int sync_by(long call, int fd) {
    char link[64], mark[4200];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, mark, 4096);
    mark[length < 0 ? 0 : length] = 0;
    char *name = strrchr(mark, '/');
    if (name == NULL) return (int)syscall(call, fd);
    if (name[1] != 0) strcpy(name, "/failed");
    if (after < 0) after = access(mark, F_OK) == 0;
    if (after) return 0;
    int result = (int)syscall(call, fd);
    if (result < 0) close((int)syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600));
    return result;
}
int fsync(int fd) { return sync_by(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_by(SYS_fdatasync, fd); }
"#;

/// The findings on SQLite in WAL mode, with a library between it and the system, if one is given.
fn with_library(place: &Place, source: Option<&str>, options: &str) -> Value {
    let mut command = place.command();
    let arguments = format!("prove --with sqlite:wal --commits 12 {options} --format json --quiet");
    command.args(arguments.split(' '));
    if let Some(source) = source {
        place.write("lie.c", source);
        let [source, library] = ["lie.c", "lie.so"].map(|name| place.path(name));
        let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
        assert!(made.unwrap().success());
        command.env("LD_PRELOAD", &library);
    }
    let output = command.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    subject(&report, "sqlite:wal").clone()
}

#[test]
fn a_checkpoint_that_never_syncs_the_database_is_found() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let options = "--cuts 10 --kills 0 --no-errors --seed 7";
    let honest = with_library(&place, None, options);
    assert_eq!(honest["kept"], true, "{honest}");
    for upkeep in ["checkpoint", "orderly close"] {
        let cut = &honest["proof"]["upkeep"][upkeep];
        assert!(cut["seen"].as_u64().unwrap() > 0 && cut["cuts"]["tried"].as_u64().unwrap() > 0, "{honest}");
    }
    let liar = with_library(&place, Some(UNSYNCED_CHECKPOINTS), options);
    assert_eq!(liar["kept"], false, "{liar}");
    assert!(count(&liar, "cuts", "lost") > 0, "{liar}");
}

#[test]
fn commits_that_are_not_durable_after_a_recovery_are_found_by_a_second_cut() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let options = "--cuts 30 --kills 0 --no-errors --seed 7";
    let once = with_library(&place, Some(UNSYNCED_AFTER_RECOVERY), &format!("{options} --rounds 1"));
    assert_eq!(count(&once, "cuts", "survived"), count(&once, "cuts", "tried"), "{once}");
    let again = with_library(&place, Some(UNSYNCED_AFTER_RECOVERY), options);
    assert!(count(&again, "rounds", "lost") > 0, "{again}");
    assert_eq!(again["kept"], false, "{again}");
    let honest = with_library(&place, None, options);
    assert!(count(&honest, "rounds", "tried") > 5, "{honest}");
    assert_eq!(count(&honest, "cuts", "survived"), count(&honest, "cuts", "tried"), "{honest}");
}

#[test]
fn commits_that_are_not_durable_after_a_restart_without_a_reboot_are_found() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let options = "--cuts 10 --kills 0 --rounds 1 --seed 7";
    let restarts = |found: &Value| {
        let failures = found["proof"]["errors"].as_array().unwrap();
        let restarted = failures.iter().filter(|failed| failed["restarted"].is_object());
        restarted.map(|failed| failed["restarted"].clone()).collect::<Vec<Value>>()
    };
    let is_whole = |restarted: &Value| restarted["harm"] == serde_json::json!({"lost": [], "broken": []});
    let acknowledges = |restarted: &Value| restarted["acknowledged"].as_u64() > Some(0);
    // A busy kernel writes when it finds the time: it may have forgotten a write of an honest program, and have written
    // or lost earlier what a liar did not sync. None of this happens each time.
    let proof = |library: Option<&str>, is_as_expected: &dyn Fn(&Value, &[Value]) -> bool| {
        let mut proofs = (0..5).map(|_| with_library(&place, library, options));
        let found = proofs.find(|found| {
            let restarted: Vec<Value> = restarts(found).into_iter().filter(acknowledges).collect();
            is_as_expected(found, &restarted)
        });
        found.expect("one of five proofs is as expected")
    };
    proof(None, &|_, restarted| restarted.iter().any(is_whole));
    // No level promises what a restart finds, so the liar is not disproved.
    let liar = proof(Some(UNSYNCED_AFTER_FAILURE), &|found, restarted| {
        !restarted.is_empty() && !restarted.iter().any(is_whole) && found["kept"] == true
    });
    assert_eq!(count(&liar, "cuts", "survived"), count(&liar, "cuts", "tried"), "{liar}");
}

#[test]
fn damaged_data_are_reported_or_not_as_an_engine_has_checksums() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let options = "--commits 40 --cuts 2 --kills 0 --rounds 1 --seed 7";
    let report = proved(&place, &format!("--with sqlite:wal,rocksdb {options}"));
    let damage = |label: &str, kind: &str, what: &str| {
        subject(&report, label)["proof"]["corruption"][kind][what].as_u64().unwrap()
    };
    let silent = |label: &str, kind: &str| damage(label, kind, "gone") + damage(label, kind, "wrong");
    for label in ["sqlite:wal", "rocksdb"] {
        assert_eq!(damage(label, "flips", "tried"), 10, "{report}");
        assert_eq!(damage(label, "unreadable", "tried"), 5, "{report}");
        assert_eq!(silent(label, "unreadable"), 0, "{report}");
    }
    assert!(damage("sqlite:wal", "unreadable", "noticed") > 0, "{report}");
    assert!(silent("rocksdb", "flips") < silent("sqlite:wal", "flips"), "{report}");
    assert!(silent("sqlite:wal", "flips") > 0, "it has no checksums: {report}");
    assert_eq!(subject(&report, "sqlite:wal")["kept"], true, "no level promises it");
}

#[test]
fn garbage_in_a_sector_is_shown_and_accuses_nobody() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    // Each commit is longer than a sector, and shares a block with those before.
    let appends =
        "for n in 1 2 3 4 5 6; do printf '%d %0600d\\n' $n 0 >>commits; sync commits; echo ack $n; done";
    let look = "awk '{ print \"have\", $1 }' \"$1/commits\"";
    let (found, code) = tried(&place, appends, look, "--cuts 100 --kills 0 --no-errors --seed 1");
    assert_eq!(count(&found, "cuts", "survived"), count(&found, "cuts", "tried"), "{found}");
    assert!(count(&found, "garbage", "survived") < count(&found, "garbage", "tried"), "{found}");
    assert_eq!(code, Some(0), "{found}");
}

/// Cuts that tear pages of a PostgreSQL.
fn torn(contender: &str, cuts: u32) -> Option<Value> {
    let options = format!("--commits 16 --cuts {cuts} --rounds 1 --kills 0 --no-errors --seed 7");
    is_allowed().then(|| {
        let report = proved(&Place::new(), &format!("--with {contender} {options}"));
        subject(&report, contender).clone()
    })
}

#[test]
fn pages_that_a_checkpoint_leaves_half_written_are_found_without_full_page_writes() {
    let Some(torn) = torn("postgres,full_page_writes=off", 60) else { return };
    assert!(count(&torn, "torn", "survived") < count(&torn, "torn", "tried"), "{torn}");
}

#[test]
fn pages_that_a_checkpoint_leaves_half_written_are_repaired_by_full_page_writes() {
    let Some(whole) = torn("postgres", if is_thorough() { 60 } else { 24 }) else { return };
    assert_eq!(count(&whole, "cuts", "survived"), count(&whole, "cuts", "tried"), "{whole}");
    assert!(count(&whole, "torn", "tried") > 0, "{whole}");
}

#[test]
#[ignore = "make soak: it starts MariaDB on some sixty disks"]
fn pages_that_are_half_written_are_found_without_the_doublewrite_buffer() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let contenders = "mariadb,mariadb,innodb_doublewrite=OFF";
    let options = "--commits 16 --cuts 60 --rounds 1 --kills 0 --no-errors --seed 7";
    let report = proved(&place, &format!("--with {contenders} {options}"));
    let whole = subject(&report, "mariadb");
    assert_eq!(count(whole, "cuts", "survived"), count(whole, "cuts", "tried"), "{whole}");
    let torn = subject(&report, "mariadb,innodb_doublewrite=OFF");
    assert!(count(torn, "torn", "survived") < count(torn, "torn", "tried"), "{torn}");
}

/// The findings on a program in two commands, and the exit code.
fn tried(place: &Place, commit: &str, look: &str, options: &str) -> (Value, Option<i32>) {
    let look = program(place, "look", &format!("#!/bin/sh\n{look}\n"));
    let commit = program(place, "commit", &format!("#!/bin/sh\ncd \"$1\" || exit 1\n{commit}\n"));
    let mut command = place.command();
    command.args("prove --label mine --format json --quiet".split(' ')).args(options.split(' '));
    command.args(["--command", &format!("{commit} {{dir}}"), "--check", &format!("{look} {{dir}}")]);
    let output = command.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (subject(&report, "mine").clone(), output.status.code())
}

const LOOK: &str = "sed 's/^/have /' \"$1/commits\"";

#[test]
fn a_program_that_loses_everything_at_its_end_is_found_by_every_seed() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let careful = "for n in 1 2 3 4 5 6; do echo $n >>commits; sync commits; echo ack $n; done";
    // It rewrites its log in place, and syncs only that the log is empty.
    let closes = format!("{careful}; all=$(cat commits); : >commits; sync commits; echo \"$all\" >commits");
    for seed in 1..=3 {
        let options = format!("--cuts 2 --kills 0 --no-errors --seed {seed}");
        let (liar, code) = tried(&place, &closes, LOOK, &options);
        assert!(count(&liar, "cuts", "lost") > 0, "{liar}");
        assert_eq!(code, Some(1), "{liar}");
    }
    let (honest, code) = tried(&place, careful, LOOK, "--cuts 2 --kills 0 --no-errors --seed 1");
    assert_eq!((count(&honest, "cuts", "lost"), code), (0, Some(0)), "{honest}");
}

#[test]
fn a_group_commit_is_honest_with_and_without_lines_that_say_when_a_commit_begins() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let group = |begin: &str| {
        format!(
            "for g in 0 1 2 3 4 5; do for n in 1 2 3 4; do {begin} echo $((g*4+n)) >>commits || exit 1; done; sync commits || exit 1
             for n in 1 2 3 4; do echo ack $((g*4+n)); done; done"
        )
    };
    for begin in ["", "echo begin $((g*4+n));"] {
        let (honest, code) = tried(&place, &group(begin), LOOK, "--cuts 30 --kills 4 --seed 1");
        assert_eq!(code, Some(0), "{honest}");
        assert_eq!(count(&honest, "cuts", "survived"), count(&honest, "cuts", "tried"), "{honest}");
        assert_eq!(count(&honest, "kills", "survived"), 4, "{honest}");
        assert_eq!(honest["proof"]["observed"]["unflushed"], 0, "{honest}");
        // Five groups after the first acknowledgement, for 23 commits.
        let calls = honest["proof"]["calls"]["calls"].as_f64().unwrap();
        assert!((calls - 5.0 / 23.0).abs() < 0.001, "{calls}");
    }
}

#[test]
fn a_look_that_takes_too_long_is_no_loss() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let careful = "for n in 1 2 3; do echo $n >>commits; sync commits; echo ack $n; done";
    let slow =
        format!("[ -e \"$1/commits\" ] || exit 0; {LOOK}; [ $(wc -l <\"$1/commits\") -lt 3 ] || sleep 60");
    let options = "--cuts 2 --kills 0 --no-errors --seed 1 --timeout 4s";
    let (slow, _) = tried(&place, careful, &slow, options);
    assert!(slow["proof"]["late"].as_u64().unwrap() > 0, "{slow}");
    assert_eq!((count(&slow, "cuts", "lost"), count(&slow, "cuts", "broken")), (0, 0), "{slow}");
    assert_eq!(slow["proof"]["failures"].as_array().unwrap().len(), 0, "{slow}");
}

#[test]
fn a_program_that_fails_acknowledges_nothing_or_does_not_end_is_refused_by_its_exit_code() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let options = "--cuts 1 --kills 0 --no-errors --seed 1 --timeout 3s";
    let acknowledged = "echo 1 >>commits; sync commits; echo ack 1";
    for commit in ["exit 3", "true", &format!("{acknowledged}; exit 3"), &format!("{acknowledged}; sleep 60")]
    {
        let (found, code) = tried(&place, commit, &format!("[ ! -e \"$1/commits\" ] || {LOOK}"), options);
        assert_eq!(code, Some(1), "{commit}: {found}");
    }
}
