//! FIFOs among the files of an import.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use serde_json::json;

use super::{names, query};
use crate::common::{Place, Result, wait_for};

/// An import of a file and of a FIFO behind it that no program writes yet; it has begun to build the database.
fn begun(place: &Place) -> Child {
    place.write("t.csv", "id,v\n1,a\n2,b\n");
    mkfifo(&place.path("fifo"), Mode::S_IRWXU).unwrap();
    let mut command = place.command();
    command.args(["import", "t.csv", "fifo", "--table", "t", "--header", "--into", "a.db"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("a database being built", 60, || {
        names(place).iter().any(|name| name.starts_with(".a.db.dyno-"))
    });
    child
}

#[test]
fn an_interrupt_ends_an_import_that_waits_for_a_later_fifo() {
    let place = Place::new();
    let mut child = begun(&place);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(20));
    }
    // It is not there to be killed, unless it is deaf.
    let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), None, "the import was deaf");
    Result::from(output).without_panic().exits(130).says("nothing was loaded");
    assert_eq!(names(&place), ["fifo", "t.csv"]);
}

#[test]
fn a_later_fifo_is_waited_for_and_read_to_its_end() {
    let place = Place::new();
    let child = begun(&place);
    thread::sleep(Duration::from_millis(100));
    fs::write(place.path("fifo"), "id,v\n3,c\n").unwrap();
    Result::from(child.wait_with_output().unwrap()).without_panic().exits(0).prints("3 rows into table t");
    assert_eq!(query(&place.path("a.db"), "SELECT sum(id) FROM t"), json!([[6]]));
}
