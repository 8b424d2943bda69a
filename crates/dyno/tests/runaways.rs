//! Runners and servers that do not stop, do not listen or leave something behind: dyno ends them, says why and goes on,
//! and what a killed dyno leaves is removed by the next.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{Place, Result, processes_with, wait_for};

const HELLO: &str =
    r#"{"event":"hello","protocol":3,"runner":"r","engine_version":"1","driver_version":"1","settings":[]}"#;

/// The output of a runner until the answer to the only test.
fn until_the_answer() -> String {
    let progress = r#"{"event":"progress","test":"1"}"#;
    let sample = r#"{"event":"sample","test":"1","section":{"nanoseconds":5}}"#;
    format!("cat > /dev/null; printf '%s\\n' '{HELLO}' '{progress}' '{sample}'")
}

/// A place with a suite of one test, whose setup and statements are these.
fn place(script: &str, setup: &str, statements: &str) -> Place {
    let place = Place::with_runner(script);
    let suite = format!(
        "name = \"one\"\ntitle = \"One\"\nstory = \"One test.\"\ncontenders = [\"fake\"]\n[[test]]\nid = \"1\"\ntitle = \"One\"\n\
         shows = \"nothing\"\nmodel = \"statements\"\nsetup = '''{setup}'''\nstatements = '''{statements}'''\n"
    );
    place.write("one.toml", &suite);
    place
}

fn interrupted(child: Child, signal: Signal) -> Result {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
    Result::from(child.wait_with_output().unwrap())
}

#[test]
fn a_runner_that_does_not_read_its_job_ends_by_timeout_and_by_signal() {
    // More than a pipe holds.
    let setup = "CREATE TABLE t(a INTEGER, b INTEGER, c INTEGER);\n".repeat(3000);
    let place = place("exec sleep 971", &setup, "SELECT 1;");
    let run = "run ./one.toml --with fake --trials 1 --quiet -o run.json";
    place.dyno(&format!("{run} --timeout 1s")).exits(3).prints("silent for 1 s").without_panic();
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let child = place.start(run);
        wait_for("the runner", 60, || !processes_with("sleep\0971").is_empty());
        interrupted(child, signal).exits(code).without_panic();
        assert!(processes_with("sleep\0971").is_empty());
        place.assert_clean();
    }
}

