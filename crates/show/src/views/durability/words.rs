//! What was proved of a contender, in words.

use dyno_record::ContenderRecord;
use dyno_verdict::{Survived, Verdict};

/// What `dyno prove` found of a contender, by its position; none where nothing is known.
pub fn about(verdict: &Verdict, contender: usize) -> Option<String> {
    let found = verdict.views.durability.iter().find(|found| found.contender == contender)?;
    let record: &ContenderRecord = &verdict.contenders[contender];
    let survival = record.safety.as_ref()?.survival.as_ref()?;
    let tries = [(found.cuts, "power cuts"), (found.kills, "kills")];
    let told = tries.iter().filter_map(|(tally, what)| Some(sentence(&(*tally)?, what)));
    let told: Vec<String> = [survival.waits()].into_iter().chain(told).collect();
    let day = survival.proved.split('T').next().unwrap_or_default();
    Some(format!("{} (dyno prove on {}, {day}).", told.join("; "), survival.file_system))
}

/// `survived 600 of 600 cuts: loss in at most 0.5 % of such cuts at 95 %`.
pub fn sentence(tally: &Survived, what: &str) -> String {
    let Survived { tried, survived, fail } = tally;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let share = match (*survived, fail) {
        (all, _) if all == *tried => format!("loss in at most {}", percent(fail.high)),
        (0, _) => format!("loss in at least {}", percent(fail.low)),
        _ => format!("loss in {} to {}", percent(fail.low), percent(fail.high)),
    };
    format!("survived {survived} of {tried} {what}: {share} of such {what} at 95 %")
}
