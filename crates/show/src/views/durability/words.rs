//! The proofs of a contender, in words.

use std::collections::BTreeMap;

use dyno_record::{ContenderRecord, Survival, Tally, Upkept};
use dyno_verdict::statistics::Interval;
use dyno_verdict::{CutRuns, Survived, Verdict};

/// The findings of `dyno prove` on a contender, by its position; none where nothing is known.
pub fn about(verdict: &Verdict, contender: usize) -> Option<String> {
    let found = verdict.views.durability.iter().find(|found| found.contender == contender)?;
    let record: &ContenderRecord = &verdict.contenders[contender];
    let survival = record.safety.as_ref()?.survival.as_ref()?;
    let tries = [(found.cuts, "power cuts"), (found.kills, "kills")];
    let reported = tries.iter().filter_map(|(tally, what)| Some(sentence(&(*tally)?, what)));
    let reported: Vec<String> = [survival.waits()]
        .into_iter()
        .chain(reported)
        .chain(recorded(survival))
        .chain(survival.errors.map(|errors| device(&errors)))
        .chain(caveats(survival))
        .collect();
    let day = survival.proved.split('T').next().unwrap_or_default();
    Some(format!("{} (dyno prove on {}, {day}).", reported.join("; "), survival.file_system))
}

/// The work that was cut, and what it did besides its commits.
fn recorded(survival: &Survival) -> Option<String> {
    let Survival { commits, runs, upkeep, cuts, .. } = survival;
    let within = upkeep_in_words(upkeep);
    let within = if within.is_empty() {
        "no checkpoint and no orderly close that wrote anything".to_owned()
    } else {
        within
    };
    (cuts.tried > 0)
        .then(|| format!("{commits} commits, recorded {}; cuts came within {within}", times(*runs)))
}

fn times(runs: u64) -> String {
    match runs {
        0 | 1 => "once".to_owned(),
        runs => format!("{runs} times"),
    }
}

/// The outcome when its device failed.
fn device(errors: &Tally) -> String {
    match errors.tried {
        0 => "no failure of the device let it acknowledge anything".to_owned(),
        tried => format!("lost nothing in {} of {tried} failures of the device", errors.survived),
    }
}

/// The failures that it did not survive and does not promise to.
fn caveats(survival: &Survival) -> impl Iterator<Item = String> {
    let caveat = |tally: Option<Tally>, of: &str| {
        let tally = tally.filter(|tally| tally.survived < tally.tried)?;
        Some(format!("did not survive {} of {} {of}", tally.tried - tally.survived, tally.tried))
    };
    let garbage = caveat(survival.garbage, "torn writes that left garbage in a sector");
    let restarts = caveat(survival.restarts, "restarts without a reboot after a failed write or flush");
    garbage.into_iter().chain(restarts)
}

/// Upkeep by its names, each with how often it was recorded: `45 checkpoints, 15 orderly closes`.
pub fn upkeep_in_words(upkeep: &BTreeMap<String, Upkept>) -> String {
    let cut = upkeep.iter().filter(|(_, upkept)| upkept.cuts.tried > 0);
    let words = cut.map(|(name, Upkept { seen, .. })| match (seen, name.ends_with('h')) {
        (1, _) => format!("1 {name}"),
        (seen, true) => format!("{seen} {name}es"),
        (seen, false) => format!("{seen} {name}s"),
    });
    words.collect::<Vec<_>>().join(" and ")
}

/// `survived 100 of 100 cuts: loss in at most 3.0 % of such cuts of the 5 runs that were cut, and in at most 45.1 % of
/// such runs, at 95 %`.
pub fn sentence(tally: &Survived, what: &str) -> String {
    let Survived { tried, survived, drawn, fail, runs } = tally;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let share = |fail: &Interval| match (fail.low, fail.high) {
        (0.0, high) => format!("in at most {}", percent(high)),
        (low, 1.0) => format!("in at least {}", percent(low)),
        (low, high) => format!("in {} to {}", percent(low), percent(high)),
    };
    let such =
        drawn.map_or(format!("such {what}"), |drawn| format!("{what} like the {drawn} that were drawn"));
    let of = match runs {
        Some(CutRuns { cut: 1, .. }) => " of the one run that was cut,".to_owned(),
        Some(CutRuns { cut, fail }) => {
            format!(" of the {cut} runs that were cut, and {} of such runs,", share(fail))
        }
        None => String::new(),
    };
    format!("survived {survived} of {tried} {what}: loss {} of {such}{of} at 95 %", share(fail))
}
