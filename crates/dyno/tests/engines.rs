//! The three systems of the 2002 page in one run, on private servers and by URL: equal answers, and
//! nothing left behind.

use std::fs;
use std::process::{Command, Output, Stdio};

use dyno_protocol::{Build, Setting};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::server::{self, Started};
use crate::common::{LOADING, Place, SharedMemory, is_thorough, processes_with, wait_for};

const PASSWORD: &str = "Sesame-0pen!";

/// A server as users run one, to be reached by URL.
pub struct Running {
    started: Started,
    url: String,
}

impl Running {
    /// Starts one; the URL has a password, which the server does not ask for.
    pub fn start(engine: &str) -> Running {
        Running::start_with(engine, &[])
    }

    /// The same with settings of the server.
    pub fn start_with(engine: &str, settings: &[Setting]) -> Running {
        let started = server::start(engine, &Build::System, settings).unwrap();
        let reach = started.server.connection("unused").server;
        let url = match engine {
            "postgres" => {
                let port = reach.port.unwrap();
                format!("postgres://{}:{PASSWORD}@/postgres?host={}&port={port}", reach.user, reach.host)
            }
            _ => format!("{engine}://{}@/?socket={}", reach.user, reach.host),
        };
        Running { started, url }
    }

    /// Its socket or the folder of it, its port and its user.
    pub fn reach(&self) -> (String, u16, String) {
        let reach = self.started.server.connection("unused").server;
        (reach.host, reach.port.unwrap_or_default(), reach.user)
    }

    /// The names of its databases.
    pub fn databases(&self) -> String {
        match self.url.starts_with("postgres") {
            true => self.execute("SELECT datname FROM pg_database"),
            false => self.execute("SHOW DATABASES"),
        }
    }

