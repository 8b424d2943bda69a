use std::path::Path;

use dyno_record::{Clients, RateAttempt};

use super::*;
use crate::statistics::MIN_BLOCKS;
use crate::{CellStanding, judge};

/// The golden run as if two machines with one processor each had driven its first test, for the first contender.
fn driven(change: impl Fn(u32, &mut AgentShare)) -> (Run, String) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
    let mut run = dyno_record::load(&golden).unwrap();
    let mut machine = run.machine.clone();
    machine.cpu.allowed = vec![0];
    run.agents = ["a", "b"]
        .map(|host| AgentRecord { host: host.into(), machine: machine.clone(), same_machine_as: None })
        .into();
    let test = run.tests.iter().find(|test| !test.prepares).unwrap().id.clone();
    for trial in run.trials.iter_mut().filter(|trial| trial.contender == 0) {
        let share = |agent| {
            let test = test.clone();
            let quiet = AgentShare { agent, test, nanoseconds: 1_000, cpu_ns: 700, ..AgentShare::default() };
            let mut share = AgentShare { late_ns: Some(5), response_ns: Some(100), ..quiet };
            change(trial.block, &mut share);
            share
        };
        trial.agents = vec![share(0), share(1)];
    }
    (run, test)
}

/// Gives a test clients that last for a duration.
fn lasting(run: &mut Run, test: &str, warm_up_ns: u64) {
    let clients = Clients {
        clients: 2,
        rate: None,
        course: None,
        session: None,
        think_ns: None,
        duration_ns: Some(1_000),
        warm_up_ns,
    };
    let place = run.tests.iter().position(|known| known.id == test).unwrap();
    run.tests[place].clients = Some(clients);
}

fn standing(run: &Run, test: &str) -> CellStanding {
    judge(run).test(test).unwrap().cells[0].standing.clone()
}

#[test]
fn a_machine_that_is_the_limit_withholds_the_verdict() {
    let (run, test) = driven(|_, _| {});
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    assert_eq!(generators(&run)[1].busy, 0.7);
    let (run, test) = driven(|_, share| share.cpu_ns += 150 * share.agent as u64);
    let busy = "b used 85 % of its processors to drive clients";
    assert_eq!(standing(&run, &test), CellStanding::WeakGenerator(busy.into()));
    let verdict = judge(&run);
    let cells = &verdict.test(&test).unwrap().cells;
    assert!(!cells[0].fastest && cells.iter().all(|cell| cell.ratio.is_none() || cell.contender != 0));
    let (run, test) = driven(|_, share| share.late_ns = Some(6));
    assert!(
        matches!(standing(&run, &test), CellStanding::WeakGenerator(why) if why.starts_with("a sent 1 %"))
    );
    // One trial of several says nothing of the others.
    let (run, test) = driven(|block, share| share.cpu_ns += if block == 1 { 300 } else { 0 });
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
}

#[test]
fn a_rate_that_is_sought_rests_on_the_trials_in_which_it_did_not_hold() {
    let is_above = |block: u32| block.is_multiple_of(3);
    let (mut run, test) = driven(|block, share| share.cpu_ns += if is_above(block) { 300 } else { 0 });
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    for trial in run.trials.iter_mut().filter(|trial| trial.contender == 0) {
        let held = !is_above(trial.block);
        let rate = if held { 900.0 } else { 1_100.0 };
        for sample in trial.samples.iter_mut().filter(|sample| sample.sample.test == test) {
            sample.sought = Some(RateAttempt { rate, due: 1_000, late: 0, left: 0, held });
        }
    }
    let weak = weakness(&run, &Disturbances::new(&run), 0, &test);
    assert!(weak.is_some_and(|why| why.starts_with("a used")));
}

#[test]
fn agents_on_one_machine_share_its_processors() {
    let (mut run, test) = driven(|_, share| share.cpu_ns = 450);
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    run.agents[1].same_machine_as = Some(0);
    let busy = "a used 90 % of its processors to drive clients";
    assert_eq!(standing(&run, &test), CellStanding::WeakGenerator(busy.into()));
    assert_eq!(generators(&run)[1].busy, 0.9);
    // Where they are placed apart, each has its own.
    run.agents[1].machine.cpu.allowed = vec![1];
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    assert_eq!(generators(&run)[1].busy, 0.45);
}

#[test]
fn a_machine_has_no_more_than_its_limit_allows() {
    let (mut run, test) = driven(|_, share| share.cpu_ns = 450);
    run.agents[1].machine.cpu.quota_ns = Some(500_000_000);
    let busy = "b used 90 % of its processors to drive clients";
    assert_eq!(standing(&run, &test), CellStanding::WeakGenerator(busy.into()));
    assert_eq!(generators(&run)[1].cpu_limit, Some(0.5));
    run.agents[1].machine.cpu.quota_ns = Some(4_000_000_000);
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    assert_eq!(generators(&run)[1].cpu_limit, None);
}

