//! The runners of key-value engines against the real ones that this machine has: every profile through all
//! models, their answers against digests worked out here, and what they say when something is wrong.
//! An engine whose library is missing is skipped and says so.

use std::fs;

use dyno_protocol::{Cells, KeyKind, Reads, Work};

use crate::common::runner::{message, samples};
use crate::kv::{Data, Rig, ended};

const ENGINES: [&str; 6] = ["lmdb", "bdb", "bdb/c+hash", "rocksdb", "redb", "fjall"];
const PROFILES: [&str; 4] = ["transactional", "per-commit", "persistent", "transient"];

/// Rigs for the engines that are here.
fn rigs(names: &[&'static str]) -> Vec<Rig> {
    names.iter().filter_map(|name| Rig::find(name)).collect()
}

#[test]
fn every_profile_gives_the_right_answers() {
    for rig in rigs(&ENGINES) {
        for profile in PROFILES {
            let (integers, blobs) =
                (Data::new("i", KeyKind::Integer, 300), Data::new("b", KeyKind::Blob, 300));
            let mut script = rig.script(profile);
            for data in [&integers, &blobs] {
                script.whole_story(data);
            }
            let expected = script.expected();
            let events = script.run();
            ended(&events, rig.name, profile);
            assert_eq!(crate::kv::answers(&events), expected, "{}:{profile}", rig.name);
            for sample in samples(&events) {
                assert!(sample.section.nanoseconds > 0 && sample.operations > 0, "{sample:?}");
            }
        }
    }
}

/// Berkeley DB fills a buffer with pairs, of which there are more than one buffer has room for, or not even one.
#[test]
fn scans_and_ranges_meet_every_pair_however_large() {
    for rig in rigs(&["lmdb", "bdb", "rocksdb", "redb", "fjall"]) {
        for (length, count, range) in [(10, 3_000, 7), (3_000, 200, 100), (200_000, 12, 5)] {
            let data = Data::with_values("b", length, count);
            let mut script = rig.script("transactional");
            script.put(&data, false);
            script.scan(&data);
            for reads in [Reads::Each, Reads::One] {
                script.range(&data, 1, reads);
                script.range(&data, range, reads);
            }
            let expected = script.expected();
            let events = script.run();
            ended(&events, rig.name, &length.to_string());
            assert_eq!(crate::kv::answers(&events), expected, "{}: values of {length} bytes", rig.name);
        }
    }
}

#[test]
fn what_the_manual_advises_takes_and_keeps_the_level() {
    for rig in rigs(&["lmdb", "bdb", "rocksdb", "redb", "fjall"]) {
        let level = if rig.name == "bdb" { "process-crash" } else { "power-loss" };
        rig.assert_in_force("transactional,tuning=tuned", level);
    }
}

#[test]
fn settings_are_read_back_and_give_the_level() {
    for rig in rigs(&["lmdb", "bdb", "rocksdb", "redb", "fjall"]) {
        let levels = match rig.name {
            "lmdb" => ["power-loss", "power-loss", "process-crash", "process-crash"],
            "redb" => ["power-loss", "power-loss", "none", "none"],
            // Its log is synced, and a torn page cannot be restored.
            "bdb" => ["process-crash", "process-crash", "none", "none"],
            _ => ["power-loss", "power-loss", "process-crash", "none"],
        };
        for (profile, level) in PROFILES.into_iter().zip(levels) {
            rig.assert_in_force(profile, level);
        }
        if rig.name != "lmdb" {
            let events = rig.script("persistent").with("cache_size", "16777216").run();
            let cache =
                crate::kv::hello(&events).settings.iter().find(|setting| setting.name == "cache_size");
            assert_eq!(cache.map(|cache| cache.value.as_str()), Some("16777216"), "{}", rig.name);
        }
    }
}

#[test]
fn every_operation_has_its_latency() {
    for rig in rigs(&ENGINES) {
        let data = Data::new("b", KeyKind::Blob, 100);
        let mut script = rig.script("transactional").with_latency();
        script.whole_story(&data);
        let events = script.run();
        ended(&events, rig.name, "latency");
        for sample in samples(&events) {
            let counted: u64 = sample.classes.iter().map(|class| class.done).sum();
            let is_one_piece = sample.test.contains("scan") || sample.test.contains("settle");
            let expected = if is_one_piece { 0 } else { sample.operations };
            assert_eq!(counted, expected, "{} {}", rig.name, sample.test);
        }
    }
}

#[test]
fn what_is_not_timed_is_done_nevertheless() {
    for rig in rigs(&ENGINES) {
        let data = Data::new("b", KeyKind::Blob, 500);
        let mut script = rig.script("per-commit").timing(7);
        script.put(&data, false);
        script.delete(&data, 300);
        let expected = script.expected();
        let events = script.run();
        ended(&events, rig.name, "timed");
        assert_eq!(crate::kv::answers(&events), expected, "{}", rig.name);
        assert!(samples(&events).all(|sample| sample.operations == 7));
    }
}

#[test]
fn a_setting_that_does_not_exist_is_named() {
    for rig in rigs(&ENGINES) {
        let events = rig.script("transactional").with("no_such_setting", "1").run();
        let said = message(&events);
        assert!(said.contains("no_such_setting"), "{}: {said}", rig.name);
    }
}

#[test]
fn a_key_that_is_too_long_is_reported_with_the_limit() {
    for (name, bytes, words) in [("lmdb", 512, "keys of 1 to 511"), ("fjall", 65_536, "65535")] {
        for rig in rigs(&[name]) {
            let mut script = rig.script("transactional");
            script.put(&Data::with_key("b", bytes, 2), false);
            let events = script.run();
            let said = message(&events);
            assert!(said.starts_with("pair 1 of 2: ") && said.contains(words), "{name}: {said}");
        }
    }
}

#[test]
fn a_map_that_is_full_is_reported_with_the_setting() {
    for rig in rigs(&["lmdb"]) {
        let mut script = rig.script("transactional").with("map_size", "65536");
        script.put(&Data::new("b", KeyKind::Blob, 2000), false);
        let said = message(&script.run()).to_owned();
        assert!(said.contains("MDB_MAP_FULL") && said.contains("map_size=BYTES"), "{said}");
    }
}

#[test]
fn what_is_no_database_of_the_engines_is_reported() {
    for (name, file, words) in [
        ("lmdb", "data.mdb", "MDB_INVALID"),
        ("bdb", "b.db", "checksum error"),
        ("rocksdb", "CURRENT", "CURRENT file corrupted"),
        ("redb", "dyno.redb", "Not a redb database"),
        ("fjall", "version", "InvalidVersion"),
    ] {
        for rig in rigs(&[name]) {
            let mut script = rig.script("transactional");
            fs::write(script.directory().join(file), "nothing of the kind\n".repeat(1000)).unwrap();
            script.put(&Data::new("b", KeyKind::Blob, 3), false);
            let events = script.run();
            let said = message(&events);
            assert!(said.starts_with("cannot ") && said.contains(words), "{name}: {said}");
        }
    }
}

#[test]
fn a_job_of_the_wrong_shape_is_reported() {
    for rig in rigs(&ENGINES) {
        let data = Data::new("b", KeyKind::Blob, 10);
        let mut script = rig.script("transactional");
        script.put(&data, false);
        script.alter(|work| {
            if let Work::KvPut { pairs, .. } = work {
                pairs.keys = Cells { count: 11, ..pairs.keys.clone() };
            }
        });
        let said = message(&script.run()).to_owned();
        assert!(said.contains("11 cells of 24 bytes are promised"), "{}: {said}", rig.name);
    }
}
