//! Small phrases that several parts of the page use.

use dyno_record::{CacheClass, Class, Commits, ContenderRecord, Hole, Level, Tuning};
use dyno_verdict::AddedTime;
use dyno_verdict::statistics::{Interval, Ratio};

use crate::units::{bytes as bytes_text, duration, whole};
use crate::{figure, headings};
use crate::{ratio, significant};

/// The properties of a class's contenders, as the end of "contenders that …": what their commits survive and hold, and
/// what else they have in common.
pub(crate) fn that(class: &Class) -> String {
    let survive = match (class.level, class.hole, class.consistent) {
        (Level::PowerLoss, Some(Hole::LastCommit), _) => "survive power loss but for the last commit",
        (Level::PowerLoss, ..) => "survive power loss",
        (Level::ProcessCrash, Some(Hole::TornPages), _) => {
            "survive a crash of the process, and a power cut that tears no page"
        }
        (Level::ProcessCrash, _, Some(true)) => {
            "survive a crash of the process, and stay whole but may lose the newest commits in a power cut"
        }
        (Level::ProcessCrash, _, Some(false)) => {
            "survive a crash of the process, and may be ruined by a power cut"
        }
        (Level::ProcessCrash, ..) => "survive a crash of the process, but not power loss",
        (Level::None, _, Some(true)) => "may lose the newest commits in a crash and nothing else",
        (Level::None, ..) => "may lose all data in a crash",
    };
    let commit = class.commits.map(|commits| match commits {
        Commits::Each(1) => "commit after each operation".to_owned(),
        Commits::Each(operations) => format!("commit {} operations at a time", whole(operations)),
        Commits::Whole => "commit a whole test at once".to_owned(),
    });
    let nodes = (class.nodes_lost > 0).then(|| format!("survive the loss of {}", nodes(class.nodes_lost)));
    let is_long = survive.contains(',') || class.hole.is_some() || nodes.is_some();
    let and = if is_long { ", and " } else { " and " };
    let verbs: Vec<&str> = [survive].into_iter().chain(nodes.as_deref()).chain(commit.as_deref()).collect();
    let with = in_common(class);
    let with: Vec<&str> = with.iter().map(String::as_str).collect();
    let with = if with.is_empty() { String::new() } else { format!(", with {}", list(&with)) };
    format!("{}{with}", verbs.join(and))
}

/// The nodes that may be lost, in words.
fn nodes(lost: u32) -> String {
    if lost == 1 { "a node".to_owned() } else { format!("{lost} nodes") }
}

/// The delay that dyno adds between nodes, in words.
fn node_delay(class: &Class) -> Option<String> {
    class.node_delay_ns.map(|delay| format!("{} between nodes", duration(delay as f64)))
}

/// The properties of a class's contenders besides their safety and the size of their commits.
fn in_common(class: &Class) -> Vec<String> {
    let isolation = class.isolation.map(|isolation| format!("{} transactions", isolation.name()));
    let delay = node_delay(class);
    let reads = class.stale_reads.then(|| "reads that may be old".to_owned());
    let processes = class.processes.then(|| "clients that are processes".to_owned());
    let cache = class.cache.map(|cache| match cache {
        CacheClass::None => "no cache to set".to_owned(),
        CacheClass::From(bytes) => format!("caches of {}", to_twice(bytes)),
    });
    let tuning = class.tuning.map(|tuning| match tuning {
        Tuning::Default => "default options".to_owned(),
        Tuning::Tuned => "the options that their manuals advise".to_owned(),
        Tuning::Own => "options that you named".to_owned(),
    });
    [isolation, reads, delay, processes, cache, tuning].into_iter().flatten().collect()
}

/// The sizes of caches that are alike: `64.0 MiB to 128 MiB`.
fn to_twice(bytes: u64) -> String {
    format!("{} to {}", bytes_text(bytes as f64), bytes_text(bytes as f64 * 2.0))
}

