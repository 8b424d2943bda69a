//! The words around a table: what was run, on what, what each level means, and what did not hold. Each
//! is a list of sentences; how they are set is the outputs' business.

mod contenders;
mod legend;
mod marks;
mod troubles;
mod turns;

use dyno_record::Ended;
use dyno_verdict::statistics::MIN_BLOCKS;
use dyno_verdict::{Generator, Verdict};

use super::{measure, units, wrapped};

pub use contenders::{dyno, engine_versions, left_out, safety, versions};
pub use legend::{legend, reading};
pub use marks::{COUNTS, fastest_mark, figure_marks, no_difference};
pub use troubles::{disturbances, noisy, others, troubles};

/// The suite, the machine, the number of trials and the reason for the end of the run.
pub fn heading(verdict: &Verdict) -> Vec<String> {
    let parameters: Vec<String> =
        verdict.about.suite.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut title = format!("{}: {}", verdict.about.suite.name, verdict.about.suite.title);
    if !parameters.is_empty() {
        title = format!("{title} ({})", parameters.join(", "));
    }
    for given in [caches(verdict), network(verdict)].into_iter().flatten() {
        title = format!("{title}; {given}");
    }
    let trials = verdict.about.blocks;
    let plural = if trials == 1 { "" } else { "s" };
    let mut lines = vec![title, machine(verdict)];
    lines.extend(generators(verdict));
    lines.extend([format!(
        "{trials} trial{plural} of each contender {}, in {}; {}. Seed {}.{}{}",
        warm_up(verdict),
        units::duration(verdict.about.elapsed_ns as f64),
        why_ended(verdict),
        verdict.about.schedule.seed,
        made_by(verdict),
        too_short(verdict).map(|advice| format!(" {advice}")).unwrap_or_default()
    )]);
    lines
}

/// The size of the cache that each contender was given that has one; `None` if each had its own.
pub fn caches(verdict: &Verdict) -> Option<String> {
    let limits = &verdict.about.limits;
    let by = if limits.cache_of_suite { ", by the suite" } else { "" };
    limits.cache_bytes.map(|bytes| format!("each cache {}{by}", units::bytes(bytes as f64)))
}

/// The maker of the run, where it is stated.
fn made_by(verdict: &Verdict) -> String {
    let maker = verdict.about.made_by.as_ref();
    maker.map(|maker| format!(" Made by {}.", maker.words())).unwrap_or_default()
}

/// The delay that dyno added to each round trip between a client and its server; `None` if clients reached their
/// servers directly.
pub fn network(verdict: &Verdict) -> Option<String> {
    let added = verdict.about.limits.round_trip_ns?;
    Some(match added {
        0 => "clients reach servers through a proxy that adds no delay".to_owned(),
        _ => format!("each round trip to a server takes {} longer", units::duration(added as f64)),
    })
}

/// Suggests a budget, if a run ended before it had enough trials for an interval.
fn too_short(verdict: &Verdict) -> Option<String> {
    let about = &verdict.about;
    let is_ranked = about.ended == Ended::Budget && about.schedule.sustain.is_none();
    let begun = (about.blocks as usize) + usize::from(about.schedule.warm_up);
    if !is_ranked || about.blocks as usize >= MIN_BLOCKS || begun == 0 {
        return None;
    }
    let wanted = MIN_BLOCKS + usize::from(about.schedule.warm_up);
    let seconds = measure::seconds(about.elapsed_ns as f64) / begun as f64 * wanted as f64;
    // A little more, because not all trials take as long.
    let minutes = (seconds * 1.1 / 60.0).ceil();
    Some(format!("An interval takes {MIN_BLOCKS} trials: `--budget {minutes}m` has room for them."))
}

/// The part of a run before the measured blocks.
pub fn warm_up(verdict: &Verdict) -> &'static str {
    if verdict.about.schedule.warm_up { "after one to warm up" } else { "without one to warm up" }
}

