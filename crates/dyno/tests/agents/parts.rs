//! Tests and probes that have fewer clients than there are agents, and what a single agent on its machine says of it.

use super::{AGENT, EACH, SMALL, Served, run};
use crate::common::{Place, Result, read_json};

#[test]
fn isolation_is_probed_where_agents_are_more_than_the_clients_of_a_probe() {
    let (place, served) = (Place::new(), Served::here());
    let arguments = format!("{SMALL} --clients 5 --only transfer --url {}", served.url);
    run(&place, EACH, "a,b,c,d,e", &arguments).exits(0).prints("transactions at once");
    let record = read_json(&place.path("run.jsonl"));
    let probes = record["contenders"][0]["probes"].as_array().unwrap();
    assert_eq!(probes.len(), 4, "{probes:?}");
    assert!(probes.iter().all(|probe| probe["failed"].is_null()), "{probes:?}");
    place.assert_clean();
    served.assert_clean();
}

#[test]
fn a_test_that_is_not_divided_needs_no_client_for_each_agent() {
    let (place, served) = (Place::new(), Served::here());
    // One client fills the table, and other workloads of the suite are not chosen.
    let arguments = format!(
        "--set records=100 --set warm_up=0.1 --duration 0.3s --trials 1 --no-warm-up --only c --clients 2 --quiet \
         -o run.jsonl --url {}",
        served.url
    );
    let mut dyno = place.command();
    dyno.arg("run").arg("ycsb").args(arguments.split_whitespace());
    dyno.args(["--on", EACH, "--hosts", "a,b", "--agent", AGENT]);
    let result: Result = dyno.output().unwrap().into();
    result.without_panic().exits(0).prints("Agents drove the clients, from a (").prints("; b (");
    let record = read_json(&place.path("run.jsonl"));
    for trial in record["trials"].as_array().unwrap() {
        let shares = trial["agents"].as_array().unwrap();
        assert!(shares.len() == 2 && shares.iter().all(|share| share["test"] == "c"), "{shares:?}");
    }
    place.assert_clean();
    served.assert_clean();
}

#[test]
fn an_agent_that_has_its_machine_to_itself_says_what_others_took() {
    let (place, served) = (Place::new(), Served::here());
    let arguments = format!("{SMALL} --clients 2 --only transfer --url {}", served.url);
    let result = run(&place, EACH, "a", &arguments).exits(0).prints("of its processors, others took");
    assert!(!result.stdout.contains("Placement"), "{}", result.stdout);
    let record = read_json(&place.path("run.jsonl"));
    for trial in record["trials"].as_array().unwrap() {
        assert!(trial["agents"][0]["others"]["over_ns"].as_u64().unwrap() > 0, "{trial}");
    }
    // Another run, whose clients are on this machine, is not compared with it.
    let local = format!("run bank {SMALL} --clients 2 --only transfer --url {}", served.url);
    place.dyno(&local.replace("run.jsonl", "local.jsonl")).exits(0).without_panic();
    let refused = place.dyno("compare local.jsonl run.jsonl").exits(2).without_panic();
    refused.says("were on the machine of dyno and those of the other driven from a");
    place.assert_clean();
    served.assert_clean();
}
