//! What another user has planted where root works: links, files, FIFOs, homes and caches that dyno must not follow,
//! write into, or run programs of.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::stat::Mode;
use nix::unistd::{Uid, mkfifo};

use crate::common::{Place, Result, repository};

const TINY: &str = "run speedtest --scale 0.01 --only 1 --with sqlite:memory --trials 1 --no-warm-up --quiet";
const STRANGER: u32 = 65534;

fn is_root() -> bool {
    let is_root = Uid::effective().is_root();
    if !is_root {
        eprintln!("not run: another user's files need root");
    }
    is_root
}

fn give(path: &Path) {
    lchown(path, Some(STRANGER), Some(STRANGER)).unwrap();
}

/// A folder of the stranger's, and in it links to a precious file and to its folder, a FIFO that is read, and a file.
fn planted(place: &Place) -> PathBuf {
    let theirs = place.path("theirs");
    fs::create_dir_all(place.path("precious")).unwrap();
    fs::create_dir(&theirs).unwrap();
    fs::write(place.path("precious/file"), "precious").unwrap();
    symlink(place.path("precious/file"), theirs.join("link.csv")).unwrap();
    symlink(place.path("precious"), theirs.join("results")).unwrap();
    mkfifo(&theirs.join("fifo.csv"), Mode::S_IRWXU).unwrap();
    fs::write(theirs.join("file.csv"), "theirs").unwrap();
    for name in ["", "link.csv", "results", "fifo.csv", "file.csv"] {
        give(&theirs.join(name));
    }
    theirs
}

/// The ways to name a file that a result goes to, each with a name in place of `OUT`.
fn commands() -> [String; 4] {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run.json").display().to_string();
    [
        format!("{TINY} -o OUT"),
        format!("{TINY} -o run.jsonl --report OUT"),
        format!("report {golden} -o OUT"),
        format!("export {golden} -o OUT"),
    ]
}

#[test]
fn a_result_goes_over_no_link_and_into_no_fifo_of_the_folders_owner() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let theirs = planted(&place);
    let reader = fs::OpenOptions::new().read(true).write(true).open(theirs.join("fifo.csv")).unwrap();
    for command in commands() {
        for (name, why) in [
            ("link.csv", "does not follow it"),
            ("results/new.csv", "does not follow it"),
            ("fifo.csv", "belongs to the user"),
        ] {
            let result = place.dyno(&command.replace("OUT", &format!("theirs/{name}")));
            let result = result.exits(2).says("theirs").says(why).without_panic();
            assert_eq!(result.stdout, "", "{command} to {name} measured first");
        }
    }
    drop(reader);
    // The file is replaced, and stays its owner's.
    place.dyno(&commands()[3].replace("OUT", "theirs/file.csv")).exits(0);
    assert!(fs::read_to_string(theirs.join("file.csv")).unwrap().starts_with("run,"));
    assert_eq!(fs::read_to_string(place.path("precious/file")).unwrap(), "precious");
    assert_eq!(fs::read_dir(place.path("precious")).unwrap().count(), 1);
    // The user who has sudo run dyno is the one who names the link.
    let sudo = |out: &str| -> Result {
        let mut command = place.command();
        command.env("SUDO_UID", STRANGER.to_string());
        command.args(commands()[3].replace("OUT", out).split_whitespace()).output().unwrap().into()
    };
    sudo("theirs/link.csv").exits(0);
    assert!(fs::read_to_string(place.path("precious/file")).unwrap().starts_with("run,"));
}

#[test]
fn a_file_or_fifo_that_waits_in_a_shared_folder_gets_no_result() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let theirs = planted(&place);
    chown(&theirs, Some(0), Some(0)).unwrap();
    fs::set_permissions(&theirs, Permissions::from_mode(0o1777)).unwrap();
    for command in commands() {
        for name in ["file.csv", "fifo.csv", "link.csv", "results/new.csv"] {
            let result = place.dyno(&command.replace("OUT", &format!("theirs/{name}")));
            let result = result.exits(2).says("belongs to the user").says("name").without_panic();
            assert_eq!(result.stdout, "", "{command} to {name} measured first");
        }
    }
    assert_eq!(fs::read_to_string(theirs.join("file.csv")).unwrap(), "theirs");
    assert!(fs::symlink_metadata(theirs.join("fifo.csv")).unwrap().file_type().is_fifo());
}

