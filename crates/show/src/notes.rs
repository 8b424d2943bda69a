//! The words around a table: what was run, on what, what each level means, and what did not hold. Each
//! is a list of sentences; how they are set is the outputs' business.

use std::collections::BTreeSet;

use dyno_record::{ContenderRecord, Ended, Run, Safety};
use dyno_suite::Published;
use dyno_verdict::statistics::{Difference, MIN_BLOCKS, NoDifference};
use dyno_verdict::{CellStanding, Verdict};

use super::{encryption, latency, units, wrapped};

/// What was run, where, how often and why it ended.
pub fn heading(run: &Run) -> Vec<String> {
    let parameters: Vec<String> =
        run.suite.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut title = format!("{}: {}", run.suite.name, run.suite.title);
    if !parameters.is_empty() {
        title = format!("{title} ({})", parameters.join(", "));
    }
    let trials = measured_blocks(run);
    let plural = if trials == 1 { "" } else { "s" };
    vec![
        title,
        machine(run),
        format!(
            "{trials} trial{plural} of each contender {}, in {}; {}. Seed {}.",
            warm_up(run),
            units::duration(run.elapsed_ns as f64),
            why_ended(run),
            run.schedule.seed
        ),
    ]
}

/// What went before the measured blocks.
pub fn warm_up(run: &Run) -> &'static str {
    if run.schedule.warm_up { "after one to warm up" } else { "without one to warm up" }
}

/// How many blocks were measured: those of warm-up and of latency are none of them.
pub fn measured_blocks(run: &Run) -> u32 {
    let measured = run.trials.iter().filter(|trial| !trial.latency);
    measured.map(|trial| trial.block).max().unwrap_or(0)
}

/// Why a run ended, as a clause.
pub fn why_ended(run: &Run) -> &'static str {
    match run.ended {
        Ended::Running => "the run died or still goes on",
        Ended::Trials => "as many as you asked for",
        Ended::Converged => "then every interval was narrow enough",
        Ended::Budget => "then the time budget was used up",
        Ended::Interrupted => "then somebody interrupted it",
        Ended::Failed => "then every contender had failed",
    }
}

fn machine(run: &Run) -> String {
    let machine = &run.machine;
    let storage = &run.storage;
    let device = storage.device.as_ref().map(|device| format!(" on {}", device.name)).unwrap_or_default();
    format!(
        "{} × {}, {}, Linux {}, {}{device}. Placement: {}.",
        machine.cpu.online,
        machine.cpu.model.as_deref().unwrap_or("an unknown processor"),
        machine.memory_bytes.map_or("unknown memory".into(), |bytes| units::bytes(bytes as f64)),
        machine.kernel.release,
        storage.file_system,
        run.placement.note.trim_end_matches('.'),
    )
}

/// What the figures and marks mean for whoever decides by them, and everything that went wrong. With `all`, also what
/// most readers do not need: settings, how each level is known, disturbances, what measuring costs.
pub fn legend(run: &Run, verdict: &Verdict, all: bool) -> Vec<String> {
    let mut lines = vec![figures(run), LEVELS.to_owned()];
    lines.extend(marks(run, verdict));
    if all {
        let contenders = run.shown_contenders().map(|(_, contender)| (&*contender.label, about(contender)));
        lines.extend(grouped(contenders));
        lines.extend(encryption::proofs(run));
    } else {
        lines.extend(versions(run));
        lines.extend(encryption::unproved(run));
        lines.extend(encryption::proved(run));
    }
    lines.extend(left_out(run));
    lines.extend(if all { disturbances(run, verdict) } else { noisy(verdict).into_iter().collect() });
    lines.extend(troubles(run, verdict));
    lines.extend(harness(run, verdict).filter(|_| all));
    lines.extend(latency::note(run));
    lines.extend((!all).then(|| MORE.to_owned()));
    lines
}

/// Where the other notes are.
pub const MORE: &str =
    "`dyno show --notes` adds settings, what each contender survives and why, and disturbances.";

/// The versions that were measured.
pub fn versions(run: &Run) -> Option<String> {
    let engines = run.shown_contenders().filter(|(_, contender)| !contender.harness);
    let version = |contender: &ContenderRecord| {
        Some(format!("{} {}", contender.engine, contender.hello.as_ref()?.engine_version))
    };
    let versions: BTreeSet<String> = engines.filter_map(|(_, contender)| version(contender)).collect();
    let versions: Vec<String> = versions.into_iter().collect();
    (!versions.is_empty()).then(|| format!("Measured: {}.", versions.join(", ")))
}

/// Who was left out.
pub fn left_out(run: &Run) -> impl Iterator<Item = String> {
    run.left_out.iter().map(|left| format!("Left out: {}: {}", left.label, left.why))
}

/// How to read figures and marks, for a page that shows contenders and troubles elsewhere.
pub fn reading(run: &Run, verdict: &Verdict) -> Vec<String> {
    let mut lines = vec![figures(run)];
    lines.extend(marks(run, verdict));
    lines.extend(left_out(run));
    lines.extend(disturbances(run, verdict));
    lines.extend(harness(run, verdict));
    lines
}

