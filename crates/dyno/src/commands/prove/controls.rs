//! Two contenders of which it is known what they do, tried in every run: one must lose commits, the other must not. Where
//! one does otherwise, the machine or dyno deceives, and nothing is said of anybody.

use anyhow::Result;
use dyno_engine::{Contender, Registry};
use dyno_prove::calls::Seen;
use dyno_prove::proof::{Effort, Named, ProofContext};
use dyno_prove::storage::StorageKind;
use dyno_record::Tally;
use serde::Serialize;

use super::maker::Maker;

/// The one that never syncs.
const LOSES: &str = "sqlite:nosync";
/// The one that syncs everything, the folder too.
const KEEPS: &str = "sqlite:extra";
/// How many commits they make, and after how many cuts they are looked at.
const COMMITS: u64 = 12;
const CUTS: usize = 16;

/// How they behaved.
#[derive(Debug, Serialize)]
pub struct Controls {
    /// What became of the one that must lose, for cuts right after an acknowledgement.
    loses: Tally,
    /// What became of the one that must not.
    keeps: Tally,
    /// What was seen of their system calls, where no power was cut: of the one that must make none, and of the one whose
    /// commits must all wait.
    calls: Option<[Seen; 2]>,
}

impl Controls {
    /// Tries both; nothing where SQLite's runner is not built.
    pub fn try_both(
        registry: &Registry,
        workshop: &ProofContext,
        seed: u64,
        maker: &Maker,
        progress: &dyn Fn(&str, &str),
    ) -> Result<Option<Controls>> {
        let [loses, keeps] = [LOSES, KEEPS].map(|name| Contender::parse(name, registry));
        let (loses, keeps) = (loses?, keeps?);
        if loses.missing().is_some() {
            return Ok(None);
        }
        let prove = |contender: Contender| {
            progress("control", &contender.label);
            let effort = Effort { cuts: CUTS, kills: 0, rounds: 1, errors: false, seed };
            let subject = &maker.embedded(&contender, COMMITS);
            let named = Named { subject, label: &contender.label, again: &[] };
            workshop.prove(named, effort, &|_| {})
        };
        let (loses, keeps) = (prove(loses)?, prove(keeps)?);
        let is_uncut = workshop.ground == StorageKind::Folder;
        let calls = match (loses.calls, keeps.calls) {
            (Some(none), Some(all)) if is_uncut => Some([none, all]),
            // Nobody could watch them; of kills there is no control.
            _ if is_uncut => return Ok(None),
            _ => None,
        };
        Ok(Some(Controls { loses: loses.strict, keeps: keeps.cuts, calls }))
    }

    /// Whether each did what it must.
    pub fn behaved(&self) -> bool {
        if let Some([none, all]) = &self.calls {
            return none.by_name.is_empty() && all.calls > 0.0 && all.without == 0;
        }
        let loses = self.loses.tried > 0 && self.loses.lost == self.loses.tried;
        loses && self.keeps.tried > 0 && self.keeps.survived == self.keeps.tried
    }

    /// How they behaved, in words.
    pub fn describe(&self) -> String {
        if let Some([none, all]) = &self.calls {
            return format!(
                "{LOSES} made {:.1} sync calls a commit (it must make none), and {KEEPS} {:.1}, with {} commits that waited for none (there must be none)",
                none.calls, all.calls, all.without
            );
        }
        format!(
            "{LOSES} lost commits at {} of {} cuts right after an acknowledgement (it must at all), and {KEEPS} survived {} of {} cuts (it must all)",
            self.loses.lost, self.loses.tried, self.keeps.survived, self.keeps.tried
        )
    }
}
