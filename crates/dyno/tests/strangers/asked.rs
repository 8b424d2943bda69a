//! Settings, addresses and statements of strangers, of which dyno asks before it uses them.

use std::io::ErrorKind;
use std::net::TcpListener;

use super::{SUITE, TINY, with_contender};
use crate::common::Place;

#[test]
fn a_strangers_setting_that_dyno_does_not_know_is_in_force_only_if_the_user_trusts_it() {
    let place = Place::new();
    for (contender, setting) in [
        // Servers take the first letters of an option for the option.
        ("mariadb", "init_fil=/tmp/theirs.sql"),
        ("mariadb", "plugin_load_ad=theirs"),
        ("mariadb", "log_bin=theirs"),
        ("postgres", "session_preload_libraries=theirs"),
        ("duckdb", "log_query_path=theirs"),
        ("sqlite@sqlcipher", "cipher_log=theirs"),
    ] {
        place.write("theirs.json", &with_contender(&format!("{contender},{setting}"), None));
        let refused = place.dyno("rerun theirs.json --quiet -o out.json").exits(2).without_panic();
        refused.says(&format!("sets {setting}")).says("--trust");
    }
    // Those that it knows need no trust.
    let known = "sqlite:memory,cache_size=-4000,foreign_keys=on";
    place.dyno(&format!("{} -o known.json", TINY.replace("sqlite:memory", known))).exits(0);
    place.dyno("rerun known.json --quiet -o out.json").exits(0);
}

#[test]
fn a_strangers_server_gets_the_users_password_only_if_the_user_trusts_it() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for url in [format!("postgres://me@127.0.0.1:{port}/db"), format!("mariadb://me@127.0.0.1:{port}/db")] {
        place.write("theirs.json", &with_contender(&url, Some(&url)));
        let refused = place.dyno("rerun theirs.json --quiet -o out.json").exits(2).without_panic();
        refused.says(&format!("{url} is connected to")).says("--trust");
    }
    let met = listener.accept().map(|(_, from)| from);
    assert!(met.is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "it was connected to");
}

#[test]
fn a_strangers_pragma_that_names_a_file_runs_only_if_the_user_trusts_it() {
    let place = Place::new();
    let statement = format!("PRAGMA cipher_profile='{}';", place.path("theirs.log").display());
    place.write("theirs.toml", &SUITE.replace("CONTENDER", "sqlite:memory").replace("STATEMENT", &statement));
    let command = "run ./theirs.toml --trials 1 --no-warm-up --quiet -o out.json";
    place.dyno(command).exits(2).says("test 1: PRAGMA cipher_profile").says("--trust");
    place.write(
        "theirs.toml",
        &SUITE.replace("CONTENDER", "sqlite:memory").replace("STATEMENT", "PRAGMA cache_size=-4000;"),
    );
    place.dyno(command).exits(0);
}
