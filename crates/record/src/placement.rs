//! The CPUs of the processes of a run: measured ones and dyno, and client and server of one connection.
//!
//! Client and server take turns: which CPU each sleeps and wakes on
//! decides how long a turn takes. A client's queries on two idle virtual CPUs ran at 14,000 a second, on
//! one CPU at 80,000; so it is chosen, the same for all server engines, and stated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpu_list;

/// The CPUs of runner and dyno during the trials of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Placement {
    /// CPUs of the measured processes: runner and server.
    pub runner_cpus: Vec<usize>,
    /// CPUs of dyno itself.
    pub dyno_cpus: Vec<usize>,
    /// Priority of the measured processes, from -20 (first) to 19 (last).
    pub nice: i32,
    /// The way in which it was chosen and its faults, in a sentence or two for people.
    pub note: String,
}

/// The way in which the runner and a private server share the CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Both on the measured CPUs: waking the other needs no other core, and every contender has the
    /// same processors, with a server or without.
    #[default]
    SameCore,
    /// The server on the measured CPUs, its client on dyno's.
    Split,
    /// Both wherever the kernel puts them.
    Free,
}

/// The CPUs of the measured processes, as the user asks for them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Wanted {
    /// The CPUs, as `1` or `2-3`; absent: dyno chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// The priority, from -20 (first) to 19 (last); absent: dyno's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
    /// The way in which client and private server share the CPUs.
    #[serde(rename = "pairing")]
    pub sharing: Sharing,
}

/// The placement of each of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The runner, where it is a server's client.
    pub client: Placement,
    /// The server.
    pub server: Placement,
}

impl Sharing {
    /// The pair that a run's placement makes.
    pub fn pair(self, placement: &Placement) -> Pair {
        let on = |cpus: &[usize]| Placement { runner_cpus: cpus.to_vec(), ..placement.clone() };
        let mut all: Vec<usize> = placement.runner_cpus.iter().chain(&placement.dyno_cpus).copied().collect();
        all.sort_unstable();
        all.dedup();
        let measured = &placement.runner_cpus;
        match self {
            Sharing::SameCore => Pair { client: on(measured), server: on(measured) },
            Sharing::Split => Pair { client: on(&placement.dyno_cpus), server: on(measured) },
            Sharing::Free => Pair { client: on(&all), server: on(&all) },
        }
    }

    /// The choice, in a sentence for people.
    pub fn note(self, placement: &Placement) -> String {
        let pair = self.pair(placement);
        let cpus = |placement: &Placement| cpu_list::format(&placement.runner_cpus);
        match self {
            Sharing::SameCore => {
                format!("private servers share CPU {} with their client", cpus(&pair.server))
            }
            Sharing::Split => format!(
                "private servers on CPU {}, their client on CPU {} with dyno",
                cpus(&pair.server),
                cpus(&pair.client)
            ),
            Sharing::Free => format!("private servers and their client free on CPU {}", cpus(&pair.server)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_and_server_are_where_they_are_said_to_be() {
        let placement =
            Placement { runner_cpus: vec![3], dyno_cpus: vec![0, 1], nice: 0, note: String::new() };
        let cpus = |sharing: Sharing| {
            let pair = sharing.pair(&placement);
            (pair.client.runner_cpus, pair.server.runner_cpus)
        };
        assert_eq!(cpus(Sharing::SameCore), (vec![3], vec![3]));
        assert_eq!(cpus(Sharing::Split), (vec![0, 1], vec![3]));
        assert_eq!(cpus(Sharing::Free), (vec![0, 1, 3], vec![0, 1, 3]));
        assert!(Sharing::Split.note(&placement).contains("CPU 0-1 with dyno"));
    }
}
