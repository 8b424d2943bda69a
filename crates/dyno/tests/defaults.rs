//! The user's defaults, as files that dyno finds or is given.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Place, Result};

const SMALL: &str = "run speedtest --scale 0.01 --only 2 --with sqlite:memory --quiet";

/// Runs dyno with a home whose file of defaults has this text.
fn dyno(place: &Place, text: &str, arguments: &str) -> Result {
    let folder = place.path("config/dyno");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("dyno.toml"), text).unwrap();
    fs::set_permissions(folder.join("dyno.toml"), fs::Permissions::from_mode(0o644)).unwrap();
    found(place, arguments)
}

fn found(place: &Place, arguments: &str) -> Result {
    let mut command = place.command();
    command.env_remove("DYNO_DEFAULTS").env("XDG_CONFIG_HOME", place.path("config"));
    command.args(arguments.split_whitespace()).output().unwrap().into()
}

#[test]
fn defaults_hold_where_nothing_is_typed_and_the_run_file_names_them() {
    let place = Place::in_memory();
    let text = "[defaults]\nrun.trials = 2\nrun.no-warm-up = true\nshow.format = \"csv\"\n";
    dyno(&place, text, &format!("{SMALL} -o run.jsonl"))
        .exits(0)
        .prints("2 trials of each contender without");
    dyno(&place, text, "show run.jsonl").exits(0).prints("suite,");
    dyno(&place, text, "show run.jsonl --format table").exits(0).prints("2 trials of each");
    let run = dyno_record::load(&place.path("run.jsonl")).unwrap();
    for option in ["--trials=2", "--no-warm-up"] {
        assert!(run.command.iter().any(|argument| argument == option), "{option}: {:?}", run.command);
    }
    dyno(&place, text, &format!("{SMALL} --trials 3 -o run.jsonl")).exits(0).prints("3 trials of each");
    let run = dyno_record::load(&place.path("run.jsonl")).unwrap();
    assert!(!run.command.contains(&"--trials=2".into()), "{:?}", run.command);
    dyno(&place, text, "--version").exits(0).prints("dyno.toml (3 options)");
    dyno(&place, text, "run --help").exits(0).prints("[default: 2]");
}

#[test]
fn a_wrong_file_stops_dyno_with_its_line() {
    let place = Place::in_memory();
    let wrong = dyno(&place, "[defaults]\n\nrun.budgt = \"3m\"\n", SMALL).exits(2);
    wrong.says("dyno.toml:3: `dyno run` has no option 'budgt'; did you mean budget?");
    dyno(&place, "[defaults]\nrun.trust = true\n", SMALL)
        .exits(2)
        .says("dyno.toml:2: `trust` has no default");
    dyno(&place, "[defalts]\n", SMALL).exits(2).says("dyno.toml:1: ").without_panic();
}

#[test]
fn a_file_that_others_can_write_to_and_one_in_the_working_folder_are_not_followed() {
    let place = Place::in_memory();
    dyno(&place, "[defaults]\nrun.trials = 2\n", "--version").exits(0);
    let file = place.path("config/dyno/dyno.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    found(&place, SMALL).exits(2).says("others can write to it");
    fs::remove_file(&file).unwrap();
    place.write("dyno.toml", "[defaults]\nrun.trust = true\nnonsense");
    found(&place, "--version").exits(0).prints("there is no such file");
    // No FIFO is waited for.
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    found(&place, "--version").exits(2).says("cannot read");
}
