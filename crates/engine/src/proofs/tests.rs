use dyno_record::Tally;

use super::*;

fn tally(tried: u64, lost: u64, most_lost: u64, broken: u64) -> Tally {
    Tally { tried, survived: tried - lost.max(broken), lost, most_lost, lost_all: 0, broken }
}

fn survival(cuts: Tally, kills: Tally) -> Survival {
    Survival {
        dyno: "0.0.1".to_owned(),
        evidence: EVIDENCE,
        proved: "2026-11-22T20:00:00Z".to_owned(),
        file_system: "ext4".to_owned(),
        seed: 1,
        clients: 1,
        commits: 50,
        flushes: Some(2.0),
        calls: Some(2.0),
        cuts,
        drawn: Some(cuts),
        runs: 1,
        harmed_runs: Some(0),
        garbage: None,
        upkeep: BTreeMap::new(),
        unflushed: 0,
        kills,
        errors: None,
        restarts: None,
        failure: None,
    }
}

fn promised(level: Level, hole: Option<Hole>) -> Safety {
    Safety {
        level,
        consistent: true,
        standing: Standing::ReadBack,
        why: String::new(),
        link: None,
        caveat: None,
        hole,
        nodes: None,
        survival: None,
    }
}

#[test]
fn what_survived_raises_the_standing_and_what_fell_lowers_the_level() {
    let (kept, kills) = (tally(600, 0, 0, 0), tally(20, 0, 0, 0));
    let found = tried(promised(Level::PowerLoss, None), survival(kept, kills));
    assert_eq!((found.level, found.known().as_str()), (Level::PowerLoss, "survived 600 of 600 cuts"));
    let found = tried(promised(Level::PowerLoss, None), survival(tally(600, 3, 1, 0), kills));
    assert_eq!((found.level, found.standing), (Level::ProcessCrash, Standing::Disproved));
    assert!(found.caveat.unwrap().contains("3 of 600"));
    let found = tried(promised(Level::PowerLoss, None), survival(kept, tally(20, 1, 9, 0)));
    assert_eq!((found.level, found.consistent), (Level::None, true));
    let found = tried(promised(Level::ProcessCrash, None), survival(tally(60, 50, 50, 0), kills));
    assert_eq!((found.level, found.known().as_str()), (Level::ProcessCrash, "survived 20 of 20 kills"));
    let found = tried(promised(Level::ProcessCrash, None), survival(tally(60, 50, 50, 2), kills));
    assert_eq!((found.level, found.consistent), (Level::ProcessCrash, false));
    assert_eq!(found.standing, Standing::Disproved);
    let found = tried(promised(Level::None, None), survival(tally(60, 50, 50, 0), tally(20, 9, 9, 0)));
    assert_eq!((found.level, found.standing), (Level::None, Standing::Observed));
}

#[test]
fn without_cuts_it_is_said_how_a_commit_was_seen() {
    let (none, kills) = (Tally::default(), tally(20, 0, 0, 0));
    let seen = Survival { flushes: None, ..survival(none, kills) };
    let found = tried(promised(Level::PowerLoss, None), seen.clone());
    assert_eq!(found.standing, Standing::Observed);
    assert_eq!(found.known(), "observed: 2.0 sync calls a commit, seen by its system calls");
    let found = tried(promised(Level::ProcessCrash, None), seen);
    assert_eq!(found.known(), "survived 20 of 20 kills");
}

#[test]
fn a_documented_hole_is_no_breach_but_a_larger_loss_is() {
    let (hole, kills) = (promised(Level::PowerLoss, Some(Hole::LastCommit)), tally(20, 0, 0, 0));
    let found = tried(hole.clone(), survival(tally(100, 67, 1, 0), kills));
    assert_eq!((found.level, found.hole), (Level::PowerLoss, Some(Hole::LastCommit)));
    assert_eq!(found.known(), "observed: 33 of 100 cuts survived");
    let found = tried(hole, survival(tally(100, 67, 2, 0), kills));
    assert_eq!((found.level, found.standing), (Level::ProcessCrash, Standing::Disproved));
}

#[test]
fn unreadable_lines_are_reported_and_left_out() {
    let proof = KeptProof {
        schema: PROOF_SCHEMA.to_owned(),
        label: "sqlite:wal".to_owned(),
        engine: "sqlite".to_owned(),
        engine_version: "3".to_owned(),
        build: BTreeMap::new(),
        encrypted: None,
        settings: Vec::new(),
        survival: survival(tally(1, 0, 0, 0), tally(1, 0, 0, 0)),
    };
    let line = serde_json::to_string(&proof).unwrap();
    let text = format!("{line}\n{{\"schema\":\"dyno-proof/9\"}}\n{}\n{line}\n", &line[..40]);
    let (mut proofs, mut troubles) = (Proofs::default(), Vec::new());
    proofs.read(&text, Path::new("kept"), &mut troubles);
    assert_eq!(proofs.of_engine("sqlite").collect::<Vec<_>>(), [&proof, &proof]);
    assert_eq!(troubles.len(), 1);
    assert!(troubles[0].starts_with("kept:3: "), "{troubles:?}");
}

#[test]
fn a_commit_without_a_flush_and_a_loss_by_a_failing_device_break_a_promise_about_power() {
    let whole = || survival(tally(100, 0, 0, 0), tally(20, 0, 0, 0));
    let unflushed = Survival { unflushed: 1, ..whole() };
    let failing = Survival { errors: Some(tally(5, 1, 3, 0)), ..whole() };
    for (harmed, said) in
        [(unflushed, "without a flush, 1 of 50"), (failing, "failures of the device, 1 of 5")]
    {
        let found = tried(promised(Level::PowerLoss, None), harmed.clone());
        assert_eq!((found.level, found.standing), (Level::ProcessCrash, Standing::Disproved));
        assert!(found.caveat.as_ref().unwrap().contains(said), "{found:?}");
        assert_ne!(tried(promised(Level::ProcessCrash, None), harmed).standing, Standing::Disproved);
    }
}

#[test]
fn an_older_loss_still_counts_and_an_older_survival_does_not() {
    let whole = tally(10, 0, 0, 0);
    let older = |cuts| Survival { evidence: FIRST_FAIR, ..survival(cuts, whole) };
    assert!(still_counts(&survival(whole, whole)));
    assert!(!still_counts(&older(whole)));
    assert!(still_counts(&older(tally(10, 1, 1, 0))));
    assert!(!still_counts(&Survival { evidence: 0, ..older(tally(10, 1, 1, 0)) }));
}