/// So many contenders get a sentence each.
const FEW: usize = 3;

/// What the name of a level beside a contender means.
const LEVELS: &str = "A commit survives a power cut (power-loss), only a crash of the process (process-crash), or neither \
     (none).";

/// What figures and ratios are.
fn figures(run: &Run) -> String {
    let median = "Each figure is a median ± its standard deviation.";
    match run.shown_contenders().count() {
        0 | 1 => median.to_owned(),
        _ => format!(
            "{median} A ratio compares times with {}: 0.50× means half the time. Its 95 % interval stands beside it \
             where there is room.",
            run.baseline
        ),
    }
}

/// The marks that are used in this table.
fn marks(run: &Run, verdict: &Verdict) -> Vec<String> {
    let cells = || verdict.tests.iter().flat_map(|test| &test.cells);
    let mut lines: Vec<String> = fastest_mark(verdict).into_iter().collect();
    let reason = |wanted| {
        cells().any(|cell| matches!(cell.difference, Some(Difference::None(reason)) if reason == wanted))
    };
    let reasons: Vec<String> =
        [NoDifference::WithinInterval, NoDifference::WithinHarnessCost, NoDifference::TooFewSamples]
            .into_iter()
            .filter(|&wanted| reason(wanted))
            .map(|reason| reason.to_string())
            .collect();
    if !reasons.is_empty() {
        lines.push(format!("≈ too close to call: {}", reasons.join(", or ")));
    }
    lines.extend(figure_marks(verdict));
    if verdict.summaries.iter().any(|summary| summary.geometric_mean.is_some() && !summary.same_level) {
        lines.push(format!(
            "‡ safer or less safe than {}: this ratio is the price of safety, and ranks nobody",
            run.baseline
        ));
    }
    lines.extend(caveats(run));
    lines
}

/// The mark of the fastest.
const FASTEST: &str = "* fastest, or statistically tied with the fastest, among contenders equally safe";

/// What the mark of the fastest means, where it is used.
pub fn fastest_mark(verdict: &Verdict) -> Option<String> {
    let mut cells = verdict.tests.iter().flat_map(|test| &test.cells);
    let is_used = cells.any(|cell| cell.fastest);
    is_used.then(|| FASTEST.to_owned())
}

/// What the marks of figures mean that are worked out or wrong.
pub fn figure_marks(verdict: &Verdict) -> Vec<String> {
    let cells = || verdict.tests.iter().flat_map(|test| &test.cells);
    let mut lines = Vec::new();
    if cells().any(|cell| cell.figures.extrapolated) {
        lines.push(
            "~ dyno timed only the first operations, each with a commit of its own, and multiplied: this flatters a \
             store that slows down as it grows"
                .to_owned(),
        );
    }
    if cells().any(|cell| matches!(cell.standing, CellStanding::Wrong(_))) {
        lines.push("✗ a wrong answer: dyno does not rank this figure".to_owned());
    }
    lines
}

/// Known holes in the safety of single contenders.
fn caveats(run: &Run) -> Vec<String> {
    let caveat = |contender: &ContenderRecord| contender.safety.as_ref()?.caveat.clone();
    let known =
        run.shown_contenders().filter_map(|(_, contender)| Some((&*contender.label, caveat(contender)?)));
    grouped(known).into_iter().map(|line| format!("† {line}")).collect()
}

/// A line for each text, with the labels of all contenders that it is about.
fn grouped<'a>(texts: impl Iterator<Item = (&'a str, String)>) -> Vec<String> {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for (label, text) in texts {
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((labels, _)) => labels.push(label),
            None => groups.push((vec![label], text)),
        }
    }
    groups.into_iter().map(|(labels, text)| format!("{}: {text}", labels.join("; "))).collect()
}

/// Version, settings and safety of a contender.
fn about(contender: &ContenderRecord) -> String {
    let version = match &contender.hello {
        Some(hello) => format!("{} {}", contender.engine, hello.engine_version),
        None => format!("{}, which never answered", contender.engine),
    };
    let asked: Vec<String> =
        contender.asked.iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect();
    let settings = if asked.is_empty() { String::new() } else { format!("; {}", asked.join(" ")) };
    format!("{version}{settings}. {}", safety(contender))
}

/// What a contender's commits survive.
pub fn safety(contender: &ContenderRecord) -> String {
    if contender.harness {
        return "It does no work, and shows what measuring costs.".into();
    }
    let Some(Safety { level, consistent, standing, why, .. }) = &contender.safety else {
        return "dyno does not know what commits with these settings survive.".into();
    };
    let consistent = if *consistent { "stay consistent" } else { "may be corrupt" };
    format!(
        "Survives {} ({}); after a power cut the data {consistent}: {why}.",
        level.name(),
        standing.name()
    )
}

