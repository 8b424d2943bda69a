use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dyno_launch::placed::prepare;

use super::*;

fn topology(siblings: &[&[usize]], speed: &[(usize, u64)]) -> Topology {
    let by_cpu = siblings.iter().flat_map(|core| core.iter().map(|&cpu| (cpu, core.to_vec())));
    Topology { siblings: by_cpu.collect(), speed: speed.iter().copied().collect() }
}

fn chosen(allowed: &[usize], topology: &Topology) -> (Vec<usize>, Vec<usize>) {
    let placement = split(None, allowed, topology);
    (placement.runner_cpus, placement.dyno_cpus)
}

#[test]
fn the_runner_gets_the_last_cpu_and_dyno_the_others() {
    let plain = Topology::default();
    assert_eq!(chosen(&[0, 1], &plain), (vec![1], vec![0]));
    assert_eq!(chosen(&[2, 5, 7], &plain), (vec![7], vec![2, 5]));
}

#[test]
fn dyno_keeps_off_the_runners_core() {
    let threads = topology(&[&[0, 2], &[1, 3]], &[]);
    assert_eq!(chosen(&[0, 1, 2, 3], &threads), (vec![3], vec![0, 2]));
    let one_core = topology(&[&[0, 1]], &[]);
    let placement = split(None, &[0, 1], &one_core);
    assert_eq!((placement.runner_cpus, placement.dyno_cpus), (vec![1], vec![0]));
    assert!(placement.note.contains("same core"), "{}", placement.note);
}

#[test]
fn the_runner_gets_a_fast_core_of_a_mixed_processor() {
    let mixed = topology(&[], &[(0, 1024), (1, 1024), (2, 512), (3, 512)]);
    assert_eq!(chosen(&[0, 1, 2, 3], &mixed), (vec![1], vec![0, 2, 3]));
}

#[test]
fn one_cpu_is_shared_and_the_note_says_so() {
    for placement in
        [split(None, &[3], &Topology::default()), split(Some(vec![0, 1]), &[0, 1], &Topology::default())]
    {
        assert_eq!(placement.runner_cpus, placement.dyno_cpus);
        assert!(placement.note.contains("no CPU is left for dyno alone"), "{}", placement.note);
    }
}

#[test]
fn a_refusal_names_what_is_allowed() {
    let message = |text: &str| asked_cpus(text, &[0, 1, 4]).unwrap_err().to_string();
    assert!(message("1,9,11-12").starts_with("CPU 9,11-12 does not exist"));
    assert!(message("1,9").ends_with("allowed here: 0-1,4"));
    assert!(message("first").contains("`first`") && message("first").contains("0-1,4"));
    assert!(message("").contains("allowed here"));
    assert!(choose(None, Some(20)).unwrap_err().to_string().contains("-20"));
}

#[test]
fn the_note_says_how_far_a_priority_reaches() {
    let lower = own_nice() + 1;
    // Nothing is lower than the last priority.
    if let Ok(placement) = choose(None, Some(lower)) {
        assert!(placement.note.contains(&format!("nice {lower}: only processes of the same")));
    }
    assert!(!choose(None, None).unwrap().note.contains("nice"));
}

fn spawned(placement: &Placement, program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments);
    prepare(placement, &mut command).unwrap();
    let output = command.output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_process_starts_in_its_place() {
    let allowed = allowed_cpus();
    for cpu in [allowed[0], allowed[allowed.len() - 1]] {
        let placement = choose(Some(&cpu.to_string()), Some(3)).unwrap();
        let status = spawned(&placement, "grep", &["Cpus_allowed_list", "/proc/self/status"]);
        assert_eq!(status.split_whitespace().nth(1), Some(cpu.to_string().as_str()));
        let stat = spawned(&placement, "cat", &["/proc/self/stat"]);
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
        assert_eq!(fields[2], stat.split(' ').next().unwrap(), "leads its process group");
        assert_eq!(fields[16], "3", "nice");
    }
    assert_eq!(allowed_cpus(), allowed, "starting a process leaves the caller where it was");
}

#[test]
fn every_thread_moves() {
    // Narrowing the test process would disturb other tests that run meanwhile, so the move is to all CPUs.
    let allowed = allowed_cpus();
    let placement =
        Placement { runner_cpus: vec![], dyno_cpus: allowed.clone(), nice: 0, note: String::new() };
    let (narrowed, wait) = std::sync::mpsc::channel();
    let (go, moved) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        sched_setaffinity(Pid::from_raw(0), &cpu_set(&[allowed_cpus()[0]]).unwrap()).unwrap();
        narrowed.send(()).unwrap();
        moved.recv().unwrap();
        allowed_cpus()
    });
    wait.recv().unwrap();
    apply_to_self(&placement).unwrap();
    go.send(()).unwrap();
    assert_eq!(thread.join().unwrap(), allowed);
}

#[test]
fn a_cpu_that_is_gone_is_an_error_of_the_start() {
    let placement = Placement { runner_cpus: vec![1000], dyno_cpus: vec![0], nice: 0, note: String::new() };
    let mut command = Command::new("true");
    prepare(&placement, &mut command).unwrap();
    assert!(command.status().is_err());
}

/// Not a test: the parent that the next test kills. It starts a process in its place and names it.
#[test]
#[ignore = "the helper of another test"]
fn helper_that_waits_to_be_killed() {
    if std::env::var_os("DYNO_TEST_HELPER").is_none() {
        return;
    }
    let mut command = Command::new("sleep");
    command.arg("60").stdout(Stdio::null());
    prepare(&choose(None, None).unwrap(), &mut command).unwrap();
    let mut child = command.spawn().unwrap();
    writeln!(std::io::stdout(), "child={}", child.id()).unwrap();
    let _ = child.wait();
}

#[test]
fn a_process_dies_with_dyno() {
    let mut helper = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "placement::tests::helper_that_waits_to_be_killed", "--nocapture"])
        .env("DYNO_TEST_HELPER", "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(helper.stdout.take().unwrap()).lines();
    let child = lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once("child=")?.1.trim().to_owned()))
        .expect("the helper names its child");
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        // The process that inherits the orphan may be slow to collect it: a zombie is dead.
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z"))
    };
    assert!(alive());
    helper.kill().unwrap();
    helper.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    while alive() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!alive(), "process {child} outlives its parent");
}

#[test]
fn a_placement_is_written_as_plain_lists() {
    let placement =
        Placement { runner_cpus: vec![1], dyno_cpus: vec![0], nice: -5, note: "as asked".to_owned() };
    let json: BTreeMap<String, serde_json::Value> =
        serde_json::from_str(&serde_json::to_string(&placement).unwrap()).unwrap();
    assert_eq!(json["runner_cpus"], serde_json::json!([1]));
    assert_eq!(json["nice"], -5);
}