#[test]
fn a_folder_of_results_is_not_made_where_a_strangers_link_leads() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let theirs = planted(&place);
    let keep = format!("{TINY} --keep -o ../run.jsonl").replace("sqlite:memory", "sqlite");
    for arguments in [TINY.to_owned(), keep] {
        let mut command = place.command();
        let output = command.current_dir(&theirs).args(arguments.split_whitespace()).output().unwrap();
        let result = Result::from(output).says("results is a link").without_panic();
        assert_ne!(result.code, Some(0));
        assert_eq!(fs::read_dir(place.path("precious")).unwrap().count(), 1, "{arguments}");
    }
}

#[test]
fn a_site_is_not_made_where_a_strangers_link_leads() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    planted(&place);
    place.dyno(&format!("{TINY} -o run.jsonl")).exits(0);
    for folder in ["theirs/results", "theirs/results/new", "theirs/results/new/below"] {
        place.dyno(&format!("site run.jsonl -o {folder}")).exits(2).says("results is a link").without_panic();
        assert_eq!(fs::read_dir(place.path("precious")).unwrap().count(), 1, "{folder}");
    }
}

#[test]
fn a_link_that_comes_while_dyno_measures_is_not_followed() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let theirs = planted(&place);
    // Run files are saved after each trial, and are saved anew where their name is another file's.
    let script = format!(
        "{dyno} run speedtest --scale 0.05 --only 1 --with sqlite:memory --trials 30 --quiet -o theirs/out.jsonl &
        while ! test -s theirs/out.jsonl; do sleep 0.01; done
        ln -sf ../precious/file theirs/new && chown -h {STRANGER} theirs/new && mv -T theirs/new theirs/out.jsonl
        wait $!",
        dyno = env!("CARGO_BIN_EXE_dyno")
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(place.path("")).env("TMPDIR", place.path("data"));
    let result: Result = command.stdin(Stdio::null()).output().unwrap().into();
    result.says("does not follow it").without_panic();
    assert!(theirs.join("out.jsonl").is_symlink());
    assert_eq!(fs::read_to_string(place.path("precious/file")).unwrap(), "precious");
}

#[test]
fn programs_of_a_strangers_home_are_not_run() {
    if !is_root() {
        return;
    }
    let place = Place::with_runner("true");
    // Above dyno's usual program there is a home, which comes first.
    let (home, dyno) = (place.path("home"), place.path("bin/dyno"));
    fs::create_dir(place.path("bin")).unwrap();
    // By another process: one that another test starts meanwhile would inherit a file that is open for writing, and keep the
    // program from being started.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_dyno")).arg(&dyno).status().unwrap();
    assert!(copied.success());
    fs::create_dir(home.join("below")).unwrap();
    let list = |sudo: Option<&str>| -> Result {
        let mut command = Command::new(&dyno);
        command.args(["list", "fake"]).current_dir(home.join("below")).env_remove("DYNO_HOME");
        command.env("TMPDIR", place.path("data")).env("DYNO_DEFAULTS", "");
        match sudo {
            Some(user) => command.env("SUDO_UID", user),
            None => command.env_remove("SUDO_UID"),
        };
        command.output().unwrap().into()
    };
    list(None).exits(0).prints("A runner that misbehaves");
    for theirs in ["", "engines", "runners"] {
        give(&home.join(theirs));
        let passed = format!("set DYNO_HOME={}", home.display());
        let result = list(None).exits(2).says("belongs to the user").says(&passed);
        assert_eq!(result.stderr.matches("DYNO_HOME").count(), 1, "{}", result.stderr);
        list(Some(&STRANGER.to_string())).exits(0).prints("A runner that misbehaves");
        list(Some("4242")).exits(2);
        chown(home.join(theirs), Some(0), Some(0)).unwrap();
    }
    fs::set_permissions(home.join("runners"), Permissions::from_mode(0o777)).unwrap();
    list(None).exits(2).says("can be written to by every user");
    // A folder that all share is no home, whatever is put into it.
    fs::set_permissions(home.join("runners"), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&home, Permissions::from_mode(0o1777)).unwrap();
    list(None).exits(2).says("no engine and no suite");
}

