//! The activity besides the clients, in words.

use dyno_record::{ActivitySample, Pressure};
use dyno_verdict::{Second, Verdict};

use crate::units;

/// The number of events of an engine's background work, by their plural name: `1 checkpoint`, `3 compactions`.
pub fn times(name: &str, times: u64) -> String {
    match (times, name.strip_suffix("es").filter(|one| one.ends_with("sh")).or(name.strip_suffix('s'))) {
        (1, Some(one)) => format!("1 {one}"),
        _ => format!("{} {name}", units::whole(times)),
    }
}

/// The activity in a second: `disk busy 97%, 80% waiting for I/O, 5% for a CPU, 1 checkpoint`.
pub fn second(second: &Second) -> String {
    let Some(ActivitySample { pressure, disk_busy_ns, upkeep, .. }) = &second.around else {
        return String::new();
    };
    let share = |nanoseconds: u64| units::percent(second.share(nanoseconds));
    let mut parts: Vec<String> =
        disk_busy_ns.iter().map(|busy| format!("disk busy {}", share(*busy))).collect();
    if let Some(Pressure { cpu_some_ns, memory_some_ns, io_some_ns, .. }) = pressure {
        parts.push(format!("{} waiting for I/O", share(*io_some_ns)));
        parts.push(format!("{} for a CPU", share(*cpu_some_ns)));
        if *memory_some_ns > 0 {
            parts.push(format!("{} for memory", share(*memory_some_ns)));
        }
    }
    parts.extend(upkeep.iter().filter(|(_, many)| **many > 0).map(|(name, many)| times(name, *many)));
    parts.join(", ")
}

/// Further notes.
pub fn notes(verdict: &Verdict) -> Vec<String> {
    let mut lines = verdict.views.timelines.iter().flat_map(|timeline| &timeline.lines);
    let is_known = lines.any(|line| line.surroundings.is_some());
    let note = "During the test: for which share of the seconds the disk was at work, one process of the machine or more waited \
                for I/O, all of them did, and one or more waited for a CPU or for memory (the kernel's PSI, in which all \
                processes count); and how often the engine did what it reports.";
    is_known.then(|| note.to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_many() {
        let said = [("checkpoints", 1), ("checkpoints", 2), ("flushes", 1), ("compactions", 1200)];
        let said = said.map(|(name, many)| times(name, many));
        assert_eq!(said, ["1 checkpoint", "2 checkpoints", "1 flush", "1,200 compactions"]);
    }
}
