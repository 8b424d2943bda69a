//! Traps that another user has planted where an import goes: links, databases and journals that dyno must not follow, write into or
//! apply.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::process::Command;

use nix::unistd::Uid;
use serde_json::json;

use super::{import, query};
use crate::common::{Place, Result};

const STRANGER: u32 = 65534;

/// A place with a file of two rows, a database of root's in a folder of root's, and a folder such as `/tmp`. None unless
/// root runs the tests.
fn shared() -> Option<Place> {
    if !Uid::effective().is_root() {
        eprintln!("not run: another user's files need root");
        return None;
    }
    let place = Place::new();
    fs::set_permissions(place.path(""), Permissions::from_mode(0o755)).unwrap();
    for folder in ["precious", "shared"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    fs::set_permissions(place.path("shared"), Permissions::from_mode(0o1777)).unwrap();
    place.write("t.csv", "id,v\n1,a\n2,b\n");
    import(&place, "t.csv --into precious/app.db").exits(0);
    Some(place)
}

fn give(place: &Place, name: &str) {
    lchown(place.path(name), Some(STRANGER), Some(STRANGER)).unwrap();
}

/// The rows in root's database.
fn precious(place: &Place) -> serde_json::Value {
    query(&place.path("precious/app.db"), "SELECT count(*) FROM t")
}

#[test]
fn a_strangers_link_leads_to_no_database() {
    let Some(place) = shared() else { return };
    symlink("../precious/app.db", place.path("shared/there.db")).unwrap();
    symlink("../precious/new.db", place.path("shared/dangling.db")).unwrap();
    symlink("../precious", place.path("shared/folder")).unwrap();
    for name in ["there.db", "dangling.db", "folder"] {
        give(&place, &format!("shared/{name}"));
    }
    for into in ["there.db", "dangling.db", "folder/app.db", "folder/new.db"] {
        for how in ["--append", "--replace", "--table s", "--dry-run"] {
            let result = import(&place, &format!("t.csv --into shared/{into} {how}")).exits(2);
            result.says("is a link that belongs to the user").says("does not follow it");
            assert_eq!(fs::read_dir(place.path("precious")).unwrap().count(), 1, "{into} {how}");
        }
    }
    assert_eq!(precious(&place), json!([[2]]));
}

#[test]
fn root_loads_into_no_folder_that_another_user_could_exchange() {
    let Some(place) = shared() else { return };
    fs::create_dir(place.path("theirs")).unwrap();
    import(&place, "t.csv --into theirs/a.db").exits(0);
    give(&place, "theirs");
    for into in ["a.db --append", "b.db"] {
        let result = import(&place, &format!("t.csv --into theirs/{into}")).exits(2);
        result.says("another user could have root write elsewhere").says("theirs belongs to the user");
    }
    assert_eq!(query(&place.path("theirs/a.db"), "SELECT count(*) FROM t"), json!([[2]]));
    assert!(!place.path("theirs/b.db").exists());
    place.write("bad.csv", "id,v\n1,a\nx,b\n");
    let rejects = "--header --types INTEGER,TEXT --on-error reject --rejects theirs/r.csv";
    let result = import(&place, &format!("bad.csv --into precious/bad.db {rejects}")).exits(2);
    result.says("another user could have root write elsewhere").says("--rejects names another file");
    assert!(!place.path("precious/bad.db").exists() && !place.path("theirs/r.csv").exists());
    // The user who has sudo run dyno names a place of that user's.
    let mut command = place.command();
    let arguments = ["import", "t.csv", "--into", "theirs/b.db"];
    let result: Result =
        command.args(arguments).env("SUDO_UID", STRANGER.to_string()).output().unwrap().into();
    result.exits(0);
}

#[test]
fn a_strangers_database_and_journals_are_not_used() {
    let Some(place) = shared() else { return };
    import(&place, "t.csv --into shared/theirs.db").exits(0);
    chown(place.path("shared/theirs.db"), Some(STRANGER), Some(STRANGER)).unwrap();
    fs::set_permissions(place.path("shared/theirs.db"), Permissions::from_mode(0o666)).unwrap();
    for how in ["--append", "--replace", "--table s"] {
        let result = import(&place, &format!("t.csv --into shared/theirs.db {how}")).exits(2);
        result.says("theirs.db belongs to the user").says("remove it, or name another file");
    }
    assert_eq!(query(&place.path("shared/theirs.db"), "SELECT count(*) FROM t"), json!([[2]]));
    import(&place, "t.csv --into shared/ours.db").exits(0);
    for ending in ["-journal", "-wal", "-shm"] {
        let planted = format!("shared/ours.db{ending}");
        place.write(&planted, "planted");
        give(&place, &planted);
        let result = import(&place, "t.csv --into shared/ours.db --append").exits(2);
        result.says(&format!("ours.db{ending} belongs to the user"));
        assert_eq!(fs::read_to_string(place.path(&planted)).unwrap(), "planted");
        fs::remove_file(place.path(&planted)).unwrap();
    }
    import(&place, "t.csv --into shared/ours.db --append").exits(0);
    assert_eq!(query(&place.path("shared/ours.db"), "SELECT count(*) FROM t"), json!([[4]]));
}

#[test]
fn a_link_of_ones_own_leads_to_its_database() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\n2,b\n");
    fs::create_dir(place.path("folder")).unwrap();
    symlink("folder", place.path("way")).unwrap();
    symlink("way/a.db", place.path("link.db")).unwrap();
    let said = import(&place, "t.csv --into link.db").exits(2);
    said.says("link.db is a link to folder/a.db, and nothing is there").says("name that file");
    import(&place, "t.csv --into way/a.db").exits(0);
    assert!(!place.path("folder/a.db").is_symlink());
    for into in ["link.db", "way/a.db", "./way/../link.db"] {
        import(&place, &format!("t.csv --into {into} --append")).exits(0);
    }
    import(&place, "t.csv --into link.db --replace").exits(0);
    import(&place, "t.csv --into link.db --append").exits(0);
    assert!(place.path("link.db").is_symlink());
    assert_eq!(query(&place.path("folder/a.db"), "SELECT count(*) FROM t"), json!([[4]]));
    // Names that SQLite would take for something else than a file.
    for into in ["./:memory:", "./file:a.db?mode=memory"] {
        import(&place, &format!("t.csv --into {into}")).exits(0);
        import(&place, &format!("t.csv --into {into} --append")).exits(0);
        assert_eq!(query(&place.path(into), "SELECT count(*) FROM t"), json!([[4]]), "{into}");
    }
}

#[test]
fn a_user_who_is_not_root_loads_into_a_database_in_a_folder_of_another_users() {
    let Some(place) = shared() else { return };
    let folder = place.path("shared");
    fs::create_dir(folder.join("home")).unwrap();
    // A database of root's in a folder of root's, to which the user may write.
    fs::copy(place.path("precious/app.db"), folder.join("home/app.db")).unwrap();
    fs::set_permissions(folder.join("home/app.db"), Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(folder.join("home"), Permissions::from_mode(0o777)).unwrap();
    let user = STRANGER.to_string();
    let run = |into: &str| -> Result {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups", env!("CARGO_BIN_EXE_dyno")]);
        command.args(["import", "../t.csv", "--append", "--into", into]).current_dir(&folder);
        command.env("DYNO_DEFAULTS", "").output().unwrap().into()
    };
    let result = run("home/app.db");
    if result.stderr.contains("setpriv") || result.stderr.contains("ermission denied") {
        return eprintln!("not run: another user cannot run dyno here: {}", result.stderr);
    }
    result.exits(0);
    assert_eq!(query(&folder.join("home/app.db"), "SELECT count(*) FROM t"), json!([[4]]));
}
