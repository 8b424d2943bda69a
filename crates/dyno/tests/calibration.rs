//! `dyno calibrate` with a real engine beside slower copies of itself, and later runs that quote what it found.

use crate::common::Place;

#[test]
fn a_machine_is_calibrated_and_later_tables_say_so() {
    let place = Place::new();
    let tests = "--only 1 --scale 0.1";
    let calibrate = format!("calibrate --with sqlite:memory {tests} --trials 7 --quiet -o calibrated.jsonl");
    let calibrated = place.dyno(&calibrate).exits(0);
    let calibrated = calibrated.prints("sqlite:memory: an equal copy takes").says("calibration.json");
    let calibrated = calibrated.prints("10% slower is found, by the mean");
    let again = place.dyno("calibrate --again calibrated.jsonl").exits(0);
    assert_eq!(again.stdout, calibrated.stdout);

    let two = format!("run speedtest {tests} --with sqlite:memory,sqlite:nosync --trials 1 --quiet");
    let quoted = "with sqlite:memory of speedtest";
    place.dyno(&format!("{two} -o run.jsonl")).exits(0).prints("Calibrated here on").prints(quoted);
    // It is part of the record, so whoever gets the run file sees it too.
    std::fs::remove_file(place.path("calibration.json")).unwrap();
    place.dyno("show run.jsonl").exits(0).prints(quoted);
    let without = place.dyno(&two).exits(0).stdout;
    assert!(!without.contains("Calibrated"), "{without}");
}
