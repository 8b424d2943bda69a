//! Syncs that fail, and kills while dyno syncs: a library between dyno and the system brings them about. Storage on which a
//! sync does nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use dyno_lab::machine::{is_in_memory, storage};
use serde_json::json;

use super::{import, most, names, query};
use crate::common::{Place, Result};

/// A library in which the syncs of folders fail, or the sync of a file of more than a MiB kills the process.
const FAULTS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static int sync_by(long call, int fd) {
    struct stat is;
    int kills = getenv("SYNC_KILLS") != NULL;
    if (fstat(fd, &is) == 0) {
        if (kills && is.st_size > 1 << 20) kill(getpid(), SIGKILL);
        if (!kills && S_ISDIR(is.st_mode)) { errno = EIO; return -1; }
    }
    return (int)syscall(call, fd);
}
int fsync(int fd) { return sync_by(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_by(SYS_fdatasync, fd); }
"#;

/// The command `dyno import` in a place, with the library, which lies elsewhere.
fn faulty(place: &Place, library: &Place, arguments: &str) -> Command {
    library.write("faults.c", FAULTS);
    let [source, built] = ["faults.c", "faults.so"].map(|name| library.path(name));
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&built, &source]).status();
    assert!(made.unwrap().success());
    let mut command = place.command();
    command.arg("import").args(arguments.split_whitespace()).env("LD_PRELOAD", built);
    command
}

#[test]
fn rows_are_loaded_if_only_the_folder_cannot_be_synced() {
    let (place, library) = (Place::new(), Place::new());
    place.write("t.csv", "id,v\n1,a\n2,b\n");
    // SQLite inserts the rows of a new table, and moves those of one that is there.
    for (arguments, rows) in [("--into a.db", 2), ("--into a.db --append", 4), ("--into a.db --table s", 2)] {
        let run: Result = faulty(&place, &library, &format!("t.csv {arguments}")).output().unwrap().into();
        let run = run.without_panic().exits(0).prints("Survives process-crash").prints("rows into table");
        run.prints("folder could not be synced: ");
        let table = if arguments.contains("--table") { "s" } else { "t" };
        let found = query(&place.path("a.db"), &format!("SELECT count(*) FROM {table}"));
        assert_eq!(found, json!([[rows]]), "{arguments}");
    }
    assert_eq!(names(&place), ["a.db", "t.csv"]);
    import(&place, "t.csv --into a.db --append").exits(0).prints(most(&place.path("")));
}

#[test]
fn rows_on_storage_in_memory_are_not_said_to_survive_a_power_cut() {
    let place = Place::in_memory();
    let folder = place.data();
    if !is_in_memory(&storage(&folder).unwrap()) {
        eprintln!("SKIPPED: there is no storage in memory");
        return;
    }
    place.write("t.csv", "id,v\n1,a\n2,b\n");
    symlink(&folder, place.path("link")).unwrap();
    let plain = folder.join("y.db").display().to_string();
    for into in ["link/x.db", "link/x.db --append", &plain, &format!("sqlite:{plain} --append")] {
        import(&place, &format!("t.csv --into {into}"))
            .exits(0)
            .prints("Survives process-crash: ")
            .prints(", but the data are in memory, where a sync does nothing and a power cut takes all.");
    }
    import(&place, "t.csv --into link/x.db --append --safety none").exits(0).prints("Survives none: ");
}

#[test]
fn a_kill_while_the_database_is_synced_leaves_no_file_of_rejected_rows() {
    let (place, library) = (Place::new(), Place::new());
    let rows: String = (0..60_000).map(|row| format!("{row},a text of some length {row}\n")).collect();
    place.write("t.csv", &format!("id,v\n{rows}x,bad\n"));
    place.write("u.csv", "id,v\n7,b\n");
    // dyno writes the pages of a single file, and SQLite inserts the rows of two.
    for files in ["t.csv", "t.csv u.csv --table t"] {
        let arguments = format!("{files} --into a.db --header --types INTEGER,TEXT --on-error reject");
        let mut command = faulty(&place, &library, &arguments);
        let killed = command.env("SYNC_KILLS", "1").stdout(Stdio::null()).status().unwrap();
        assert!(!killed.success());
        let mut left = names(&place);
        // SQLite cannot build a file without a name.
        left.retain(|name| !name.starts_with(".a.db.dyno-"));
        assert_eq!(left, ["t.csv", "u.csv"], "{files}");
        import(&place, &arguments).exits(3);
        for name in ["a.db", "t.rejects.csv"] {
            fs::remove_file(place.path(name)).unwrap();
        }
    }
}
