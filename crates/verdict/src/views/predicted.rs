//! The prediction of a contender's time at other delays from its round trips: the time at delay 0, and the delay for
//! each round trip.

use crate::judge::Verdict;

/// The parameter of a suite that says how many clients work at once.
const CLIENTS: &str = "clients";

/// The predicted time at the delay of each run, in nanoseconds, of work that took these `times` with this number of round
/// trips; `None` for delay 0, on which predictions rest, and where nothing can be predicted. Clients that wait for one
/// another are not predicted.
pub fn predicted(runs: &[&Verdict], times: &[Option<f64>], round_trips: Option<f64>) -> Vec<Option<f64>> {
    let delay = |run: &&Verdict| run.about.limits.round_trip_ns;
    let near = runs.iter().position(|run| delay(run) == Some(0));
    let base = near.and_then(|place| *times.get(place)?);
    let at = |run: &&Verdict| {
        let added = delay(run).filter(|&added| added > 0)?;
        Some(base? + round_trips? * added as f64).filter(|_| has_one_client(run))
    };
    let predicted: Vec<Option<f64>> = runs.iter().map(at).collect();
    if predicted.iter().all(Option::is_none) { Vec::new() } else { predicted }
}

fn has_one_client(run: &Verdict) -> bool {
    run.about.suite.parameters.get(CLIENTS).is_none_or(|clients| clients.to_string() == "1")
}

/// The round trips of a contender (by label) in all of a test's work, of which there is `amount`.
pub fn of_test(runs: &[&Verdict], test: &str, amount: Option<u64>, label: &str) -> Option<f64> {
    runs.iter().find_map(|run| {
        let mut found = run.views.traffic.iter().filter(|traffic| traffic.test == test);
        // The share of each class in the work differs from run to run.
        let (Some(traffic), None) = (found.next(), found.next()) else { return None };
        let line = traffic.lines.iter().find(|line| run.label(line.contender) == label)?;
        let each = line.round_trips()?;
        let operations = match traffic.class {
            Some(_) => amount?,
            None => line.operations,
        };
        Some(each * operations as f64)
    })
}

/// The round trips of a contender (by label) in an operation of a class.
pub fn of_class(runs: &[&Verdict], test: &str, class: &str, label: &str) -> Option<f64> {
    runs.iter().find_map(|run| {
        let is_it = |known: &Option<String>| known.as_deref().is_none_or(|known| known == class);
        let traffic =
            run.views.traffic.iter().find(|traffic| traffic.test == test && is_it(&traffic.class))?;
        let line = traffic.lines.iter().find(|line| run.label(line.contender) == label)?;
        line.round_trips()
    })
}
