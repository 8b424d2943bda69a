//! `dyno calibrate` with a real engine next to slower copies of itself, and later runs that quote what it found.

use nix::sys::signal::Signal;

use crate::common::Place;

#[test]
fn a_machine_is_calibrated_and_later_tables_say_so() {
    let place = Place::new();
    let tests = "--only 1 --scale 0.1";
    let calibrate = format!("calibrate --with sqlite:memory {tests} --trials 7 --quiet -o calibrated.jsonl");
    let calibrated = place.dyno(&calibrate);
    let is_busy = calibrated.stdout.contains("dyno does not keep them");
    let calibrated = calibrated.exits(if is_busy { 3 } else { 0 });
    let calibrated = calibrated.prints("sqlite:memory: an equal copy takes");
    let calibrated = calibrated.prints("draws that find 10% slower, by the mean");
    // The library and three copies of its file under other names, which are gone when it ends.
    let calibrated = calibrated.prints("4 copies of its library, under different names,");
    let run = dyno_record::load(&place.path("calibrated.jsonl")).unwrap();
    let copies: Vec<_> = run.contenders.iter().filter(|one| one.label.starts_with("sqlite@/")).collect();
    assert_eq!(copies.len(), 3);
    for copy in copies {
        assert_eq!(copy.executed.engine, run.contenders[0].executed.engine, "{}", copy.label);
        let path = copy.label.trim_start_matches("sqlite@").split(':').next().unwrap();
        assert!(path.ends_with(".so") && !std::path::Path::new(path).exists(), "{path}");
    }
    let again = place.dyno("calibrate --again calibrated.jsonl").exits(if is_busy { 3 } else { 0 });
    assert_eq!(again.stdout, calibrated.stdout);
    disturb(&place);
    let disturbed = place.dyno("calibrate --again disturbed.jsonl").exits(3);
    disturbed.prints("Other work disturbed").prints("dyno does not keep them");
    // A machine that was at work says nothing of itself that a later table could quote.
    assert_eq!(place.path("calibration.json").exists(), !is_busy);
    if is_busy {
        return;
    }

    let two = format!("run speedtest {tests} --with sqlite:memory,sqlite:nosync --trials 1 --quiet");
    let quoted = "with sqlite:memory of speedtest";
    let later =
        place.dyno(&format!("{two} -o run.jsonl")).exits(0).prints("Calibrated here on").prints(quoted);
    let later = later.stdout.replace("\n  ", " ");
    assert!(later.contains("Copies of its library under other names"), "{later}");
    // It is part of the record, so every reader of the run file sees it too.
    std::fs::remove_file(place.path("calibration.json")).unwrap();
    place.dyno("show run.jsonl").exits(0).prints(quoted);
    // A calibration that was kept before copies were run is read too.
    let kept = std::fs::read_to_string(place.path("run.jsonl")).unwrap();
    let known: serde_json::Value = serde_json::from_str(kept.lines().next().unwrap()).unwrap();
    let calibration = known.pointer("/run/calibration").or(known.pointer("/calibration")).unwrap();
    let mut older = calibration.clone();
    assert!(older.as_object_mut().unwrap().remove("offsets").is_some(), "{older}");
    place.write("calibration.json", &older.to_string());
    let quoted = place.dyno(&two).exits(0).prints("Calibrated here on").stdout;
    assert!(!quoted.contains("under other names"), "{quoted}");
    std::fs::remove_file(place.path("calibration.json")).unwrap();
    let without = place.dyno(&two).exits(0).stdout;
    assert!(!without.contains("Calibrated"), "{without}");
}

/// Writes the run again as if others had taken half of the processors throughout.
fn disturb(place: &Place) {
    let kept = std::fs::read_to_string(place.path("calibrated.jsonl")).unwrap();
    let lines = kept.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(others) = line.pointer_mut("/trial/others").and_then(serde_json::Value::as_object_mut) {
            others.insert("over_ns".into(), 1_000_000_000_u64.into());
            others.insert("foreign_ns".into(), 500_000_000_u64.into());
        }
        line.to_string() + "\n"
    });
    std::fs::write(place.path("disturbed.jsonl"), lines.collect::<String>()).unwrap();
}

#[test]
fn options_without_effect_are_refused() {
    let place = Place::new();
    place.dyno("calibrate --gate time<=3%").exits(2).says("--gate has nothing to judge");
    place.dyno("calibrate --format json").exits(2).says("calibrate prints one table");
    place.dyno("calibrate --again none.jsonl --format csv").exits(2).says("calibrate prints one table");
}

#[test]
fn too_few_blocks_with_copies_are_not_taken_for_no_copies() {
    let place = Place::new();
    let calibrate = "calibrate --with sqlite:memory --only 1 --scale 0.1 --trials 2 -o two.jsonl";
    let result = place.dyno(calibrate).without_panic();
    // Copies have numbers in what a person reads while it runs, and no path of a folder that is removed afterwards.
    let result = result.says("sqlite@copy-3:memory ");
    assert!(!result.stderr.contains("dyno-scratch-"), "{}", result.stderr);
    let result =
        result.prints("What a whole run shares was not measured: that takes copies of the library under");
    assert!(!result.stdout.contains("ran under other names"), "{}", result.stdout);
    let run = dyno_record::load(&place.path("two.jsonl")).unwrap();
    assert_eq!(run.contenders.iter().filter(|one| one.label.starts_with("sqlite@/")).count(), 3);
}

#[test]
fn a_signal_before_the_first_trial_leaves_no_copy_of_a_library() {
    let place = Place::new();
    let calibrate = "calibrate --with sqlite:memory --only 1 --trials 7 --copies 20 --quiet";
    place.interrupted(calibrate, "lock", Signal::SIGTERM).exits(143).without_panic();
    place.assert_clean();
}
