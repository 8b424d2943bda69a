//! The words below a contender's label: what its commits survive, and what else decides with whom it is ranked.

use dyno_record::{ClusterShape, Commits, ContenderRecord, OwnCache, Reach, Tuning};
use dyno_verdict::Verdict;

use super::units;

/// The name of a contender's safety level, as in headers.
pub fn level_name(contender: &ContenderRecord) -> String {
    if contender.harness {
        return "the harness".into();
    }
    match &contender.safety {
        None => "safety unknown".into(),
        Some(safety) => {
            let caveat = if safety.caveat.is_some() { " †" } else { "" };
            let nodes = safety.nodes.filter(|nodes| nodes.lost > 0);
            let nodes =
                nodes.map_or_else(String::new, |nodes| format!(", {} of {} nodes", nodes.lost, nodes.of));
            format!("{}{nodes}{caveat}", safety.name())
        }
    }
}

/// The size of a commit, as in headers.
pub fn commit_size(commits: Commits) -> String {
    match commits {
        Commits::Each(operations) => format!("commits of {}", units::whole(operations)),
        Commits::Whole => "one commit".to_owned(),
    }
}

/// The shape of a cluster, as in headers.
pub fn cluster(shape: ClusterShape) -> String {
    let reach = match shape.reach {
        Reach::First => "clients at the first",
        Reach::Any => "clients at all of them",
    };
    let delay = match shape.node_delay_ns {
        None => String::new(),
        Some(0) => ", with dyno between them, which adds no delay".to_owned(),
        Some(delay) => format!(", {} added to each round trip between them", units::duration(delay as f64)),
    };
    format!("{} nodes on this machine, each in a network namespace{delay}, {reach}", shape.nodes)
}

/// The cache that a store manages itself, as in headers; `None` in runs without stores, where caches are settings like
/// any other.
pub fn cache_size(verdict: &Verdict, contender: &ContenderRecord) -> Option<String> {
    let size = cache(contender).filter(|_| has_stores(verdict))?;
    Some(if size == NO_CACHE { "no cache to set".into() } else { format!("cache {size}") })
}

/// The standard by which a contender is tuned, as in headers; `None` in runs without stores, and where it is not known.
pub fn tuning(verdict: &Verdict, contender: &ContenderRecord) -> Option<String> {
    standard(verdict, contender).map(|tuning| tuning_words(tuning).to_owned())
}

/// The standard by which a contender is tuned, in runs of stores, where that decides who is ranked with whom.
pub fn standard(verdict: &Verdict, contender: &ContenderRecord) -> Option<Tuning> {
    contender.tuning.filter(|_| has_stores(verdict) && !contender.harness)
}

/// The words for a standard of tuning.
pub fn tuning_words(tuning: Tuning) -> &'static str {
    match tuning {
        Tuning::Default => "default options",
        Tuning::Tuned => "tuned",
        Tuning::Own => "options of one's own",
    }
}

/// The size of a contender's cache, in a column; `None` for a contender that never answered, and for the harness.
pub fn cache(contender: &ContenderRecord) -> Option<String> {
    contender.hello.as_ref().filter(|_| !contender.harness)?;
    Some(match contender.cache {
        Some(OwnCache { bytes, default: true }) => format!("{} (default)", units::bytes(bytes as f64)),
        Some(OwnCache { bytes, .. }) => units::bytes(bytes as f64),
        None => NO_CACHE.to_owned(),
    })
}

/// The text in place of a cache size where there is no cache.
const NO_CACHE: &str = "none";

/// True if a run has a test of a store.
pub fn has_stores(verdict: &Verdict) -> bool {
    verdict.tests.iter().any(|test| test.model.starts_with(STORES))
}

/// The prefix of the names of models of stores.
const STORES: &str = "kv-";

/// True if contenders are ranked only with those that have the same commit size.
pub fn ranks_by_commits(verdict: &Verdict) -> bool {
    verdict.classes.iter().flatten().any(|class| class.commits.is_some())
}

/// True if contenders are ranked only with those that have the same isolation.
pub fn ranks_by_isolation(verdict: &Verdict) -> bool {
    verdict.classes.iter().flatten().any(|class| class.isolation.is_some())
}

/// The isolation of a contender's transactions, in a column.
pub fn isolation(verdict: &Verdict, contender: usize) -> String {
    verdict.isolation(contender).map_or_else(String::new, |isolation| isolation.name().to_owned())
}

/// The number of operations in a contender's commit, in a column.
pub fn per_commit(verdict: &Verdict, contender: usize) -> String {
    match verdict.commits(contender) {
        Some(Commits::Each(operations)) => units::whole(operations),
        Some(Commits::Whole) => "all".to_owned(),
        None => String::new(),
    }
}

/// The events that a contender's commits survive and, if it differs, the size of its commits.
pub fn survives(verdict: &Verdict, contender: usize) -> String {
    let level = level_name(&verdict.contenders[contender]);
    let isolation = verdict.isolation(contender).map(|isolation| isolation.name().to_owned());
    let parts = [Some(level), isolation, verdict.commits(contender).map(commit_size)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
