//! The known durability, as columns.

use dyno_record::Standing;
use dyno_verdict::{Survived, Verdict};

use crate::csv_column::Column;

/// The columns of a contender, the same in each test.
pub fn columns(verdict: &Verdict, contender: usize, _test: usize) -> Vec<Column> {
    let safety = verdict.contenders[contender].safety.as_ref();
    let found = verdict.views.durability.iter().find(|found| found.contender == contender);
    let tries = |tally: fn(&dyno_verdict::Durability) -> Option<Survived>| {
        let tally = found.and_then(tally);
        [tally.map(|tally| tally.survived), tally.map(|tally| tally.tried)]
    };
    let [cuts_survived, cuts] = tries(|found| found.cuts);
    let [kills_survived, kills] = tries(|found| found.kills);
    vec![
        ("level_standing", safety.map(|safety| name(safety.standing)).into()),
        ("flushes_per_commit", found.and_then(|found| found.flushes).into()),
        ("sync_calls_per_commit", found.and_then(|found| found.calls).into()),
        ("cuts_survived", cuts_survived.into()),
        ("cuts", cuts.into()),
        ("kills_survived", kills_survived.into()),
        ("kills", kills.into()),
    ]
}

/// As in JSON.
fn name(standing: Standing) -> &'static str {
    match standing {
        Standing::ReadBack => "read-back",
        other => other.name(),
    }
}
