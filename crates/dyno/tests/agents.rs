//! Clients that agents drive: by launchers that start agents on this machine, and on hosts that are network namespaces,
//! over ssh (`over_ssh`) and by Slurm (`over_slurm`).

mod cut_short;
mod killed;
mod network;
mod over_slurm;
mod over_ssh;
mod parts;
mod slurm;

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{IpAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::{Place, Result, processes_with, read_json, wait_for};
use crate::engines::Running;
use crate::mix_faults::lead;

const SMALL: &str =
    "--set warm_up=0.1 --duration 0.5s --trials 1 --no-warm-up --set accounts=50 --quiet -o run.jsonl";
/// A trial that lasts long enough to be disturbed.
const LONG: &str = "--set warm_up=0 --duration 60s --trials 1 --no-warm-up --set accounts=50 --quiet -o run.jsonl \
                    --clients 3 --only transfer";
/// A launcher that starts an agent for each host, on this machine.
const EACH: &str = "env AGENT_OF={host} {agent}";
const AGENT: &str = env!("CARGO_BIN_EXE_dyno");

/// A PostgreSQL that is reached by an address of this machine.
struct Served {
    server: Running,
    url: String,
    databases: String,
}

impl Served {
    fn at(address: IpAddr) -> Served {
        let server = Running::start("postgres");
        let (folder, port, user) = server.reach();
        let socket = PathBuf::from(format!("{folder}/.s.PGSQL.{port}"));
        let listener = TcpListener::bind((address, 0)).unwrap();
        let way = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let socket = socket.clone();
                thread::spawn(move || lead(&client, &socket));
            }
        });
        let url = format!("postgres://{user}@{address}:{way}/postgres?sslmode=disable&gssencmode=disable");
        Served { databases: server.databases(), server, url }
    }

    fn here() -> Served {
        Served::at([127, 0, 0, 1].into())
    }

    /// No database of a run is left.
    fn assert_clean(&self) {
        assert_eq!(self.server.databases(), self.databases);
    }
}

/// A run of a bank, driven by agents.
fn bank(place: &Place, on: &str, hosts: &str, arguments: &str) -> Command {
    let mut dyno = place.command();
    dyno.arg("run").arg("bank").args(arguments.split_whitespace());
    dyno.args(["--on", on, "--hosts", hosts, "--agent", AGENT]);
    dyno.stdout(Stdio::piped()).stderr(Stdio::piped());
    dyno
}

fn start(place: &Place, on: &str, hosts: &str, arguments: &str) -> Child {
    bank(place, on, hosts, arguments).spawn().unwrap()
}

fn run(place: &Place, on: &str, hosts: &str, arguments: &str) -> Result {
    let result: Result = start(place, on, hosts, arguments).wait_with_output().unwrap().into();
    result.without_panic()
}

/// The agents whose environment or arguments have a text.
fn agents_of(text: &str) -> Vec<u32> {
    let is_agent = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        line.starts_with(format!("{AGENT}\0agent\0").as_bytes())
            && String::from_utf8_lossy(&environment).contains(text)
    };
    processes_with(AGENT).into_iter().filter(is_agent).collect()
}

/// The record must have each agent's part of each sample, and the sample their sum.
fn assert_shared(record: &Value, hosts: &[&str], clients: u64) {
    let named: Vec<&str> =
        record["agents"].as_array().unwrap().iter().map(|agent| agent["host"].as_str().unwrap()).collect();
    assert_eq!(named, hosts);
    assert!(record["agents"][0]["machine"]["cpu"]["online"].as_u64().unwrap() > 0);
    // All of them are on this machine.
    assert!(record["agents"][0]["same_machine_as"].is_null());
    assert!(record["agents"].as_array().unwrap()[1..].iter().all(|agent| agent["same_machine_as"] == 0));
    let mut seen = 0;
    for trial in record["trials"].as_array().unwrap() {
        assert!(trial["failure"].is_null(), "{}", trial["failure"]);
        for sample in trial["samples"].as_array().unwrap() {
            let shares: Vec<&Value> = trial["agents"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|share| share["test"] == sample["test"])
                .collect();
            if shares.is_empty() {
                continue;
            }
            seen += 1;
            let sum = |key: &str| shares.iter().map(|share| share[key].as_u64().unwrap()).sum::<u64>();
            assert_eq!(shares.len(), hosts.len());
            assert_eq!(sum("operations"), sample["operations"].as_u64().unwrap());
            assert_eq!(sum("clients"), clients);
            assert!(shares.iter().all(|share| share["clock_error_ns"].as_u64().unwrap() > 0), "{shares:?}");
            // No clients begin before the moment agreed on, but for the error of the clocks' comparison.
            let begun = |share: &&Value| {
                share["late_start_ns"].as_i64().unwrap() + share["clock_error_ns"].as_i64().unwrap()
            };
            assert!(shares.iter().all(|share| begun(share) >= 0), "{shares:?}");
            // Each would take the clients of the others, which are on its processors, for foreign programs.
            assert!(shares.iter().all(|share| share["others"].is_null()), "{shares:?}");
        }
    }
    assert!(seen > 0, "no sample is of agents");
}

