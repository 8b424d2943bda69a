//! Whether the clients of two runs were on the same machines.

use anyhow::{Result, ensure};
use dyno_record::hosts;

use crate::judge::Verdict;

/// Runs whose clients were on other machines say nothing of each other.
///
/// # Errors
/// They were.
pub(super) fn same_clients(old: &Verdict, new: &Verdict) -> Result<()> {
    ensure!(
        hosts(&old.about.agents) == hosts(&new.about.agents),
        "the clients of one run were {} and those of the other {}, so the times are of different machines and of different \
         ways to the server; drive both runs from the same hosts (--on, --hosts)",
        place(old),
        place(new)
    );
    Ok(())
}

/// The place of the clients, in words.
fn place(run: &Verdict) -> String {
    let hosts: Vec<&str> = hosts(&run.about.agents).into_iter().collect();
    if hosts.is_empty() {
        return "on the machine of dyno".to_owned();
    }
    format!("driven from {}", hosts.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_record::{AgentRecord, Run};

    use crate::compare::compare;
    use crate::{have_one_load, judge};

    /// The golden run as if agents on these hosts had driven its clients.
    fn run(hosts: &[&str]) -> Run {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let machine = run.machine.clone();
        let agent = |host: &&str| {
            let (host, machine) = ((*host).to_owned(), machine.clone());
            AgentRecord { host, machine, same_machine_as: None }
        };
        run.agents = hosts.iter().map(agent).collect();
        run
    }

    fn complaint(old: &Run, new: &Run) -> String {
        compare(&judge(old), &judge(new)).unwrap_err().to_string()
    }

    #[test]
    fn clients_on_other_machines_are_not_compared() {
        let (here, there) = (run(&[]), run(&["a", "b"]));
        let said = complaint(&here, &there);
        let places = "were on the machine of dyno and those of the other driven from a, b";
        assert!(said.contains(places), "{said}");
        assert!(complaint(&there, &run(&["a", "c"])).contains("driven from a, c"));
        assert!(!have_one_load(&here, &there) && have_one_load(&here, &here));
        // The order of the hosts says nothing.
        let changes = compare(&judge(&there), &judge(&run(&["b", "a"]))).unwrap().changes;
        assert!(!changes.iter().any(|line| line.starts_with("machines of the clients")), "{changes:?}");
        assert!(have_one_load(&there, &run(&["b", "a"])));
    }

    #[test]
    fn another_machine_of_the_same_name_is_a_change() {
        let (old, mut new) = (run(&["a"]), run(&["a"]));
        new.agents[0].machine.cpu.model = Some("another".to_owned());
        let changes = compare(&judge(&old), &judge(&new)).unwrap().changes;
        assert!(changes.iter().any(|line| line.starts_with("machines of the clients: a (")), "{changes:?}");
    }
}