/// The reason for the end of a run, as a clause.
pub fn why_ended(verdict: &Verdict) -> &'static str {
    match verdict.about.ended {
        Ended::Running => "the run died or still goes on",
        Ended::Trials => "as many as you asked for",
        Ended::Converged => "then every interval was narrow enough",
        Ended::Budget => "then the time budget was used up",
        Ended::Interrupted => "then you stopped it",
        Ended::Failed => "then every contender had failed",
    }
}

fn machine(verdict: &Verdict) -> String {
    let machine = &verdict.about.machine;
    let storage = &verdict.about.storage;
    let device = storage.device.as_ref().map(|device| format!(" on {}", device.name)).unwrap_or_default();
    let placement = placement(verdict).map(|note| format!(" Placement: {}.", note.trim_end_matches('.')));
    format!(
        "{} × {}, {}, Linux {}, {}{device}.{}",
        machine.cpu.online,
        machine.cpu.model.as_deref().unwrap_or("an unknown processor"),
        machine.memory_bytes.map_or("unknown memory".into(), |bytes| units::bytes(bytes as f64)),
        machine.kernel.release,
        storage.file_system,
        placement.unwrap_or_default(),
    )
}

/// The CPUs of runners and servers; none where agents drove the clients: then nothing was measured on these.
pub fn placement(verdict: &Verdict) -> Option<&str> {
    verdict.about.generators.is_empty().then_some(verdict.about.placement.note.as_str())
}

/// The machines that drove the clients, in a sentence; none where they were on the machine of dyno.
pub fn generators(verdict: &Verdict) -> Option<String> {
    let all = &verdict.about.generators;
    let one = |generator: &Generator| {
        let others = generator.others.map_or_else(String::new, |share| {
            format!(", others took {} of them during the trials", units::percent(share))
        });
        let limit = generator.cpu_limit.map_or_else(String::new, |cpus| {
            format!(", of which a limit allows the time of {}", units::significant(cpus))
        });
        format!(
            "{} ({} × {}{limit}: clients used up to {} of its processors{others})",
            generator.host,
            generator.cpus,
            generator.model.as_deref().unwrap_or("an unknown processor"),
            units::percent(generator.busy)
        )
    };
    if all.is_empty() {
        return None;
    }
    let late = all.iter().filter_map(|generator| generator.late_start_ns).max();
    let late = late.map_or_else(String::new, |late| {
        format!(" Each began at most {} after the moment agreed on.", units::duration(late as f64))
    });
    Some(format!(
        "Agents drove the clients, from {}.{late}",
        all.iter().map(one).collect::<Vec<_>>().join("; ")
    ))
}

/// Sentences as lines of at most 100 columns, those that go on set in.
pub fn paragraph(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| wrapped(sentence, "", "  ")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_record::{AgentRecord, AgentShare, Others};

    use super::*;

    /// The golden run, disturbed in all blocks, and by the clients of an agent if it is driven.
    fn verdict(is_driven: bool) -> Verdict {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let test = run.tests[0].id.clone();
        for trial in &mut run.trials {
            trial.others = Some(Others { over_ns: 1_000_000_000, foreign_ns: 500_000_000, stolen_ns: 0 });
            if is_driven {
                let test = test.clone();
                trial.agents = vec![AgentShare { test, nanoseconds: 1_000, ..AgentShare::default() }];
            }
        }
        if is_driven {
            let machine = run.machine.clone();
            run.agents = vec![AgentRecord { host: "a".into(), machine, same_machine_as: None }];
        }
        dyno_verdict::judge(&run)
    }

    #[test]
    fn where_agents_drove_the_clients_nothing_is_said_of_the_cpus_of_dyno() {
        let said = |verdict: &Verdict| {
            [heading(verdict), noisy(verdict).into_iter().collect::<Vec<String>>()].concat().join("\n")
        };
        let (here, there) = (said(&verdict(false)), said(&verdict(true)));
        assert!(here.contains("Placement: ") && here.contains("`dyno doctor` shows"), "{here}");
        assert!(!here.contains("Agents drove"), "{here}");
        assert!(there.contains("Agents drove the clients, from a ("), "{there}");
        assert!(there.contains("Disturbed: "), "{there}");
        assert!(!there.contains("Placement: ") && !there.contains("dyno doctor"), "{there}");
    }
}