#[test]
fn what_the_users_folder_has_is_found_unless_another_user_can_change_it() {
    let place = Place::with_runner("true");
    let own = place.path("config/dyno");
    fs::create_dir_all(own.join("suites")).unwrap();
    for (part, name) in [("engines", "fake.toml"), ("runners", "fake")] {
        fs::create_dir(own.join(part)).unwrap();
        fs::rename(place.path("home").join(part).join(name), own.join(part).join(name)).unwrap();
    }
    fs::copy(repository().join("suites/micro.toml"), own.join("suites/mine.toml")).unwrap();
    let arguments = "run mine --with null --only constant --trials 1 --no-warm-up --quiet";
    place.dyno("list fake").exits(0).prints("the runner stopped in the middle of its work");
    place.dyno("list mine").exits(0).prints("dyno run mine --only");
    place.dyno(arguments).exits(0).without_panic();
    let engines = place.path("home/engines");
    fs::copy(own.join("engines/fake.toml"), engines.join("fake.toml")).unwrap();
    place.dyno("list fake").exits(2).says("fake.toml: there is an engine fake already: rename this one");
    fs::remove_file(engines.join("fake.toml")).unwrap();
    for open in ["", "engines"] {
        fs::set_permissions(own.join(open), Permissions::from_mode(0o777)).unwrap();
        let refused = "can be written to by every user, so dyno reads no suites, engines and runners there";
        place.dyno("list fake").exits(2).says(refused);
        place.dyno(arguments).exits(2).says("there is no suite 'mine'");
        fs::set_permissions(own.join(open), Permissions::from_mode(0o755)).unwrap();
    }
    place.dyno("list fake").exits(0);
}

#[test]
fn a_cache_that_another_user_could_change_is_passed_over() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let notes = place.path("theirs/dyno/segments");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("note.json"), "{}").unwrap();
    let run = || -> Result {
        let mut command = place.command();
        command.env("XDG_CACHE_HOME", place.path("theirs")).args(TINY.split_whitespace());
        command.output().unwrap().into()
    };
    give(&place.path("theirs"));
    run().exits(0).says("segments is not used, because").says("belongs to the user").says("XDG_CACHE_HOME");
    assert!(notes.join("note.json").exists(), "a note that another user could have put there was followed");
    chown(place.path("theirs"), Some(0), Some(0)).unwrap();
    let result = run().exits(0);
    assert!(!result.stderr.contains("is not used"), "{}", result.stderr);
    assert!(!notes.join("note.json").exists());
}

#[test]
fn root_works_in_no_folder_whose_contents_another_user_could_exchange() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let refused = |why: &str| {
        let result = place.dyno(&format!("{TINY} --dir data")).exits(4).says(why);
        result.says("another user could have root write elsewhere").says("--dir").without_panic();
        assert_eq!(fs::read_dir(place.path("data")).unwrap().count(), 0);
    };
    give(&place.path("data"));
    refused("data belongs to the user");
    chown(place.path("data"), Some(0), Some(0)).unwrap();
    fs::set_permissions(place.path("data"), Permissions::from_mode(0o777)).unwrap();
    refused("other users can write to");
    fs::set_permissions(place.path("data"), Permissions::from_mode(0o1777)).unwrap();
    place.dyno(&format!("{TINY} --dir data")).exits(0);
}

#[test]
fn root_runs_no_server_from_a_folder_that_another_user_could_change() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let program = place.path("theirs/dyno/engines/postgres@99/bin/postgres");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let script = format!("#!/bin/sh\n: >{}\n", place.path("ran").display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let run = || -> Result {
        let mut command = place.command();
        command.env("XDG_DATA_HOME", place.path("theirs"));
        command.args(TINY.replace("sqlite:memory", "postgres@99").split_whitespace());
        command.output().unwrap().into()
    };
    give(&place.path("theirs"));
    let result = run().says("root keeps no data in").says("belongs to the user").without_panic();
    assert_ne!(result.code, Some(0));
    assert!(!place.path("ran").exists(), "root ran a stranger's program");
    // It is the folder that matters.
    chown(place.path("theirs"), Some(0), Some(0)).unwrap();
    run();
    assert!(place.path("ran").exists());
}