#[test]
fn agents_share_the_clients_and_lose_nothing() {
    let (place, served) = (Place::new(), Served::here());
    for load in ["--clients 6", "--clients 4 --rate 300", "--clients 4 --rate 300 --sessions 3"] {
        let arguments = format!("{SMALL} {load} --url {}", served.url);
        let result = run(&place, EACH, "a,b,c", &arguments).exits(0);
        assert!(!result.stdout.contains("wrong") && !result.stdout.contains("failed"), "{}", result.stdout);
        let clients = if load == "--clients 6" { 6 } else { 4 };
        assert_shared(&read_json(&place.path("run.jsonl")), &["a", "b", "c"], clients);
    }
    place.assert_clean();
    served.assert_clean();
}

/// Sends its input to three programs, and puts what each writes behind its number in lines of 1,024 bytes, as `srun -l`
/// does. Like that it would pass its environment on.
const FAN: &str = r#"
test -z "$PGPASSWORD$MYSQL_PWD" || exit 9
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
mkfifo "$folder/0" "$folder/1" "$folder/2"
for task in 0 1 2; do
    "$@" <"$folder/$task" | stdbuf -oL fold -b -w 1024 | sed -u "s/^/$task: /" &
done
tee "$folder/0" "$folder/1" >"$folder/2"
wait
"#;

#[test]
fn one_launcher_may_start_all_agents_and_number_their_lines() {
    let (place, served) = (Place::new(), Served::here());
    let fan = place.write("fan.sh", FAN);
    let arguments = format!("{SMALL} --clients 3 --only transfer --url {}", served.url);
    let mut dyno = bank(&place, &format!("sh {fan} {{agent}}"), "3", &arguments);
    dyno.env("PGPASSWORD", "unneeded").env("MYSQL_PWD", "unneeded");
    Result::from(dyno.output().unwrap()).exits(0);
    let record = read_json(&place.path("run.jsonl"));
    let host = record["agents"][0]["host"].as_str().unwrap().to_owned();
    assert_shared(&record, &[&host, &format!("{host}-2"), &format!("{host}-3")], 3);
    place.assert_clean();
    served.assert_clean();
}

/// Waits until three runners stay. Those of the probes before the trials do not live as long.
fn wait_for_a_trial(runners: impl Fn() -> Vec<u32>) {
    wait_for("the runners of a trial", 180, || {
        let found = runners();
        thread::sleep(Duration::from_secs(4));
        found.len() >= 3 && found == runners()
    });
}

/// Sends a signal to an agent in the middle of a trial that lasts a minute. Returns what dyno says.
fn signalled(signal: Signal) -> (Place, String) {
    let (place, served) = (Place::new(), Served::here());
    let arguments = format!("{LONG} --url {}", served.url);
    let mark = place.path("").display().to_string();
    let dyno = start(&place, &format!("env AGENT_OF={{host}}@{mark} {{agent}}"), "a,b,c", &arguments);
    let runners = || {
        let runners = processes_with("/files/").into_iter();
        let is_here = |pid: &u32| {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.contains(&mark)
        };
        runners.filter(is_here).collect::<Vec<u32>>()
    };
    wait_for_a_trial(runners);
    let victim = agents_of(&format!("AGENT_OF=b@{mark}"))[0];
    let all = agents_of(&mark);
    kill(Pid::from_raw(victim.cast_signed()), signal).unwrap();
    // Those of the next trial are others.
    wait_for("the others to end, long before the trial would", 40, || {
        agents_of(&mark).iter().all(|pid| *pid == victim || !all.contains(pid))
    });
    let _ = kill(Pid::from_raw(victim.cast_signed()), Signal::SIGCONT);
    let _ = kill(Pid::from_raw(dyno.id().cast_signed()), Signal::SIGINT);
    let result: Result = dyno.wait_with_output().unwrap().into();
    let result = result.without_panic();
    wait_for("all agents and runners to be gone", 60, || agents_of(&mark).is_empty() && runners().is_empty());
    let run = read_json(&place.path("run.jsonl"));
    let failures = run["trials"].as_array().unwrap().iter();
    let failures: Vec<String> =
        failures.filter_map(|trial| trial["failure"]["message"].as_str().map(str::to_owned)).collect();
    let said = format!("{failures:?} {}", result.stderr);
    (place, said)
}

