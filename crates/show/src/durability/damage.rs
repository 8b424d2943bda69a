//! Findings of a proof beyond its promises, in sentences: garbage at a torn write, a restart without a reboot, damaged
//! data.

use dyno_record::{Damage, DurabilityProof, Harm, Harmed};

/// The outcome of cuts that left garbage in a sector; of a subject that other cuts harm, they show nothing more.
pub fn garbage(proof: &DurabilityProof) -> Option<String> {
    let tally = &proof.garbage;
    let first = proof.garbage_first.as_ref().map_or(String::new(), |first| {
        format!("; no level promises more: the first that it did not survive is {}", failure(first))
    });
    (tally.tried > 0 && proof.cuts.survived == proof.cuts.tried).then(|| {
        format!(
            "besides, it survived {} of {} torn writes that left garbage in a sector{first}",
            tally.survived, tally.tried
        )
    })
}

/// The outcome of restarts after a failure of the device, while the file system stayed mounted.
pub fn restarts(proof: &DurabilityProof) -> Option<String> {
    let tally = proof.restarts()?;
    let harmed = proof.errors.iter().find_map(|failed| {
        let restarted = failed.restarted.as_ref().filter(|restarted| !restarted.harm.is_none())?;
        Some(format!(
            "; no level promises more: when {}, it acknowledged {} commits after the restart, and then {}",
            failed.device,
            restarted.acknowledged,
            what(&restarted.harm)
        ))
    });
    let restarted = proof.errors.iter().filter_map(|failed| failed.restarted.as_ref());
    let went_on = restarted.filter(|restarted| restarted.acknowledged > 0).count();
    Some(format!(
        "started again without a reboot after a failed write or flush, it went on in {went_on} of {} cases, and after a power cut it had kept all in {}{}",
        tally.tried,
        tally.survived,
        harmed.unwrap_or_default()
    ))
}

/// The reactions to damaged data.
pub fn corruption(proof: &DurabilityProof) -> Vec<String> {
    let said = |damage: &Damage, what: &str| {
        let Damage { tried, noticed, gone, wrong } = damage;
        let unused = tried - noticed - gone - wrong;
        (*tried > 0).then(|| {
            format!(
                "{what}: of {tried}, it reported {noticed}; without an error the newest commits were gone after {gone}, and \
                 other data were wrong after {wrong}; {unused} changed nothing"
            )
        })
    };
    let Some(corruption) = &proof.corruption else {
        let stopped = proof.corruption_stopped.as_ref();
        return stopped.map(|why| format!("damaged data could not be tried: {why}")).into_iter().collect();
    };
    let flips = said(&corruption.flips, "flipped bits in what it wrote");
    let unreadable = said(&corruption.unreadable, "blocks that cannot be read of what it wrote");
    flips.into_iter().chain(unreadable).collect()
}

/// A cut or kill and the harm that it did.
pub fn failure(harmed: &Harmed) -> String {
    format!("{}: {}", harmed.after, what(&harmed.harm))
}

/// Data that are missing or wrong.
pub fn what(harm: &Harm) -> String {
    let gone = match harm.lost.as_slice() {
        [] => None,
        [one] => Some(format!("{one} is gone")),
        [first, ..] => Some(format!("{} commits are gone, the first is {first}", harm.lost.len())),
    };
    gone.into_iter().chain(harm.broken.first().cloned()).collect::<Vec<_>>().join("; ")
}