    /// The rows that statements return, executed by the engine's own client.
    pub fn execute(&self, statements: &str) -> String {
        let output = self.output(statements);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Kills it and starts it again on its data.
    pub fn restart(&mut self) {
        self.started.server.kill();
        self.started.restart();
        // It recovers first.
        wait_for("an answer of the restarted server", 60, || self.output("SELECT 1").status.success());
    }

    fn output(&self, statements: &str) -> Output {
        let (host, port, user) = self.reach();
        let output = if self.url.starts_with("postgres") {
            let port = port.to_string();
            let command = ["-U", &user, "-h", &host, "-p", &port, "-d", "postgres", "-Atc"];
            Command::new("psql").args(command).arg(statements).output()
        } else {
            let command = ["--no-defaults", "-u", &user, "-S", &host, "-Ne", statements];
            Command::new("mariadb").args(command).output()
        };
        output.unwrap()
    }
}

#[test]
fn three_engines_agree_in_one_run_twice_and_leave_nothing() {
    let place = Place::new();
    let scales = if is_thorough() { [1.0, 0.1] } else { [0.2, 0.05] };
    for (file, scale) in ["a.json", "b.json"].into_iter().zip(scales) {
        let arguments = "run speedtest --with sqlite,postgres,mariadb --trials 1 --no-warm-up --quiet";
        let arguments = format!("{arguments} --scale {scale} -o {file}");
        let result = place.dyno(&arguments).exits(0).without_panic();
        result.prints("private servers share CPU");
        place.assert_clean();
        let data = place.path("data").display().to_string();
        wait_for("the servers to be gone", 60, || processes_with(&data).is_empty());
    }
    // Every sample has the cost of the servers' processes.
    let run = crate::common::read_json(&place.path("a.json"));
    let trials = run["trials"].as_array().unwrap();
    for trial in trials.iter().filter(|trial| trial["contender"] == 1 || trial["contender"] == 2) {
        for sample in trial["samples"].as_array().unwrap() {
            assert!(sample["section"]["server"]["peak_memory_bytes"].as_u64().unwrap() > 0, "{sample}");
        }
    }
}

#[test]
fn profiles_of_servers_are_in_force_and_have_their_levels() {
    let place = Place::new();
    let contenders = [
        ("postgres:async", "none"),
        ("postgres:nosync", "process-crash"),
        ("postgres:tuned", "power-loss"),
        ("mariadb:lazy", "process-crash"),
        ("mariadb:nosync", "none"),
        ("mariadb:aria", "process-crash"),
        ("mariadb:myisam", "none"),
        ("mariadb:tuned", "power-loss"),
        ("postgres:serializable", "power-loss"),
        ("mariadb:serializable", "power-loss"),
        ("mariadb:read-committed", "power-loss"),
    ];
    let names: Vec<&str> = contenders.iter().map(|(name, _)| *name).collect();
    let arguments = format!(
        "run speedtest --scale 0.02 --only 1-2,15 --trials 1 --no-warm-up --quiet --with {}",
        names.join(",")
    );
    place.dyno(&arguments).exits(0);
    let run = place.run_file();
    for (index, (name, level)) in contenders.iter().enumerate() {
        let safety = &run["contenders"][index]["safety"];
        assert_eq!(
            (&safety["level"], &safety["standing"]),
            (&(*level).into(), &"read-back".into()),
            "{name}"
        );
    }
}

#[test]
fn servers_keep_the_protocol() {
    Place::in_memory().conforms(&["postgres", "mariadb"], &[]);
}

#[test]
fn every_way_of_loading_into_a_server_keeps_the_protocol() {
    // Ways of importing files that no other test of conformance has.
    let postgres =
        ["text", "insert", "pipeline", "multirow", "freeze"].map(|way| format!("postgres/rust+{way}"));
    let mariadb = ["text", "insert", "multirow"].map(|way| format!("mariadb/rust+{way}"));
    let ways: Vec<&str> = postgres.iter().chain(&mariadb).map(String::as_str).collect();
    Place::in_memory().conforms(&ways, &LOADING);
}

#[test]
fn a_server_that_runs_already_is_measured_by_url_and_left_as_it_was() {
    let place = Place::new();
    let servers = [Running::start("postgres"), Running::start("mariadb")];
    let before = servers.each_ref().map(Running::databases);
    let [postgres, mariadb] = servers.each_ref().map(|server| server.url.clone());
    let arguments =
        ["run", "speedtest", "--scale", "0.02", "--trials", "1", "-o", "run.json", "--with", "sqlite"];
    let mut command = place.command();
    command.args(arguments).args(["--url", &postgres]).arg(format!("--url={mariadb}"));
    let result: crate::common::Result = command.output().unwrap().into();
    let result = result.exits(0).without_panic().prints("power-loss");
    assert_eq!(servers.each_ref().map(Running::databases), before);
    // The password went to the server and nowhere else.
    let kept = fs::read_to_string(place.path("run.json")).unwrap();
    for text in [&result.stdout, &result.stderr, &kept] {
        assert!(!text.contains(PASSWORD), "{text}");
    }
    // A run by URL can be repeated; the server does not ask for the password here.
    place.dyno("rerun run.json -o again.json --quiet").exits(2).says("is connected to").says("--trust");
    place.dyno("rerun run.json --trust -o again.json --quiet").exits(0);
    place.assert_clean();
}

#[test]
fn an_interrupt_leaves_no_database_on_somebodys_server() {
    let place = Place::new();
    let server = Running::start("postgres");
    let before = server.databases();
    let child = place.start(&format!("run speedtest --trials 1000 --quiet -o run.json --url {}", server.url));
    wait_for("the trial's database", 60, || server.databases().contains("dyno_scratch_"));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    crate::common::Result::from(output).exits(130).without_panic();
    assert_eq!(server.databases(), before);
}

#[test]
fn a_server_that_cannot_be_reached_is_refused_before_anything_runs() {
    let place = Place::new();
    let url = format!("postgres://nobody:{PASSWORD}@127.0.0.1:1/postgres");
    let arguments = "run speedtest --scale 0.02 --only 15 --trials 1 --quiet --with sqlite -o run.json --url";
    let result = place.dyno(&format!("{arguments} {url}")).exits(2).without_panic();
    let result = result.says("the contender postgres://nobody@127.0.0.1:1/postgres cannot be run: ");
    let result = result.says("connect");
    assert!(!place.path("run.json").exists() && result.stdout.is_empty(), "{}", result.stdout);
    assert!(!result.stderr.contains("may be left"), "nothing was made: {}", result.stderr);
    assert!(!format!("{}{}", result.stdout, result.stderr).contains(PASSWORD), "{}", result.stdout);
    // The address of a contender, and not a second one.
    let both = place.dyno(&format!(
        "{} --with postgres --url postgres://nobody@127.0.0.1:1/x",
        &arguments[..arguments.len() - 6]
    ));
    both.exits(2).says("measuring both postgres, a private server that dyno starts, and");
    let run = "run speedtest --scale 0.02 --only 15 --trials 1 --quiet --with";
    let one = place.dyno(&format!("{run} postgres=postgres://nobody@127.0.0.1:1/x")).exits(2);
    assert!(!one.says("connect").stderr.contains("private"));
    place
        .dyno(&format!("{run} mariadb=postgres://me@127.0.0.1:1/x"))
        .exits(2)
        .says("names a server of postgres");
    for bad in ["oracle://x", "postgres://u:Sesame-0pen!@h:port/db", "nonsense"] {
        let result = place.dyno(&format!("{arguments} {bad}")).exits(2).says("URL");
        assert!(!result.stderr.contains(PASSWORD), "{}", result.stderr);
    }
    place.dyno("run speedtest --with postgres@/nonexistent").exits(2).says("/nonexistent");
}

#[test]
fn a_server_that_dies_in_a_trial_is_reported_with_its_log() {
    let place = Place::new();
    let arguments = "run speedtest --trials 2 --quiet --with postgres,sqlite --scale 0.5 -o run.json";
    let child = place.start(arguments);
    let data = place.path("data").display().to_string();
    // Kept as it was found: a moment later its client may not be at work.
    let mut server = None;
    wait_for("a trial on the server", 60, || {
        server = processes_with(&data).into_iter().find(|pid| is_working_server(*pid));
        server.is_some()
    });
    let process = server.unwrap();
    let memory = SharedMemory::of(process);
    assert!(memory.is_there());
    kill(Pid::from_raw(process as i32), Signal::SIGKILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let result = crate::common::Result::from(output).exits(3).without_panic();
    assert!(!memory.is_there(), "{memory:?}");
    // The trial failed, the server was started again, and the other contender lost nothing.
    result.prints("Failed: 1 of 3 trials of postgres").prints("the server was killed by SIGKILL");
    place.assert_clean();
}

/// The number of a process's terminal, 0 for one without, as proc(5) has it.
fn terminal(pid: u32) -> Option<String> {
    let about = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    about.rsplit(')').next()?.split_whitespace().nth(4).map(str::to_owned)
}

#[test]
fn a_private_server_has_no_terminal() {
    let place = Place::new();
    let dyno = place.command();
    let program = dyno.get_program().to_str().unwrap();
    let command = format!("{program} run speedtest --with mariadb --only 1 --trials 2 --quiet");
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(place.path("")).stdout(Stdio::null());
    for (name, value) in dyno.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    let mut running = script.spawn().unwrap();
    let data = format!("--datadir={}", place.data().display());
    let mut servers = Vec::new();
    wait_for("the server", 60, || {
        servers = processes_with(&data).into_iter().filter_map(terminal).collect();
        !servers.is_empty()
    });
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.id())).unwrap();
    let own: Vec<String> =
        children.split_whitespace().filter_map(|pid| terminal(pid.parse().ok()?)).collect();
    assert!(own.iter().any(|terminal| terminal != "0"), "dyno has a terminal: {own:?}");
    assert!(servers.iter().all(|terminal| terminal == "0"), "{servers:?}");
    assert!(running.wait().unwrap().success());
    place.assert_clean();
}

/// True if a process is PostgreSQL's main one with a backend among its children that inserts rows. Statements follow,
/// so that its client misses it: after a SELECT the trial may be over.
fn is_working_server(pid: u32) -> bool {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().any(|child| {
        let line = fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        line.contains("dyno_scratch_") && line.contains("INSERT")
    })
}