#[test]
fn an_agent_that_is_killed_is_named_and_leaves_nothing() {
    let (place, said) = signalled(Signal::SIGKILL);
    assert!(said.contains("the agent on b was lost") && said.contains("SIGKILL"), "{said}");
    wait_for("the folder of the agent to be gone", 60, || {
        std::fs::read_dir(place.path("data")).unwrap().count() == 0
    });
}

#[test]
fn an_agent_that_is_stopped_is_named_and_leaves_nothing() {
    let (place, said) = signalled(Signal::SIGSTOP);
    assert!(said.contains("the agent on b was silent for 6 s: it is stopped, or the network"), "{said}");
    wait_for("the folder of the agent to be gone", 60, || {
        std::fs::read_dir(place.path("data")).unwrap().count() == 0
    });
}

#[test]
fn an_agent_ends_when_nothing_comes() {
    let place = Place::new();
    let mut agent = place.command().arg("agent").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // Its input stays open, and dyno is silent.
    wait_for("the agent to end", 60, || agent.try_wait().unwrap().is_some());
    place.assert_clean();
    let ended = place.command().arg("agent").stdin(Stdio::null()).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    place.assert_clean();
}

/// An agent that was started without a dyno, once it has its folder.
fn lone_agent(place: &Place) -> Child {
    let agent = place.command().arg("agent").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_for("the agent's folder", 60, || std::fs::read_dir(place.path("data")).unwrap().count() > 0);
    agent
}

#[test]
fn an_agent_that_stays_stopped_is_killed_before_it_goes_on() {
    let place = Place::new();
    let mut agent = lone_agent(&place);
    kill(Pid::from_raw(agent.id().cast_signed()), Signal::SIGSTOP).unwrap();
    wait_for("the agent to be killed", 60, || agent.try_wait().unwrap().is_some());
    wait_for("its folder to be gone", 60, || std::fs::read_dir(place.path("data")).unwrap().count() == 0);
}

#[test]
fn an_agent_to_which_much_is_sent_hears_a_signal() {
    let place = Place::new();
    let mut agent = lone_agent(&place);
    let mut input = agent.stdin.take().unwrap();
    let lines = "{\"order\":\"beat\"}\n".repeat(1000);
    let sends = thread::spawn(move || while input.write_all(lines.as_bytes()).is_ok() {});
    thread::sleep(Duration::from_secs(1));
    kill(Pid::from_raw(agent.id().cast_signed()), Signal::SIGTERM).unwrap();
    wait_for("the agent to end", 60, || agent.try_wait().unwrap().is_some());
    sends.join().unwrap();
    place.assert_clean();
}

/// The files that agents on this machine keep.
fn sent(place: &Place) -> Vec<PathBuf> {
    let files = |folder: PathBuf| std::fs::read_dir(folder.join("files")).into_iter().flatten().flatten();
    let folders = std::fs::read_dir(place.path("data")).unwrap().flatten();
    folders.flat_map(|folder| files(folder.path())).map(|file| file.path()).collect()
}

#[test]
fn an_agent_keeps_no_steps_of_earlier_trials() {
    let (place, served) = (Place::new(), Served::here());
    let arguments = format!(
        "--set warm_up=0.1 --duration 0.5s --trials 4 --set accounts=50 --only transfer --quiet -o run.jsonl --clients 2 \
         --sustain p90<=400ms --url {}",
        served.url
    );
    let mut dyno = start(&place, EACH, "a", &arguments);
    let (mut all, mut most) = (BTreeSet::new(), 0);
    while dyno.try_wait().unwrap().is_none() {
        let files = sent(&place);
        most = most.max(files.len());
        all.extend(files);
        thread::sleep(Duration::from_millis(20));
    }
    let result: Result = dyno.wait_with_output().unwrap().into();
    result.without_panic().exits(0);
    assert!(most > 0 && all.len() > most, "{most} at once of {all:?}");
    place.assert_clean();
    served.assert_clean();
}

