//! Engines in Java: their runner is killed and their disk is cut as those of others.

use super::{count, is_allowed, proved, subject};
use crate::common::{Place, is_thorough};
use crate::jvm::ENGINES;

#[test]
fn engines_in_java_keep_what_their_settings_promise() {
    if !is_allowed() || ENGINES.place().is_none() {
        return;
    }
    let place = Place::new();
    let effort = "--commits 9 --cuts 4 --kills 2 --rounds 1 --seed 1 --no-errors";
    let all = [
        ("derby", "derby/jdbc", 1.0, 0),
        ("h2:no-delay", "h2/jdbc:no-delay", 0.0, 1),
        ("derby:nosync", "derby/jdbc:nosync", 0.0, 1),
        ("hsqldb:sync", "hsqldb/jdbc:sync", 1.0, 0),
    ];
    let tried = &all[..if is_thorough() { 4 } else { 2 }];
    let with: Vec<&str> = tried.iter().map(|(contender, ..)| *contender).collect();
    let report = proved(&place, &format!("--with {} {effort}", with.join(",")));
    for (_, label, calls, lost) in tried.iter().copied() {
        let subject = subject(&report, label);
        assert_eq!(subject["proof"]["calls"]["calls"], calls, "{subject}");
        assert_eq!(count(subject, "strict", "lost").min(1), lost, "{subject}");
        assert_eq!(count(subject, "cuts", "broken"), 0, "{subject}");
        // HSQLDB refuses to start while the lock file of a killed process is younger than ten seconds. dyno looks once more
        // then, and counts no kill whose harm is gone.
        assert_eq!(count(subject, "kills", "survived"), count(subject, "kills", "tried"), "{subject}");
        assert!(
            count(subject, "kills", "tried") + 2 * u64::from(label.starts_with("hsqldb")) >= 2,
            "{subject}"
        );
        assert_eq!(subject["proof"]["notices_loss"], true, "{subject}");
        assert_eq!(subject["kept"], true, "{subject}");
    }
    place.assert_clean();
}

/// Each client is a thread of the runner, and says itself what is acknowledged. A torn page may ruin Derby's data.
#[test]
fn clients_of_an_engine_in_java_lose_nothing_that_was_synced_but_to_a_torn_page() {
    if !is_allowed() || ENGINES.place().is_none() {
        return;
    }
    let place = Place::new();
    let effort = "--clients 3 --commits 9 --cuts 2 --kills 1 --seed 1 --no-errors";
    let report = proved(&place, &format!("--with derby {effort}"));
    let subject = subject(&report, "derby/jdbc");
    let [cuts, torn] =
        ["cuts", "torn"].map(|tally| count(subject, tally, "tried") - count(subject, tally, "survived"));
    assert_eq!(cuts, torn, "{subject}");
    assert!(count(subject, "cuts", "survived") > 0, "{subject}");
    assert_eq!(subject["proof"]["observed"]["commits"], 9, "{subject}");
    assert_eq!(count(subject, "kills", "survived"), 1, "{subject}");
    place.assert_clean();
}