#[test]
fn what_others_take_of_a_machine_counts_too() {
    let with = |over_ns, foreign_ns, stolen_ns| {
        driven(|_, share| share.others = Some(Others { over_ns, foreign_ns, stolen_ns }))
    };
    // The last took a larger share, but no more than what the kernel's ticks may be off by.
    for (over_ns, foreign_ns) in [(1_000_000_000, 60_000_000), (200_000_000, 45_000_000)] {
        let (run, test) = with(over_ns, foreign_ns, 0);
        assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)), "{over_ns}");
    }
    let (run, test) = with(1_000_000_000, 100_000_000, 50_000_000);
    let all =
        "of the processors of a 85 % were in use: 70 % to drive clients, 15 % by others during the trial";
    assert_eq!(standing(&run, &test), CellStanding::WeakGenerator(all.into()));
    assert_eq!(generators(&run)[0].busy, 0.7);
}

#[test]
fn clients_of_an_agent_on_the_same_processors_are_no_others() {
    let others = Others { over_ns: 1_000_000_000, foreign_ns: 350_000_000, stolen_ns: 0 };
    let (mut run, test) = driven(|_, share| (share.cpu_ns, share.others) = (350, Some(others)));
    run.agents[1].same_machine_as = Some(0);
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    assert_eq!((generators(&run)[0].busy, generators(&run)[0].others), (0.7, None));
    // Where they are placed apart, what others took of each one's processors is known.
    run.agents[1].machine.cpu.allowed = vec![1];
    assert_eq!(generators(&run)[0].others, Some(0.35));
    // The share of others on an agent's processors is added to the share of that agent's clients, not to the mean of
    // both agents.
    for share in run.trials.iter_mut().flat_map(|trial| &mut trial.agents) {
        share.cpu_ns = if share.agent == 0 { 200 } else { 750 };
        share.others = share.others.filter(|_| share.agent == 0);
    }
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
}

#[test]
fn a_block_that_is_left_out_says_nothing_of_a_machine() {
    let is_bad = |block: u32| block > MIN_BLOCKS as u32;
    let (mut run, test) = driven(|block, share| share.cpu_ns += if is_bad(block) { 300 } else { 0 });
    assert!(matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    for trial in &mut run.trials {
        let foreign_ns = if is_bad(trial.block) { 600_000_000 } else { 0 };
        trial.others = Some(Others { over_ns: 1_000_000_000, foreign_ns, stolen_ns: 0 });
    }
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
}

#[test]
fn clients_that_began_late_were_as_busy_as_they_were_at_work() {
    let (mut run, test) = driven(|_, share| share.late_start_ns = Some(300));
    let place = run.tests.iter().position(|known| known.id == test).unwrap();
    run.tests[place].load = Some(Load::Open);
    lasting(&mut run, &test, 0);
    let busy = "a used 100 % of its processors to drive clients";
    assert_eq!(standing(&run, &test), CellStanding::WeakGenerator(busy.into()));
    assert_eq!(generators(&run)[0].busy, 1.0);
    // After a warm-up they were at work already.
    lasting(&mut run, &test, 1);
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    assert_eq!(generators(&run)[0].busy, 0.7);
}

#[test]
fn closed_clients_that_begin_late_do_less_than_they_could() {
    let late =
        |ns, error_ns| driven(|_, share| (share.late_start_ns, share.clock_error_ns) = (Some(ns), error_ns));
    for (ns, error_ns) in [(9, 0), (20, 15), (-20, 0)] {
        let (mut run, test) = late(ns, error_ns);
        lasting(&mut run, &test, 0);
        assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)), "{ns} {error_ns}");
    }
    let (mut run, test) = late(20, 5);
    // A number of operations, or a warm-up before the measured time.
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    lasting(&mut run, &test, 1);
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
    lasting(&mut run, &test, 0);
    let said = "a began 0.00 ms after the moment agreed on, 1.5 % of the time that was measured";
    assert_eq!(standing(&run, &test), CellStanding::WeakGenerator(said.into()));
    // Operations that arrive wait for such clients, and the responses include that wait.
    let place = run.tests.iter().position(|known| known.id == test).unwrap();
    run.tests[place].load = Some(Load::Open);
    assert!(!matches!(standing(&run, &test), CellStanding::WeakGenerator(_)));
}

#[test]
fn an_agent_that_drove_nothing_is_not_named() {
    let (mut run, _) = driven(|_, _| {});
    run.trials.iter_mut().for_each(|trial| trial.agents.retain(|share| share.agent == 1));
    let hosts: Vec<String> = generators(&run).into_iter().map(|generator| generator.host).collect();
    assert_eq!(hosts, ["b"]);
    run.trials.iter_mut().for_each(|trial| trial.agents.clear());
    assert_eq!(generators(&run), []);
}
