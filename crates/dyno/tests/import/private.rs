//! No user can read the files that an import makes who could not read those that it loads.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::import;
use crate::common::Place;

fn set(place: &Place, name: &str, mode: u32) {
    fs::set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap();
}

fn mode(place: &Place, name: &str) -> u32 {
    fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_database_and_rejected_rows_have_no_more_readers_than_the_files() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\nx,b\n");
    place.write("u.csv", "id,v\n2,c\n");
    // The tests' own mask may take more.
    let all = mode(&place, "u.csv");
    for (modes, expected) in
        [([0o600, 0o666], 0o600), ([0o640, 0o604], 0o600), ([0o444, 0o644], 0o644), ([0o666, 0o666], all)]
    {
        set(&place, "t.csv", modes[0]);
        set(&place, "u.csv", modes[1]);
        let expected = expected & all;
        let options = "--types INTEGER,TEXT --on-error reject --rejects r.csv --header";
        import(&place, &format!("t.csv u.csv --table t --into a.db {options}")).exits(3);
        assert_eq!((mode(&place, "a.db"), mode(&place, "r.csv")), (expected, expected), "{modes:?}");
        for name in ["a.db", "r.csv"] {
            fs::remove_file(place.path(name)).unwrap();
        }
        // dyno writes the pages of a single file.
        import(&place, &format!("t.csv --into a.db {options}")).exits(3);
        let expected = (0o600 | 0o666 & modes[0]) & all;
        assert_eq!((mode(&place, "a.db"), mode(&place, "r.csv")), (expected, expected), "{modes:?}");
        for name in ["a.db", "r.csv"] {
            fs::remove_file(place.path(name)).unwrap();
        }
    }
}

#[test]
fn rejected_rows_have_no_more_readers_than_the_database_that_they_were_for() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,a\nx,b\n");
    place.write("u.csv", "id,v\n2,c\n");
    import(&place, "u.csv --table t --into a.db").exits(0);
    set(&place, "a.db", 0o600);
    import(&place, "t.csv --into a.db --append --on-error reject").exits(3);
    assert_eq!((mode(&place, "a.db"), mode(&place, "t.rejects.csv")), (0o600, 0o600));
}