/// How many figures rest on disturbed samples: what a reader must know before trusting small differences.
pub fn noisy(verdict: &Verdict) -> Option<String> {
    let figures = || verdict.tests.iter().flat_map(|test| &test.cells).map(|cell| &cell.figures);
    let resting = figures().filter(|figures| figures.rests_on_disturbed).count();
    let all = figures().filter(|figures| figures.samples > 0).count();
    let (include, they) = if resting == 1 { ("includes", "it") } else { ("include", "they") };
    (resting > 0).then(|| {
        format!(
            "Disturbed: {resting} of {all} figures {include} samples that waited for a processor, because {they} had \
             fewer than {MIN_BLOCKS} others. Do not rely on small differences there; `dyno doctor` shows what disturbs."
        )
    })
}

/// How many samples were disturbed, and where figures rest on them.
fn disturbances(run: &Run, verdict: &Verdict) -> Vec<String> {
    let (mut lines, mut counts) = (Vec::new(), Vec::new());
    for (place, (_, contender)) in run.shown_contenders().enumerate() {
        let cells: Vec<_> = verdict.tests.iter().map(|test| (&test.id, &test.cells[place].figures)).collect();
        let samples: usize = cells.iter().map(|(_, figures)| figures.samples).sum();
        let undisturbed: usize = cells.iter().map(|(_, figures)| figures.undisturbed).sum();
        if undisturbed == samples {
            continue;
        }
        let resting: Vec<&str> = cells
            .iter()
            .filter(|(_, figures)| figures.rests_on_disturbed)
            .map(|(id, _)| id.as_str())
            .collect();
        counts.push(format!("{} of {samples} of {}", samples - undisturbed, contender.label));
        let rest = if resting.is_empty() {
            "left out of the figures".to_owned()
        } else {
            let tests = match resting.len() {
                1 => format!("test {}", resting[0]),
                2..=4 => format!("tests {}", resting.join(", ")),
                many => format!("{many} tests"),
            };
            format!("left out, but kept in {tests}, which otherwise had fewer than {MIN_BLOCKS} samples")
        };
        lines.push(format!(
            "Disturbed: {} of {samples} samples of {} waited for a processor for more than 3 % of their \
             time; {rest}.",
            samples - undisturbed,
            contender.label
        ));
    }
    if lines.len() <= FEW {
        return lines;
    }
    vec![format!(
        "Disturbed: samples that waited for a processor for more than 3 % of their time: {}. They are left out \
         of the figures, but kept where fewer than {MIN_BLOCKS} others remain.",
        counts.join("; ")
    )]
}

/// Wrong answers and failures, each once.
pub fn troubles(run: &Run, verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    for test in &verdict.tests {
        for cell in &test.cells {
            let label = &run.contenders[cell.contender].label;
            if let CellStanding::Wrong(why) = &cell.standing {
                lines.push(format!("Wrong: {label} in test {}: {why}", test.id));
            }
        }
    }
    for (index, contender) in run.shown_contenders() {
        let trials: Vec<_> = run.trials.iter().filter(|trial| trial.contender == index).collect();
        let failures: Vec<_> = trials.iter().filter_map(|trial| trial.failure.as_ref()).collect();
        if let Some(failure) = failures.first() {
            let place = failure.test.as_ref().map(|test| format!(" in test {test}")).unwrap_or_default();
            lines.push(format!(
                "Failed: {} of {} trials of {}{place}: {}",
                failures.len(),
                trials.len(),
                contender.label,
                failure.message
            ));
        }
    }
    lines
}

/// What the harness itself costs.
fn harness(run: &Run, verdict: &Verdict) -> Option<String> {
    let costliest = verdict
        .tests
        .iter()
        .filter_map(|test| {
            let record = run.tests.iter().find(|candidate| candidate.id == test.id)?;
            let count = record.amount.as_ref().map_or(record.statements, |amount| amount.count);
            Some((test.floor_ns?, count.max(1)))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (floor, operations) = costliest;
    Some(format!(
        "Measuring itself takes at most {} a test, {} an operation, as the null runner shows; dyno claims no \
         smaller difference.",
        units::duration(floor),
        units::duration(floor / operations as f64)
    ))
}

/// Where published figures come from.
pub fn published(run: &Run) -> Vec<String> {
    let sources = sources(run).into_iter().map(|source| {
        let link = source.link.map(|link| format!(", {link}")).unwrap_or_default();
        format!("Published: {}: {}{link}", source.source, source.hardware)
    });
    sources.collect()
}

/// The published tables of the run's suite.
pub fn sources(run: &Run) -> Vec<Published> {
    #[derive(serde::Deserialize)]
    struct Sources {
        #[serde(default)]
        published: Vec<Published>,
    }
    toml::from_str::<Sources>(&run.suite.text).map(|suite| suite.published).unwrap_or_default()
}

/// Sentences as lines of at most 100 columns, those that go on set in.
pub fn paragraph(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| wrapped(sentence, "", "  ")).collect::<Vec<_>>().join("\n")
}
