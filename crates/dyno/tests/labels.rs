//! Safety in tables: on storage that keeps nothing, of settings that an engine does not report back, and of commits.

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
fn what_an_engine_does_not_report_is_claimed() {
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
        .prints("has commits of another size");
}

#[test]
fn the_standard_of_tuning_is_that_of_the_profile_unless_the_name_says_otherwise() {
    let registry = Registry::load(&Home::find().unwrap()).unwrap();
    let tuning = |name: &str| Contender::parse(name, &registry).unwrap().tuning.name();
    for (name, standard) in [
        ("rocksdb:persistent", "default"),
        ("rocksdb:persistent,tuning=default", "default"),
        ("rocksdb:persistent,tuning=tuned", "tuned"),
        ("redb,tuning=tuned", "tuned"),
        ("pebble:tuned", "tuned"),
        ("pebble:tuned,tuning=tuned", "tuned"),
        // The level and size of a commit, and the cache, are other questions.
        ("rocksdb:persistent,sync=on,per_commit=7,cache_size=1000000", "default"),
        ("rocksdb:persistent,filter_policy=bloomfilter:10:false", "own"),
        ("rocksdb:persistent,tuning=tuned,block_size=4096", "own"),
    ] {
        assert_eq!(tuning(name), standard, "{name}");
    }
    let refused = |name: &str| format!("{:#}", Contender::parse(name, &registry).unwrap_err());
    assert!(refused("rocksdb,tuning=best").contains("tuning is default or tuned, not 'best'"));
    assert!(refused("pebble:tuned,tuning=default").contains("leave tuning=default or the profile out"));
    assert!(refused("duckdb,tuning=tuned").contains("duckdb has no tuning=tuned"));
    // Every store has both.
    for engine in registry.engines.iter().filter(|engine| engine.dialect == "kv") {
        assert!(engine.tuned.is_some(), "{}", engine.name);
    }
    let contender = Contender::parse("rocksdb:persistent,tuning=tuned,block_size=4096", &registry).unwrap();
    let last = |name: &str| contender.settings.iter().rfind(|setting| setting.name == name).unwrap();
    assert_eq!((last("block_size").value.as_str(), last("num_shard_bits").value.as_str()), ("4096", "3"));
}

#[test]
fn a_suites_cache_makes_stores_equals_and_tuned_ones_are_ranked_apart() {
    let place = Place::new();
    let with =
        "redb:persistent,sqlite:persistent,redb:persistent,tuning=tuned,sqlite:persistent,cache_size=-1024";
    let run = "run kv --n 200 --only insert-int --trials 1 --quiet -o run.json --with";
    place
        .dyno(&format!("{run} {with}"))
        .exits(0)
        .prints("each cache 64.0 MiB, by the suite")
        .prints("compressibility=0.5")
        .prints("default options")
        .prints("tuned")
        .prints("cache 1.00 MiB");
    let run = dyno_record::load(&place.path("run.json")).unwrap();
    let class = |label: &str| {
        let place = run.contenders.iter().position(|contender| contender.label == label).unwrap();
        run.class(place).unwrap()
    };
    let [sqlite, redb] = ["sqlite:persistent", "redb:persistent"].map(class);
    assert_eq!((sqlite.cache, sqlite.tuning), (redb.cache, redb.tuning));
    assert_ne!(class("redb:persistent,tuning=tuned").tuning, redb.tuning);
    assert_ne!(class("sqlite:persistent,cache_size=-1024").cache, sqlite.cache);
    place
        .dyno("run kv --n 200 --only insert-int --trials 1 --quiet -o own.json --cache default --with redb:persistent")
        .exits(0)
        .prints("cache 1.00 GiB");
    // An older suite had other values, so the runs are not compared.
    let random = "run kv --n 200 --only insert-int --trials 1 --quiet -o random.json --set compressibility=0";
    place.dyno(&format!("{random} --with redb:persistent")).exits(0);
    place.dyno("compare run.json random.json").exits(2).says("compressibility");
}
