//! What tables say of safety: on storage that keeps nothing, of settings that an engine does not report back, and of commits.

use std::path::Path;

use dyno_engine::{Contender, Home, Registry};
use dyno_protocol::InForce;
use dyno_record::{Hole, Level, Safety, Standing};

use crate::common::Place;

/// The safety of a contender with the settings in force that it asks for and some more.
fn safety(contender: &str, more: &[(&str, &str)]) -> Safety {
    let registry = Registry::load(&Home::find().unwrap()).unwrap();
    let contender = Contender::parse(contender, &registry).unwrap();
    let asked = contender.settings.iter().map(|setting| (setting.name.as_str(), setting.value.as_str()));
    let in_force = |(name, value): (&str, &str)| InForce { name: name.into(), value: value.into() };
    // Of a setting named twice the last is in force.
    let in_force: Vec<InForce> = more.iter().copied().chain(asked.rev()).map(in_force).collect();
    contender.safety(&in_force).unwrap()
}

#[test]
fn memory_survives_no_power_cut_and_a_table_says_why() {
    let place = Place::new();
    let shm = Path::new("/dev/shm");
    if !shm.is_dir() {
        return;
    }
    let run =
        "run speedtest --scale 0.01 --only 1 --trials 1 --quiet --with sqlite:wal --dir /dev/shm -o run.json";
    let result = place.dyno(run).exits(0).prints("process-crash †");
    result.prints("the data are in memory").prints("its settings promise power-loss");
}

#[test]
fn what_an_engine_does_not_tell_again_is_claimed() {
    for (contender, standing) in [
        ("redb", Standing::Claimed),
        ("fjall", Standing::Claimed),
        ("pebble", Standing::Claimed),
        ("rocksdb", Standing::Claimed),
        ("bdb:transient", Standing::Claimed),
        ("bdb", Standing::ReadBack),
        ("lmdb", Standing::ReadBack),
        ("sqlite", Standing::ReadBack),
        ("postgres", Standing::ReadBack),
        ("postgres,file_system=gocryptfs", Standing::Claimed),
    ] {
        assert_eq!(safety(contender, &[]).standing, standing, "{contender}");
    }
}

#[test]
fn one_standard_holds_for_all_engines() {
    use Hole::{LastCommit, TornPages};
    use Level::{None as Nothing, PowerLoss, ProcessCrash};
    let flush = [("manual_wal_flush", "true")];
    let lock = [("locking_mode", "exclusive")];
    for (contender, more, level, consistent, hole) in [
        ("sqlite", &[][..], PowerLoss, true, Some(LastCommit)),
        ("sqlite", &lock, PowerLoss, true, None),
        ("sqlite:extra", &[], PowerLoss, true, None),
        ("sqlite/c+beside:nosync", &[], PowerLoss, true, None),
        ("bdb", &[], ProcessCrash, false, Some(TornPages)),
        ("postgres,full_page_writes=off", &[], ProcessCrash, false, Some(TornPages)),
        ("mariadb,innodb_doublewrite=OFF", &[], ProcessCrash, false, Some(TornPages)),
        ("mysql,innodb_doublewrite=OFF", &[], ProcessCrash, false, Some(TornPages)),
        ("rocksdb:persistent", &[], ProcessCrash, true, None),
        ("rocksdb:persistent", &flush, Nothing, true, None),
        ("rocksdb", &flush, PowerLoss, true, None),
        ("lmdb:transient", &[], ProcessCrash, false, None),
        ("postgres:async", &[], Nothing, true, None),
        ("postgres,file_system=gocryptfs", &[], ProcessCrash, false, Some(TornPages)),
        ("lmdb,file_system=gocryptfs", &[], ProcessCrash, false, Some(TornPages)),
        ("bdb,file_system=gocryptfs", &[], ProcessCrash, false, Some(TornPages)),
    ] {
        let found = safety(contender, more);
        assert_eq!(
            (found.level, found.consistent, found.hole),
            (level, consistent, hole),
            "{contender} {more:?}"
        );
        assert_eq!(found.hole.is_some(), found.caveat.is_some(), "{contender} reports a hole");
    }
}

#[test]
fn profiles_of_stores_say_how_many_operations_a_commit_has() {
    let registry = Registry::load(&Home::find().unwrap()).unwrap();
    for engine in registry.engines.iter().filter(|engine| engine.dialect == "kv") {
        for profile in
            engine.profiles.iter().filter(|profile| !["default", "tuned"].contains(&profile.name.as_str()))
        {
            let settings = profile.settings().unwrap();
            let is_documented = settings.iter().any(|setting| setting.name == "per_commit");
            assert!(is_documented, "{}:{} does not say per_commit", engine.name, profile.name);
        }
    }
    let per_commit = |name: &str| Contender::parse(name, &registry).unwrap().per_commit;
    assert_eq!(per_commit("lmdb:persistent"), Some(1000));
    assert_eq!(per_commit("lmdb:persistent,per_commit=1"), Some(1));
    assert_eq!(per_commit("lmdb:persistent,per_commit=all"), None);
    assert_eq!(per_commit("pebble"), Some(100_000));
    assert_eq!(per_commit("pebble,per_commit=all"), None);
}

#[test]
fn sizes_of_commits_stand_in_the_table_and_rank_apart() {
    let place = Place::new();
    let with = "redb:persistent,per_commit=100,redb:persistent,per_commit=1,sqlite:persistent,per_commit=all";
    let run = "run kv --n 200 --only insert-int --trials 1 --quiet -o run.json --with";
    let result = place.dyno(&format!("{run} {with}")).exits(0);
    result
        .prints("commits of 100")
        .prints("commits of 1")
        .prints("one commit")
        .prints("commits more or less at a time");
}
