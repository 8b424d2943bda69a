//! Kills, interrupts and a full disk leave all of a load or nothing of it.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use nix::mount::{MsFlags, mount, umount};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::servers::{Server, printed, program};
use super::{import, names, query};
use crate::common::{Place, Result, kills, wait_for};
use crate::reliability::proxy::Fault;

/// True if a process has a file open in the folder that has no name there.
pub(super) fn is_building(pid: u32, place: &Place) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let mut targets = open.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    targets
        .any(|target| target.starts_with(place.path("")) && target.to_string_lossy().ends_with("(deleted)"))
}

#[test]
fn a_killed_import_leaves_all_or_nothing() {
    let place = Place::new();
    let mut text = String::from("id,word,size\n");
    for row in 0..150_000 {
        text += &format!("{row},word {},{}\n", row % 977, row * 7919 % 10_007);
    }
    text += "150000,bad,none\n";
    place.write("t.csv", &text);
    let sure = "SELECT count(*), sum(id), sum(size), count(DISTINCT word) FROM t";
    let arguments = "import t.csv --into a.db --primary-key id --index word --on-error reject \
                     --types INTEGER,TEXT,INTEGER";
    let kills = kills(30);
    let began = std::time::Instant::now();
    place.dyno(arguments).exits(3);
    let took = began.elapsed();
    let whole = query(&place.path("a.db"), sure);
    let (mut nothing, mut all) = (0, 0);
    for number in 0..kills {
        for name in ["a.db", "t.rejects.csv"] {
            let _ = fs::remove_file(place.path(name));
        }
        let mut command = place.command();
        command.args(arguments.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // From the first moment to well behind the last.
        std::thread::sleep(took * 3 / 2 * number / kills);
        kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        match place.path("a.db").exists() {
            true => {
                assert_eq!(names(&place), ["a.db", "t.csv", "t.rejects.csv"]);
                assert_eq!(query(&place.path("a.db"), sure), whole);
                assert_eq!(query(&place.path("a.db"), "PRAGMA integrity_check"), json!([["ok"]]));
                all += 1;
            }
            false => {
                // The rejected rows are there first, if only by a moment: else a power cut could leave them nowhere.
                let left = names(&place);
                assert!(left == ["t.csv"] || left == ["t.csv", "t.rejects.csv"], "{left:?}");
                nothing += 1;
            }
        }
    }
    eprintln!("{nothing} of {kills} kills left nothing, {all} all");
    assert!(nothing > 0);
}

#[test]
fn an_interrupt_leaves_nothing() {
    let place = Place::new();
    let mut command = place.command();
    command.args(["import", "-", "--into", "a.db", "--table", "t"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // More than is looked at before the load begins, and no end.
    let line = b"1,abcdefghijklmnopqrstuvwxyz\n".repeat(1000);
    (0..800).for_each(|_| input.write_all(&line).unwrap());
    wait_for("a database being built", 60, || is_building(child.id(), &place));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    // The input is neither written nor closed until dyno has ended, so dyno must not wait for it.
    let result = Result::from(child.wait_with_output().unwrap());
    drop(input);
    result.without_panic().exits(130).says("nothing was loaded");
    assert!(names(&place).is_empty(), "{:?}", names(&place));
}

#[test]
fn an_interrupt_is_tested_where_the_parent_of_the_tests_ignores_it() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' INT; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    shell.args(["--exact", "import::all_or_nothing::an_interrupt_leaves_nothing"]);
    let result = Result::from(shell.output().unwrap());
    result.exits(0).prints("1 passed");
}

#[test]
fn a_full_disk_leaves_nothing() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    if let Err(error) = mount(Some("tmpfs"), &disk, Some("tmpfs"), MsFlags::empty(), Some("size=2m")) {
        eprintln!("SKIPPED: a small disk cannot be mounted: {error}");
        return;
    }
    let text: String = (0..200_000).map(|number| format!("{number},some text\n")).collect();
    place.write("t.csv", &text);
    let fresh = import(&place, "t.csv --into disk/a.db");
    let left = fs::read_dir(&disk).unwrap().count();
    place.write("small.csv", "1,a\n");
    let small = import(&place, "small.csv --into disk/b.db --table s");
    let there = import(&place, "t.csv --into disk/b.db --table t");
    let rows = query(&disk.join("b.db"), "SELECT (SELECT count(*) FROM s), count(*) FROM sqlite_schema");
    umount(&disk).unwrap();
    fresh.exits(4).says("full");
    assert_eq!(left, 0);
    small.exits(0);
    there.exits(4).says("full");
    assert_eq!(rows, json!([[1, 1]]));
}

/// The server commits, and its answer is lost: the rows may be loaded, so the file of rejected rows is needed.
#[test]
fn a_connection_that_is_lost_at_the_commit_leaves_the_rejected_rows_and_the_question() {
    for engine in ["postgres", "mariadb"] {
        let (Some(server), place) = (Server::start(engine), Place::new()) else { continue };
        let sql = |text: &str| printed(&mut program(&server.url), text);
        sql("CREATE TABLE t (id INTEGER)");
        place.write("t.csv", "id\n1\nx\n2\n");
        let (_proxy, url) = server.behind(Fault::CutAtCommit);
        let lost = import(&place, &format!("t.csv --append --header --on-error reject --into {url}"));
        lost.exits(4)
            .says("it is not known whether the rows are in the table: look before you import them again");
        wait_for("the commit", 60, || sql("SELECT count(*) FROM t") == "2");
        let rejects = fs::read_to_string(place.path("t.rejects.csv")).unwrap();
        assert!(rejects.contains("\n3,"), "{rejects}");
    }
}