#[test]
fn a_runner_that_writes_without_end_is_stopped_before_memory_is_full() {
    let answer = format!(r#"{{"event":"answer","test":"1","rows":[["{}"]]}}"#, "x".repeat(1 << 16));
    let without_end = [
        (format!("{}; yes '{answer}'", until_the_answer()), "more than 1024 MiB in one trial"),
        (format!("{}; yes | tr -d '\\n'", until_the_answer()), "a line is longer than 16 MiB"),
    ];
    for (script, why) in without_end {
        let place = place(&script, "", "SELECT 1;");
        let mut command = place.command();
        command.args(["run", "./one.toml", "--with", "fake", "--trials", "1", "--no-warm-up", "--quiet"]);
        // Far less than the runner writes. What dyno lacks then ends it.
        // SAFETY: between fork and exec, one system call on plain numbers.
        unsafe { command.pre_exec(|| Ok(setrlimit(Resource::RLIMIT_DATA, 512 << 20, 512 << 20)?)) };
        let result = Result::from(command.output().unwrap());
        result.exits(3).prints("the output of the runner cannot be read, so it was killed").prints(why);
        place.assert_clean();
    }
}

#[test]
fn what_a_runner_starts_ends_with_it_however_it_ends() {
    for end in ["kill -SEGV $$", "exit 0", "exec sleep 972"] {
        // In a separate session, and its parent gone: out of reach for a signal to the runner's group.
        let script = format!("cat > /dev/null; (setsid sleep 973 > /dev/null 2>&1 &); echo '{HELLO}'; {end}");
        let place = place(&script, "", "SELECT 1;");
        place.dyno("run ./one.toml --with fake --trials 1 --timeout 1s --quiet").exits(3).without_panic();
        let home = place.path("home").display().to_string();
        let left: Vec<u32> =
            processes_with("sleep\0973").into_iter().filter(|pid| is_of(*pid, &home)).collect();
        assert!(left.is_empty(), "{end}: {left:?}");
    }
}

/// True if a process was started by a runner of a place: its home stands in its environment.
fn is_of(pid: u32, home: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    String::from_utf8_lossy(&environment).contains(home)
}

#[test]
fn a_runner_inherits_no_password() {
    let place = place("cat > /dev/null; env > \"$TMPDIR/../seen\"", "", "SELECT 1;");
    let secrets = ["PGPASSWORD", "MYSQL_PWD", "DYNO_KEY", "AWS_SECRET_ACCESS_KEY", "PGOPTIONS"]
        .map(|name| (name, "Sesame-0pen!"));
    let mut command = place.command();
    command
        .args(["run", "./one.toml", "--with", "fake", "--trials", "1", "--quiet"])
        .envs(secrets)
        .env("LC_TIME", "C");
    Result::from(command.output().unwrap()).exits(3);
    let seen = fs::read_to_string(place.path("seen")).unwrap();
    assert!(!seen.contains("Sesame"), "{seen}");
    assert!(seen.contains("PATH=") && seen.contains("LC_TIME=C"), "{seen}");
}

#[test]
fn a_limit_on_files_is_an_error_with_its_reason() {
    let rows = "CREATE TABLE t(a TEXT); INSERT INTO t SELECT zeroblob(100000000);";
    let place = place("true", "", rows);
    let limited = |blocks: u32, arguments: &str| {
        let mut command = Command::new("/bin/sh");
        let script = format!("ulimit -f {blocks}; exec \"$0\" {arguments}");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_dyno")]).current_dir(place.path("."));
        command.env("TMPDIR", place.path("data")).env("DYNO_HOME", place.path("home"));
        Result::from(command.output().unwrap()).without_panic()
    };
    // The inputs do not fit; then a database.
    limited(1, "run speedtest --scale 0.1 --trials 1 --quiet").exits(2).says("ulimit -f unlimited");
    place.assert_clean();
    let run = "run ./one.toml --with sqlite --trials 1 --quiet";
    limited(2000, run).exits(3).prints("ulimit -f unlimited");
    place.assert_clean();
}

#[test]
fn control_groups_of_a_killed_dyno_are_removed_by_the_next() {
    let place = place(&format!("cat > /dev/null; echo '{HELLO}'; exec sleep 974"), "", "SELECT 1;");
    let run = "run ./one.toml --with fake --trials 1 --quiet --memory 64MiB";
    let refused = place.dyno(&format!("{run} --timeout 1s"));
    if refused.stdout.contains("--memory needs") || refused.stderr.contains("--memory needs") {
        return eprintln!("NOT RUN: {}{}", refused.stdout, refused.stderr);
    }
    let mut child = place.start(run);
    let groups = |pid: u32| {
        let found = Command::new("find")
            .args(["/sys/fs/cgroup", "-type", "d", "-name", &format!("dyno-{pid}-*")])
            .output();
        String::from_utf8(found.unwrap().stdout).unwrap().lines().map(PathBuf::from).collect::<Vec<_>>()
    };
    wait_for("the runner", 60, || !processes_with("sleep\0974").is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!groups(child.id()).is_empty(), "a killed process cannot clean up");
    // This holds of a run with a memory limit and of one without.
    place.dyno("run speedtest --scale 0.02 --only 15 --trials 1 --quiet").exits(0);
    assert!(groups(child.id()).is_empty(), "{:?}", groups(child.id()));
}

#[test]
fn a_first_interrupt_ends_the_start_of_a_server() {
    let hang = "exec sleep 975";
    let make_folder = "while [ \"$1\" != -D ]; do shift; done; mkdir \"$2\"";
    for (initdb, server) in [(hang, "exit 1"), (make_folder, hang)] {
        let place = Place::new();
        fs::set_permissions(place.path("."), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(place.path("server/bin")).unwrap();
        let version = "[ \"$1\" = --version ] && echo 'postgres (PostgreSQL) 15.1' && exit";
        for (name, script) in [("initdb", initdb.to_owned()), ("postgres", format!("{version}; {server}"))] {
            let program = place.write(&format!("server/bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
            fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut command = place.command();
        command.args(["run", "speedtest", "--quiet", "--with"]);
        command
            .arg(format!("postgres@{}", place.path("server").display()))
            .env("XDG_CACHE_HOME", place.path("cache"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let data = place.path("data").display().to_string();
        let is_there = || processes_with("sleep\0975").into_iter().any(|pid| is_within(pid, &data));
        wait_for("the start", 60, is_there);
        interrupted(child, Signal::SIGINT).exits(130).without_panic();
        assert!(!is_there());
        place.assert_clean();
    }
}

/// Returns true if a process works in a folder.
fn is_within(pid: u32, folder: &str) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
}

#[test]
fn a_store_may_take_long_to_do_what_it_has_put_off() {
    let put = r#"{"event":"progress","test":"put"}' '{"event":"sample","test":"put","section":{"nanoseconds":5},"operations":10}' '{"event":"answer","test":"put","rows":[[10]]}"#;
    let settle = r#"{"event":"progress","test":"settle"}"#;
    let late = r#"{"event":"failed","test":"settle","message":"it came after two seconds"}"#;
    let script = format!(
        "cat > /dev/null; printf '%s\\n' '{HELLO}' '{put}' '{settle}'; sleep 2; echo '{late}'; exit 1"
    );
    let place = Place::with_runner(&script);
    let runner = place.path("home/runners/fake/runner.toml");
    let text = fs::read_to_string(&runner).unwrap();
    fs::write(&runner, text.replace("[\"statements\"]", "[\"kv-put\", \"kv-settle\"]")).unwrap();
    let test = |id: &str, model: &str| {
        format!("[[test]]\nid = \"{id}\"\ntitle = \"T\"\nshows = \"\"\nmodel = \"{model}\"\n")
    };
    let data = "[data.pair]\ncount = 10\nkey = \"integer\"\nvalue_bytes = 8\n";
    let head = "name = \"one\"\ntitle = \"One\"\nstory = \"\"\ncontenders = [\"fake\"]\n";
    let tests = format!("{}data = \"pair\"\n{}", test("put", "kv-put"), test("settle", "kv-settle"));
    place.write("one.toml", &format!("{head}{data}{tests}"));
    let run = "run ./one.toml --with fake --trials 1 --quiet --timeout 1s";
    place.dyno(run).exits(3).prints("it came after two seconds").without_panic();
}
