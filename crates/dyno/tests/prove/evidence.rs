//! Evidence of a loss in a folder that another user can have filled.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::{is_allowed, proved};
use crate::common::{Place, Result};

const NOBODY: u32 = 65534;

/// The result of the script that looks again at a kept loss of SQLite.
fn repeated(place: &Place, arguments: &str) -> Result {
    let mut script = Command::new(place.path("kept/sqlite/repeat.sh"));
    script.args(arguments.split_whitespace()).env("DYNO", env!("CARGO_BIN_EXE_dyno"));
    script.env("TMPDIR", place.path("data")).output().unwrap().into()
}

fn mode(place: &Place, name: &str) -> u32 {
    fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o7777
}

fn set_mode(place: &Place, name: &str, mode: u32) {
    fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_another_user_can_have_kept_is_looked_at_only_if_the_user_trusts_it() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    proved(&place, "--with sqlite --commits 6 --cuts 8 --kills 0 --no-errors --seed 7 --keep kept");
    for (name, is) in [("", 0o700), ("/disk.img", 0o600), ("/about.json", 0o600), ("/repeat.sh", 0o700)] {
        assert_eq!(mode(&place, &format!("kept/sqlite{name}")), is, "{name}");
    }
    repeated(&place, "").exits(0).prints(" is gone");
    for (owner, mode) in [(NOBODY, 0o755), (0, 0o777)] {
        chown(place.path("kept/sqlite"), Some(owner), None).unwrap();
        set_mode(&place, "kept/sqlite", mode);
        let refused = repeated(&place, "").exits(2).says("--trust").without_panic();
        assert_eq!(refused.says("dyno mounts their disk").stdout, "");
        repeated(&place, "--trust").exits(0).prints(" is gone");
    }
    set_mode(&place, "kept/sqlite", 0o700);
    // No FIFO is waited for, even the user's own.
    let fifo = |name: &str| {
        let name = place.path(&format!("kept/sqlite/{name}"));
        fs::remove_file(&name).unwrap();
        mkfifo(&name, Mode::S_IRWXU).unwrap();
    };
    fifo("disk.img");
    repeated(&place, "").exits(4).says("disk.img: it is not a regular file");
    fifo("about.json");
    repeated(&place, "")
        .exits(2)
        .says("about.json, which dyno prove --keep writes: it is not a regular file");
    place.dyno("prove --with sqlite --trust --cuts 2 --quiet").exits(2).says("--again");
    place.assert_clean();
}

#[test]
fn kept_files_lead_root_nowhere_else() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    proved(&place, "--device posix --with sqlite --commits 12 --cuts 24 --seed 7 --keep kept");
    repeated(&place, "").exits(0);
    let database = place.path("kept/sqlite/files/database/dyno.db");
    // One that SQLite would open, and change as it recovers.
    let precious = place.path("precious.db");
    fs::copy(&database, &precious).unwrap();
    let bytes = fs::read(&precious).unwrap();
    chown(&database, Some(NOBODY), None).unwrap();
    repeated(&place, "").exits(4).says("some of the kept files belong to the user nobody");
    for to in [precious.clone(), "../../precious.db".into()] {
        fs::remove_file(&database).unwrap();
        symlink(&to, &database).unwrap();
        let said = format!("database/dyno.db is a link to {}, outside of what was kept", to.display());
        repeated(&place, "").exits(4).says(&said);
    }
    assert_eq!(fs::read(&precious).unwrap(), bytes);
    place.assert_clean();
}
