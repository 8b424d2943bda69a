//! Two contenders whose behaviour is known, tried in every run: one must lose commits, the other must not. If one behaves
//! otherwise, the machine or dyno deceives, and nothing can be said of any subject.

use anyhow::Result;
use dyno_engine::{Contender, Registry};
use dyno_prove::context::{Effort, Named, ProofContext, StorageKind};
use dyno_record::DurabilityControls;

use super::maker::Maker;

/// The one that never syncs.
const LOSER: &str = "sqlite:nosync";
/// The one that syncs everything, the folder too.
const KEEPER: &str = "sqlite:extra";
/// The number of their commits, and of the cuts after which they are checked.
const COMMITS: u64 = 12;
const CUTS: usize = 16;

/// Tries both; `None` if SQLite's runner is not built, or if no power is cut and system calls cannot be watched.
pub fn try_both(
    registry: &Registry,
    context: &ProofContext,
    seed: u64,
    maker: &Maker,
    progress: &dyn Fn(&str, &str),
) -> Result<Option<DurabilityControls>> {
    let [loser, keeper] = [LOSER, KEEPER].map(|name| Contender::parse(name, registry));
    let (loser, keeper) = (loser?, keeper?);
    if loser.missing().is_some() {
        return Ok(None);
    }
    let prove = |contender: Contender| {
        progress("control", &contender.label);
        let effort = Effort { cuts: CUTS, kills: 0, rounds: 1, errors: false, seed };
        let subject = &maker.embedded(&contender, COMMITS);
        let named = Named { subject, label: &contender.label, again: &[] };
        context.prove(named, effort, &|_| {})
    };
    let (loses, keeps) = (prove(loser)?, prove(keeper)?);
    let is_uncut = context.storage == StorageKind::Folder;
    let calls = match (loses.calls, keeps.calls) {
        (Some(none), Some(all)) if is_uncut => Some([none, all]),
        // There is no control for kills.
        _ if is_uncut => return Ok(None),
        _ => None,
    };
    Ok(Some(DurabilityControls {
        loser: LOSER.to_owned(),
        loses: loses.strict,
        keeper: KEEPER.to_owned(),
        keeps: keeps.cuts,
        calls,
    }))
}