/// The heading of a class.
pub(crate) fn class(class: &Class) -> String {
    let level = match (class.level, class.hole, class.consistent) {
        (Level::PowerLoss, Some(Hole::LastCommit), _) => "Survives power loss but for the last commit",
        (Level::ProcessCrash, Some(Hole::TornPages), _) => {
            "Survives a crash of the process, and a power cut that tears no page"
        }
        (Level::ProcessCrash, _, Some(true)) => "Survives a crash of the process, whole after a power cut",
        (Level::ProcessCrash, _, Some(false)) => {
            "Survives a crash of the process, may be ruined by a power cut"
        }
        (Level::None, _, Some(true)) => "May lose the newest commits in a crash",
        (Level::None, ..) => "May lose all data in a crash",
        (level, ..) => heading(Some(level)),
    };
    let lost = (class.nodes_lost > 0).then(|| format!("and the loss of {}", nodes(class.nodes_lost)));
    let isolation = class.isolation.map(|isolation| isolation.name().to_owned());
    let delay = node_delay(class);
    let reads = class.stale_reads.then(|| "reads may be old".to_owned());
    let processes = class.processes.then(|| "clients are processes".to_owned());
    let cache = class.cache.map(|cache| match cache {
        CacheClass::None => "no cache to set".to_owned(),
        CacheClass::From(bytes) => format!("cache of {}", to_twice(bytes)),
    });
    let tuning = class.tuning.map(|tuning| headings::tuning_words(tuning).to_owned());
    let commits = class.commits.map(headings::commit_size);
    let parts = [Some(level.to_owned()), lost, isolation, reads, delay, processes, commits, tuning, cache];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The heading of a level.
pub(crate) fn heading(level: Option<Level>) -> &'static str {
    match level {
        Some(Level::PowerLoss) => "Survives power loss",
        Some(Level::ProcessCrash) => "Survives a crash of the process",
        Some(Level::None) => "May lose commits in a crash",
        None => "Safety unknown",
    }
}

/// The level of a contender; `None` if it is not known.
pub(crate) fn level(contender: &ContenderRecord) -> Option<Level> {
    contender.safety.as_ref().map(|safety| safety.level)
}

/// The level of a contender in a table.
pub(crate) fn short(contender: &ContenderRecord) -> &'static str {
    match level(contender) {
        _ if contender.harness => "the harness",
        Some(level) => level.name(),
        None => "unknown",
    }
}

/// The levels in the order in which the page shows them: the safest first, the unknown last.
pub(crate) const LEVELS: [Option<Level>; 4] =
    [Some(Level::PowerLoss), Some(Level::ProcessCrash), Some(Level::None), None];

/// The place of a level among them.
pub(crate) fn place(level: Option<Level>) -> usize {
    LEVELS.iter().position(|known| *known == level).unwrap_or(LEVELS.len())
}

/// `2.29× (2.10–2.41)`.
pub(crate) fn ratio_with_interval(value: &Ratio) -> String {
    match value.interval {
        Some(interval) => format!("{} ({})", ratio(value.ratio), bounds(interval)),
        None => ratio(value.ratio),
    }
}

/// `2.10–2.41`.
pub(crate) fn bounds(interval: Interval) -> String {
    format!("{}–{}", significant(interval.low), significant(interval.high))
}

/// A ratio as a change in percent: `+229 %`, `−12 %`.
pub(crate) fn change(value: f64) -> String {
    let percent = (value - 1.0) * 100.0;
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{} %", significant(percent.abs()))
}

/// A ratio as a change in percent, marked where it is no difference: `+2.10 % ≈`.
pub(crate) fn marked_change(added: &AddedTime) -> String {
    format!("{}{}", change(added.ratio.ratio), figure::mark_of_added(added))
}

/// The same with its interval: `+12.0 % (+10.1 % – +14.2 %)`.
pub(crate) fn change_with_interval(added: &AddedTime) -> String {
    let ends = added.ratio.interval.map(|ends| format!(" ({} – {})", change(ends.low), change(ends.high)));
    format!("{}{}", marked_change(added), ends.unwrap_or_default())
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `Rows` from `rows`.
pub(crate) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `survives power loss` from `Survives power loss`.
pub(crate) fn uncapitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// `1 test`, `15 tests`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_read_well() {
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(change(0.88), "−12.0 %");
        assert_eq!(change(3.29), "+229 %");
        assert_eq!(capitalized("rows"), "Rows");
        assert_eq!(counted(1, "test"), "1 test");
    }

    #[test]
    fn what_contenders_have_in_common_is_one_clause() {
        let class = Class {
            level: Level::PowerLoss,
            consistent: None,
            hole: None,
            nodes_lost: 0,
            node_delay_ns: None,
            stale_reads: false,
            isolation: None,
            load: None,
            processes: false,
            commits: Some(Commits::Whole),
            cache: Some(CacheClass::From(64 << 20)),
            tuning: Some(Tuning::Default),
        };
        assert_eq!(
            that(&class),
            "survive power loss and commit a whole test at once, with caches of 64.0 MiB to 128 MiB and default options"
        );
        let torn = Class { level: Level::ProcessCrash, hole: Some(Hole::TornPages), cache: None, ..class };
        let safety = "survive a crash of the process, and a power cut that tears no page";
        assert_eq!(that(&torn), format!("{safety}, and commit a whole test at once, with default options"));
        assert!(
            super::class(&torn)
                .starts_with("Survives a crash of the process, and a power cut that tears no page")
        );
    }
}