/// Passes on the beginning of what dyno sends. Then it reads no more, and the agent hears that dyno is there.
const STALLS: &str = r#"
{ head -c 100000; while echo '{"order":"beat"}'; do sleep 1; done; } | "$@"
"#;

#[test]
fn an_interrupt_is_heard_while_files_are_sent() {
    let (place, served) = (Place::new(), Served::here());
    let stalls = place.write("stalls.sh", STALLS);
    let arguments = format!("{SMALL} --clients 2 --url {}", served.url);
    let mut dyno = start(&place, &format!("sh {stalls} {{agent}}"), "1", &arguments);
    wait_for("a file to be sent", 120, || !sent(&place).is_empty());
    thread::sleep(Duration::from_secs(1));
    kill(Pid::from_raw(dyno.id().cast_signed()), Signal::SIGINT).unwrap();
    wait_for("dyno to end", 20, || dyno.try_wait().unwrap().is_some());
    let result: Result = dyno.wait_with_output().unwrap().into();
    result.without_panic().exits(130);
    wait_for("the agent's folder to be gone", 60, || {
        std::fs::read_dir(place.path("data")).unwrap().count() == 0
    });
    served.assert_clean();
}

#[test]
fn an_agent_of_another_build_is_refused_with_both_and_the_host() {
    let (place, served) = (Place::new(), Served::here());
    // The line may be a part of a longer one, in which quotes are escaped.
    let script = r#""$@" | sed -u 's/\(commit\\*":\\*"\)[^"\\]*/\10ther/'"#;
    let other = place.write("other.sh", &format!("shift\n{script}\n"));
    let arguments = format!("{SMALL} --clients 2 --url {}", served.url);
    let result = run(&place, &format!("sh {other} {{host}} {{agent}}"), "a", &arguments).exits(4);
    result.says("the agent on a is dyno").says("of commit 0ther, and this is dyno").says("--agent");
    place.assert_clean();
    served.assert_clean();
}

#[test]
fn what_agents_cannot_drive_is_refused_before_anything_runs() {
    let place = Place::new();
    let refused = |suite: &str, on: &str, hosts: &str, why: &str| {
        let mut dyno = place.command();
        dyno.arg("run").args(suite.split_whitespace()).args(["--on", on, "--hosts", hosts]);
        let result: Result = dyno.output().unwrap().into();
        result.without_panic().exits(2).says(why);
    };
    refused("bank --with sqlite:wal", EACH, "a", "name a running server");
    refused("bank --with postgres", EACH, "a", "name a running server");
    refused("bank --url postgres://u@/d?host=/tmp", EACH, "a", "by a socket of this one");
    refused("speedtest --url postgres://u@127.0.0.1:1/d", EACH, "a", "has no mix");
    let fill = "ycsb --only fill --url postgres://u@127.0.0.1:1/d";
    refused(fill, EACH, "a", "no test of ycsb that is to run has clients to divide");
    let chosen = "ycsb --only c --clients 2 --url postgres://u@127.0.0.1:1/d";
    refused(chosen, EACH, "a,b,c", "test c: 2 clients cannot be divided among 3 agents");
    refused("bank --url postgres+psycopg://u@127.0.0.1:1/d", EACH, "a", "is a script");
    refused("bank --counts --url postgres://u@127.0.0.1:1/d", EACH, "a", "leave one out");
    refused("bank --delay 1ms --url postgres://u@127.0.0.1:1/d", EACH, "a", "leave one out");
    refused("bank --url postgres://u@127.0.0.1:1/d", "ssh {host}", "a", "starts no agent");
    refused("bank --url postgres://u@127.0.0.1:1/d", "ssh", "a,-oProxyCommand=x", "names no host");
    let clients = "bank --clients 2 --url postgres://u@127.0.0.1:1/d";
    refused(clients, EACH, "a,b,c", "2 clients cannot be divided among 3 agents");
    place.dyno("run bank --on ssh").exits(2).says("--hosts");
    place.assert_clean();
}
